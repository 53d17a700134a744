// Numeric: groups of four digits, 16 digits at a time.

import { numericDecimalsMax, numericIntegersMax, numericRounds } from './layouts';
import { digitsAt, exponentAt, mantissaAt, numberBytesMax, plainAt } from './memory';
import { bitsBefore, digitAt, MINUS, NINE, PLUS, POINT, ZERO } from './bytes';
import { scanFloat } from './float';
import { copyBytes, putInt16, putInt32 } from './put';
import { isSpelled, plainNumber } from './separators';
import { infinity, negativeInfinity, notANumber, scanSpecial } from './special';

const fourZeros: u32 = 0x30303030;
/** Means no limit: a numeric without a precision. */
const integerDigitsMax: u32 = 131_072;
/** A number of 19 digits, a point and this exponent fits into `numberBytesMax`. */
const exponentMax: i32 = 100;

/** Writes NaN and infinity, but a numeric with a precision has no infinity. */
function putSpecial(column: usize, start: usize, end: usize, out: usize): usize {
  const found = scanSpecial(start, end);
  let sign: u32 = 0;
  if (found == notANumber) sign = 0xc000;
  else if (load<u32>(column, numericIntegersMax) == integerDigitsMax) {
    if (found == infinity) sign = 0xd000;
    if (found == negativeInfinity) sign = 0xf000;
  }
  if (sign == 0) return 0;
  putInt32(out, 8);
  store<u32>(out, 0, 4);
  putInt16(out + 8, sign);
  store<u16>(out, 0, 10);
  return out + 12;
}

/** Reads a number with an exponent as one without: 1.50e1 as 15.0. `start` is after the sign. */
function readPower(column: usize, negative: u32, start: usize, end: usize, out: usize): usize {
  // A number with separators is at `plainAt`, where the new number is written.
  if (isSpelled(column) != 0) return 0;
  if (<u32>load<u8>(start) < POINT || scanFloat(start, end) == 0) return 0;
  let value = load<u64>(mantissaAt);
  const exponent = load<i32>(exponentAt);
  if (<u32>(exponent + exponentMax) > 2 * <u32>exponentMax) return 0;
  let to: usize = plainAt + numberBytesMax;
  for (let left = -exponent; left > 0; left -= 1) {
    store<u8>(--to, <u8>(ZERO + <u32>(value % 10)));
    value /= 10;
  }
  if (exponent < 0) store<u8>(--to, <u8>POINT);
  for (let left = exponent; left > 0; left -= 1) store<u8>(--to, <u8>ZERO);
  do {
    store<u8>(--to, <u8>(ZERO + <u32>(value % 10)));
    value /= 10;
  } while (value != 0);
  if (negative != 0) store<u8>(--to, <u8>MINUS);
  return readNumeric(column, to, plainAt + numberBytesMax, out);
}

/** Returns the address of the point, `end` if there is none, or 0 if other bytes are found. */
@inline
function findPoint(start: usize, end: usize): usize {
  let point = end;
  for (let at = start; at < end; at += 16) {
    const digits = i8x16.sub(v128.load(at), i8x16.splat(0x30));
    const others = <u32>i8x16.bitmask(i8x16.gt_u(digits, i8x16.splat(9))) & bitsBefore(at, end);
    if (others == 0) continue;
    if (point != end || (others & (others - 1)) != 0) return 0;
    point = at + ctz(others);
    if (load<u8>(point) != POINT) return 0;
  }
  return point;
}

/**
 * Checks the digits beyond the scale: they are 0, or, if the column rounds, rounding adds no digit.
 * `start` is the first digit that is not 0.
 */
function mayDropDecimals(column: usize, start: usize, point: usize, end: usize): bool {
  const decimalsMax = load<u32>(column, numericDecimalsMax);
  if (load<u32>(column, numericRounds) != 0) {
    // Rounding adds a digit only to a number that begins with 9.
    if (<u32>(point - start) != load<u32>(column, numericIntegersMax)) return true;
    return digitAt(start + <usize>(start == point)) != 9;
  }
  for (let at = point + 1 + decimalsMax; at < end; at += 1) if (load<u8>(at) != ZERO) return false;
  return true;
}

/** Writes the digits at `digitsAt` as groups of four; returns the address after the last group. */
@inline
function putGroups(to: usize, out: usize): void {
  for (let at: usize = digitsAt; at < to; at += 16) {
    const digits = i8x16.sub(v128.load(at), i8x16.splat(0x30));
    const pairs = i16x8.add(
      i16x8.mul(v128.and(digits, i16x8.splat(0xff)), i16x8.splat(10)),
      i16x8.shr_u(digits, 8),
    );
    const fours = i32x4.dot_i16x8_s(pairs, i16x8(100, 1, 100, 1, 100, 1, 100, 1));
    v128.store(out, i8x16.shuffle(fours, fours, 1, 0, 5, 4, 9, 8, 13, 12, 1, 0, 5, 4, 9, 8, 13, 12));
    out += 8;
  }
}

/** (column, start, end, out) -> address after the value, or 0: TypeScript must decide. */
export function readNumeric(column: usize, start: usize, end: usize, out: usize): usize {
  if (isSpelled(column) != 0) {
    end = plainNumber(column, start, end);
    if (end == 0) return 0;
    start = plainAt;
  }
  // All letters have higher codes than digits and points.
  if (load<u8>(end - 1) > NINE) return putSpecial(column, start, end, out);
  const first = <u32>load<u8>(start);
  let negative = <u32>(first == MINUS);
  start += negative | <u32>(first == PLUS);
  if (end - start > <usize>numberBytesMax) return 0;
  const point = findPoint(start, end);
  if (point == 0) return readPower(column, negative, start, end, out);
  const isWhole = point == end;
  if (start + <usize>!isWhole == end) return 0;
  const decimals = <u32>(end - point) - <u32>!isWhole;
  while (start < point && load<u8>(start) == ZERO) start += 1;
  const integers = <u32>(point - start);
  if (integers > load<u32>(column, numericIntegersMax)) return 0;
  if (decimals > load<u32>(column, numericDecimalsMax) && !mayDropDecimals(column, start, point, end))
    return 0;
  // The power of 10000 of the first group. The point falls between two groups.
  let weight = <i32>((integers + 3) >> 2) - 1;
  let at = point + 1;
  let left = decimals;
  if (integers == 0)
    while (left >= 4 && load<u32>(at) == fourZeros) {
      at += 4;
      left -= 4;
      weight -= 1;
    }
  store<u32>(digitsAt, fourZeros);
  let to = digitsAt + <usize>((0 - integers) & 3);
  copyBytes(to, start, integers);
  to += integers;
  copyBytes(to, at, left);
  to += left;
  store<u32>(to, fourZeros);
  putGroups(to, out + 12);
  let last = out + (((to - digitsAt + 3) >> 2) << 1);
  while (last != out && load<u16>(last, 10) == 0) last -= 2;
  const groups = <u32>(last - out) >> 1;
  if (groups == 0) {
    weight = 0;
    negative = 0;
  }
  putInt32(out, 8 + 2 * groups);
  putInt16(out + 4, groups);
  putInt16(out + 6, weight);
  putInt16(out + 8, negative << 14);
  putInt16(out + 10, decimals);
  return last + 12;
}
