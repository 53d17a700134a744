// Takes the records of a table, block after block, and keeps what its columns and its keys show.

import { isStorable } from '../format/raw-text.ts';
import { isFaulty, type RecordParser } from '../format/record-parser.ts';
import type { RecordBlock } from '../format/split/record-blocks.ts';
import type { Dialect } from '../declaration.ts';
import type { RejectCode } from '../model.ts';
import { createColumnEvidence, observeFields, observeText, type ColumnEvidence } from './column-evidence.ts';
import { keyColumns } from './choose-key.ts';
import {
  columnsFollowed,
  createHashes,
  createKeySearch,
  follow,
  followKeys,
  gather,
  hashBytes,
  type Hashes,
  isGathering,
  type KeySearch,
} from './keys.ts';

/** Records that are looked at together, column by column, while their bytes are in the nearest cache. */
const recordsAtOnce = 256;

/** A record that would be a reject, whatever its columns are. */
export interface FaultSeen {
  readonly code: RejectCode;
  readonly reason: string;
  readonly file: string;
  readonly line: number;
}

export interface TableEvidence {
  /** Of the fields, for what they suggest. */
  readonly names: readonly string[];
  readonly columns: readonly ColumnEvidence[];
  readonly keys: KeySearch;
  /** Of records that are looked at together, by column. */
  readonly hashes: Map<number, Hashes>;
  records: number;
  /** Of the records that are at fault. */
  readonly faults: Map<RejectCode, { count: number; readonly first: FaultSeen }>;
  faulty: number;
}

export const createTableEvidence = (names: readonly string[]): TableEvidence => ({
  names,
  columns: names.map(createColumnEvidence),
  keys: createKeySearch(names.length),
  hashes: new Map(),
  records: 0,
  faults: new Map(),
  faulty: 0,
});

/** How the records of one file are taken apart. */
export interface Observing {
  readonly file: string;
  readonly dialect: Dialect;
  readonly parse: RecordParser;
}

const addFault = (table: TableEvidence, fault: FaultSeen): void => {
  table.faulty += 1;
  const known = table.faults.get(fault.code);
  if (known === undefined) table.faults.set(fault.code, { count: 1, first: fault });
  else known.count += 1;
};

/** Whether the first records are enough, or all of them are there, to look for keys in them. */
export const endGathering = (table: TableEvidence): void => {
  if (isGathering(table.keys)) followKeys(table.keys, keyColumns(table.columns, table.names));
};

/** Puts the hash of a field of a record. */
type HashField = (record: number, column: number, into: Hashes, place: number) => void;

/** Takes so many records into the search for keys. */
const observeKeys = (table: TableEvidence, records: number, hash: HashField): void => {
  const { keys, hashes } = table;
  let record = 0;
  for (; record < records && isGathering(keys); record += 1) {
    const taken = record;
    if (!gather(keys, (column, into, place) => hash(taken, column, into, place))) endGathering(table);
  }
  const columns = columnsFollowed(keys);
  if (record === records || columns.length === 0) return;
  for (const column of columns) {
    const own = hashes.get(column) ?? createHashes(recordsAtOnce);
    hashes.set(column, own);
    for (let place = record; place < records; place += 1) hash(place, column, own, place);
  }
  follow(keys, (column) => hashes.get(column)!, record, records);
};

/** Records of a block that have no quote. */
interface Run {
  readonly places: Int32Array;
  records: number;
}

/** Lists the fields of a record without quotes; false when it has another number of them. */
const placeFields = (
  bytes: Buffer,
  from: number,
  to: number,
  delimiter: number,
  { places, records }: Run,
  fields: number,
): boolean => {
  const first = records * (fields + 1);
  let place = first;
  places[place] = from;
  for (let at = from; at < to; at += 1)
    if (bytes[at] === delimiter) {
      place += 1;
      if (place - first >= fields) return false;
      places[place] = at + 1;
    }
  places[place + 1] = to + 1;
  return place + 1 - first === fields;
};

const takeRun = (table: TableEvidence, bytes: Buffer, view: DataView, run: Run): void => {
  const { columns } = table;
  const { places, records } = run;
  const width = columns.length + 1;
  for (let column = 0; column < columns.length; column += 1)
    observeFields(columns[column]!, bytes, view, places, column, records, width);
  table.records += records;
  observeKeys(table, records, (record, column, into, place) => {
    const at = record * width + column;
    hashBytes(bytes, places[at]!, places[at + 1]! - 1, into, place);
  });
  run.records = 0;
};

/** Records [from, to) by their texts. */
const takeTexts = (
  table: TableEvidence,
  block: RecordBlock,
  from: number,
  to: number,
  observing: Observing,
): void => {
  const { columns } = table;
  const isPadded = observing.dialect.ragged === 'pad';
  const lineOf = (index: number): number => block.position.line + block.spans.lines[index]!;
  for (let first = from; first < to; first += recordsAtOnce) {
    const last = Math.min(to, first + recordsAtOnce);
    for (const [index, record] of observing.parse(block, first, last).entries()) {
      const at = { file: observing.file, line: lineOf(first + index) };
      if (isFaulty(record)) {
        const { code, reason } = record.faults[0]!;
        addFault(table, { code, reason, ...at });
      } else if (record.length > columns.length || (record.length < columns.length && !isPadded)) {
        const reason = `the record has ${record.length} fields, the header ${columns.length}`;
        addFault(table, { code: 'field_count', reason, ...at });
      } else {
        table.records += 1;
        for (let column = 0; column < columns.length; column += 1)
          observeText(columns[column]!, record[column] ?? '');
        observeKeys(table, 1, (_, column, into, place) => {
          const text = Buffer.from(record[column] ?? '');
          hashBytes(text, 0, text.length, into, place);
        });
      }
    }
  }
};

/** Takes the records of a block into the evidence of their table. */
export const observeBlock = (table: TableEvidence, block: RecordBlock, observing: Observing): void => {
  const { bytes, spans } = block;
  const { starts, ends, faults } = spans;
  const { delimiter, quote } = observing.dialect;
  const fields = table.columns.length;
  const quoteByte = quote === null ? -1 : quote.charCodeAt(0);
  const isPlain = isStorable(bytes) && delimiter.length === 1;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const run: Run = { places: new Int32Array(recordsAtOnce * (fields + 1)), records: 0 };
  let nextQuote = quoteByte === -1 ? -1 : bytes.indexOf(quoteByte);
  let texts = 0;
  for (let index = 0; index < starts.length; index += 1) {
    const [from, to] = [starts[index]!, ends[index]!];
    if (nextQuote !== -1 && nextQuote < from) nextQuote = bytes.indexOf(quoteByte, from);
    const isFit =
      isPlain &&
      (nextQuote === -1 || nextQuote >= to) &&
      !faults.has(index) &&
      placeFields(bytes, from, to, delimiter.charCodeAt(0), run, fields);
    if (!isFit) continue;
    if (texts < index) takeTexts(table, block, texts, index, observing);
    texts = index + 1;
    run.records += 1;
    if (run.records === recordsAtOnce) takeRun(table, bytes, view, run);
  }
  takeTexts(table, block, texts, starts.length, observing);
  takeRun(table, bytes, view, run);
};
