// Encodes one column of a record. For COPY's text format, a kind also writes the binary value
// first: this checks the field, and rules compare the value. Then `putCopyText` overwrites it with
// the text. Proved by test/unit/format/records/text-rows.test.ts.

import * as state from './state';
import { glueAt, glueBytes } from './memory';
import {
  columnHasFunction,
  columnIndex,
  columnIsChecked,
  columnKind,
  columnLengths,
  columnNulls,
  columnParts,
  columnPlace,
  columnQuotedNulls,
  columnRules,
  columnSeparator,
  columnSeparatorBytes,
  columnSlots,
  columnTokens,
  kindBoolean,
  kindDate,
  kindDouble,
  kindInteger,
  kindJson,
  kindNumeric,
  kindPattern,
  kindPatterns,
  kindReal,
  kindText,
  kindTime,
  kindTimestamp,
  kindUuid,
  kindWord,
  slotEnd,
  slotStart,
  tokensLengths,
  tokenValueAt,
  tokenValueBytes,
} from './layouts';
import { readBoolean, readWord } from './boolean';
import { from, isQuoted, takeContent, takeField, to, trimField } from './fields';
import { encodeByText } from './host';
import { readJson } from './json';
import { readDate, readTime, readTimestamp } from './moment';
import { readDouble, readInteger, readReal } from './number';
import { readNumeric } from './numeric';
import { readPattern, readPatterns } from './pattern';
import { copyBytes } from './put';
import { obeysRules } from './rules';
import { putCopyText, readText } from './text';
import { findToken } from './tokens';
import { readUuid } from './uuid';

/** Not 0 if some token of the list is as long as the field: rules out most fields. */
@inline
function mayBeOneOf(lengths: u32, length: usize): u32 {
  return (lengths >>> (length < 31 ? <u32>length : 31)) & 1;
}

/** Writes a token's value. 0: the record is refused. */
@inline
function putValue(token: usize, out: usize): usize {
  const length = load<i32>(token, tokenValueBytes);
  if (length == -1) return 0;
  copyBytes(out, load<u32>(token, tokenValueAt), length);
  return out + length;
}

/** (column, start, end, quoted) -> the null or other token that the field is, or 0. */
function findMeaning(column: usize, start: usize, end: usize, quoted: bool): usize {
  const nulls = <usize>load<u32>(column + (quoted ? columnQuotedNulls : columnNulls));
  const found = findToken(nulls, start, end);
  return found != 0 ? found : findToken(load<u32>(column, columnTokens), start, end);
}

/** (column, start, end, out) -> address after the value, or 0: TypeScript must decide. */
@inline
function readValue(column: usize, start: usize, end: usize, out: usize): usize {
  switch (load<u32>(column, columnKind)) {
    case kindText:
      return readText(column, start, end, out);
    case kindReal:
      return readReal(column, start, end, out);
    case kindInteger:
      return readInteger(column, start, end, out);
    case kindDouble:
      return readDouble(column, start, end, out);
    case kindNumeric:
      return readNumeric(column, start, end, out);
    case kindDate:
      return readDate(column, start, end, out);
    case kindTimestamp:
      return readTimestamp(column, start, end, out);
    case kindTime:
      return readTime(column, start, end, out);
    case kindPattern:
      return readPattern(column, start, end, out);
    case kindUuid:
      return readUuid(column, start, end, out);
    case kindBoolean:
      return readBoolean(column, start, end, out);
    case kindWord:
      return readWord(column, start, end, out);
    case kindJson:
      return readJson(column, start, end, out);
    case kindPatterns:
      return readPatterns(column, start, end, out);
    default:
      return 0;
  }
}

/**
 * Judges a value that was read (`after` is the address after it) or not (0), and asks TypeScript if
 * a function, a rule or an unusual spelling needs it.
 */
function finishValue(column: usize, start: usize, end: usize, out: usize, after: usize): usize {
  const isText = load<u32>(state.isTextFormat) != 0;
  if (after != 0) {
    const rules = <usize>load<u32>(column, columnRules);
    const isForHost =
      load<u32>(column, columnHasFunction) != 0 || (rules != 0 && obeysRules(rules, start, end, out) == 0);
    if (!isForHost) return isText ? putCopyText(start, end, out) : after;
  }
  // The value is binary, but the row needs text: with 0, TypeScript writes the text.
  return encodeByText(load<u32>(column, columnIndex), start, end, out, isText ? 0 : after);
}

/** Encodes a field; `quoted` chooses the nulls. */
function encodeField(column: usize, start: usize, end: usize, quoted: bool, out: usize): usize {
  if (mayBeOneOf(load<u32>(column, columnLengths), end - start)) {
    const token = findMeaning(column, start, end, quoted);
    if (token != 0) return putValue(token, out);
  }
  const after = readValue(column, start, end, out);
  if (after != 0 && load<u32>(column, columnIsChecked) == 0) return after;
  return finishValue(column, start, end, out, after);
}

/** Sets `from`, `to` and `isQuoted` to a slot's field. */
function takeSlot(slot: usize): void {
  from = load<u32>(slot, slotStart);
  to = load<u32>(slot, slotEnd);
  isQuoted = load<u8>(from - 1) == load<i32>(state.quote);
  if (load<u32>(state.trim) != 0) trimField();
}

/** Appends bytes to the joined fields, which end at `end`. Returns their new end, or 0: no room. */
function joined(end: usize, bytes: usize, length: usize): usize {
  if (end + length > <usize>(glueAt + glueBytes)) return 0;
  copyBytes(end, bytes, length);
  return end + length;
}

/** Encodes a column whose fields are joined; a null among them makes the column null. */
function encodeJoined(column: usize, out: usize): usize {
  const parts = load<u32>(column, columnParts);
  const list = <usize>load<u32>(column, columnSlots);
  let end: usize = glueAt;
  for (let index: usize = 0; index < parts; index += 1) {
    if (index > 0) {
      end = joined(end, load<u32>(column, columnSeparator), load<u32>(column, columnSeparatorBytes));
      if (end == 0) return 0;
    }
    takeSlot(load<u32>(list + 4 * index));
    const nulls = <usize>load<u32>(column + (isQuoted ? columnQuotedNulls : columnNulls));
    if (mayBeOneOf(load<u32>(nulls, tokensLengths), to - from)) {
      const token = findToken(nulls, from, to);
      if (token != 0) return putValue(token, out);
    }
    end = joined(end, from, to - from);
    if (end == 0) return 0;
  }
  return encodeJoinedText(column, end, out);
}

function encodeJoinedText(column: usize, end: usize, out: usize): usize {
  const tokens = <usize>load<u32>(column, columnTokens);
  const token = findToken(tokens, glueAt, end);
  if (token != 0) return putValue(token, out);
  return finishValue(column, glueAt, end, out, readValue(column, glueAt, end, out));
}

/** Encodes a column that is not one field of the record: constant, of the file, or joined. */
function encodeOther(column: usize, out: usize): usize {
  const parts = load<u32>(column, columnParts);
  const slots = <usize>load<u32>(column, columnSlots);
  if (parts == 0) return putValue(slots, out);
  if (parts > 1) return encodeJoined(column, out);
  takeSlot(slots);
  return encodeField(column, from, to, false, out);
}

/**
 * (column, fields, out) -> address after the value, or 0: the record is refused, or TypeScript must
 * decide. `fields` is the record's list of fields: see fields.ts.
 */
@inline
export function encodeColumn(column: usize, fields: usize, out: usize): usize {
  const place = load<i32>(column, columnPlace);
  if (place < 0) return encodeOther(column, out);
  const end = <usize>load<u32>(fields + place);
  const before = <usize>load<u32>(fields + place - 4);
  if (load<u32>(state.isPlain) != 0) return encodeField(column, before + 1, end, false, out);
  const start = before + load<u32>(state.delimiterBytes);
  const quote = load<i32>(state.quote);
  if (load<u32>(state.trim) + load<u32>(state.trimOutside) == 0) {
    if (quote == -1 || start >= end || load<u8>(start) != quote)
      return encodeField(column, start, end, false, out);
    if (!takeContent(start + 1, end - 1, quote)) return 0;
  } else {
    if (!takeField(fields, place)) return 0;
    if (load<u32>(state.trim) != 0) trimField();
  }
  return encodeField(column, from, to, isQuoted, out);
}
