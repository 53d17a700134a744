// Finds the fields of a record, without quotes and blanks.
//
// A record's fields are entries of a list. Each entry is the address at which a field ends. The
// entry before the first one is the address at which a delimiter before the record would begin.

import * as state from './state';
import { contentAt, contentBytes, delimitersAt, groupBytes } from './memory';
import { slotBytes, slotEnd, slotPlace, slotStart } from './layouts';
import { bitsBefore, isBlank, SPACE } from './bytes';

/** The field that was found last. */
export let from: usize = 0;
export let to: usize = 0;
export let isQuoted: bool = false;

/** Address after the contents that were copied for the current record. */
let contentEnd: usize = contentAt;

@inline
export function forgetContents(): void {
  contentEnd = contentAt;
}

export function trimField(): void {
  if (from >= to || (load<u8>(from) > SPACE && load<u8>(to - 1) > SPACE)) return;
  while (from < to && isBlank(load<u8>(from))) from += 1;
  while (from < to && isBlank(load<u8>(to - 1))) to -= 1;
}

/** Returns the address of the first quote in [at, end), or `end`. */
function findQuote(at: usize, end: usize, quote: u32): usize {
  for (; at < end; at += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(<i8>quote))) & bitsBefore(at, end);
    if (found != 0) return at + ctz(found);
  }
  return end;
}

/**
 * Takes [start, end), the content of a quoted field. If it has doubled quotes, copies it and halves
 * them; a quote precedes the copy, because TypeScript recognizes quoted fields by it. False: the
 * copy has no room, and TypeScript reads the record.
 */
export function takeContent(start: usize, end: usize, quote: u32): bool {
  isQuoted = true;
  let at = start < end ? findQuote(start, end, quote) : end;
  from = start;
  to = end < start ? start : end;
  if (at >= end) return true;
  if (contentEnd + (end - start) + groupBytes > <usize>(contentAt + contentBytes)) return false;
  store<u8>(contentEnd, <u8>quote);
  from = contentEnd + 1;
  to = from + (at - start);
  memory.copy(from, start, at - start);
  while (at < end) {
    const byte = <u32>load<u8>(at);
    store<u8>(to++, <u8>byte);
    at += 1 + <usize>(byte == quote);
  }
  contentEnd = to;
  return true;
}

/**
 * (fields, place) -> sets `from`, `to` and `isQuoted`; false: TypeScript reads the record. `place`
 * is 4 times the index of the field. Content is not trimmed.
 */
export function takeField(fields: usize, place: usize): bool {
  const start = <usize>load<u32>(fields + place - 4) + load<u32>(state.delimiterBytes);
  const end = <usize>load<u32>(fields + place);
  isQuoted = false;
  from = start;
  to = end;
  const quote = load<i32>(state.quote);
  if (quote == -1) return true;
  if (load<u32>(state.trimOutside) != 0) trimField();
  const outerFrom = from;
  const outerTo = to;
  if (load<u32>(state.trim) != 0) trimField();
  if (from < to && load<u8>(from) == quote) return takeContent(from + 1, to - 1, quote);
  from = outerFrom;
  to = outerTo;
  return true;
}

/** (fields) -> 1; 0: TypeScript reads the record. Sets the slots of a record's fields. */
export function placeFields(fields: usize): u32 {
  const end = <usize>load<u32>(state.slotsEnd);
  for (let slot = <usize>load<u32>(state.slotsAt); slot < end; slot += slotBytes) {
    if (!takeField(fields, load<u32>(slot, slotPlace))) return 0;
    store<u32>(slot, <u32>from, slotStart);
    store<u32>(slot, <u32>to, slotEnd);
  }
  return 1;
}

/**
 * (end of the list) -> its new end. Keeps the delimiters' first bytes that their other bytes
 * follow. If two delimiters overlap, the first counts.
 */
export function keepDelimiters(end: usize): usize {
  const delimiter = <usize>load<u32>(state.delimiterAt);
  const length = <usize>load<u32>(state.delimiterBytes);
  let to: usize = delimitersAt;
  let free: usize = 0;
  for (let at: usize = delimitersAt; at < end; at += 4) {
    const place = <usize>load<u32>(at);
    if (place < free || memory.compare(place, delimiter, length) != 0) continue;
    store<u32>(to, <u32>place);
    to += 4;
    free = place + length;
  }
  store<u32>(to, load<u32>(end));
  return to;
}
