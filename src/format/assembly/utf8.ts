// Checks UTF-8, 16 bytes at a time: J. Keiser and D. Lemire, "Validating UTF-8 in less than one
// instruction per byte", 2020. The tables have a bit for each error of the first two bytes.

import { masksAt } from './memory';

@inline
function nibbles(table: v128, indexes: v128): v128 {
  return i8x16.swizzle(table, indexes);
}

/** The bytes of `input` that are wrong after those of `previous`: not 0. */
@inline
export function utf8Errors(input: v128, previous: v128): v128 {
  const back1 = i8x16.shuffle(previous, input, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  const back2 = i8x16.shuffle(previous, input, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
  const back3 = i8x16.shuffle(previous, input, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28);
  const ofFirstHigh = nibbles(
    i8x16(2, 2, 2, 2, 2, 2, 2, 2, -0x80, -0x80, -0x80, -0x80, 0x21, 0x01, 0x15, 0x49),
    i8x16.shr_u(back1, 4),
  );
  const ofFirstLow = nibbles(
    i8x16(-0x19, -0x5d, -0x7d, -0x7d, -0x75, -0x35, -0x35, -0x35, -0x35, -0x35, -0x35, -0x35, -0x35, -0x25, -0x35, -0x35),
    v128.and(back1, i8x16.splat(0x0f)),
  );
  const ofSecond = nibbles(
    i8x16(1, 1, 1, 1, 1, 1, 1, 1, -0x1a, -0x52, -0x46, -0x46, 1, 1, 1, 1),
    i8x16.shr_u(input, 4),
  );
  const ofTwo = v128.and(v128.and(ofFirstHigh, ofFirstLow), ofSecond);
  // The third byte after e0 to ff, and the fourth after f0 to ff, must be continuation bytes.
  const third = i8x16.sub_sat_u(back2, i8x16.splat(0x60));
  const fourth = i8x16.sub_sat_u(back3, i8x16.splat(0x70));
  return v128.xor(v128.and(v128.or(third, fourth), i8x16.splat(-0x80)), ofTwo);
}

/** (from, to) -> true if the bytes are UTF-8 without NUL. */
export function isText(from: usize, to: usize): bool {
  let errors = i8x16.splat(0);
  let previous = i8x16.splat(0);
  for (let at = from; at < to; at += 16) {
    const left = to - at;
    // Keeps the first `left` bytes, and makes the others blanks.
    const beyond = left < 16 ? v128.load(masksAt + 16 - left) : i8x16.splat(0);
    const bytes = v128.bitselect(i8x16.splat(0x20), v128.load(at), beyond);
    errors = v128.or(errors, v128.or(utf8Errors(bytes, previous), i8x16.eq(bytes, i8x16.splat(0))));
    previous = bytes;
  }
  // A character that is cut off at the end has an error in the next bytes.
  return !v128.any_true(v128.or(errors, utf8Errors(i8x16.splat(0x20), previous)));
}
