// WebAssembly code that finds the double nearest to a decimal.

import {
  f64,
  i32,
  i64,
  leaveWith,
  loopWhile,
  sequence,
  when,
  whenElse,
  type Code,
  type Local,
} from '../wasm-code.ts';
import { functionOf } from '../wasm-module.ts';
import { codeOf, digitAt, isByte, isDigitBefore, takeSign } from './byte-code.ts';
import { isNegative, scaleOf, valueOf } from './decimal-code.ts';
import { special } from './special-code.ts';
import { exponentAt, five, fives, fivesAt, mantissaAt, powersAt } from './memory.ts';
import { increase, masked, notSure, zero } from './put-code.ts';

/** Means that JavaScript must decide: no routine returns these bits as a value. */
export const noDouble = i64.const(-1n);

export const floatFlags = { isSure: 1, isNegative: 2, isWhole: 4 };

/** Integers of up to 19 digits fit into an unsigned i64. */
const digitsMax = 19;

const variables = {
  start: 'i32',
  end: 'i32',
  flags: 'i32',
  byte: 'i32',
  from: 'i32',
  digits: 'i32',
  significant: 'i32',
  exponent: 'i32',
  scale: 'i32',
  value: 'i64',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const addDigits = (v: Variables): Code =>
  loopWhile(
    isDigitBefore(v.start, v.end),
    v.value.set(i64.add(i64.mul(v.value.get, i64.const(10n)), i64.extend(digitAt(v.start)))),
    // The 20 digits of 2^64 leave 0 in `value`, so `significant` is counted separately.
    v.significant.set(
      i32.add(
        v.significant.get,
        i32.or(i32.ne(v.significant.get, zero), i32.isZero(i64.isZero(v.value.get))),
      ),
    ),
    increase(v.digits, 1),
    increase(v.start, 1),
  );

const addExponent = (v: Variables): Code =>
  sequence(
    when(i32.ne(i32.or(i32.loadByte(v.start.get), i32.const(0x20)), i32.const(codeOf('e'))), notSure),
    v.flags.set(i32.and(v.flags.get, i32.const(~floatFlags.isWhole))),
    increase(v.start, 1),
    takeSign(v.start, v.byte),
    v.from.set(v.start.get),
    loopWhile(
      isDigitBefore(v.start, v.end),
      v.exponent.set(i32.add(i32.mul(v.exponent.get, i32.const(10)), digitAt(v.start))),
      increase(v.start, 1),
    ),
    when(i32.gt(i32.sub(i32.sub(v.start.get, v.from.get), i32.const(1)), i32.const(3)), notSure),
    when(v.byte.get, v.exponent.set(i32.sub(zero, v.exponent.get))),
    when(i32.lt(v.start.get, v.end.get), notSure),
  );

/**
 * (start, end) -> `floatFlags` of `[+-]?(digits[.digits]|.digits)([eE][+-]?digits)?` with at most
 * 19 digits, or 0. Stores the digits at `mantissaAt`, their power of ten at `exponentAt`.
 */
export const scanFloat = functionOf(2, variables, (v) =>
  sequence(
    takeSign(v.start, v.byte),
    v.flags.set(
      i32.add(
        i32.const(floatFlags.isSure + floatFlags.isWhole),
        i32.mul(v.byte.get, i32.const(floatFlags.isNegative)),
      ),
    ),
    addDigits(v),
    when(
      i32.and(i32.lt(v.start.get, v.end.get), isByte(v.start, '.')),
      v.flags.set(i32.and(v.flags.get, i32.const(~floatFlags.isWhole))),
      increase(v.start, 1),
      v.from.set(v.start.get),
      addDigits(v),
      v.scale.set(i32.sub(v.start.get, v.from.get)),
    ),
    when(i32.isZero(v.digits.get), notSure),
    when(i32.gt(v.significant.get, i32.const(digitsMax)), notSure),
    when(i32.lt(v.start.get, v.end.get), addExponent(v)),
    i64.store(zero, mantissaAt, v.value.get),
    i32.store(zero, exponentAt, i32.sub(v.exponent.get, v.scale.get)),
    v.flags.get,
  ),
);

const product = {
  value: 'i64',
  power: 'i32',
  zeros: 'i64',
  /** `five` is the address of a power of 5, and `factor` is one half of the power. */
  five: 'i32',
  factor: 'i64',
  low: 'i64',
  middle: 'i64',
  high: 'i64',
  first: 'i64',
  mantissa: 'i64',
  shift: 'i64',
  exponent: 'i32',
} as const;
type Product = Readonly<Record<keyof typeof product, Local>>;

const upper = (value: Local): Code => i64.shr(value.get, i64.const(32n));
const lower = (value: Local): Code => masked(value.get, 0xffffffffn);

const multiply = (v: Product): Code =>
  sequence(
    v.low.set(i64.mul(lower(v.value), lower(v.factor))),
    v.middle.set(i64.add(i64.mul(upper(v.value), lower(v.factor)), upper(v.low))),
    v.high.set(i64.add(i64.mul(upper(v.value), upper(v.factor)), upper(v.middle))),
    v.middle.set(i64.add(i64.mul(lower(v.value), upper(v.factor)), lower(v.middle))),
    v.high.set(i64.add(v.high.get, upper(v.middle))),
    v.low.set(i64.or(i64.shl(v.middle.get, i64.const(32n)), lower(v.low))),
  );

/** Multiplies by a power of 5, whose low half matters only if all bits to round off are 1. */
const multiplyExactly = (v: Product): Code => {
  const ones = 0x1ffn;
  return sequence(
    v.factor.set(i64.load(v.five.get, five.high)),
    multiply(v),
    when(
      i64.eq(masked(v.high.get, ones), i64.const(ones)),
      v.mantissa.set(v.high.get),
      v.first.set(v.low.get),
      v.factor.set(i64.load(v.five.get, five.low)),
      multiply(v),
      v.low.set(i64.add(v.first.get, v.high.get)),
      v.high.set(i64.add(v.mantissa.get, i64.extend(i64.gt(v.high.get, v.low.get)))),
    ),
  );
};

/** Only for these powers of ten can a number be exactly between two doubles. */
const halfway = { least: -4, most: 23 };

/** Rounds the mantissa; exactly between two doubles, to the even mantissa. */
const roundMantissa = (v: Product): Code => {
  const mayBeHalfway = i32.le(
    i32.sub(v.power.get, i32.const(halfway.least)),
    i32.const(halfway.most - halfway.least),
  );
  const isHalfway = i32.and(
    i64.le(v.low.get, i64.const(1n)),
    i64.eq(i64.shl(v.mantissa.get, v.shift.get), v.high.get),
  );
  const isLowerEven = i64.eq(masked(v.mantissa.get, 3n), i64.const(1n));
  return sequence(
    when(
      i32.and(mayBeHalfway, i32.and(isHalfway, isLowerEven)),
      v.mantissa.set(i64.sub(v.mantissa.get, i64.const(1n))),
    ),
    v.mantissa.set(i64.shr(i64.add(v.mantissa.get, masked(v.mantissa.get, 1n)), i64.const(1n))),
  );
};

/**
 * (value, power) -> bits of the double nearest to value * 10^power; `noDouble` if not normal.
 * D. Lemire, "Number Parsing at a Gigabyte per Second", 2021.
 */
export const nearestDouble = functionOf(
  2,
  product,
  (v) => {
    const place = i32.sub(v.power.get, i32.const(fives.least));
    return sequence(
      when(i64.isZero(v.value.get), leaveWith(i64.const(0n))),
      when(i32.gt(place, i32.const(fives.most - fives.least)), leaveWith(noDouble)),
      v.five.set(i32.add(i32.const(fivesAt), i32.mul(place, i32.const(five.bytes)))),
      v.zeros.set(i64.leadingZeros(v.value.get)),
      v.value.set(i64.shl(v.value.get, v.zeros.get)),
      multiplyExactly(v),
      when(i64.eq(v.low.get, i64.const(-1n)), leaveWith(noDouble)),
      v.shift.set(i64.add(i64.shr(v.high.get, i64.const(63n)), i64.const(9n))),
      v.mantissa.set(i64.shr(v.high.get, v.shift.get)),
      roundMantissa(v),
      // 217706 / 2^16 approximates the base-2 logarithm of 10.
      v.exponent.set(
        i32.add(
          i32.shrSigned(i32.mul(v.power.get, i32.const(217_706)), i32.const(16)),
          i32.wrap(i64.sub(i64.add(v.shift.get, i64.const(1077n)), v.zeros.get)),
        ),
      ),
      when(i32.gt(i32.sub(v.exponent.get, i32.const(1)), i32.const(2044)), leaveWith(noDouble)),
      // The mantissa's highest bit adds 1 to the exponent, so 1 is subtracted here.
      i64.add(i64.shl(i64.extend(i32.sub(v.exponent.get, i32.const(1))), i64.const(52n)), v.mantissa.get),
    );
  },
  'i64',
);

const entry = (table: number, index: Code): Code => i32.add(i32.const(table), i32.shl(index, i32.const(3)));

/**
 * (start, end) -> bits of the nearest double, or `noDouble`. Dividing an integer up to 2^53 by a
 * power of ten up to 10^22 rounds once: W. D. Clinger, "How to Read Floating Point Numbers
 * Accurately", 1990. Setting the sign bit is faster than a branch.
 */
export const scanDouble = functionOf(
  2,
  { start: 'i32', end: 'i32', decimal: 'i64', bits: 'i64', flags: 'i32' },
  (v, call) => {
    const found = (kind: number): Code => i32.eq(v.flags.get, i32.const(kind));
    const takeSpecial = sequence(
      v.flags.set(call('scanSpecial', v.start.get, v.end.get)),
      when(found(special.notANumber), leaveWith(i64.const(0x7ff8000000000000n))),
      when(found(special.infinity), leaveWith(i64.const(0x7ff0000000000000n))),
      when(found(special.negativeInfinity), leaveWith(i64.const(-0x10000000000000n))),
      leaveWith(noDouble),
    );
    return sequence(
      v.decimal.set(call('scanDecimal', v.start.get, v.end.get)),
      whenElse(
        i64.eq(v.decimal.get, i64.const(-1n)),
        sequence(
          v.flags.set(call('scanFloat', v.start.get, v.end.get)),
          when(i32.isZero(v.flags.get), takeSpecial),
          v.bits.set(call('nearestDouble', i64.load(zero, mantissaAt), i32.load(zero, exponentAt))),
          when(i64.eq(v.bits.get, noDouble), leaveWith(noDouble)),
          v.flags.set(i32.shr(v.flags.get, i32.const(1))),
        ),
        sequence(
          v.bits.set(
            i64.bitsOfDouble(
              f64.div(f64.fromSigned(valueOf(v.decimal)), f64.load(entry(powersAt, scaleOf(v.decimal)))),
            ),
          ),
          v.flags.set(isNegative(v.decimal)),
        ),
      ),
      i64.or(v.bits.get, i64.shl(i64.extend(v.flags.get), i64.const(63n))),
    );
  },
  'i64',
);
