// Texts, and COPY's text format.

import { textCharactersMax } from './layouts';
import { BACKSLASH, bitsBefore, CR, LF, TAB } from './bytes';
import { copyBytes, putInt32 } from './put';

/** Counts characters: UTF-8 continuation bytes (10xxxxxx) are signed bytes below -64. */
function countCharacters(start: usize, end: usize): u32 {
  let characters = <u32>(end - start);
  for (let at = start; at < end; at += 16) {
    const continuations = <u32>i8x16.bitmask(i8x16.lt_s(v128.load(at), i8x16.splat(-64)));
    characters -= <u32>popcnt(continuations & bitsBefore(at, end));
  }
  return characters;
}

/** Writes a length and the bytes; returns the address after them. */
@inline
export function putText(start: usize, length: usize, out: usize): usize {
  putInt32(out, <u32>length);
  v128.store(out, v128.load(start), 4);
  v128.store(out, v128.load(start, 16), 20);
  if (length > 32) copyBytes(out + 36, start + 32, length - 32);
  return out + 4 + length;
}

/** (column, start, end, out) -> address after the value, or 0: TypeScript must decide. */
export function readText(column: usize, start: usize, end: usize, out: usize): usize {
  const length = end - start;
  const most = load<u32>(column, textCharactersMax);
  if (<u32>length > most && countCharacters(start, end) > most) return 0;
  return putText(start, length, out);
}

@inline
function escapeOf(byte: u32): u32 {
  if (byte == TAB) return 0x74;
  if (byte == LF) return 0x6e;
  if (byte == CR) return 0x72;
  return byte == BACKSLASH ? BACKSLASH : 0;
}

/** (start, end, out) -> address after the text as in COPY's text format. */
export function putCopyText(start: usize, end: usize, out: usize): usize {
  while (start < end) {
    const v = v128.load(start);
    const found = v128.or(
      v128.or(i8x16.eq(v, i8x16.splat(<i8>TAB)), i8x16.eq(v, i8x16.splat(<i8>LF))),
      v128.or(i8x16.eq(v, i8x16.splat(<i8>CR)), i8x16.eq(v, i8x16.splat(<i8>BACKSLASH))),
    );
    if (!v128.any_true(found)) {
      v128.store(out, v);
      start += 16;
      out += 16;
      continue;
    }
    const stop = start + 16 < end ? start + 16 : end;
    for (; start < stop; start += 1) {
      const byte = <u32>load<u8>(start);
      const letter = escapeOf(byte);
      if (letter != 0) store<u8>(out++, <u8>BACKSLASH);
      store<u8>(out++, <u8>(letter != 0 ? letter : byte));
    }
  }
  // Moves back, because copying 16 bytes at a time may have gone beyond the end.
  return out - (start - end);
}
