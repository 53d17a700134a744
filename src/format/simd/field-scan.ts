// Where the fields of regular records end: every delimiter outside quotes, sixty-four bytes at a time.

import { bitsOf, groupBytes, isSome, loadGroup, parities } from './byte-bits.ts';
import { createRoutine, i32, i64, locals, loopWhile, sequence, v128, when } from './wasm-code.ts';

/** Bytes of the block in the routine's memory at once, and the bytes behind them, which are no delimiters. */
const windowBytes = 64 * 1024;
const windowAt = 64;
const foundAt = windowAt + windowBytes + groupBytes;
const memoryBytes = foundAt + 4 * windowBytes;

const v = locals({
  // Of the first byte to look at and behind the last, in memory; and of the memory's place 0 in the block.
  from: 'i32',
  to: 'i32',
  base: 'i32',
  quote: 'i32',
  delimiter: 'i32',
  /** 0: there are no quotes · -1: there are. */
  quotes: 'i32',
  /** 4 x delimiters found. */
  found: 'i32',
  /** All ones while the group begins within quotes; kept at place 0 of the memory from window to window. */
  inside: 'i64',
  insideBits: 'i64',
  delimiterBits: 'i64',
  group0: 'v128',
  group1: 'v128',
  group2: 'v128',
  group3: 'v128',
  quoteByte: 'v128',
  delimiterByte: 'v128',
});
const parameters = 6;
const group = [v.group0, v.group1, v.group2, v.group3];

const zero = i32.const(0);

const leaveOutQuoted = sequence(
  v.insideBits.set(bitsOf(group, v.quoteByte)),
  parities(v.insideBits),
  v.insideBits.set(i64.xor(v.insideBits.get, v.inside.get)),
  v.delimiterBits.set(i64.and(v.delimiterBits.get, i64.not(v.insideBits.get))),
  v.inside.set(i64.shrSigned(v.insideBits.get, i64.const(63n))),
);

const listDelimiters = loopWhile(
  isSome(v.delimiterBits.get),
  i32.store(
    v.found.get,
    foundAt,
    i32.add(i32.add(v.base.get, v.from.get), i32.wrap(i64.trailingZeros(v.delimiterBits.get))),
  ),
  v.found.set(i32.add(v.found.get, i32.const(4))),
  v.delimiterBits.set(i64.and(v.delimiterBits.get, i64.sub(v.delimiterBits.get, i64.const(1n)))),
);

/** Returns 4 x the number of delimiters found. */
const scanGroups = sequence(
  v.inside.set(i64.extendSigned(i32.load(zero))),
  v.quoteByte.set(v128.splat(v.quote.get)),
  v.delimiterByte.set(v128.splat(v.delimiter.get)),
  loopWhile(
    i32.lt(v.from.get, v.to.get),
    loadGroup(group, v.from.get),
    v.delimiterBits.set(bitsOf(group, v.delimiterByte)),
    when(v.quotes.get, leaveOutQuoted),
    listDelimiters,
    v.from.set(i32.add(v.from.get, i32.const(groupBytes))),
  ),
  i32.store(zero, 0, i32.wrap(v.inside.get)),
  v.found.get,
);

const { run, memory } = createRoutine(Object.values(v), parameters, scanGroups, memoryBytes);
const text = new Uint8Array(memory, windowAt, windowBytes + groupBytes);
const listed = new Int32Array(memory, foundAt, windowBytes);
const insideState = new Int32Array(memory, 0, 1);

/** Delimiters outside quotes, in order; used again for the next block. */
export interface DelimiterList {
  places: Int32Array;
  length: number;
}

export const createDelimiterList = (): DelimiterList => ({ places: new Int32Array(windowBytes), length: 0 });

/** Behind the last delimiter of a block. */
const beyond = 0x7fffffff;

/**
 * Adds the delimiters of bytes [from, to), which are whole records without a fault, and one that is beyond them all.
 * `quote` is -1 when the bytes hold none that matters.
 */
export const listDelimitersOf = (
  list: DelimiterList,
  bytes: Buffer,
  from: number,
  to: number,
  delimiter: number,
  quote: number,
): void => {
  insideState[0] = 0;
  for (let at = from; at < to; at += windowBytes) {
    const length = Math.min(windowBytes, to - at);
    text.set(bytes.subarray(at, at + length));
    text.fill(0, length, length + groupBytes);
    const count =
      run(windowAt, windowAt + length, at - windowAt, quote, delimiter, quote === -1 ? 0 : -1) >> 2;
    if (list.length + count >= list.places.length) {
      const larger = new Int32Array(2 * (list.length + count));
      larger.set(list.places);
      list.places = larger;
    }
    list.places.set(listed.subarray(0, count), list.length);
    list.length += count;
  }
  list.places[list.length] = beyond;
};
