// Counts the fields of regular records: runs the routine, and handles the texts that it does not know.

import type { Dialect } from '../../../core/declaration/declaration.ts';
import { groupBytes, instantiate, pageBytes } from '../../../format/wasm/instance.ts';
import { grammarOf } from '../../../format/split/grammar.ts';
import type { RecordBlock } from '../../../format/split/record-blocks.ts';
import { observeBytes, observeLong, type ColumnEvidence } from './column-evidence.ts';
import { createHashes, hashBytes, type Hashes } from './keys.ts';
import { nullWords } from './null-words.ts';
import { contentFinder, type FindContent } from './field-content.ts';
import { tallyBytes } from './tally-bytes.ts';
import {
  columnLayout,
  columnsAt,
  countersMax,
  delimitersAt,
  endsAt,
  first,
  firstBytesAt,
  hashesAt,
  hashListBytes,
  newAt,
  newText,
  setBytes,
  slot,
  slotTextMax,
  startsAt,
  state,
  textAt,
} from './tally-memory.ts';

/** Memory of all slots, and how many sets a column has: QCLCD has about 300 different pressures. */
const slotsBytesMax = 16 * 1024 * 1024;
const setBitsMax = 10;
const setBitsMin = 4;

/**
 * Columns lie apart by one line of the processor's cache more than a power of two: otherwise the same text of all columns would have
 * one place in it.
 */
const lineBytes = 64;
const countersBytes = 4 * countersMax + lineBytes;

/** The counters of a table's columns in the routine's memory, and the window of records that is there. */
export interface Tally {
  readonly columns: readonly ColumnEvidence[];
  readonly routine: Routine;
  /** The memory. */
  readonly bytes: Buffer;
  readonly words: Int32Array;
  /** Addresses, each column's after those of the one before. */
  readonly countersAt: number;
  readonly slotsAt: number;
  readonly delimiter: number;
  /** -1: the dialect has none. */
  readonly quote: number;
  readonly findContent: FindContent;
  /** Columns whose hashes are wanted, with the hashes of the window's records. */
  readonly followed: Map<number, Hashes>;
  hasQuotes: boolean;
  /** The last run: its first record, and the address of its first delimiter in the list. */
  runAt: number;
  runList: number;
}

/** Whether the routine finds the fields of regular records, and their texts are what they mean. */
const isForTally = ({ delimiter, escapes, escape, quote, quotedNulls, trim }: Dialect): boolean =>
  delimiter.length === 1 &&
  delimiter.charCodeAt(0) < 0x80 &&
  escapes === null &&
  (quote === null || escape === null || escape === quote) &&
  quotedNulls &&
  trim !== 'outside';

type Routine = ReturnType<typeof startRoutine>;

const startRoutine = () => instantiate(tallyBytes, {});

/** Those that nobody uses: each has some megabytes. */
const idle: Routine[] = [];

/** A routine with room for so many bytes from the columns on, all of them 0. */
const takeRoutine = (bytes: number): Routine => {
  const routine = idle.pop() ?? startRoutine();
  const missing = columnsAt + bytes - routine.memory.buffer.byteLength;
  if (missing > 0) routine.memory.grow(Math.ceil(missing / pageBytes));
  new Uint8Array(routine.memory.buffer, columnsAt, bytes).fill(0);
  return routine;
};

/** Ends the tally: the next one takes its memory. */
export const closeTally = ({ routine }: Tally): void => void idle.push(routine);

const columnAt = (place: number): number => columnsAt + columnLayout.bytes * place;

/** How the bytes tell with which a field begins. */
const firstBytes = (quote: number): Uint8Array => {
  const kinds = new Uint8Array(256);
  for (const byte of [' ', '\t', ...[...nullWords].map((word) => word[0]!)])
    kinds[byte.charCodeAt(0)] = first.other;
  if (quote !== -1) kinds[quote] = first.quote;
  return kinds;
};

const one = createHashes(1);
const hashOne = (bytes: Buffer, from: number, to: number): void => hashBytes(bytes, from, to, one, 0);

/** Makes the tally of a table's columns; undefined: the dialect is not for it. */
export const createTally = (columns: readonly ColumnEvidence[], dialect: Dialect): Tally | undefined => {
  if (!isForTally(dialect)) return undefined;
  const grammar = grammarOf(dialect, columns.length, 'lf');
  const room = Math.floor(Math.log2(slotsBytesMax / (columns.length * setBytes)));
  const setBits = Math.max(setBitsMin, Math.min(setBitsMax, room));
  const slotBytes = setBytes * 2 ** setBits + lineBytes;
  const countersAt = columnAt(columns.length);
  const slotsAt = Math.ceil((countersAt + countersBytes * columns.length) / setBytes) * setBytes;
  const routine = takeRoutine(slotsAt - columnsAt + columns.length * slotBytes);
  const bytes = Buffer.from(routine.memory.buffer);
  const words = new Int32Array(routine.memory.buffer);
  for (const place of columns.keys()) {
    words[(columnAt(place) + columnLayout.slotsAt) >> 2] = slotsAt + place * slotBytes;
    words[(columnAt(place) + columnLayout.countersAt) >> 2] = countersAt + countersBytes * place;
  }
  words[state.columnsEnd >> 2] = columnAt(columns.length);
  bytes.writeBigInt64LE(BigInt(64 - setBits), state.shift);
  bytes.set(firstBytes(grammar.quote), firstBytesAt);
  hashOne(bytes, 0, 0);
  words[state.emptyLow >> 2] = one.low[0]!;
  words[state.emptyHigh >> 2] = one.high[0]!;
  return {
    columns,
    routine,
    bytes,
    words,
    countersAt,
    slotsAt,
    delimiter: grammar.delimiter[0]!,
    quote: grammar.quote,
    findContent: contentFinder(grammar),
    followed: new Map(),
    hasQuotes: false,
    runAt: 0,
    runList: 0,
  };
};

/** Puts records [from, to) of a block into the memory, as `windowsOf` gives them. */
export const loadWindow = (
  tally: Tally,
  { bytes: block, spans: { starts, ends } }: RecordBlock,
  from: number,
  to: number,
): void => {
  const { bytes, words, routine, delimiter, quote } = tally;
  const shift = textAt - starts[from]!;
  const textEnd = shift + ends[to - 1]!;
  bytes.set(block.subarray(starts[from], ends[to - 1]), textAt);
  bytes.fill(0, textEnd, textEnd + groupBytes);
  for (let record = from; record < to; record += 1) {
    words[(startsAt >> 2) + record - from] = starts[record]! + shift;
    words[(endsAt >> 2) + record - from] = ends[record]! + shift;
  }
  tally.hasQuotes = quote !== -1 && bytes.subarray(textAt, textEnd).includes(quote);
  words[state.listEnd >> 2] = routine.scanFields(textAt, textEnd, delimiter, tally.hasQuotes ? quote : -1);
  words[state.next >> 2] = delimitersAt;
};

/** Whether the slot has the same two numbers as the key. */
const isKey = (words: Int32Array, slotAt: number, keyAt: number): boolean =>
  words[slotAt] === words[keyAt] &&
  words[slotAt + 1] === words[keyAt + 1] &&
  words[slotAt + 2] === words[keyAt + 2] &&
  words[slotAt + 3] === words[keyAt + 3];

/** Puts a text with its counter into the slots of a set; the other one that was put there last stays. */
const fillSlot = (words: Int32Array, slotAt: number, keyAt: number, counterAt: number): void => {
  words.copyWithin(slotAt + (slot.bytes >> 2), slotAt, slotAt + (slot.bytes >> 2));
  for (let word = 0; word < 4; word += 1) words[slotAt + word] = words[keyAt + word]!;
  words[slotAt + (slot.counter >> 2)] = counterAt;
  words[slotAt + (slot.hashLow >> 2)] = one.low[0]!;
  words[slotAt + (slot.hashHigh >> 2)] = one.high[0]!;
};

/** Counts a field whose text was in no slot. */
const takeNew = (tally: Tally, at: number): void => {
  const { bytes, words, columns, countersAt } = tally;
  const place = (words[(at + newText.column) >> 2]! - columnsAt) / columnLayout.bytes;
  const [slotAt, keyAt] = [words[(at + newText.setAt) >> 2]! >> 2, (at + newText.key) >> 2];
  const hashes = tally.followed.get(place);
  const record = words[(at + newText.record) >> 2]!;
  // The new text before it may have been the same.
  if (slotAt !== 0 && isKey(words, slotAt, keyAt)) {
    words[words[slotAt + (slot.counter >> 2)]! >> 2]! += 1;
    if (hashes === undefined) return;
    hashes.low[record] = words[slotAt + (slot.hashLow >> 2)]!;
    hashes.high[record] = words[slotAt + (slot.hashHigh >> 2)]!;
    return;
  }
  const field = { bytes, from: words[(at + newText.from) >> 2]!, to: words[(at + newText.to) >> 2]! };
  const content = tally.hasQuotes ? tally.findContent(field) : field;
  if (hashes !== undefined) {
    hashOne(content.bytes, content.from, content.to);
    hashes.low[record] = one.low[0]!;
    hashes.high[record] = one.high[0]!;
  }
  if (field.to - field.from > slotTextMax) {
    observeLong(columns[place]!, content.bytes, content.from, content.to);
    return;
  }
  const counter = observeBytes(columns[place]!, content.bytes, content.from, content.to);
  if (counter < countersMax) fillSlot(words, slotAt, keyAt, countersAt + countersBytes * place + 4 * counter);
};

/** Adds what the routine has counted to the columns' counters, and tells it which columns are texts. */
const settle = ({ columns, words, countersAt, followed }: Tally): void => {
  for (let place = 0; place < columns.length; place += 1) {
    const { counters, alive } = columns[place]!;
    const own = (countersAt + countersBytes * place) >> 2;
    const known = Math.min(countersMax, counters.length);
    for (let counter = 0; counter < known; counter += 1) {
      const more = words[own + counter]!;
      if (more === 0) continue;
      counters[counter]! += more;
      words[own + counter] = 0;
    }
    words[(columnAt(place) + columnLayout.isText) >> 2] = Number(alive === 0 && !followed.has(place));
  }
};

/** Counts the fields of records [at, to) of the window; returns the first that has another number of them, or `to`. */
export const runTally = (tally: Tally, at: number, to: number): number => {
  const { words, routine } = tally;
  let reached = at;
  do {
    reached = routine.tallyRecords(reached, to);
    const newEnd = words[state.newEnd >> 2]!;
    for (let next = newAt; next < newEnd; next += newText.bytes) takeNew(tally, next);
  } while (reached < to && words[state.isOdd >> 2] === 0);
  settle(tally);
  tally.runAt = at;
  tally.runList = words[state.next >> 2]! - (reached - at) * 4 * (tally.columns.length - 1);
  return reached;
};

/** Puts the hash of a field of a record of the last run. */
export const hashField = (
  tally: Tally,
  record: number,
  column: number,
  into: Hashes,
  place: number,
): void => {
  const { words, columns, bytes } = tally;
  const list = (tally.runList >> 2) + (record - tally.runAt) * (columns.length - 1) + column;
  const from = column === 0 ? words[(startsAt >> 2) + record]! : words[list - 1]! + 1;
  const to = column === columns.length - 1 ? words[(endsAt >> 2) + record]! : words[list]!;
  const content = tally.hasQuotes ? tally.findContent({ bytes, from, to }) : undefined;
  if (content === undefined) hashBytes(bytes, from, to, into, place);
  else hashBytes(content.bytes, content.from, content.to, into, place);
};

/** From the next run on, the hashes of these columns are kept: at most `hashColumnsMax`. */
export const followColumns = (tally: Tally, places: readonly number[]): void => {
  const { followed, words, columns, slotsAt } = tally;
  if (places.length === followed.size) return;
  followed.clear();
  for (const place of columns.keys()) words[(columnAt(place) + columnLayout.hashesAt) >> 2] = 0;
  const length = hashListBytes / 4;
  for (const [index, place] of places.entries()) {
    const at = hashesAt + 2 * hashListBytes * index;
    words[(columnAt(place) + columnLayout.hashesAt) >> 2] = at;
    followed.set(place, {
      low: words.subarray(at >> 2, (at >> 2) + length),
      high: words.subarray((at + hashListBytes) >> 2, ((at + hashListBytes) >> 2) + length),
    });
  }
  // The texts in the slots were not hashed.
  words.fill(0, slotsAt >> 2);
  settle(tally);
};
