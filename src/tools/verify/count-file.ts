// Counts a file again: its bytes through csv-parse, the column readers in JavaScript, and sums of what they give.

import { correctionsOfFile, rejectsOfFile, type LoadedFile } from '../../ledger/production/loaded-files.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { Client } from '../../db/client.ts';
import type { Dialect, ReadTable } from '../../core/declaration/declaration.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { isRefusal } from '../../format/types/contract.ts';
import { createFieldReader } from '../../format/rows/field-reader.ts';
import { fieldsOf } from '../../format/records/file-fields.ts';
import { NotForCsvParse, readRecords } from '../../format/records/csv-records.ts';
import { correctedDialect } from '../../format/records/record-fields.ts';
import { createRecordFilter } from '../../format/rows/record-filter.ts';
import type { RejectCode } from '../../core/model.ts';
import { openInput } from '../../input/input.ts';
import type { ComparedColumn } from './compared-columns.ts';
import { withoutRecords } from './cut-records.ts';
import { createTally, type RowSums } from './tally.ts';

/** Rejects that csv-parse and the column readers cannot foresee: bytes that are no record, no text, or nothing for the server. */
const bytesAtFault: readonly RejectCode[] = [
  'quote',
  'record_too_long',
  'line_end',
  'invalid_utf8',
  'encoding',
  'nul_byte',
  'server',
];

/** A file as it is now, the same as the one that is in production. */
export type ListedFile = Omit<NewFile, 'ordinal'>;

export interface CountedFile {
  readonly records: number;
  readonly rejected: number;
  readonly filtered: number;
  readonly sums: RowSums;
}

/** What becomes of a record: false, it is rejected; null, it is filtered; otherwise its values. */
type Judged = readonly (string | null)[] | false | null;

const judgeOf = (
  table: ReadTable,
  file: ListedFile,
  columns: readonly ComparedColumn[],
  dialect: Dialect,
) => {
  const ofFile = fieldsOf(file, dialect);
  const wanted = file.header.length;
  const keep = createRecordFilter(table.filter, ofFile, dialect);
  // Columns that production has not may reject a record, too.
  const compared = new Map(columns.map(({ spec, print }, place) => [spec.name, { place, print }]));
  const readers = table.columns
    .filter(({ lineage }) => lineage === undefined)
    .map((column) => ({ read: createFieldReader(column, ofFile, dialect), own: compared.get(column.name) }));
  return (fields: readonly (string | undefined)[]): Judged => {
    const count = fields.length;
    if (count < wanted ? dialect.ragged !== 'pad' : count > wanted && dialect.ragged !== 'cut') return false;
    if (!keep(fields)) return null;
    const values: (string | null)[] = [];
    for (const { read, own } of readers) {
      const text = read(fields);
      if (text !== null && isRefusal(text)) return false;
      if (own !== undefined) values[own.place] = text === null ? null : own.print(text);
    }
    return values;
  };
};

/** Counts what becomes of records. */
const createCount = (columns: readonly ComparedColumn[]) => {
  const tally = createTally(columns.map(({ comparing }) => comparing));
  const counts = { records: 0, rejected: 0, filtered: 0 };
  return {
    counts,
    take: (judged: Judged): void => {
      if (judged === false) counts.rejected += 1;
      else if (judged === null) counts.filtered += 1;
      else tally.add(judged);
    },
    sums: tally.sums,
  };
};

/** What is known of a file by its run. */
type Known = Pick<LoadedFile, 'id' | 'runId' | 'rejected'>;

const countRecords = async (
  client: Client,
  table: ReadTable,
  file: ListedFile,
  known: Known,
  signal: AbortSignal | undefined,
  count: ReturnType<typeof createCount>,
  columns: readonly ComparedColumn[],
): Promise<void> => {
  const { dialect } = table.format;
  const { counts } = count;
  const judge = judgeOf(table, file, columns, dialect);
  const access = { declared: table.source, signal };
  const bytes = openInput(file, access, file.dataByte, file.dataEnd ?? Infinity);
  const cuts = rejectsOfFile(client, known, bytesAtFault);
  const newline = file.lineEnd === 'cr' ? 13 : 10;
  const left = withoutRecords(bytes, file.dataByte, cuts, newline, () => {
    counts.records += 1;
    counts.rejected += 1;
  });
  const how = { dialect, fields: file.header.length, lineEnd: file.lineEnd };
  await readRecords(left, how, (fields) => {
    counts.records += 1;
    let judged: Judged;
    try {
      judged = judge(fields);
    } catch (cause) {
      const details = {
        table: table.name,
        file: file.name,
        line: `record ${counts.records}`,
        problem: messageOf(cause),
      };
      throw new EtlError('ETL_USER_FUNCTION', details, { cause });
    }
    count.take(judged);
  });
};

/**
 * Counts a file. A correction counts as what became of it, and the record that it corrects does not. Throws NotForCsvParse with the
 * reason when that cannot be told. Other errors: those of its source, ETL_USER_FUNCTION.
 */
export const countFile = async (
  client: Client,
  table: ReadTable,
  file: ListedFile,
  known: Known,
  signal: AbortSignal | undefined,
  columns: readonly ComparedColumn[],
): Promise<CountedFile> => {
  const count = createCount(columns);
  const corrections = await correctionsOfFile(client, known.id);
  try {
    await countRecords(client, table, file, known, signal, count, columns);
  } catch (error) {
    // The reject that is missing may have been corrected.
    const mayBeOurs = error instanceof NotForCsvParse && corrections.length > 0;
    throw mayBeOurs ? new NotForCsvParse(error.message) : error;
  }
  if (corrections.length > 0) {
    // Records whose bytes csv-parse reads otherwise than our splitter cannot be found again by their corrections.
    if (count.counts.rejected !== (known.rejected ?? 0) + corrections.length)
      throw new NotForCsvParse('some of its records were corrected that csv-parse does not reject');
    const judge = judgeOf(table, file, columns, correctedDialect(table.format.dialect));
    for (const { fields } of corrections) {
      if (fields === null) throw new NotForCsvParse('corrections of its records are not kept any longer');
      count.counts.rejected -= 1;
      count.take(judge(fields));
    }
  }
  return { ...count.counts, sums: count.sums() };
};
