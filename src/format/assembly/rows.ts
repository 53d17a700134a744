// Turns records into rows for COPY.

import * as state from './state';
import {
  delimitersAt,
  endsAt,
  fieldsAt,
  innerLinesAt,
  lineEndsAt,
  linesAt,
  outEnd,
  segmentBytes,
  startsAt,
  stoppedAtEnd,
  stoppedEnough,
  stoppedFull,
  stoppedIrregular,
  stoppedUnsure,
  unwanted,
  wanted,
  windowBytes,
} from './memory';
import { columnBytes } from './layouts';
import { BACKSLASH, bitsBefore, CR, isBlank, LF, TAB } from './bytes';
import { encodeColumn } from './columns';
import { forgetContents, keepDelimiters, placeFields } from './fields';
import { isWanted } from './host';
import { putLine } from './tokens';
import { isText } from './utf8';
import {
  delimitersEnd,
  hasQuotes,
  index,
  isFaulty,
  isIrregular,
  lineEndsEnd,
  scanFields,
} from './structure';

/** Results of `encodeRow` that are not addresses. */
const isUnsure: usize = 0;
const isFiltered: usize = 1;

/** (fields, line, out) -> address after the row, or one of the above. */
@inline
function encodeRow(fields: usize, line: u32, out: usize): usize {
  forgetContents();
  if (load<u32>(state.usesSlots) != 0) {
    if (placeFields(fields) == 0) return isUnsure;
    if (load<u32>(state.filter) != 0) {
      const answer = isWanted();
      if (answer != wanted) return answer == unwanted ? isFiltered : isUnsure;
    }
  }
  const lineToken = <usize>load<u32>(state.lineAt);
  if (lineToken != 0) putLine(lineToken, load<u64>(state.blockLine) + line);
  const isText = load<u32>(state.isTextFormat) != 0;
  if (!isText) {
    store<u16>(out, <u16>load<u32>(state.rowHead));
    out += 2;
  }
  const end = <usize>load<u32>(state.columnsEnd);
  for (let column = <usize>load<u32>(state.columnsAt); column < end; column += columnBytes) {
    out = encodeColumn(column, fields, out);
    if (out == 0) return isUnsure;
    if (isText) store<u8>(out++, <u8>TAB);
  }
  if (isText) store<u8>(out - 1, <u8>LF);
  return out;
}

@inline
function roomFor(length: usize): usize {
  return <usize>load<u32>(state.rowRoom) + <usize>load<u32>(state.perByte) * length;
}

/** Lists the delimiters of a window: see `encodeSpans`. */
function listFields(from: usize, to: usize): void {
  let end = scanFields(from, to, load<u32>(state.delimiter), load<i32>(state.quote));
  if (load<u32>(state.delimiterBytes) > 1) end = keepDelimiters(end);
  store<u32>(state.next, delimitersAt);
  store<u32>(state.listEnd, <u32>end);
}

/**
 * Copies the ends of a record's fields to `fieldsAt`. Returns the list entry after them, or 0: too
 * few delimiters, or too many and `isCut` is not set.
 */
function listRecord(next: usize, start: usize, end: usize): usize {
  const between = <usize>load<u32>(state.between);
  while (load<u32>(next) < start) next += 4;
  const last = next + between;
  if (last > <usize>load<u32>(state.listEnd)) return 0;
  if (between != 0 && load<u32>(last - 4) >= end) return 0;
  let to = end;
  if (load<u32>(last) < end) {
    if (load<u32>(state.isCut) == 0) return 0;
    to = load<u32>(last);
  }
  memory.copy(fieldsAt, next, between);
  store<u32>(fieldsAt - 4, <u32>start - load<u32>(state.delimiterBytes));
  store<u32>(fieldsAt + between, <u32>to);
  return last;
}

/**
 * (record, records, shift, textFrom, textTo) -> index of the record at which it stopped. Encodes
 * records whose spans TypeScript has found: `shift` plus an offset is an address. `textTo` is 0 if
 * the window's delimiters are listed already. The state says the rest.
 */
export function encodeSpans(record: u32, records: u32, shift: u32, textFrom: usize, textTo: usize): u32 {
  if (textTo != 0) listFields(textFrom, textTo);
  let next = <usize>load<u32>(state.next);
  let out = <usize>load<u32>(state.out);
  let copied: u32 = 0;
  let filtered: u32 = 0;
  let reason: u32 = stoppedAtEnd;
  for (; record < records; record += 1) {
    const start = <usize>(load<u32>(startsAt + 4 * <usize>record) + shift);
    const end = <usize>(load<u32>(endsAt + 4 * <usize>record) + shift);
    if (out + roomFor(end - start) > <usize>outEnd) {
      reason = stoppedFull;
      break;
    }
    const last = listRecord(next, start, end);
    const after = last == 0 ? isUnsure : encodeRow(fieldsAt, load<u32>(linesAt + 4 * <usize>record), out);
    if (after == isUnsure) {
      reason = stoppedUnsure;
      break;
    }
    if (after == isFiltered) filtered += 1;
    else {
      out = after;
      copied += 1;
    }
    next = last;
  }
  store<u32>(state.next, <u32>next);
  store<u32>(state.out, <u32>out);
  store<u32>(state.copied, copied);
  store<u32>(state.filtered, filtered);
  store<u32>(state.reason, reason);
  return record;
}

/** True if the record has a backslash that may escape something. A field `\N` is null. */
function mayEscape(start: usize, end: usize): bool {
  const escape = load<i32>(state.escape);
  for (let at = start; at < end; at += 16) {
    let found =
      <u32>i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(<i8>escape))) & bitsBefore(at, end);
    for (; found != 0; found &= found - 1) {
      const place = at + <usize>ctz(found);
      if (load<u32>(state.hasNullMark) == 0 || place + 1 >= end || load<u8>(place, 1) != 0x4e) return true;
      const delimiter = load<u32>(state.delimiter);
      if (place != start && load<u8>(place - 1) != delimiter) return true;
      if (place + 2 != end && load<u8>(place, 2) != delimiter) return true;
    }
  }
  return false;
}

/** True if the line has only blanks, and no delimiter. */
function isBlankLine(start: usize, end: usize): bool {
  while (start < end && isBlank(load<u8>(start))) start += 1;
  return start == end;
}

/** The segment whose structure is listed, and how far the pass has come in it. */
let segmentEnd: usize = 0;
let lineEntry: usize = 0;
let firstEntry: usize = 0;
let innerEntry: usize = 0;
let isListed: bool = false;
let quoteOfTable: i32 = -1;

/** Lists the structure of the next segment. False: it contains no line end. */
function listSegment(from: usize, to: usize): bool {
  segmentEnd = from + segmentBytes < to ? from + segmentBytes : to;
  store<i32>(state.quote, quoteOfTable);
  index(from, segmentEnd);
  if (lineEndsEnd == lineEndsAt && !isIrregular && segmentEnd < to) {
    segmentEnd = from + windowBytes < to ? from + windowBytes : to;
    index(from, segmentEnd);
  }
  // Without quotes in the segment, no field needs a look for them.
  if (!hasQuotes) store<i32>(state.quote, -1);
  if (load<u32>(state.trimOutside) != 0) store<u32>(state.trim, <u32>!hasQuotes);
  store<u32>(state.isPlain, <u32>(!hasQuotes && load<u32>(state.trim) == 0));
  lineEntry = lineEndsAt;
  firstEntry = delimitersAt;
  innerEntry = innerLinesAt;
  return lineEndsEnd != lineEndsAt;
}

/** Forgets the listed segment: the bytes have changed. `quote`: the dialect's, or -1. */
export function beginPass(quote: i32): void {
  isListed = false;
  quoteOfTable = quote;
}

/** Goes to the record after the one at which the pass stopped. */
export function skipRecord(): void {
  const end = <usize>load<u32>(state.lineEnd);
  firstEntry = load<u32>(lineEntry) + 4;
  lineEntry += 4;
  while (<usize>load<u32>(innerEntry) < end) innerEntry += 4;
}

/**
 * (from, to, limit) -> address of the first record that was not taken. Encodes regular records of
 * [from, to): a record begins at `from`, and `to` follows a line end. Records that begin at `limit`
 * or after it are left. State: `reason`, `copied`, `filtered`,
 * `records`, `newlines`, `out`; if it is unsure of a record, `lineEnd`.
 */
export function pass(from: usize, to: usize, limit: usize): usize {
  const between = <usize>load<u32>(state.between);
  const isCut = load<u32>(state.isCut) != 0;
  const keepEmpty = load<u32>(state.keepEmpty) != 0;
  const dropsBlank = load<u32>(state.dropsBlank) != 0;
  const comment = load<u32>(state.comment);
  const escapes = load<i32>(state.escape) != -1;
  const delimiterBytes: u32 = 1;
  let out = <usize>load<u32>(state.out);
  let copied: u32 = 0;
  let filtered: u32 = 0;
  let records: u32 = 0;
  let newlines: u32 = 0;
  let reason: u32 = stoppedAtEnd;
  for (;;) {
    if (!isListed || lineEntry == lineEndsEnd) {
      if (isListed && isIrregular) {
        reason = stoppedIrregular;
        isListed = false;
        break;
      }
      isListed = false;
      if (from >= to) break;
      if (!listSegment(from, to)) {
        reason = stoppedIrregular;
        break;
      }
      isListed = true;
    }
    const stop = <usize>load<u32>(lineEntry);
    const newline = <usize>load<u32>(stop);
    const end = newline - <usize>(newline > from && load<u8>(newline - 1) == CR);
    let inner: u32 = 0;
    for (let entry = innerEntry; <usize>load<u32>(entry) < newline; entry += 4) inner += 1;
    if (<u32>load<u8>(from) == comment || (escapes && mayEscape(from, end))) {
      reason = stoppedIrregular;
      isListed = false;
      break;
    }
    const isEmpty = from == end ? !keepEmpty : dropsBlank && stop == firstEntry && isBlankLine(from, end);
    if (!isEmpty) {
      if (from >= limit) {
        reason = stoppedEnough;
        break;
      }
      if (out + roomFor(end - from) > <usize>outEnd) {
        reason = stoppedFull;
        store<u32>(state.lineEnd, <u32>newline);
        break;
      }
      store<u32>(firstEntry - 4, <u32>from - delimiterBytes);
      store<u32>(stop, <u32>end);
      const count = stop - firstEntry;
      const isFit = (count == between || (isCut && count > between)) && (!isFaulty || isText(from, end));
      const after = isFit ? encodeRow(firstEntry, newlines, out) : isUnsure;
      if (after == isUnsure) {
        store<u32>(stop, <u32>newline);
        store<u32>(state.lineEnd, <u32>newline);
        reason = stoppedUnsure;
        break;
      }
      if (after == isFiltered) filtered += 1;
      else {
        out = after;
        copied += 1;
      }
      records += 1;
    }
    innerEntry += 4 * inner;
    newlines += 1 + inner;
    firstEntry = stop + 4;
    lineEntry += 4;
    from = newline + 1;
  }
  store<u32>(state.out, <u32>out);
  store<u32>(state.copied, copied);
  store<u32>(state.filtered, filtered);
  store<u32>(state.records, records);
  store<u32>(state.newlines, newlines);
  store<u32>(state.reason, reason);
  return from;
}
