// Reads the records of a table, block by block, and collects evidence about its columns and keys.

import { isStorable } from '../../format/records/raw-text.ts';
import { isFaulty, type RecordParser } from '../../format/records/record-parser.ts';
import type { RecordBlock } from '../../format/records/record-blocks.ts';
import type { Dialect } from '../../core/declaration.ts';
import type { RejectCode } from '../../core/model.ts';
import {
  counterOf,
  createColumnEvidence,
  createWhere,
  observeText,
  type ColumnEvidence,
  type Where,
} from './column-evidence.ts';
import { nullWords } from './null-words.ts';
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
import {
  batchRecords,
  countFields,
  createFieldCounter,
  findFields,
  hashField,
  type FieldCounter,
} from './field-counter.ts';

const recordsAtOnce = 256;

/** A record that is rejected whatever types the columns have. */
export interface FaultSeen {
  readonly code: RejectCode;
  readonly reason: string;
  readonly file: string;
  readonly line: number;
}

export interface TableEvidence {
  readonly where: Where;
  readonly names: readonly string[];
  readonly columns: readonly ColumnEvidence[];
  readonly keys: KeySearch;
  readonly hashes: Map<number, Hashes>;
  /** Dialect of the first file. Only records in this dialect are counted by the field counter. */
  readonly dialect: Dialect;
  readonly fieldCounter: FieldCounter | undefined;
  records: number;
  readonly faults: Map<RejectCode, { count: number; readonly first: FaultSeen }>;
  faulty: number;
}

/** `nulls`: texts that may mean "no value". */
export const createTableEvidence = (
  names: readonly string[],
  dialect: Dialect,
  nulls: ReadonlySet<string> = nullWords,
): TableEvidence => {
  const where = createWhere();
  const columns = names.map(() => createColumnEvidence(where, nulls));
  return {
    where,
    names,
    columns,
    keys: createKeySearch(names.length),
    hashes: new Map(),
    dialect,
    fieldCounter: createFieldCounter(columns, dialect),
    records: 0,
    faults: new Map(),
    faulty: 0,
  };
};

interface Observing {
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

export const endGathering = (table: TableEvidence): void => {
  if (isGathering(table.keys)) followKeys(table.keys, keyColumns(table.columns, table.names));
};

type HashField = (record: number, column: number, into: Hashes, target: number) => void;

/** Returns columns with a value in every record. Only such columns can be in a key. */
const withoutGaps = ({ columns }: TableEvidence): readonly number[] =>
  columns.flatMap(({ counters }, index) =>
    counters[counterOf.empty]! + counters[counterOf.blank]! > 0 ? [] : [index],
  );

const observeKeys = (table: TableEvidence, from: number, to: number, hash: HashField): void => {
  const { keys, hashes } = table;
  let record = from;
  if (isGathering(keys)) {
    const possible = withoutGaps(table);
    for (; record < to && isGathering(keys); record += 1) {
      const taken = record;
      const hashOf = (column: number, into: Hashes, target: number) => hash(taken, column, into, target);
      if (!gather(keys, possible, hashOf)) endGathering(table);
    }
  }
  for (
    let columns = columnsFollowed(keys);
    record < to && columns.length > 0;
    columns = columnsFollowed(keys)
  ) {
    const records = Math.min(recordsAtOnce, to - record);
    for (const column of columns) {
      const own = hashes.get(column) ?? createHashes(recordsAtOnce);
      hashes.set(column, own);
      for (let target = 0; target < records; target += 1) hash(record + target, column, own, target);
    }
    follow(keys, (column) => hashes.get(column)!, 0, records);
    record += records;
  }
};

const takeTexts = (
  table: TableEvidence,
  block: RecordBlock,
  from: number,
  to: number,
  observing: Observing,
): void => {
  const { columns, where } = table;
  const isPadded = observing.dialect.ragged === 'pad';
  for (let first = from; first < to; first += recordsAtOnce) {
    const last = Math.min(to, first + recordsAtOnce);
    for (const [index, record] of observing.parse(block, first, last).entries()) {
      where.record = first + index;
      const at = { file: where.file, line: where.lineOf(where.record) };
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
        observeKeys(table, 0, 1, (_, column, into, target) => {
          const text = Buffer.from(record[column] ?? '');
          hashBytes(text, 0, text.length, into, target);
        });
      }
    }
  }
};

export const observeBlock = (table: TableEvidence, block: RecordBlock, observing: Observing): void => {
  const { fieldCounter, where } = table;
  where.file = observing.file;
  where.lineOf = (record) => block.position.line + block.spans.lines[record]!;
  if (fieldCounter === undefined || observing.dialect !== table.dialect) {
    takeTexts(table, block, 0, block.spans.starts.length, observing);
    return;
  }
  const isText = isStorable(block.bytes);
  let recordsMax = batchRecords;
  for (let at = 0; at < block.spans.starts.length;) {
    const found = findFields(fieldCounter, block, at, recordsMax, isText);
    // Where many records are irregular, large batches would be copied for a few records each.
    recordsMax = Math.min(batchRecords, 2 * found + 8);
    countFields(fieldCounter, where, at);
    table.records += found;
    observeKeys(table, 0, found, (record, column, into, target) =>
      hashField(fieldCounter, record, column, into, target),
    );
    at += found;
    if (found > 0) continue;
    takeTexts(table, block, at, at + 1, observing);
    at += 1;
  }
};
