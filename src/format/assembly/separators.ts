// Rewrites numbers with a decimal comma or thousands separators.

import { numberDecimal, numberThousands, numberThousandsBytes } from './layouts';
import { numberBytesMax, plainAt } from './memory';
import { COMMA, digitAt, isDigitBefore, MINUS, PLUS, POINT } from './bytes';

/** Not 0: the column's numbers have other separators than the server's. */
@inline
export function isSpelled(column: usize): u32 {
  return load<u32>(column, numberDecimal);
}

@inline
function isSeparator(at: usize, end: usize, separator: u32, width: usize): bool {
  return at < end && (load<u32>(at) & ((1 << (width << 3)) - 1)) == separator;
}

/**
 * (column, start, end) -> end of the rewritten number at `plainAt`, or 0: wrong separators. Each
 * separator has three digits after it, and before it one to three without a leading 0.
 */
export function plainNumber(column: usize, start: usize, end: usize): usize {
  if (end - start > <usize>numberBytesMax) return 0;
  const separator = load<u32>(column, numberThousands);
  const width = <usize>load<u32>(column, numberThousandsBytes);
  let to: usize = plainAt;
  const sign = <u32>load<u8>(start);
  if (sign == PLUS || sign == MINUS) {
    store<u8>(to++, <u8>sign);
    start += 1;
  }
  let from = start;
  while (isDigitBefore(start, end)) store<u8>(to++, load<u8>(start++));
  if (isSeparator(start, end, separator, width)) {
    if (start - from - 1 > 2 || digitAt(from) == 0) return 0;
    while (isSeparator(start, end, separator, width)) {
      start += width;
      from = start;
      while (isDigitBefore(start, end)) store<u8>(to++, load<u8>(start++));
      if (start - from != 3) return 0;
    }
  }
  const hasComma = load<u32>(column, numberDecimal) == COMMA;
  while (start < end) {
    if (isSeparator(start, end, separator, width)) return 0;
    const byte = <u32>load<u8>(start++);
    if (hasComma && byte == POINT) return 0;
    store<u8>(to++, <u8>(hasComma && byte == COMMA ? POINT : byte));
  }
  return to;
}
