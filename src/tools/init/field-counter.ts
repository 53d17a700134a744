// Counts the fields of regular records with the routine of counter-code.ts.

import type { Dialect } from '../../core/declaration.ts';
import { groupBytes, instantiate, pageBytes } from '../../format/wasm-instance.ts';
import { grammarOf } from '../../format/records/grammar.ts';
import type { RecordBlock } from '../../format/records/record-blocks.ts';
import { observeBytes, observeLong, type ColumnEvidence } from './column-evidence.ts';
import { createHashes, hashBytes, type Hashes } from './keys.ts';
import { nullWords } from './null-words.ts';
import { contentFinder, type FindContent } from './field-content.ts';
import { counterBytes } from './counter-bytes.ts';
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
} from './counter-memory.ts';

/** Memory that the slots of all columns share. A column has 2^setBits sets of slots. */
const slotsBytesMax = 16 * 1024 * 1024;
const setBitsMax = 10;
const setBitsMin = 4;

/** A gap between columns: otherwise equal texts would compete for a line of the CPU's cache. */
const lineBytes = 64;
const countersBytes = 4 * countersMax + lineBytes;

export interface FieldCounter {
  readonly columns: readonly ColumnEvidence[];
  readonly routine: Routine;
  readonly bytes: Buffer;
  readonly words: Int32Array;
  readonly countersAt: number;
  readonly slotsAt: number;
  readonly delimiter: number;
  /** The quote's byte; -1: the dialect has no quotes. */
  readonly quote: number;
  readonly findContent: FindContent;
  readonly followed: Map<number, Hashes>;
  hasQuotes: boolean;
  runAt: number;
  runList: number;
}

/** True if the delimiter has a single byte, and equal bytes always have the same meaning. */
const isForFieldCounter = ({ delimiter, escapes, escape, quote, quotedNulls, trim }: Dialect): boolean =>
  delimiter.length === 1 &&
  delimiter.charCodeAt(0) < 0x80 &&
  escapes === null &&
  (quote === null || escape === null || escape === quote) &&
  quotedNulls &&
  trim !== 'outside';

type Routine = ReturnType<typeof startRoutine>;

const startRoutine = () => instantiate(counterBytes, {});

/** Routines to reuse, because each has some megabytes of memory. */
const idle: Routine[] = [];

const takeRoutine = (bytes: number): Routine => {
  const routine = idle.pop() ?? startRoutine();
  const missing = columnsAt + bytes - routine.memory.buffer.byteLength;
  if (missing > 0) routine.memory.grow(Math.ceil(missing / pageBytes));
  new Uint8Array(routine.memory.buffer, columnsAt, bytes).fill(0);
  return routine;
};

export const closeFieldCounter = ({ routine }: FieldCounter): void => void idle.push(routine);

const columnAt = (index: number): number => columnsAt + columnLayout.bytes * index;

const firstBytes = (quote: number): Uint8Array => {
  const kinds = new Uint8Array(256);
  for (const byte of [' ', '\t', ...[...nullWords].map((word) => word[0]!)])
    kinds[byte.charCodeAt(0)] = first.other;
  if (quote !== -1) kinds[quote] = first.quote;
  return kinds;
};

const one = createHashes(1);
const hashOne = (bytes: Buffer, from: number, to: number): void => hashBytes(bytes, from, to, one, 0);

export const createFieldCounter = (
  columns: readonly ColumnEvidence[],
  dialect: Dialect,
): FieldCounter | undefined => {
  if (!isForFieldCounter(dialect)) return undefined;
  const grammar = grammarOf(dialect, columns.length, 'lf');
  const room = Math.floor(Math.log2(slotsBytesMax / (columns.length * setBytes)));
  const setBits = Math.max(setBitsMin, Math.min(setBitsMax, room));
  const slotBytes = setBytes * 2 ** setBits + lineBytes;
  const countersAt = columnAt(columns.length);
  const slotsAt = Math.ceil((countersAt + countersBytes * columns.length) / setBytes) * setBytes;
  const routine = takeRoutine(slotsAt - columnsAt + columns.length * slotBytes);
  const bytes = Buffer.from(routine.memory.buffer);
  const words = new Int32Array(routine.memory.buffer);
  for (const index of columns.keys()) {
    words[(columnAt(index) + columnLayout.slotsAt) >> 2] = slotsAt + index * slotBytes;
    words[(columnAt(index) + columnLayout.countersAt) >> 2] = countersAt + countersBytes * index;
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

export const loadWindow = (
  fieldCounter: FieldCounter,
  { bytes: block, spans: { starts, ends } }: RecordBlock,
  from: number,
  to: number,
): void => {
  const { bytes, words, routine, delimiter, quote } = fieldCounter;
  const shift = textAt - starts[from]!;
  const textEnd = shift + ends[to - 1]!;
  bytes.set(block.subarray(starts[from], ends[to - 1]), textAt);
  bytes.fill(0, textEnd, textEnd + groupBytes);
  for (let record = from; record < to; record += 1) {
    words[(startsAt >> 2) + record - from] = starts[record]! + shift;
    words[(endsAt >> 2) + record - from] = ends[record]! + shift;
  }
  fieldCounter.hasQuotes = quote !== -1 && bytes.subarray(textAt, textEnd).includes(quote);
  words[state.listEnd >> 2] = routine.scanFields(
    textAt,
    textEnd,
    delimiter,
    fieldCounter.hasQuotes ? quote : -1,
  );
  words[state.next >> 2] = delimitersAt;
};

const isKey = (words: Int32Array, slotAt: number, keyAt: number): boolean =>
  words[slotAt] === words[keyAt] &&
  words[slotAt + 1] === words[keyAt + 1] &&
  words[slotAt + 2] === words[keyAt + 2] &&
  words[slotAt + 3] === words[keyAt + 3];

const fillSlot = (words: Int32Array, slotAt: number, keyAt: number, counterAt: number): void => {
  words.copyWithin(slotAt + (slot.bytes >> 2), slotAt, slotAt + (slot.bytes >> 2));
  for (let word = 0; word < 4; word += 1) words[slotAt + word] = words[keyAt + word]!;
  words[slotAt + (slot.counter >> 2)] = counterAt;
  words[slotAt + (slot.hashLow >> 2)] = one.low[0]!;
  words[slotAt + (slot.hashHigh >> 2)] = one.high[0]!;
};

const takeNew = (fieldCounter: FieldCounter, at: number): void => {
  const { bytes, words, columns, countersAt } = fieldCounter;
  const index = (words[(at + newText.column) >> 2]! - columnsAt) / columnLayout.bytes;
  const [slotAt, keyAt] = [words[(at + newText.setAt) >> 2]! >> 2, (at + newText.key) >> 2];
  const hashes = fieldCounter.followed.get(index);
  const record = words[(at + newText.record) >> 2]!;
  // An earlier entry of the list had the same text: by now, the text is in the slot.
  if (slotAt !== 0 && isKey(words, slotAt, keyAt)) {
    words[words[slotAt + (slot.counter >> 2)]! >> 2]! += 1;
    if (hashes === undefined) return;
    hashes.low[record] = words[slotAt + (slot.hashLow >> 2)]!;
    hashes.high[record] = words[slotAt + (slot.hashHigh >> 2)]!;
    return;
  }
  const field = { bytes, from: words[(at + newText.from) >> 2]!, to: words[(at + newText.to) >> 2]! };
  const content = fieldCounter.hasQuotes ? fieldCounter.findContent(field) : field;
  if (hashes !== undefined) {
    hashOne(content.bytes, content.from, content.to);
    hashes.low[record] = one.low[0]!;
    hashes.high[record] = one.high[0]!;
  }
  if (field.to - field.from > slotTextMax) {
    observeLong(columns[index]!, content.bytes, content.from, content.to);
    return;
  }
  const counter = observeBytes(columns[index]!, content.bytes, content.from, content.to);
  if (counter < countersMax) fillSlot(words, slotAt, keyAt, countersAt + countersBytes * index + 4 * counter);
};

const settle = ({ columns, words, countersAt, followed }: FieldCounter): void => {
  for (let index = 0; index < columns.length; index += 1) {
    const { counters, alive } = columns[index]!;
    const own = (countersAt + countersBytes * index) >> 2;
    const known = Math.min(countersMax, counters.length);
    for (let counter = 0; counter < known; counter += 1) {
      const more = words[own + counter]!;
      if (more === 0) continue;
      counters[counter]! += more;
      words[own + counter] = 0;
    }
    words[(columnAt(index) + columnLayout.isText) >> 2] = Number(alive === 0 && !followed.has(index));
  }
};

/**
 * Counts records from `at` up to `to`, or up to the first record with another number of fields.
 * Returns the index of the record at which it ended.
 */
export const runFieldCounter = (fieldCounter: FieldCounter, at: number, to: number): number => {
  const { words, routine } = fieldCounter;
  let reached = at;
  do {
    reached = routine.countRecords(reached, to);
    const newEnd = words[state.newEnd >> 2]!;
    for (let next = newAt; next < newEnd; next += newText.bytes) takeNew(fieldCounter, next);
  } while (reached < to && words[state.isOdd >> 2] === 0);
  settle(fieldCounter);
  fieldCounter.runAt = at;
  fieldCounter.runList = words[state.next >> 2]! - (reached - at) * 4 * (fieldCounter.columns.length - 1);
  return reached;
};

export const hashField = (
  fieldCounter: FieldCounter,
  record: number,
  column: number,
  into: Hashes,
  index: number,
): void => {
  const { words, columns, bytes } = fieldCounter;
  const list = (fieldCounter.runList >> 2) + (record - fieldCounter.runAt) * (columns.length - 1) + column;
  const from = column === 0 ? words[(startsAt >> 2) + record]! : words[list - 1]! + 1;
  const to = column === columns.length - 1 ? words[(endsAt >> 2) + record]! : words[list]!;
  const content = fieldCounter.hasQuotes ? fieldCounter.findContent({ bytes, from, to }) : undefined;
  if (content === undefined) hashBytes(bytes, from, to, into, index);
  else hashBytes(content.bytes, content.from, content.to, into, index);
};

/** Keeps hashes of these columns, at most `hashColumnsMax`, from the next counted record on. */
export const followColumns = (fieldCounter: FieldCounter, followedNow: readonly number[]): void => {
  const { followed, words, columns, slotsAt } = fieldCounter;
  if (followedNow.length === followed.size) return;
  followed.clear();
  for (const index of columns.keys()) words[(columnAt(index) + columnLayout.hashesAt) >> 2] = 0;
  const length = hashListBytes / 4;
  for (const [position, index] of followedNow.entries()) {
    const at = hashesAt + 2 * hashListBytes * position;
    words[(columnAt(index) + columnLayout.hashesAt) >> 2] = at;
    followed.set(index, {
      low: words.subarray(at >> 2, (at >> 2) + length),
      high: words.subarray((at + hashListBytes) >> 2, ((at + hashListBytes) >> 2) + length),
    });
  }
  // Empties the slots, because their texts were stored without hashes.
  words.fill(0, slotsAt >> 2);
  settle(fieldCounter);
};
