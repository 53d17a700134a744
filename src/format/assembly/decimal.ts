// Decimals of up to 15 digits, which are exact doubles.

import { masksAt, shufflesAt } from './memory';
import { MINUS, PLUS } from './bytes';

/** Result of `scanDecimal` for other texts. */
export const noDecimal: i64 = -1;

/** Parts of the result of `scanDecimal`, from the lowest bit: sign, point, scale, digits. */
@inline
export function isNegative(decimal: i64): u32 {
  return <u32>decimal & 1;
}
@inline
export function scaleOf(decimal: i64): usize {
  return (<usize>decimal >> 2) & 0x1f;
}
@inline
export function valueOf(decimal: i64): i64 {
  return decimal >> 8;
}

/** The number of 16 digits, which are bytes 0 to 9: pairs become numbers, then fours, then eights. */
@inline
export function sumOf(digits: v128): u64 {
  const pairs = i16x8.add(
    i16x8.mul(v128.and(digits, i16x8.splat(0xff)), i16x8.splat(10)),
    i16x8.shr_u(digits, 8),
  );
  const fours = i32x4.dot_i16x8_s(pairs, i16x8(100, 1, 100, 1, 100, 1, 100, 1));
  const eights = i32x4.dot_i16x8_s(
    i16x8.narrow_i32x4_u(fours, fours),
    i16x8(10000, 1, 10000, 1, 10000, 1, 10000, 1),
  );
  const both = <u64>i64x2.extract_lane(eights, 0);
  return (both & 0xffffffff) * 100_000_000 + (both >> 32);
}

/** Means that a byte is not a digit. */
export const noDigits: u64 = u64.MAX_VALUE;

/** (end, count) -> the number of the last `count` bytes before `end`, at most 16, or `noDigits`. */
@inline
export function digitsBefore(end: usize, count: usize): u64 {
  const v = v128.and(v128.xor(v128.load(end - 16), i8x16.splat(0x30)), v128.load(masksAt + count));
  return v128.any_true(i8x16.gt_u(v, i8x16.splat(9))) ? noDigits : sumOf(v);
}

/** (start, end) -> `[+-]?digits[.digits]` of up to 15 digits, packed, or `noDecimal`. */
export function scanDecimal(start: usize, end: usize): i64 {
  const first = <u32>load<u8>(start);
  const negative = <u32>(first == MINUS);
  start += negative | <u32>(first == PLUS);
  let length = end - start;
  if (length - 1 > 15) return noDecimal;
  let v = v128.and(v128.xor(v128.load(end - 16), i8x16.splat(0x30)), v128.load(masksAt + length));
  const points = <u32>i8x16.bitmask(i8x16.eq(v, i8x16.splat(0x1e)));
  let scale: u32 = 0;
  if (points != 0) {
    const place = ctz(points);
    if ((points & (points - 1)) != 0) return noDecimal;
    scale = 15 - place;
    length -= 1;
    v = i8x16.swizzle(v, v128.load(shufflesAt + 16 * <usize>place));
  }
  if (length - 1 > 14 || v128.any_true(i8x16.gt_u(v, i8x16.splat(9)))) return noDecimal;
  const value = sumOf(v);
  return <i64>((value << 8) | (<u64>scale << 2) | (<u64>(points != 0) << 1) | <u64>negative);
}
