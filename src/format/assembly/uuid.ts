// UUIDs, 16 digits at a time.

import { MINUS } from './bytes';
import { putInt32 } from './put';

const bareLength: usize = 32;
const hyphenatedLength: usize = 36;
const bracedLength: usize = 38;

let isHex: bool = true;

/** Turns 16 hexadecimal digits into 16 numbers; clears `isHex` if another byte is among them. */
@inline
function valuesOf(digits: v128): v128 {
  const isDigit = i8x16.lt_u(i8x16.sub(digits, i8x16.splat(0x30)), i8x16.splat(10));
  const lower = v128.or(digits, i8x16.splat(0x20));
  const isLetter = i8x16.lt_u(i8x16.sub(lower, i8x16.splat(0x61)), i8x16.splat(6));
  isHex = isHex && i8x16.all_true(v128.or(isDigit, isLetter));
  // The low bits of the letters a to f are 1 to 6.
  return i8x16.add(v128.and(digits, i8x16.splat(0x0f)), v128.and(isLetter, i8x16.splat(9)));
}

/** Combines pairs of numbers; each byte is the low byte of a 16-bit lane. */
@inline
function pairsOf(values: v128): v128 {
  return v128.and(v128.or(i16x8.shl(values, 4), i16x8.shr_u(values, 8)), i16x8.splat(0xff));
}

/** (column, start, end, out) -> address after the value, or 0: TypeScript must decide. */
export function readUuid(column: usize, start: usize, end: usize, out: usize): usize {
  let length = end - start;
  if (length == bracedLength) {
    if (load<u8>(start) != 0x7b || load<u8>(end - 1) != 0x7d) return 0;
    start += 1;
    length = hyphenatedLength;
  }
  let first = v128.load(start);
  let last = v128.load(start, 16);
  if (length == hyphenatedLength) {
    if (load<u8>(start, 8) != MINUS || load<u8>(start, 13) != MINUS) return 0;
    if (load<u8>(start, 18) != MINUS || load<u8>(start, 23) != MINUS) return 0;
    const tail = v128.load(start, 20);
    // Leaves out the hyphens at 8, 13, 18 and 23. Indexes above 15 are of the second operand.
    first = i8x16.shuffle(first, last, 0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 14, 15, 16, 17);
    last = i8x16.shuffle(last, tail, 3, 4, 5, 6, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  } else if (length != bareLength) return 0;
  isHex = true;
  const high = valuesOf(first);
  const low = valuesOf(last);
  if (!isHex) return 0;
  putInt32(out, 16);
  v128.store(out, i8x16.narrow_i16x8_u(pairsOf(high), pairsOf(low)), 4);
  return out + 20;
}
