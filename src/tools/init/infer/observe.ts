// Takes the records of a table, block after block, and keeps what its columns and its keys show.

import { windowsOf } from '../../../format/rows/windows.ts';
import { isFaulty, type RecordParser } from '../../../format/records/record-parser.ts';
import type { RecordBlock } from '../../../format/split/record-blocks.ts';
import type { Dialect } from '../../../core/declaration/declaration.ts';
import type { RejectCode } from '../../../core/model.ts';
import { createColumnEvidence, observeText, type ColumnEvidence } from './column-evidence.ts';
import { keyColumns } from './choose-key.ts';
import { counterOf } from './counters.ts';
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
import { createTally, followColumns, hashField, loadWindow, runTally, type Tally } from './tally.ts';

/** Records that are parsed together. */
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
  /** That of its first files: the tally takes those alone. */
  readonly dialect: Dialect;
  /** Undefined: the dialect is not for it. */
  readonly tally: Tally | undefined;
  records: number;
  /** Of the records that are at fault. */
  readonly faults: Map<RejectCode, { count: number; readonly first: FaultSeen }>;
  faulty: number;
}

export const createTableEvidence = (names: readonly string[], dialect: Dialect): TableEvidence => {
  const columns = names.map(createColumnEvidence);
  return {
    names,
    columns,
    keys: createKeySearch(names.length),
    hashes: new Map(),
    dialect,
    tally: createTally(columns, dialect),
    records: 0,
    faults: new Map(),
    faulty: 0,
  };
};

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

/** Columns that had a value in each record: no other one may be in a key. */
const withoutGaps = ({ columns }: TableEvidence): readonly number[] =>
  columns.flatMap(({ counters }, place) =>
    counters[counterOf.empty]! + counters[counterOf.blank]! > 0 ? [] : [place],
  );

/** Takes records [from, to) into the search for keys. */
const observeKeys = (table: TableEvidence, from: number, to: number, hash: HashField): void => {
  const { keys, hashes } = table;
  let record = from;
  if (isGathering(keys)) {
    const possible = withoutGaps(table);
    for (; record < to && isGathering(keys); record += 1) {
      const taken = record;
      const hashOf = (column: number, into: Hashes, place: number) => hash(taken, column, into, place);
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
      for (let place = 0; place < records; place += 1) hash(record + place, column, own, place);
    }
    follow(keys, (column) => hashes.get(column)!, 0, records);
    record += records;
  }
};

/** Records [at, to) of the tally's window; returns the first one that has another number of fields. */
const takeRun = (table: TableEvidence, tally: Tally, at: number, to: number): number => {
  const { keys } = table;
  const wasGathering = isGathering(keys);
  if (!wasGathering) followColumns(tally, columnsFollowed(keys));
  const reached = runTally(tally, at, to);
  table.records += reached - at;
  if (wasGathering)
    observeKeys(table, at, reached, (record, column, into, place) =>
      hashField(tally, record, column, into, place),
    );
  else if (tally.followed.size > 0) follow(keys, (column) => tally.followed.get(column)!, at, reached);
  return reached;
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
        observeKeys(table, 0, 1, (_, column, into, place) => {
          const text = Buffer.from(record[column] ?? '');
          hashBytes(text, 0, text.length, into, place);
        });
      }
    }
  }
};

/** Takes the records of a block into the evidence of their table. */
export const observeBlock = (table: TableEvidence, block: RecordBlock, observing: Observing): void => {
  const { tally } = table;
  if (tally === undefined || observing.dialect !== table.dialect) {
    takeTexts(table, block, 0, block.spans.starts.length, observing);
    return;
  }
  for (const { from, to, isFit } of windowsOf(block, -1)) {
    if (!isFit) {
      takeTexts(table, block, from, to, observing);
      continue;
    }
    loadWindow(tally, block, from, to);
    for (let at = 0; at < to - from; at += 1) {
      at = takeRun(table, tally, at, to - from);
      if (at < to - from) takeTexts(table, block, from + at, from + at + 1, observing);
    }
  }
};
