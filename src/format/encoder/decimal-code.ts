// WebAssembly code for decimals of up to 15 digits.

import { MINUS, PLUS, POINT, ZERO } from '../../core/characters.ts';
import {
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
import { increase, masked } from './put-code.ts';

/** Integers of up to 15 digits, and powers of ten up to 10^15, are exact doubles. */
const digitsMax = 15;

/** Result of `scanDecimal`, from the lowest bit: sign, has a point, scale, digits as integer. */
const scanned = { isNegative: 1n, hasPoint: 2n, scaleShift: 2n, scaleMask: 0x1fn, valueShift: 8n };

export const isNegative = (decimal: Local): Code => i32.wrap(masked(decimal.get, scanned.isNegative));
export const hasPoint = (decimal: Local): Code => i32.wrap(masked(decimal.get, scanned.hasPoint));
export const valueOf = (decimal: Local): Code => i64.shr(decimal.get, i64.const(scanned.valueShift));
export const scaleOf = (decimal: Local): Code =>
  i32.wrap(masked(i64.shr(decimal.get, i64.const(scanned.scaleShift)), scanned.scaleMask));

const variables = {
  start: 'i32',
  end: 'i32',
  digit: 'i32',
  negative: 'i32',
  point: 'i32',
  scale: 'i32',
  length: 'i32',
  value: 'i64',
  word: 'i64',
  found: 'i64',
  bits: 'i64',
} as const;
type Variables = Readonly<Record<keyof typeof variables, Local>>;

const none = leaveWith(i64.const(-1n));

const eight = (byte: number): Code => i64.const(BigInt.asIntN(64, BigInt(byte) * 0x0101010101010101n));

/** Moves the bytes before the point up, and puts '0' at the start. */
const takeOutPoint = (v: Variables): Code =>
  sequence(
    v.point.set(i32.const(1)),
    increase(v.length, -1),
    // Only the lowest set bit of `found` is reliable: the top bit of the point's byte.
    v.bits.set(i64.sub(i64.trailingZeros(v.found.get), i64.const(7n))),
    v.scale.set(i32.shr(i32.sub(i32.const(56), i32.wrap(v.bits.get)), i32.const(3))),
    v.word.set(
      i64.or(
        i64.or(
          i64.and(v.word.get, i64.shl(i64.shl(i64.const(-1n), v.bits.get), i64.const(8n))),
          i64.const(BigInt(ZERO)),
        ),
        i64.shl(
          i64.and(v.word.get, i64.sub(i64.shl(i64.const(1n), v.bits.get), i64.const(1n))),
          i64.const(8n),
        ),
      ),
    ),
  );

/** Combines digits into pairs, pairs into fours, and fours into the number. */
const addUpDigits = (v: Variables): Code => {
  const pairs = 0x000000ff000000ffn;
  return sequence(
    v.word.set(i64.sub(v.word.get, eight(ZERO))),
    v.word.set(i64.add(i64.mul(v.word.get, i64.const(10n)), i64.shr(v.word.get, i64.const(8n)))),
    v.value.set(
      i64.shr(
        i64.add(
          i64.mul(masked(v.word.get, pairs), i64.const(100n + (1_000_000n << 32n))),
          i64.mul(masked(i64.shr(v.word.get, i64.const(16n)), pairs), i64.const(1n + (10_000n << 32n))),
        ),
        i64.const(32n),
      ),
    ),
  );
};

/**
 * Parses up to eight bytes without a loop, whose end the processor could not predict. D. Lemire,
 * "Quickly parsing eight digits", 2018. Finds the point as in "Bit Twiddling Hacks", Determine if a
 * word has a zero byte.
 */
const scanWord = (v: Variables): Code => {
  const notDigits = i64.or(
    i64.xor(i64.and(v.word.get, eight(0xf0)), eight(0x30)),
    i64.xor(i64.and(i64.add(v.word.get, eight(6)), eight(0xf0)), eight(0x30)),
  );
  return sequence(
    v.bits.set(i64.extend(i32.shl(i32.sub(i32.const(8), v.length.get), i32.const(3)))),
    v.word.set(
      i64.or(
        i64.shl(i64.shr(i64.load(i32.sub(v.end.get, i32.const(8))), v.bits.get), v.bits.get),
        i64.and(eight(ZERO), i64.sub(i64.shl(i64.const(1n), v.bits.get), i64.const(1n))),
      ),
    ),
    v.found.set(i64.xor(v.word.get, eight(POINT))),
    v.found.set(i64.and(i64.and(i64.sub(v.found.get, eight(1)), i64.not(v.found.get)), eight(0x80))),
    when(i32.isZero(i64.isZero(v.found.get)), takeOutPoint(v)),
    when(i32.isZero(i64.isZero(notDigits)), none),
    addUpDigits(v),
  );
};

const scanBytes = (v: Variables): Code =>
  loopWhile(
    i32.lt(v.start.get, v.end.get),
    v.digit.set(i32.sub(i32.loadByte(v.start.get), i32.const(ZERO))),
    increase(v.start, 1),
    whenElse(
      i32.lt(v.digit.get, i32.const(10)),
      v.value.set(i64.add(i64.mul(v.value.get, i64.const(10n)), i64.extend(v.digit.get))),
      sequence(
        when(i32.or(i32.ne(v.digit.get, i32.const(POINT - ZERO)), v.point.get), none),
        v.point.set(i32.const(1)),
        v.scale.set(i32.sub(v.end.get, v.start.get)),
        increase(v.length, -1),
      ),
    ),
  );

/** (start, end) -> `[+-]?digits[.digits]` of up to 15 digits, packed as in `scanned`, or -1. */
export const scanDecimal = functionOf(
  2,
  variables,
  (v) => {
    const isOutside = (most: number): Code =>
      // A length of 0 or less becomes a large unsigned number.
      i32.gt(i32.sub(v.length.get, i32.const(1)), i32.const(most - 1));
    return sequence(
      v.negative.set(i32.eq(i32.loadByte(v.start.get), i32.const(MINUS))),
      v.start.set(
        i32.add(v.start.get, i32.or(v.negative.get, i32.eq(i32.loadByte(v.start.get), i32.const(PLUS)))),
      ),
      v.length.set(i32.sub(v.end.get, v.start.get)),
      when(isOutside(digitsMax + 1), none),
      whenElse(i32.le(v.length.get, i32.const(8)), scanWord(v), scanBytes(v)),
      when(isOutside(digitsMax), none),
      i64.or(
        i64.shl(v.value.get, i64.const(scanned.valueShift)),
        i64.extend(
          i32.or(
            i32.or(v.negative.get, i32.shl(v.point.get, i32.const(1))),
            i32.shl(v.scale.get, i32.const(Number(scanned.scaleShift))),
          ),
        ),
      ),
    );
  },
  'i64',
);
