// Counts the texts of regular records, column by column, without making a string of each field.

import type { Dialect } from '../../core/declaration.ts';
import { grammarOf, isBlankByte } from '../../format/records/grammar.ts';
import { isStorable } from '../../format/records/raw-text.ts';
import type { RecordBlock } from '../../format/records/record-blocks.ts';
import { recordBytes } from '../../format/records/record-parser.ts';
import { counterOf, observeBytes, type ColumnEvidence, type Where } from './column-evidence.ts';
import { contentFinder, type FindContent } from './field-content.ts';
import { hashBytes, type Hashes } from './keys.ts';
import { nullWords } from './null-words.ts';
import { addText, createTextCache, findText, wordsBytes } from './text-cache.ts';
import { addForm, type Usual } from './usual-values.ts';

/** Bounds of a batch, which the processor's cache can hold while its columns are read in turn. */
const batchBytes = 64 * 1024;
export const batchRecords = 1024;

/** Bits of the number of slots of a column's cache. The caches of all columns have 2^18 slots. */
const slotBitsMax = 12;
const slotBitsMin = 6;
const allSlotBits = 18;

/** The quote in dialects without quotes. No byte equals it. */
const noQuote = 256;

export interface FieldCounter {
  readonly columns: readonly ColumnEvidence[];
  readonly delimiter: number;
  readonly quote: number;
  readonly findContent: FindContent;
  /** 1 for each first byte, without a quote, of texts that may be blank or a null word. */
  readonly mayBeNull: Uint8Array;
  readonly slotBits: number;
  /** The records of the batch. */
  readonly bytes: Buffer;
  readonly view: DataView;
  /** Indexes in `bytes`. For each record: the byte before it, and the ends of its fields. */
  readonly bounds: Int32Array;
  hasQuotes: boolean;
  records: number;
}

/** True if the delimiter has a single byte, and equal bytes always have the same meaning. */
const isForFieldCounter = ({ delimiter, escapes, escape, quote, quotedNulls, trim }: Dialect): boolean =>
  delimiter.length === 1 &&
  delimiter.charCodeAt(0) < 0x80 &&
  escapes === null &&
  (quote === null || escape === null || escape === quote) &&
  quotedNulls &&
  trim !== 'outside';

export const createFieldCounter = (
  columns: readonly ColumnEvidence[],
  dialect: Dialect,
): FieldCounter | undefined => {
  if (!isForFieldCounter(dialect)) return undefined;
  const grammar = grammarOf(dialect, columns.length, 'lf');
  const quote = grammar.quote === -1 ? noQuote : grammar.quote;
  const mayBeNull = new Uint8Array(noQuote + 1);
  for (const word of [' ', '\t', ...(columns[0]?.nulls ?? nullWords)]) mayBeNull[word.charCodeAt(0)] = 1;
  mayBeNull[quote] = 1;
  const room = allSlotBits - Math.ceil(Math.log2(columns.length));
  const bytes = Buffer.alloc(batchBytes + wordsBytes);
  return {
    columns,
    delimiter: grammar.delimiter[0]!,
    quote,
    findContent: contentFinder(grammar),
    mayBeNull,
    slotBits: Math.max(slotBitsMin, Math.min(slotBitsMax, room)),
    bytes,
    view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length),
    bounds: new Int32Array(batchBytes + 2 * batchRecords),
    hasQuotes: false,
    records: 0,
  };
};

/** Returns 1 for 0, and 0 for a positive number. A branch would often be mispredicted. */
const isZero = (number: number): number => (number - 1) >>> 31;

/** Adds the ends of a record's fields to `bounds`, from index `first`. Returns the next index. */
const addBounds = (
  { bytes, bounds, delimiter, quote, hasQuotes }: FieldCounter,
  first: number,
  from: number,
  to: number,
): number => {
  let next = first;
  let inside = 0;
  if (hasQuotes)
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at]!;
      bounds[next] = at;
      inside ^= isZero(byte ^ quote);
      next += isZero(byte ^ delimiter) & ~inside;
    }
  else
    for (let at = from; at < to; at += 1) {
      bounds[next] = at;
      next += isZero(bytes[at]! ^ delimiter);
    }
  bounds[next] = to;
  return next + 1;
};

/** Returns the index after the records of a batch: as many as have room, and have no fault. */
const batchEnd = (block: RecordBlock, first: number, recordsMax: number, isText: boolean): number => {
  const { starts, ends, faults } = block.spans;
  const bytesEnd = starts[first]! + batchBytes;
  const last = Math.min(starts.length, first + recordsMax);
  const isSound = isText && faults.size === 0;
  let record = first;
  while (
    record < last &&
    ends[record]! <= bytesEnd &&
    (isSound || (!faults.has(record) && (isText || isStorable(recordBytes(block, record)))))
  )
    record += 1;
  return record;
};

/**
 * Finds the fields of a batch of records, up to the first record that is irregular, too long, or
 * has another number of fields. Returns the number of records. `isText`: the block is valid UTF-8.
 */
export const findFields = (
  counter: FieldCounter,
  block: RecordBlock,
  first: number,
  recordsMax: number,
  isText: boolean,
): number => {
  const { bounds, columns, quote } = counter;
  const { starts, ends } = block.spans;
  const last = batchEnd(block, first, recordsMax, isText);
  counter.records = 0;
  if (last === first) return 0;
  const start = starts[first]!;
  const bytes = block.bytes.subarray(start, ends[last - 1]);
  counter.bytes.set(bytes);
  counter.hasQuotes = quote !== noQuote && bytes.includes(quote);
  let used = 0;
  for (let record = first; record < last; record += 1) {
    const from = starts[record]! - start;
    bounds[used] = from - 1;
    const next = addBounds(counter, used + 1, from, ends[record]! - start);
    if (next !== used + 1 + columns.length) break;
    used = next;
    counter.records += 1;
  }
  return counter.records;
};

const mayBeQuoted = ({ bytes, quote }: FieldCounter, from: number): boolean =>
  bytes[from] === quote || isBlankByte(bytes[from]);

/** Counts a text of any kind, and returns its counter. */
const countText = (counter: FieldCounter, column: ColumnEvidence, from: number, to: number): number => {
  const { bytes, view, slotBits, findContent } = counter;
  const cache = (column.cache ??= createTextCache(slotBits));
  const known = findText(cache, view, from, to);
  if (known !== 0) {
    column.counters[known - 1]! += 1;
    return known - 1;
  }
  const field = { bytes, from, to };
  const content = mayBeQuoted(counter, from) ? findContent(field) : field;
  const counted = observeBytes(column, content.bytes, content.from, content.to);
  addText(cache, bytes, from, to, counted + 1);
  return counted;
};

/** Counts a number, date or time, if its form is known. Adds its form otherwise. */
const countUsual = (
  counter: FieldCounter,
  column: ColumnEvidence,
  usual: Usual,
  from: number,
  to: number,
): void => {
  const { bytes, quote } = counter;
  const inQuotes = Number(bytes[from] === quote && bytes[to - 1] === quote);
  if (usual.isUsual(usual, bytes, from + inQuotes, to - inQuotes)) column.counters[usual.group.counter]! += 1;
  else if (countText(counter, column, from, to) === usual.group.counter) addForm(usual);
};

/** Most bytes of a null word in quotes. */
const wordBytesMax = Math.max(...[...nullWords].map((word) => word.length)) + 2;

const mayBeWord = ({ bytes, quote, mayBeNull }: FieldCounter, from: number, to: number): boolean => {
  const first = bytes[from]!;
  const last = bytes[to - 1]!;
  return (
    mayBeNull[first === quote ? bytes[from + 1]! : first] === 1 &&
    (to - from <= wordBytesMax || last === quote || isBlankByte(last))
  );
};

/** True if the field begins or ends with a blank, also within quotes. */
const isPaddedAt = ({ bytes, quote }: FieldCounter, from: number, to: number): boolean => {
  const inQuotes = Number(bytes[from] === quote && bytes[to - 1] === quote);
  return isBlankByte(bytes[from + inQuotes]) || isBlankByte(bytes[to - 1 - inQuotes]);
};

const countColumn = (counter: FieldCounter, index: number, where: Where, first: number): void => {
  const { bytes, bounds, records, columns } = counter;
  const column = columns[index]!;
  const { counters, singles } = column;
  const step = columns.length + 1;
  let texts = 0;
  for (let record = 0, at = index; record < records; record += 1, at += step) {
    const from = bounds[at]! + 1;
    const to = bounds[at + 1]!;
    where.record = first + record;
    if (to - from <= 1) {
      const byte = to === from ? 0 : bytes[from]!;
      const known = singles[byte]!;
      if (known === 0) singles[byte] = countText(counter, column, from, to) + 1;
      else counters[known - 1]! += 1;
    } else if (
      column.isText &&
      !mayBeWord(counter, from, to) &&
      (column.padded !== undefined || !isPaddedAt(counter, from, to))
    )
      texts += 1;
    else if (column.usual !== undefined) countUsual(counter, column, column.usual, from, to);
    else countText(counter, column, from, to);
  }
  counters[counterOf.text]! += texts;
};

/** Counts the fields that were found. `first`: the index of the first record in its block. */
export const countFields = (counter: FieldCounter, where: Where, first: number): void => {
  for (let index = 0; index < counter.columns.length; index += 1) countColumn(counter, index, where, first);
};

/** Hashes a field of the batch. */
export const hashField = (
  counter: FieldCounter,
  record: number,
  column: number,
  into: Hashes,
  index: number,
): void => {
  const { bytes, bounds, columns } = counter;
  const at = record * (columns.length + 1) + column;
  const from = bounds[at]! + 1;
  const to = bounds[at + 1]!;
  if (mayBeQuoted(counter, from)) {
    const content = counter.findContent({ bytes, from, to });
    hashBytes(content.bytes, content.from, content.to, into, index);
  } else hashBytes(bytes, from, to, into, index);
};
