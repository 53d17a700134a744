// Finds the double nearest to a decimal.

import {
  exponentAt,
  fiveBytes,
  fiveHigh,
  fiveLeast,
  fiveLow,
  fiveMost,
  fivesAt,
  mantissaAt,
  masksAt,
  powersAt,
} from './memory';
import { digitAt, isDigitBefore, MINUS, PLUS, POINT } from './bytes';
import { sumOf } from './decimal';
import { infinity, negativeInfinity, notANumber, scanSpecial } from './special';

/** Means that TypeScript must decide: no routine returns these bits as a value. */
export const noDouble: i64 = -1;

export const floatIsSure: u32 = 1;
export const floatIsNegative: u32 = 2;
export const floatIsWhole: u32 = 4;

/** Integers of up to 19 digits fit into a u64. */
const digitsMax: u32 = 19;

/**
 * (start, end) -> flags of `[+-]?(digits[.digits]|.digits)([eE][+-]?digits)?` with at most 19
 * digits, or 0. Stores the digits at `mantissaAt`, their power of ten at `exponentAt`.
 */
export function scanFloat(start: usize, end: usize): u32 {
  const first = <u32>load<u8>(start);
  let flags = floatIsSure + floatIsWhole + (first == MINUS ? floatIsNegative : 0);
  start += <usize>(first == MINUS || first == PLUS);
  let value: u64 = 0;
  let digits: u32 = 0;
  // The 20 digits of 2^64 leave 0 in `value`, so `significant` is counted separately.
  let significant: u32 = 0;
  let scale: i32 = 0;
  for (let part = 0; part < 2; part += 1) {
    const from = start;
    while (isDigitBefore(start, end)) {
      value = value * 10 + digitAt(start);
      significant += <u32>(significant != 0 || value != 0);
      start += 1;
    }
    digits += <u32>(start - from);
    if (part == 1) scale = <i32>(start - from);
    else if (start < end && load<u8>(start) == POINT) {
      flags &= ~floatIsWhole;
      start += 1;
    } else break;
  }
  if (digits == 0 || significant > digitsMax) return 0;
  let exponent: i32 = 0;
  if (start < end) {
    if ((load<u8>(start) | 0x20) != 0x65) return 0;
    flags &= ~floatIsWhole;
    start += 1;
    const sign = <u32>load<u8>(start);
    start += <usize>(sign == MINUS || sign == PLUS);
    const from = start;
    while (isDigitBefore(start, end)) {
      exponent = exponent * 10 + digitAt(start);
      start += 1;
    }
    if (start - from - 1 > 3 || start < end) return 0;
    if (sign == MINUS) exponent = -exponent;
  }
  store<u64>(mantissaAt, value);
  store<i32>(exponentAt, exponent - scale);
  return flags;
}

let high: u64 = 0;
let low: u64 = 0;

/** Sets `high` and `low` to the product of two u64. */
function multiply(one: u64, other: u64): void {
  const lows = (one & 0xffffffff) * (other & 0xffffffff);
  const middles = (one >> 32) * (other & 0xffffffff) + (lows >> 32);
  const others = (one & 0xffffffff) * (other >> 32) + (middles & 0xffffffff);
  high = (one >> 32) * (other >> 32) + (middles >> 32) + (others >> 32);
  low = (others << 32) | (lows & 0xffffffff);
}

/**
 * (value, power) -> bits of the double nearest to value * 10^power; `noDouble` if not normal.
 * D. Lemire, "Number Parsing at a Gigabyte per Second", 2021.
 */
export function nearestDouble(value: u64, power: i32): i64 {
  if (value == 0) return 0;
  const place = <u32>(power - fiveLeast);
  if (place > <u32>(fiveMost - fiveLeast)) return noDouble;
  const five = fivesAt + fiveBytes * <usize>place;
  const zeros = clz(value);
  value <<= zeros;
  multiply(value, load<u64>(five, fiveHigh));
  // The low half of the power matters only if all bits to round off are 1.
  if ((high & 0x1ff) == 0x1ff) {
    const upper = high;
    const lower = low;
    multiply(value, load<u64>(five, fiveLow));
    low = lower + high;
    high = upper + <u64>(high > low);
  }
  if (low == u64.MAX_VALUE) return noDouble;
  const shift = (high >> 63) + 9;
  let mantissa = high >> shift;
  // Only for these powers can a number be exactly between two doubles: then the even one is taken.
  if (<u32>(power + 4) <= 27 && low <= 1 && mantissa << shift == high && (mantissa & 3) == 1) mantissa -= 1;
  mantissa = (mantissa + (mantissa & 1)) >> 1;
  // 217706 / 2^16 approximates the base-2 logarithm of 10.
  const exponent = ((power * 217_706) >> 16) + <i32>(shift + 1077 - zeros);
  if (<u32>(exponent - 1) > 2044) return noDouble;
  // The mantissa's highest bit adds 1 to the exponent, so 1 is subtracted here.
  return <i64>((<u64>(exponent - 1) << 52) + mantissa);
}

function scanUnusualDouble(start: usize, end: usize): i64 {
  const flags = scanFloat(start, end);
  if (flags == 0) {
    const found = scanSpecial(start, end);
    if (found == notANumber) return 0x7ff8000000000000;
    if (found == infinity) return 0x7ff0000000000000;
    return found == negativeInfinity ? -0x10000000000000 : noDouble;
  }
  const bits = nearestDouble(load<u64>(mantissaAt), load<i32>(exponentAt));
  if (bits == noDouble) return noDouble;
  return bits | (<i64>(flags & floatIsNegative) << 62);
}

/** (value, scale) -> bits of the double nearest to value / 10^scale. */
@inline
function quotient(value: u64, scale: usize): i64 {
  // 2^53: the division rounds once.
  if (value > 0x20000000000000) return nearestDouble(value, -(<i32>scale));
  return reinterpret<i64>(<f64>value / load<f64>(powersAt + 8 * scale));
}

/**
 * (start, end) -> bits of the nearest double, or `noDouble`. Takes up to 19 digits with a point in
 * two vectors of 16 bytes, aligned at the end: the bytes up to the point are replaced by the bytes
 * before them. So there is no loop or branch that depends on the number's length.
 *
 * Dividing an integer up to 2^53 by a power of ten up to 10^22 rounds once: W. D. Clinger, "How to
 * Read Floating Point Numbers Accurately", 1990.
 */
export function scanDouble(start: usize, end: usize): i64 {
  const first = <u32>load<u8>(start);
  const length = end - start - <usize>(first == MINUS || first == PLUS);
  if (length - 1 > 19) return scanUnusualDouble(start, end);
  const zeros = i8x16.splat(0x30);
  const high = v128.xor(v128.load(end - 32), zeros);
  const low = v128.xor(v128.load(end - 16), zeros);
  const point = i8x16.splat(0x1e);
  const found = <u32>i8x16.bitmask(i8x16.eq(high, point)) | (<u32>i8x16.bitmask(i8x16.eq(low, point)) << 16);
  const points = found & (<u32>0xffffffff << (32 - <u32>length));
  const place = points == 0 ? -1 : <i32>ctz(points);
  const count = length - <usize>(points != 0);
  const lanes = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const upper = v128.and(
    v128.bitselect(v128.xor(v128.load(end - 33), zeros), high, i8x16.le_s(lanes, i8x16.splat(<i8>place))),
    v128.load(masksAt + (count > 16 ? count - 16 : 0)),
  );
  const lower = v128.and(
    v128.bitselect(v128.xor(v128.load(end - 17), zeros), low, i8x16.le_s(lanes, i8x16.splat(<i8>(place - 16)))),
    v128.load(masksAt + (count < 16 ? count : 16)),
  );
  // A second point is not a digit.
  const isOther = v128.any_true(i8x16.gt_u(i8x16.max_u(upper, lower), i8x16.splat(9)));
  if (isOther || count - 1 > 18) return scanUnusualDouble(start, end);
  const value = sumOf(upper) * 10_000_000_000_000_000 + sumOf(lower);
  return quotient(value, points == 0 ? 0 : 31 - place) | (<i64>(first == MINUS) << 63);
}
