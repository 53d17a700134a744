// Finds the structure of records, 64 bytes at a time: delimiters, line ends, and whether quotes,
// line ends and characters are regular.
//
// An opening quote is regular after the start of a field or another quote. A closing quote is
// regular before the end of a field or another quote. Then a byte is inside quotes exactly if an
// odd number of quotes precedes it. A stray quote, blanks around quotes or a lone CR stops the
// search, and TypeScript reads that record byte by byte. Proved to agree by
// test/unit/format/records/split-property.test.ts.

import * as state from './state';
import {
  delimitersAt,
  groupAt,
  groupBytes,
  innerLinesAt,
  lineEndsAt,
  scanEndsAt,
  scanLinesAt,
  scanStartsAt,
} from './memory';
import { bits, CR, LF, parities } from './bytes';
import { irregular } from './irregular';
import { utf8Errors } from './utf8';

/** Follows the last entry of a list: larger than all addresses. */
const beyond: u32 = 0x7fffffff;

/** Ends of the lists that `index` has written. */
export let delimitersEnd: usize = 0;
export let lineEndsEnd: usize = 0;
/** The indexed bytes have invalid UTF-8 or a NUL: TypeScript reads their records. */
export let isFaulty: bool = false;
/** The record after the last listed line end is irregular. */
export let isIrregular: bool = false;
export let hasQuotes: bool = false;

/** Bits of the bytes of a group that equal `byte`. */
@inline
function places(a: v128, b: v128, c: v128, d: v128, byte: v128): u64 {
  return bits(i8x16.eq(a, byte), i8x16.eq(b, byte), i8x16.eq(c, byte), i8x16.eq(d, byte));
}

@inline
function isEither(bytes: v128, one: v128, other: v128): v128 {
  return v128.or(i8x16.eq(bytes, one), i8x16.eq(bytes, other));
}

@inline
function hasEither(a: v128, b: v128, c: v128, d: v128, one: v128, other: v128): bool {
  return v128.any_true(
    v128.or(
      v128.or(isEither(a, one, other), isEither(b, one, other)),
      v128.or(isEither(c, one, other), isEither(d, one, other)),
    ),
  );
}

/** A byte that means nothing, to fill a group up. */
function paddingBeside(delimiter: u32, quote: i32): u8 {
  let byte: u32 = 0x61;
  while (byte == delimiter || byte == <u32>quote) byte += 1;
  return <u8>byte;
}

/**
 * Lists the ends of fields and lines of [from, to), where a record begins at `from`, and `to` follows
 * a line end. Sets the variables above.
 */
export function index(from: usize, to: usize): void {
  const quoteByte = load<i32>(state.quote);
  const delimiterByte = load<u32>(state.delimiter);
  const understood = <u64>load<i32>(state.understood);
  const delimiter = i8x16.splat(<i8>delimiterByte);
  const quote = i8x16.splat(<i8>(quoteByte == -1 ? CR : quoteByte));
  const newline = i8x16.splat(<i8>LF);
  const returns = i8x16.splat(<i8>CR);
  const isQuoting: u64 = quoteByte == -1 ? 0 : u64.MAX_VALUE;
  const padding = paddingBeside(delimiterByte, quoteByte);
  let at: usize = delimitersAt;
  let line: usize = lineEndsAt;
  let inner: usize = innerLinesAt;
  let previous = i8x16.splat(0);
  let errors = i8x16.splat(0);
  let wasAscii = true;
  let inside: u64 = 0;
  let pending: u64 = 0;
  let allQuotes: u64 = 0;
  isIrregular = false;
  for (let p = from; p < to && !isIrregular; p += groupBytes) {
    let g = p;
    if (to - p < <usize>groupBytes) {
      memory.fill(groupAt, padding, groupBytes);
      memory.copy(groupAt, p, to - p);
      g = groupAt;
    }
    const a = v128.load(g);
    const b = v128.load(g, 16);
    const c = v128.load(g, 32);
    const d = v128.load(g, 48);
    let lines = places(a, b, c, d, newline);
    let ends = lines | places(a, b, c, d, delimiter);
    if (hasEither(a, b, c, d, quote, returns) || (inside | pending) != 0) {
      const returnBits = places(a, b, c, d, returns);
      const quotes = places(a, b, c, d, quote) & isQuoting;
      const within = parities(quotes) ^ inside;
      const before = p == from ? LF : <u32>load<u8>(p - 1);
      const bad =
        irregular(
          lines, returnBits, quotes, ends & ~lines, within, before, quoteByte, delimiterByte, inside == 0, p == from,
        ) | (quotes & ~understood);
      allQuotes |= quotes;
      let innerLines = lines & within;
      ends &= ~within;
      lines &= ~within;
      inside = <u64>(<i64>within >> 63);
      pending = ((quotes & ~within) | returnBits) >> 63;
      if (bad != 0) {
        // Keeps what is before the first irregular byte: x & -x is the lowest set bit of x.
        const kept = (bad & (0 - bad)) - 1;
        ends &= kept;
        lines &= kept;
        innerLines &= kept;
        isIrregular = true;
      }
      for (; innerLines != 0; innerLines &= innerLines - 1) {
        store<u32>(inner, <u32>p + <u32>ctz(innerLines));
        inner += 4;
      }
    }
    if (i8x16.bitmask(v128.or(v128.or(a, b), v128.or(c, d))) != 0 || !wasAscii) {
      errors = v128.or(
        errors,
        v128.or(
          v128.or(utf8Errors(a, previous), utf8Errors(b, a)),
          v128.or(utf8Errors(c, b), utf8Errors(d, c)),
        ),
      );
      wasAscii = i8x16.bitmask(d) == 0;
    }
    const least = i8x16.min_u(i8x16.min_u(a, b), i8x16.min_u(c, d));
    errors = v128.or(errors, i8x16.eq(least, i8x16.splat(0)));
    previous = d;
    while (lines != 0) {
      store<u32>(line, <u32>(at + 4 * <usize>popcnt(ends & ((lines - 1) & ~lines))));
      line += 4;
      lines &= lines - 1;
    }
    const here = <u32>p;
    const count = <usize>popcnt(ends);
    // Eight entries without a branch: usually enough, and later entries overwrite what is too much.
    store<u32>(at, here + <u32>ctz(ends));
    ends &= ends - 1;
    store<u32>(at, here + <u32>ctz(ends), 4);
    ends &= ends - 1;
    store<u32>(at, here + <u32>ctz(ends), 8);
    ends &= ends - 1;
    store<u32>(at, here + <u32>ctz(ends), 12);
    ends &= ends - 1;
    store<u32>(at, here + <u32>ctz(ends), 16);
    ends &= ends - 1;
    store<u32>(at, here + <u32>ctz(ends), 20);
    ends &= ends - 1;
    store<u32>(at, here + <u32>ctz(ends), 24);
    ends &= ends - 1;
    store<u32>(at, here + <u32>ctz(ends), 28);
    ends &= ends - 1;
    for (let entry = at + 32; ends != 0; entry += 4) {
      store<u32>(entry, here + <u32>ctz(ends));
      ends &= ends - 1;
    }
    at += 4 * count;
  }
  store<u32>(inner, beyond);
  delimitersEnd = at;
  lineEndsEnd = line;
  hasQuotes = allQuotes != 0;
  isFaulty = v128.any_true(errors);
}

/** (from, to, delimiter, quote) -> end of the list of delimiters outside of quotes. The records are whole. */
export function scanFields(from: usize, to: usize, delimiterByte: u32, quoteByte: i32): usize {
  const delimiter = i8x16.splat(<i8>delimiterByte);
  const quote = i8x16.splat(<i8>quoteByte);
  let list: usize = delimitersAt;
  let inside: u64 = 0;
  for (let p = from; p < to; p += groupBytes) {
    const a = v128.load(p);
    const b = v128.load(p, 16);
    const c = v128.load(p, 32);
    const d = v128.load(p, 48);
    let ends = places(a, b, c, d, delimiter);
    if (quoteByte != -1) {
      const within = parities(places(a, b, c, d, quote)) ^ inside;
      ends &= ~within;
      inside = <u64>(<i64>within >> 63);
    }
    if (to - p < <usize>groupBytes) ends &= ((<u64>1) << <u64>(to - p)) - 1;
    for (; ends != 0; ends &= ends - 1) {
      store<u32>(list, <u32>p + <u32>ctz(ends));
      list += 4;
    }
  }
  store<u32>(list, beyond);
  return list;
}

/**
 * (from, to, base) -> address of the first group that was not scanned; 0 if a record is irregular.
 * Lists starts, ends and lines of the records of [from, to), whose offset in the block is `base`
 * plus their address. The scan goes on where it ended: see the state `scan…`.
 */
export function scanRecords(from: usize, to: usize, base: u32, recordBytesMax: u32): usize {
  const quoteByte = load<i32>(state.quote);
  const delimiterByte = load<u32>(state.delimiter);
  const understood = <u64>load<i32>(state.understood);
  const keepEmpty = load<u32>(state.keepEmpty);
  const quote = i8x16.splat(<i8>(quoteByte == -1 ? CR : quoteByte));
  const delimiter = i8x16.splat(<i8>delimiterByte);
  const newline = i8x16.splat(<i8>LF);
  const returns = i8x16.splat(<i8>CR);
  const isQuoting: u64 = quoteByte == -1 ? 0 : u64.MAX_VALUE;
  let start = load<u32>(state.scanStart);
  let line = load<u32>(state.scanLine);
  let lineCount = load<u32>(state.scanLines);
  let inside = <u64>load<i32>(state.scanInside);
  let special = load<u32>(state.scanSpecial);
  let pending: u64 = 1;
  let found: usize = 0;
  let isRegular = true;
  while (isRegular && from + groupBytes <= to) {
    const a = v128.load(from);
    const b = v128.load(from, 16);
    const c = v128.load(from, 32);
    const d = v128.load(from, 48);
    const lines = places(a, b, c, d, newline);
    let ends = lines;
    if (hasEither(a, b, c, d, quote, returns) || (inside | pending) != 0) {
      const returnBits = places(a, b, c, d, returns);
      const quotes = places(a, b, c, d, quote) & isQuoting;
      const delimiters = places(a, b, c, d, delimiter);
      const within = parities(quotes) ^ inside;
      const before = <u32>load<u8>(from - 1);
      const isStart = start == base + <u32>from;
      const bad =
        irregular(lines, returnBits, quotes, delimiters, within, before, quoteByte, delimiterByte, inside == 0, isStart) |
        (quotes & ~understood);
      ends &= ~within;
      inside = <u64>(<i64>within >> 63);
      pending = ((quotes & ~within) | returnBits) >> 63;
      special |= <u32>(returnBits != 0);
      if (bad != 0) {
        ends &= (bad & (0 - bad)) - 1;
        isRegular = false;
      }
    }
    for (; ends != 0; ends &= ends - 1) {
      const at = from + <usize>ctz(ends);
      const end = base + <u32>at - <u32>(load<u8>(at - 1) == CR);
      if (end - start > recordBytesMax) {
        isRegular = false;
        break;
      }
      store<u32>(scanStartsAt + found, start);
      store<u32>(scanEndsAt + found, end);
      store<u32>(scanLinesAt + found, line);
      const isKept = start != end || keepEmpty != 0;
      special |= <u32>!isKept;
      found += isKept ? 4 : 0;
      start = base + <u32>at + 1;
      line = lineCount + <u32>popcnt(lines & (ends ^ (ends - 1)));
    }
    lineCount += <u32>popcnt(lines);
    from += groupBytes;
  }
  store<u32>(state.scanStart, start);
  store<u32>(state.scanLine, line);
  store<u32>(state.scanLines, lineCount);
  store<i32>(state.scanInside, <i32>inside);
  store<u32>(state.scanSpecial, special);
  store<u32>(state.scanFound, <u32>found);
  return isRegular ? from : 0;
}
