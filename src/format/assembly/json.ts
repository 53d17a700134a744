// Checks JSON (RFC 8259), and copies it.

import { jsonIsBinary } from './layouts';
import { BACKSLASH, COLON, COMMA, CR, digitAt, isDigitBefore, LF, MINUS, PLUS, POINT, SPACE, TAB } from './bytes';
import { copyBytes, putInt32 } from './put';

/** Nesting levels that fit into a u64. TypeScript reads deeper texts. */
const depthMax: u32 = 63;
/** jsonb can store any number of up to 1,000 bytes with an exponent of up to three digits. */
const numberBytesMax: usize = 1_000;
const exponentDigitsMax: usize = 3;

const QUOTE: u32 = 34;
const OPEN_BRACE: u32 = 123;
const CLOSE_BRACKET: u32 = 93;
const CLOSE_BRACE: u32 = 125;

/** (at, end) -> address of the first quote, backslash or control character, or 0 beyond the end. */
@inline
function afterPlain(at: usize, end: usize): usize {
  do {
    const v = v128.load(at);
    const special = v128.or(
      v128.or(i8x16.eq(v, i8x16.splat(<i8>QUOTE)), i8x16.eq(v, i8x16.splat(<i8>BACKSLASH))),
      i8x16.lt_u(v, i8x16.splat(0x20)),
    );
    const found = i8x16.bitmask(special);
    if (found != 0) return at + ctz(found);
    at += 16;
  } while (at < end);
  return 0;
}

/** (at) -> the number of four hexadecimal digits, or -1. */
function readUnit(at: usize): i32 {
  let unit: u32 = 0;
  for (const end = at + 4; at < end; at += 1) {
    let digit = digitAt(at);
    if (digit > 9) {
      digit = (<u32>load<u8>(at) | 0x20) - 0x61;
      if (digit > 5) return -1;
      digit += 10;
    }
    unit = (unit << 4) | digit;
  }
  return unit;
}

/** (at) -> address after `uXXXX`, or 0. jsonb stores neither NUL nor an unpaired surrogate. */
function afterUnit(at: usize, isBinary: u32): usize {
  const unit = readUnit(at + 1);
  if (unit == -1) return 0;
  at += 5;
  if (isBinary == 0) return at;
  if (unit == 0 || (unit & 0xfc00) == 0xdc00) return 0;
  if ((unit & 0xfc00) != 0xd800) return at;
  if (load<u16>(at) != 0x755c) return 0;
  const second = readUnit(at + 2);
  return second != -1 && (second & 0xfc00) == 0xdc00 ? at + 6 : 0;
}

@inline
function isEscape(byte: u32): bool {
  return (
    byte == QUOTE ||
    byte == BACKSLASH ||
    byte == 0x2f ||
    byte == 0x62 ||
    byte == 0x66 ||
    byte == 0x6e ||
    byte == 0x72 ||
    byte == 0x74
  );
}

/** (at, end, isBinary) -> address after the string that begins at `at`, or 0. */
export function afterString(at: usize, end: usize, isBinary: u32): usize {
  at = afterPlain(at + 1, end);
  while (at != 0 && load<u8>(at) == BACKSLASH) {
    const byte = <u32>load<u8>(at, 1);
    if (byte == 0x75) {
      at = afterUnit(at + 1, isBinary);
      if (at == 0) return 0;
    } else {
      if (!isEscape(byte)) return 0;
      at += 2;
    }
    if (at >= end) return 0;
    at = afterPlain(at, end);
  }
  return at != 0 && load<u8>(at) == QUOTE ? at + 1 : 0;
}

@inline
function afterDigits(at: usize, end: usize): usize {
  while (isDigitBefore(at, end)) at += 1;
  return at;
}

/** (at, end) -> address after the number, or 0. */
export function afterNumber(at: usize, end: usize): usize {
  const start = at;
  at += <usize>(load<u8>(at) == MINUS);
  let from = at;
  at = afterDigits(at, end);
  if (at == from || (digitAt(from) == 0 && at - from != 1)) return 0;
  if (at < end && load<u8>(at) == POINT) {
    from = at + 1;
    at = afterDigits(from, end);
    if (at == from) return 0;
  }
  if (at < end && (load<u8>(at) | 0x20) == 0x65) {
    const sign = <u32>load<u8>(at, 1);
    from = at + 1 + <usize>(sign == PLUS || sign == MINUS);
    at = afterDigits(from, end);
    if (at == from || at - from > exponentDigitsMax) return 0;
  }
  return at - start > numberBytesMax ? 0 : at;
}

@inline
function afterBlanks(at: usize, end: usize): usize {
  while (at < end) {
    const byte = <u32>load<u8>(at);
    if (byte > SPACE || !(byte == SPACE || byte == LF || byte == CR || byte == TAB)) break;
    at += 1;
  }
  return at;
}

/** (at, end) -> address after `"name":` and blanks around its parts, or 0. */
function afterName(at: usize, end: usize, isBinary: u32): usize {
  at = afterBlanks(at, end);
  if (load<u8>(at) != QUOTE) return 0;
  at = afterString(at, end, isBinary);
  if (at == 0) return 0;
  at = afterBlanks(at, end);
  return load<u8>(at) == COLON ? at + 1 : 0;
}

@inline
function afterWord(at: usize): usize {
  const word = load<u32>(at);
  if (word == 0x65757274 || word == 0x6c6c756e) return at + 4;
  return word == 0x736c6166 && load<u8>(at, 4) == 0x65 ? at + 5 : 0;
}

/** One bit per open level, the innermost lowest: 1 for an object, 0 for an array. */
let levels: u64 = 0;
let depth: u32 = 0;
/** A value has ended, so that a comma, or the end of its level, must follow. */
let isDone: bool = false;

@inline
function isInObject(): bool {
  return (levels & 1) != 0;
}

function closeLevel(): void {
  depth -= 1;
  levels >>= 1;
  isDone = true;
}

function openLevel(at: usize, end: usize, isBinary: u32): usize {
  if (depth >= depthMax) return 0;
  const isObject = load<u8>(at) == OPEN_BRACE;
  depth += 1;
  levels = (levels << 1) | <u64>isObject;
  at = afterBlanks(at + 1, end);
  if (load<u8>(at) == (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) {
    closeLevel();
    return at + 1;
  }
  return isObject ? afterName(at, end, isBinary) : at;
}

function afterValue(at: usize, end: usize, isBinary: u32): usize {
  const byte = <u32>load<u8>(at);
  if ((byte | 0x20) == OPEN_BRACE) return openLevel(at, end, isBinary);
  isDone = true;
  if (byte == QUOTE) return afterString(at, end, isBinary);
  return byte == MINUS || byte - 0x30 < 10 ? afterNumber(at, end) : afterWord(at);
}

function afterNext(at: usize, end: usize, isBinary: u32): usize {
  if (depth == 0) return 0;
  const byte = <u32>load<u8>(at);
  if (byte == COMMA) {
    isDone = false;
    return isInObject() ? afterName(at + 1, end, isBinary) : at + 1;
  }
  if (byte != (isInObject() ? CLOSE_BRACE : CLOSE_BRACKET)) return 0;
  closeLevel();
  return at + 1;
}

/** (column, start, end, out) -> address after the value, or 0: TypeScript must decide. */
export function readJson(column: usize, start: usize, end: usize, out: usize): usize {
  const isBinary = load<u32>(column, jsonIsBinary);
  levels = 0;
  depth = 0;
  isDone = false;
  let at = start;
  for (;;) {
    at = afterBlanks(at, end);
    if (at >= end) break;
    at = isDone ? afterNext(at, end, isBinary) : afterValue(at, end, isBinary);
    if (at == 0) return 0;
  }
  if (at != end || depth != 0 || !isDone) return 0;
  const length = end - start;
  putInt32(out, <u32>length + isBinary);
  store<u8>(out, 1, 4);
  out += 4 + isBinary;
  copyBytes(out, start, length);
  return out + length;
}
