// Tokens: texts with a meaning, such as nulls. Their lists are hash tables: see layouts.ts.

import * as state from './state';
import { ZERO } from './bytes';
import {
  lineTokenBytes,
  lineValueAt,
  tokenAt,
  tokenBytes,
  tokenKey,
  tokenLength,
  tokensFirst,
  tokensPlaces,
  tokensShift,
  tokenValueAt,
  tokenValueBytes,
} from './layouts';
import { swap64 } from './put';

/** Factor of the hash: 2^64 divided by the golden ratio. D. E. Knuth, TAOCP 3, 6.4. */
const hashFactor: u64 = 0x9e3779b97f4a7c15;

/** The key has only the last eight bytes, so this compares the bytes before them. */
function isSame(token: usize, start: usize, end: usize): bool {
  const text = <usize>load<u32>(token, tokenAt);
  for (let at: usize = 0; start + at + 8 < end; at += 1)
    if (load<u8>(text + at) != load<u8>(start + at)) return false;
  return true;
}

/** (list, start, end) -> address of the token that equals the field, or 0. */
export function findToken(list: usize, start: usize, end: usize): usize {
  const length = <u32>(end - start);
  let key: u64 = 0;
  if (length != 0) {
    key = load<u64>(end - 8);
    if (length < 8) key >>= 64 - ((<u64>length) << 3);
  }
  let place = <u32>(((key + length) * hashFactor) >> <u64>load<u32>(list, tokensShift));
  let token = list + tokensFirst + <usize>place * tokenBytes;
  for (
    let found = load<u32>(token, tokenLength);
    found != 0xffffffff;
    found = load<u32>(token, tokenLength)
  ) {
    if (found == length && load<u64>(token, tokenKey) == key && isSame(token, start, end)) return token;
    place = (place + 1) & (load<u32>(list, tokensPlaces) - 1);
    token = list + tokensFirst + <usize>place * tokenBytes;
  }
  return 0;
}

/** Writes a record's line, counted from 1, into the token of the column `_line`. */
export function putLine(token: usize, line: u64): void {
  if (load<u32>(state.isTextFormat) == 0) {
    store<u64>(token, swap64(line), lineValueAt + 4);
    return;
  }
  const end = token + lineTokenBytes;
  let at = end;
  for (; line != 0; line /= 10) store<u8>(--at, <u8>(ZERO + <u32>(line % 10)));
  store<u32>(token, <u32>at, tokenValueAt);
  store<u32>(token, <u32>(end - at), tokenValueBytes);
}
