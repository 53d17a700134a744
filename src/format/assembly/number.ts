// Integers and floats.

import { integerBytes, integerLeast, integerMost } from './layouts';
import { mantissaAt, plainAt } from './memory';
import { digitAt, MINUS, PLUS } from './bytes';
import { digitsBefore, noDigits } from './decimal';
import { floatIsWhole, noDouble, scanDouble, scanFloat } from './float';
import { putEight, putFour, putInt16 } from './put';
import { isSpelled, plainNumber } from './separators';

/** Means no integer: outside of what a column may have. */
const noInteger: i64 = i64.MIN_VALUE;

/** Is the value -2^63, which `noInteger` is, too? */
let isLeast: bool = false;

@inline
function signed(value: u64, negative: u32): i64 {
  if (value > 0x7fffffffffffffff + <u64>negative) return noInteger;
  isLeast = value == 0x8000000000000000;
  return negative != 0 ? -(<i64>value) : <i64>value;
}

/** Integers of more than eight digits: 16 at once, and up to three before them. */
function scanLong(start: usize, end: usize, negative: u32): i64 {
  const length = end - start;
  if (length == 0) return noInteger;
  if (length > 19) {
    // Zeros before the number, but no second sign.
    if (digitAt(start) > 9 || (scanFloat(start, end) & floatIsWhole) == 0) return noInteger;
    return signed(load<u64>(mantissaAt), negative);
  }
  const last: usize = length < 16 ? length : 16;
  const upper = digitsBefore(end - last, length - last);
  const lower = digitsBefore(end, last);
  if (upper == noDigits || lower == noDigits) return noInteger;
  return signed(upper * 10_000_000_000_000_000 + lower, negative);
}

/** (start, end) -> the integer, or `noInteger`. Eight digits at once: D. Lemire, 2018. */
@inline
function scanInteger(start: usize, end: usize): i64 {
  const first = <u32>load<u8>(start);
  const from = start + <usize>(first == MINUS || first == PLUS);
  const length = end - from;
  if (length - 1 > 7) return scanLong(from, end, <u32>(first == MINUS));
  const unused = <u64>(8 - length) << 3;
  let v = (load<u64>(from) << unused) ^ (<u64>0x3030303030303030 << unused);
  if ((((v + 0x7676767676767676) | v) & 0x8080808080808080) != 0) return noInteger;
  v = v * 10 + (v >> 8);
  v =
    ((v & 0x000000ff000000ff) * 0x000f424000000064 + ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
    32;
  const value = <i64>(v & 0xffffffff);
  return first == MINUS ? -value : value;
}

/** (column, start, end, out) -> address after the value, or 0: TypeScript must decide. */
export function readInteger(column: usize, start: usize, end: usize, out: usize): usize {
  if (isSpelled(column) != 0) {
    end = plainNumber(column, start, end);
    if (end == 0) return 0;
    start = plainAt;
  }
  const value = scanInteger(start, end);
  if (value == noInteger) {
    if (!isLeast) return 0;
    isLeast = false;
  }
  if (value < load<i64>(column, integerLeast) || value > load<i64>(column, integerMost)) return 0;
  const bytes = load<u32>(column, integerBytes);
  if (bytes == 4) return putFour(out, <u32>value);
  if (bytes == 8) return putEight(out, <u64>value);
  store<u32>(out, 0x02000000);
  putInt16(out + 4, <u32>value);
  return out + 6;
}

@inline
function doubleOf(column: usize, start: usize, end: usize): i64 {
  if (isSpelled(column) == 0) return scanDouble(start, end);
  end = plainNumber(column, start, end);
  return end == 0 ? noDouble : scanDouble(plainAt, end);
}

export function readDouble(column: usize, start: usize, end: usize, out: usize): usize {
  const bits = doubleOf(column, start, end);
  return bits == noDouble ? 0 : putEight(out, <u64>bits);
}

const exponentBits: i64 = 0x7ff0000000000000;

/**
 * Rounds a double to float4. If it is exactly between two float4, rounding twice may be wrong, and
 * TypeScript decides (types/floats.ts).
 */
export function readReal(column: usize, start: usize, end: usize, out: usize): usize {
  const bits = doubleOf(column, start, end);
  if (bits == noDouble) return 0;
  if ((bits & exponentBits) == exponentBits) {
    // Keeps sign and exponent. Moves the mantissa's highest bit, which only NaN has, by three.
    const upper = <u32>(bits >> 32);
    return putFour(out, (upper & 0xff800000) | ((upper & 0x80000) << 3));
  }
  const exponent = <u32>(bits >> 52) & 0x7ff;
  // Only zero may have an exponent that float4 lacks.
  if (exponent - (1023 - 126) > 252 && bits << 1 != 0) return 0;
  const value = reinterpret<f64>(bits);
  const single = <f32>value;
  if ((bits & 0x1fffffff) == 0x10000000 && <f64>single != value) return 0;
  return putFour(out, reinterpret<u32>(single));
}
