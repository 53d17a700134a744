// Records of a CSV of corrections: as `etl rejects export` wrote it, and a person or a spreadsheet changed it.

import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import { correctionKey, type NewCorrection } from '../checkpoint/corrections.ts';
import { runFiles } from '../checkpoint/ledger.ts';
import { withTransaction, type Client } from '../db/client.ts';
import { tryLockPipeline } from '../db/session/advisory-lock.ts';
import { EtlError, messageOf } from '../errors.ts';
import { isQuoteFault, reasonOf } from '../format/raw-fields.ts';
import { recordBytes } from '../format/record-parser.ts';
import { recordBlocks } from '../format/split/record-blocks.ts';
import { createSplitter } from '../format/split/splitter.ts';
import { recordFields, writtenDialect } from '../format/record-fields.ts';
import { findRun } from '../history/history.ts';
import { reasonColumns, reasonNames } from '../history/reject-export.ts';
import { rejectCodes, type SourceFile } from '../model.ts';
import type { Access } from '../source/contract.ts';
import { localFiles } from '../source/local-files.ts';
import { inQuotes } from '../wording.ts';
import { openInput } from './input.ts';
import { lockedError } from './take-lock.ts';

/** Corrections kept in one statement: memory holds them twice, and a record may have two megabytes. */
const correctionsAtOnce = 100;

/** A local file needs no permission, and is not compressed. */
export const plainFile: Access = {
  declared: {
    locations: [],
    anywhere: true,
    options: {},
    constants: {},
    skipEnd: 0,
    maxRatio: 1,
    maxBytes: Infinity,
  },
};

type Invalid = (line: number, problem: string, hint?: string) => EtlError;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** A record of the file, with its line. */
interface ReadRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

/** Records of a local file; a spreadsheet may have put other delimiters between the fields. Memory: a block. */
async function* readRecords(path: string, invalid: Invalid): AsyncGenerator<ReadRecord, void> {
  const listed = { table: '', name: path, location: path };
  const { head, ...state } = await localFiles.look(listed, plainFile).catch((cause: unknown) => {
    throw new EtlError('ETL_USAGE', {
      problem: `${path} cannot be read: ${messageOf(cause)}`,
      hint: 'Check the path.',
    });
  });
  const file = {
    ...listed,
    ...state,
    source: localFiles.name,
    decoding: null,
    encoding: 'utf-8',
    part: null,
  };
  const start = head.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
  const [, delimiter = ','] = /^"?_+run"?([,;\t])/.exec(head.toString('latin1', start)) ?? [];
  const dialect = { ...writtenDialect, delimiter };
  const splitter = createSplitter(dialect, 2, 'lf');
  const from = { byte: start, line: 1, record: 1 };
  for await (const block of recordBlocks(openInput(file, plainFile, start), from, splitter))
    for (let index = 0; index < block.spans.starts.length; index += 1) {
      const bytes = recordBytes(block, index);
      const line = block.position.line + block.spans.lines[index]!;
      const fault = block.spans.faults.get(index) ?? undefined;
      if (fault !== undefined) throw invalid(line, rejectCodes[fault]);
      if (!isUtf8(bytes) || bytes.includes(0))
        throw invalid(line, 'it is not UTF-8 text', 'Save it as "CSV UTF-8" and try again.');
      const fields = recordFields(bytes, dialect);
      if (isQuoteFault(fields)) throw invalid(line, reasonOf(fields, []));
      yield { line, fields };
    }
}

/** Names of the file's own fields, after those that say what was wrong. */
const readHead = ({ line, fields }: ReadRecord, invalid: Invalid): readonly string[] => {
  const header = fields.slice(reasonColumns.length);
  if (header.length > 0 && reasonNames(header).every((name, place) => fields[place] === name)) return header;
  throw invalid(
    line,
    'it does not begin with the columns of an export',
    `Keep ${reasonNames([]).join(', ')}, and every other column, as \`etl rejects export\` wrote them.`,
  );
};

/** The run and table that the records are of, and the files of the table. */
export interface Place {
  readonly runId: number;
  readonly pipeline: string;
  readonly table: string;
  readonly files: ReadonlyMap<string, SourceFile>;
}

/** Errors: ETL_RUN_UNKNOWN, ETL_CORRECTIONS. */
const findPlace = async (
  client: Client,
  { line, fields: [run = '', table = ''] }: ReadRecord,
  invalid: Invalid,
): Promise<Place> => {
  if (!/^[1-9]\d{0,14}$/.test(run)) throw invalid(line, `${inQuotes(run)} is not the number of a run`);
  const runId = Number(run);
  const { pipeline } = (await findRun(client, runId)).run;
  const files = (await runFiles(client, runId)).filter((file) => file.table === table);
  if (files.length === 0)
    throw invalid(line, `run ${runId} has loaded no file into table ${inQuotes(table)}`);
  return { runId, pipeline, table, files: new Map(files.map((file) => [file.name, file])) };
};

/** A record of the CSV: a correction, unless nobody has corrected it. */
interface PlacedRecord extends NewCorrection {
  readonly name: string;
  readonly isCorrected: boolean;
}

const placedRecord = (
  { line, fields }: ReadRecord,
  header: readonly string[],
  { runId, table, files }: Place,
  invalid: Invalid,
): PlacedRecord => {
  const [run, ofTable, name, , byte, , record] = fields;
  if (fields.length !== reasonColumns.length + header.length)
    throw invalid(
      line,
      `it has ${fields.length} fields, the first line ${reasonColumns.length + header.length}`,
    );
  if (run !== String(runId) || ofTable !== table)
    throw invalid(
      line,
      'it is of another run or table',
      'Replay the records of each run and table by themselves.',
    );
  const file = files.get(name!);
  if (file === undefined)
    throw invalid(line, `run ${runId} has loaded no file ${inQuotes(name!)} into table ${table}`);
  if (!/^\d{1,15}$/.test(byte!)) throw invalid(line, `${inQuotes(byte!)} is not the byte of a record`);
  if (file.header.join('\0') !== header.join('\0'))
    throw invalid(
      line,
      `its columns are not those of ${name}`,
      'Keep the columns as `etl rejects export` wrote them.',
    );
  return {
    name: name!,
    fileId: file.id,
    fileKey: correctionKey(file),
    byte: Number(byte),
    line,
    fields: fields.slice(reasonColumns.length),
    isCorrected: record === '',
  };
};

/** What is done with the records of a CSV, some at a time and then when all are read, in one transaction. */
interface Action {
  readonly take: (records: readonly PlacedRecord[], place: Place, invalid: Invalid) => Promise<void>;
  readonly finish?: (place: Place) => Promise<void>;
}

/**
 * Reads a CSV of corrected records in one transaction, and returns which run and table they are of.
 * Errors: ETL_CORRECTIONS, ETL_RUN_UNKNOWN, ETL_RUN_LOCKED, ETL_USAGE.
 */
export const withRecords = async (
  client: Client,
  name: string,
  workingDirectory: string,
  { take, finish }: Action,
): Promise<Place> => {
  const invalid: Invalid = (line, problem, hint = 'Correct it and try again.') =>
    new EtlError('ETL_CORRECTIONS', { problem: `${name}:${line}: ${problem}`, hint });
  const records = readRecords(resolve(workingDirectory, name), invalid);
  const head = await records.next();
  if (head.done === true) throw invalid(1, 'it is empty');
  const header = readHead(head.value, invalid);
  return withTransaction(client, async () => {
    let place: Place | undefined;
    let batch: PlacedRecord[] = [];
    for await (const record of records) {
      // Spreadsheets leave rows of nothing.
      if (record.fields.every((field) => field === '')) continue;
      if (place === undefined) {
        place = await findPlace(client, record, invalid);
        // A run in progress has taken the corrections that it loads.
        if (!(await tryLockPipeline(client, place.pipeline))) throw await lockedError(client, place.pipeline);
      }
      batch.push(placedRecord(record, header, place, invalid));
      if (batch.length < correctionsAtOnce) continue;
      await take(batch, place, invalid);
      batch = [];
    }
    if (place === undefined) throw invalid(1, 'it has no records');
    if (batch.length > 0) await take(batch, place, invalid);
    await finish?.(place);
    return place;
  });
};
