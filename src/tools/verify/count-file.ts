// Recounts a file with csv-parse and the column readers in JavaScript, and sums the results.

import { correctionsOfFile, rejectsOfFile, type LoadedFile } from '../../ledger/production/loaded-files.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { Client } from '../../db/client.ts';
import type { Dialect, ReadTable } from '../../core/declaration.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { isRefusal } from '../../format/types/contract.ts';
import { createFieldReader } from '../../format/rows/field-reader.ts';
import { fieldsOf } from '../../format/records/file-fields.ts';
import { NotForCsvParse, readRecords, type CsvRecord } from '../../format/records/csv-records.ts';
import { correctedDialect } from '../../format/records/record-fields.ts';
import { createRecordFilter } from '../../format/rows/record-filter.ts';
import type { RejectCode } from '../../core/model.ts';
import { openInput } from '../../input/input.ts';
import type { ComparedColumn } from './compared-columns.ts';
import { createLossCount } from './lost-texts.ts';
import type { VerifyLoss } from './report.ts';
import { createRowSums, type RowSums } from './row-sums.ts';
import { CR, LF } from '../../core/characters.ts';

// csv-parse would fail at records that were rejected for their bytes, so these records are cut out.

interface Cut {
  readonly byte: number;
  readonly lines: number;
}

const afterLines = (
  block: Buffer,
  from: number,
  lines: number,
  newline: number,
): { at: number; left: number } => {
  let [at, left] = [from, lines];
  while (left > 0) {
    const end = block.indexOf(newline, at);
    if (end === -1) return { at: block.length, left };
    at = end + 1;
    left -= 1;
  }
  return { at, left };
};

/**
 * Yields the bytes without the records `cuts`, which are in the order of the file.
 *
 * @param start position of the first byte in the file
 * @param counted called for each record that is cut out: its lines, and the bytes before it that are left
 */
export async function* withoutRecords(
  bytes: AsyncIterable<Buffer>,
  start: number,
  cuts: AsyncIterator<Cut>,
  newline: number,
  counted: (lines: number, kept: number) => void,
): AsyncGenerator<Buffer, void> {
  let next = await cuts.next();
  let [position, left, kept, mayHoldFeed] = [start, 0, 0, false];
  for await (const block of bytes) {
    const end = position + block.length;
    let from = 0;
    for (;;) {
      if (left > 0) ({ at: from, left } = afterLines(block, from, left, newline));
      if (left > 0) break;
      // If lines end with CR, a record that is cut out may end with CR LF. The LF is cut out, too.
      if (mayHoldFeed && newline === CR && from < block.length && block[from] === LF) from += 1;
      if (from < block.length) mayHoldFeed = false;
      if (next.done === true || next.value.byte >= end) break;
      const at = next.value.byte - position;
      if (at > from) yield block.subarray(from, at);
      kept += Math.max(0, at - from);
      from = Math.max(from, at);
      left = next.value.lines;
      mayHoldFeed = true;
      counted(left, kept);
      next = await cuts.next();
    }
    if (left === 0 && from < block.length) {
      yield block.subarray(from);
      kept += block.length - from;
    }
    position = end;
  }
}

/** Rejects that csv-parse and the column readers cannot find. The records are cut out first. */
const bytesAtFault: readonly RejectCode[] = [
  'quote',
  'record_too_long',
  'line_end',
  'invalid_utf8',
  'encoding',
  'nul_byte',
  'server',
];

export interface CountedFile {
  readonly records: number;
  readonly rejected: number;
  readonly filtered: number;
  readonly sums: RowSums;
  readonly losses: readonly VerifyLoss[];
}

type Judged = readonly (string | null)[] | false | null;

const judgeOf = (table: ReadTable, file: NewFile, columns: readonly ComparedColumn[], dialect: Dialect) => {
  const ofFile = fieldsOf(file, dialect);
  const wanted = file.header.length;
  const keep = createRecordFilter(table.filter, ofFile, dialect);
  // Columns that production lacks are read, too, because they may reject a record.
  const compared = new Map(columns.map(({ spec, print }, index) => [spec.name, { index, print }]));
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
      if (own !== undefined) values[own.index] = text === null ? null : own.print(text);
    }
    return values;
  };
};

const createCount = (columns: readonly ComparedColumn[]) => {
  const rowSums = createRowSums(columns.map(({ comparing }) => comparing));
  const counts = { records: 0, rejected: 0, filtered: 0 };
  return {
    counts,
    take: (judged: Judged): void => {
      if (judged === false) counts.rejected += 1;
      else if (judged === null) counts.filtered += 1;
      else rowSums.add(judged);
    },
    sums: rowSums.sums,
  };
};

type Known = Pick<LoadedFile, 'id' | 'runId' | 'rejected'>;

const linesIn = (fields: CsvRecord['source']): number =>
  fields.reduce((sum, text = '') => sum + text.split(/\r\n|[\r\n]/).length - 1, 0);

/** Counts lines that csv-parse does not see, and returns the first line of a record in the file. */
const createLines = (dataLine: number) => {
  // csv-parse reads the last record before a cut with the bytes after it.
  let [kept, before, after] = [0, 0, 0];
  return {
    cut: (lines: number, bytesKept: number): void => {
      if (bytesKept > kept) [kept, before] = [bytesKept, after];
      after += lines;
    },
    of: ({ source, lines, end }: CsvRecord): number =>
      dataLine + lines - linesIn(source) + (end > kept ? after : before),
  };
};

const countRecords = async (
  client: Client,
  table: ReadTable,
  file: NewFile,
  known: Known,
  signal: AbortSignal | undefined,
  count: ReturnType<typeof createCount>,
  columns: readonly ComparedColumn[],
): Promise<readonly VerifyLoss[]> => {
  const { dialect } = table.format;
  const { counts } = count;
  const judge = judgeOf(table, file, columns, dialect);
  const specs = columns.map(({ spec }) => spec);
  const losses = createLossCount(specs, fieldsOf(file, dialect), file.name, dialect);
  const lines = createLines(file.dataLine);
  const access = { declared: table.source, signal };
  const bytes = openInput(file, access, file.dataByte, file.dataEnd ?? Infinity);
  const cuts = rejectsOfFile(client, known, bytesAtFault);
  const newline = file.lineEnd === 'cr' ? 13 : 10;
  const left = withoutRecords(bytes, file.dataByte, cuts, newline, (cutLines, kept) => {
    counts.records += 1;
    counts.rejected += 1;
    lines.cut(cutLines, kept);
  });
  const how = { dialect, fields: file.header.length, lineEnd: file.lineEnd };
  await readRecords(left, how, (record) => {
    counts.records += 1;
    let judged: Judged;
    try {
      judged = judge(record.fields);
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
    if (judged !== false && judged !== null) losses.add(record.source, judged, () => lines.of(record));
  });
  return losses.losses();
};

/**
 * Recounts a file, with the corrections instead of the corrected records. Throws NotForCsvParse,
 * with the reason, if the file cannot be recounted. Other errors: those of its source,
 * ETL_USER_FUNCTION.
 */
export const countFile = async (
  client: Client,
  table: ReadTable,
  file: NewFile,
  known: Known,
  signal: AbortSignal | undefined,
  columns: readonly ComparedColumn[],
): Promise<CountedFile> => {
  const count = createCount(columns);
  const corrections = await correctionsOfFile(client, known.id);
  let losses: readonly VerifyLoss[];
  try {
    losses = await countRecords(client, table, file, known, signal, count, columns);
  } catch (error) {
    // This error has no `isFault`: csv-parse may have failed at a record that was corrected.
    const mayBeOurs = error instanceof NotForCsvParse && corrections.length > 0;
    throw mayBeOurs ? new NotForCsvParse(error.message) : error;
  }
  if (corrections.length > 0) {
    // A corrected record that the recount does not reject would count twice.
    if (count.counts.rejected !== (known.rejected ?? 0) + corrections.length)
      throw new NotForCsvParse('csv-parse does not reject some of the records that were corrected');
    const judge = judgeOf(table, file, columns, correctedDialect(table.format.dialect));
    for (const { fields } of corrections) {
      if (fields === null) throw new NotForCsvParse('corrections of its records are no longer kept');
      count.counts.rejected -= 1;
      count.take(judge(fields));
    }
  }
  return { ...count.counts, sums: count.sums(), losses };
};
