// WebAssembly code for numeric, 16 digits at a time.

import {
  i32,
  leaveWith,
  loopWhile,
  sequence,
  v128,
  when,
  whenElse,
  type Code,
  type Local,
} from '../wasm-code.ts';
import { numericIntegerDigitsMax } from '../../core/limits.ts';
import { functionOf, type Call } from '../wasm-module.ts';
import { bitsBefore, codeOf, isByte, takeSign } from './byte-code.ts';
import { offsetOf } from './kinds.ts';
import { digitsAt, numberBytesMax } from './memory.ts';
import { copyBytes, increase, notSure, putConstant, putInt16, putInt32, zero } from './put-code.ts';
import { isSpelled, takePlain } from './separators-code.ts';
import { special } from './special-code.ts';

const fourZeros = i32.const(0x30303030);

const variables = {
  column: 'i32',
  start: 'i32',
  end: 'i32',
  out: 'i32',
  negative: 'i32',
  point: 'i32',
  /** `integers` excludes leading zeros. `left` counts the digits that are not copied yet. */
  integers: 'i32',
  decimals: 'i32',
  left: 'i32',
  at: 'i32',
  to: 'i32',
  bits: 'i32',
  copied: 'i32',
  /** `weight` is the power of 10000 of the first group. */
  groups: 'i32',
  weight: 'i32',
  digits: 'v128',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const limit = (v: Variables, field: 'decimalsMax' | 'integersMax' | 'rounds'): Code =>
  i32.load(v.column.get, offsetOf('numeric', field));

/** Reads numbers with an exponent; not with separators, whose text `readPower` would overwrite. */
const tryPower = (v: Variables, call: Call): Code =>
  sequence(
    when(isSpelled(v.column), notSure),
    leaveWith(call('readPower', v.column.get, v.negative.get, v.start.get, v.end.get, v.out.get)),
  );

const findPoint = (v: Variables, call: Call): Code => {
  const others = v128.bits(v128.gt(v128.sub(v128.load(v.at.get), v128.all(codeOf('0'))), v128.all(9)));
  return sequence(
    v.at.set(v.start.get),
    v.point.set(v.end.get),
    loopWhile(
      i32.lt(v.at.get, v.end.get),
      v.bits.set(i32.and(others, bitsBefore(v.at, v.end))),
      when(
        v.bits.get,
        when(
          i32.or(i32.ne(v.point.get, v.end.get), i32.and(v.bits.get, i32.sub(v.bits.get, i32.const(1)))),
          tryPower(v, call),
        ),
        v.point.set(i32.add(v.at.get, i32.trailingZeros(v.bits.get))),
        when(i32.isZero(isByte(v.point, '.')), tryPower(v, call)),
      ),
      increase(v.at, 16),
    ),
  );
};

/** Checks that digits beyond the scale are 0, or, with `round`, that rounding adds no digit. */
const countDigits = (v: Variables): Code => {
  const hasPoint = i32.ne(v.point.get, v.end.get);
  const checkZeros = sequence(
    v.at.set(i32.sub(v.end.get, i32.sub(v.decimals.get, limit(v, 'decimalsMax')))),
    loopWhile(i32.lt(v.at.get, v.end.get), when(i32.isZero(isByte(v.at, '0')), notSure), increase(v.at, 1)),
  );
  // Rounding adds a digit only to a number that begins with 9.
  const checkRounding = when(
    i32.eq(v.integers.get, limit(v, 'integersMax')),
    v.at.set(i32.add(v.start.get, i32.isZero(v.integers.get))),
    when(isByte(v.at, '9'), notSure),
  );
  return sequence(
    v.decimals.set(i32.sub(i32.sub(v.end.get, v.point.get), hasPoint)),
    when(i32.eq(i32.add(v.start.get, hasPoint), v.end.get), notSure),
    loopWhile(i32.and(i32.lt(v.start.get, v.point.get), isByte(v.start, '0')), increase(v.start, 1)),
    v.integers.set(i32.sub(v.point.get, v.start.get)),
    when(i32.gt(v.integers.get, limit(v, 'integersMax')), notSure),
    when(
      i32.gt(v.decimals.get, limit(v, 'decimalsMax')),
      whenElse(limit(v, 'rounds'), checkRounding, checkZeros),
    ),
  );
};

const copyDigits = (v: Variables, from: Local, count: Local): Code =>
  sequence(copyBytes(v.to, from, count, v.copied), v.to.set(i32.add(v.to.get, count.get)));

/** Copies the digits without the point, padded so that it falls between two groups of four. */
const alignDigits = (v: Variables): Code =>
  sequence(
    v.weight.set(i32.sub(i32.shr(i32.add(v.integers.get, i32.const(3)), i32.const(2)), i32.const(1))),
    v.at.set(i32.add(v.point.get, i32.const(1))),
    v.left.set(v.decimals.get),
    when(
      i32.isZero(v.integers.get),
      loopWhile(
        i32.and(i32.ge(v.left.get, i32.const(4)), i32.eq(i32.load(v.at.get), fourZeros)),
        increase(v.at, 4),
        increase(v.left, -4),
        increase(v.weight, -1),
      ),
    ),
    i32.store(zero, digitsAt, fourZeros),
    v.to.set(i32.add(i32.const(digitsAt), i32.and(i32.sub(zero, v.integers.get), i32.const(3)))),
    copyDigits(v, v.start, v.integers),
    copyDigits(v, v.at, v.left),
    i32.store(v.to.get, 0, fourZeros),
    v.groups.set(i32.shr(i32.sub(v.to.get, i32.const(digitsAt - 3)), i32.const(2))),
  );

const words = (...values: readonly number[]): Code =>
  v128.const(Array.from({ length: 8 }, (_, index) => [values[index % values.length]!, 0]).flat());

/** Combines digits into pairs, and pairs into groups of four. */
const putGroups = (v: Variables): Code => {
  const places = [1, 0, 5, 4, 9, 8, 13, 12];
  return sequence(
    v.at.set(i32.const(digitsAt)),
    v.copied.set(i32.add(v.out.get, i32.const(12))),
    loopWhile(
      i32.lt(v.at.get, v.to.get),
      v.digits.set(v128.sub(v128.load(v.at.get), v128.all(codeOf('0')))),
      v.digits.set(
        v128.add16(
          v128.mul16(v128.and(v.digits.get, words(0xff)), words(10)),
          v128.shr16(v.digits.get, i32.const(8)),
        ),
      ),
      v.digits.set(v128.dot16(v.digits.get, words(100, 1))),
      v128.store(v.copied.get, 0, v128.shuffle(v.digits.get, v.digits.get, [...places, ...places])),
      increase(v.at, 16),
      increase(v.copied, 8),
    ),
  );
};

const dropZeros = (v: Variables): Code =>
  sequence(
    v.at.set(i32.add(v.out.get, i32.shl(v.groups.get, i32.const(1)))),
    loopWhile(
      i32.and(i32.ne(v.at.get, v.out.get), i32.isZero(i32.loadShort(v.at.get, 10))),
      increase(v.at, -2),
    ),
    v.groups.set(i32.shr(i32.sub(v.at.get, v.out.get), i32.const(1))),
    when(i32.isZero(v.groups.get), v.weight.set(zero), v.negative.set(zero)),
  );

/** Writes NaN and infinity, but a numeric with a precision has no infinity. */
const putSpecialNumeric = (v: Variables, call: Call): Code => {
  const found = (kind: number, sign: number): Code =>
    when(i32.eq(v.bits.get, i32.const(kind)), v.left.set(i32.const(sign)));
  return sequence(
    v.bits.set(call('scanSpecial', v.start.get, v.end.get)),
    found(special.notANumber, 0xc000),
    when(
      i32.eq(limit(v, 'integersMax'), i32.const(numericIntegerDigitsMax)),
      found(special.infinity, 0xd000),
      found(special.negativeInfinity, 0xf000),
    ),
    when(i32.isZero(v.left.get), notSure),
    putConstant(v.out, 0, 8),
    putConstant(v.out, 4, 0),
    putInt16(v.out, 8, v.left),
    putInt16(v.out, 10, v.weight),
    leaveWith(i32.add(v.out.get, i32.const(12))),
  );
};

export const readNumeric = functionOf(4, variables, (v, call) =>
  sequence(
    takePlain(v, call),
    // All letters have higher codes than digits and points.
    when(
      i32.gt(i32.loadByte(i32.sub(v.end.get, i32.const(1))), i32.const(codeOf('9'))),
      putSpecialNumeric(v, call),
    ),
    takeSign(v.start, v.negative),
    when(i32.gt(i32.sub(v.end.get, v.start.get), i32.const(numberBytesMax)), notSure),
    findPoint(v, call),
    countDigits(v),
    alignDigits(v),
    putGroups(v),
    dropZeros(v),
    v.left.set(i32.add(i32.const(8), i32.shl(v.groups.get, i32.const(1)))),
    putInt32(v.out, 0, v.left),
    putInt16(v.out, 4, v.groups),
    putInt16(v.out, 6, v.weight),
    v.negative.set(i32.shl(v.negative.get, i32.const(14))),
    putInt16(v.out, 8, v.negative),
    putInt16(v.out, 10, v.decimals),
    i32.add(v.at.get, i32.const(12)),
  ),
);
