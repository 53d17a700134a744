// Reads corrections: a file of `etl rejects export` that a person has edited.

import { isUtf8 } from 'node:buffer';
import { resolve } from 'node:path';
import { correctionKey, type NewCorrection } from '../ledger/rejects/corrections.ts';
import { runFiles } from '../ledger/run/ledger.ts';
import { withTransaction, type Client } from '../db/client.ts';
import { tryLockPipeline } from '../db/session/advisory-lock.ts';
import { arrivalDefault } from '../core/arrival.ts';
import type { Dialect, LineEnd } from '../core/declaration.ts';
import { EtlError, messageOf } from '../core/errors/errors.ts';
import { isQuoteFault, reasonOf } from '../format/records/raw-fields.ts';
import { findLineEnd, grammarOf } from '../format/records/grammar.ts';
import { recordBytes } from '../format/records/record-parser.ts';
import { recordBlocks } from '../format/records/record-blocks.ts';
import { createSplitter } from '../format/records/splitter.ts';
import { recordFields, writtenDialect } from '../format/records/record-fields.ts';
import { findRun } from '../ledger/history/history.ts';
import {
  correctionColumns,
  fieldPlaces,
  usualNames,
  type CorrectionColumns,
  type FieldPlaces,
} from '../ledger/rejects/correction-columns.ts';
import { rejectCodes, type SourceFile } from '../core/model.ts';
import type { Access } from '../input/sources/contract.ts';
import { localFiles } from '../input/sources/local-files.ts';
import { inQuotes, plural } from '../core/wording.ts';
import { openInput } from '../input/input.ts';
import { lockedError } from '../run/take-lock.ts';

/** Corrections stored by one statement. A record can have 2 MB. */
const correctionsAtOnce = 100;

export const plainFile: Access = {
  declared: {
    locations: [],
    anywhere: true,
    options: {},
    constants: {},
    skipEnd: 0,
    maxRatio: 1,
    maxBytes: Infinity,
    arrival: arrivalDefault,
  },
};

type Invalid = (line: number, problem: string, hint?: string) => EtlError;

const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

interface ReadRecord {
  readonly line: number;
  readonly fields: readonly string[];
}

const runBeside = (delimiter: string): RegExp =>
  new RegExp(`(?:^|${delimiter})"?_+run"?${delimiter}|${delimiter}"?_+run"?$`);

/** Detects the dialect of an edited file: spreadsheets change delimiter and line ends. */
const writingOf = (
  head: Buffer,
): { readonly start: number; readonly dialect: Dialect; readonly lineEnd: LineEnd } => {
  const start = head.subarray(0, byteOrderMark.length).equals(byteOrderMark) ? byteOrderMark.length : 0;
  const [line = ''] = head.toString('latin1', start).split(/[\r\n]/, 1);
  const delimiter = [';', '\t'].find((one) => runBeside(one).test(line)) ?? ',';
  const dialect: Dialect = { ...writtenDialect, delimiter };
  const lineEnd = findLineEnd(head.subarray(start), true, grammarOf(dialect, 2, 'lf'), false) ?? 'lf';
  return { start, dialect: { ...dialect, lineEnd }, lineEnd };
};

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
  const { start, dialect, lineEnd } = writingOf(head);
  const splitter = createSplitter(dialect, 2, lineEnd);
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

const keepColumns =
  'Keep the names of the columns as `etl rejects export` wrote them; their order does not matter.';

const readHead = ({ line, fields }: ReadRecord, invalid: Invalid): CorrectionColumns => {
  const columns = correctionColumns(fields);
  if ('problem' in columns)
    throw invalid(
      line,
      columns.problem,
      `An export has ${usualNames()}, and the columns of the file. ${keepColumns}`,
    );
  return columns;
};

export interface Origin {
  readonly runId: number;
  readonly pipeline: string;
  readonly table: string;
  readonly files: ReadonlyMap<string, SourceFile>;
  /** By id of a source file: where the CSV file of corrections has the fields of that file. */
  readonly fieldPlaces: Map<number, FieldPlaces>;
}

const findOrigin = async (
  client: Client,
  { line, fields }: ReadRecord,
  { places }: CorrectionColumns,
  invalid: Invalid,
): Promise<Origin> => {
  const [run, table] = [fields[places.run] ?? '', fields[places.table] ?? ''];
  if (!/^[1-9]\d{0,14}$/.test(run)) throw invalid(line, `${inQuotes(run)} is not the number of a run`);
  const runId = Number(run);
  const { pipeline } = (await findRun(client, runId)).run;
  const files = (await runFiles(client, runId)).filter((file) => file.table === table);
  if (files.length === 0)
    throw invalid(line, `run ${runId} has loaded no file into table ${inQuotes(table)}`);
  return {
    runId,
    pipeline,
    table,
    files: new Map(files.map((file) => [file.name, file])),
    fieldPlaces: new Map(),
  };
};

interface CorrectionRecord extends NewCorrection {
  readonly name: string;
  readonly isCorrected: boolean;
}

const placesOf = (
  { id, name, header }: SourceFile,
  columns: CorrectionColumns,
  { fieldPlaces: known }: Origin,
  invalid: Invalid,
): FieldPlaces => {
  const found = known.get(id) ?? fieldPlaces(columns, header);
  if ('problem' in found)
    throw invalid(1, `its columns are not those of ${name}: ${found.problem}`, keepColumns);
  known.set(id, found);
  return found;
};

/** Returns the fields of a record in the order of the source file. */
const fieldsAt = ({ line, fields }: ReadRecord, { fields: places, blank }: FieldPlaces, invalid: Invalid) => {
  const filled = blank.find((index) => fields[index] !== '');
  if (filled !== undefined)
    throw invalid(line, `field ${filled + 1} is ${inQuotes(fields[filled]!)}, and its column has no name`);
  return places.map((index) => (index === undefined ? '' : fields[index]!));
};

const refuseCount = ({ line, fields }: ReadRecord, count: number, invalid: Invalid): void => {
  if (fields.length === count) return;
  const hint =
    fields.length < count
      ? 'Excel leaves out empty fields at the end of some rows: save it with another program, or add the delimiters.'
      : undefined;
  throw invalid(line, `it has ${plural(fields.length, 'field')}, the first line ${count}`, hint);
};

const correctionRecord = (
  record: ReadRecord,
  columns: CorrectionColumns,
  origin: Origin,
  invalid: Invalid,
): CorrectionRecord => {
  const { line, fields } = record;
  const { runId, table, files } = origin;
  refuseCount(record, columns.count, invalid);
  const of = columns.places;
  const [name, byte] = [fields[of.file]!, fields[of.byte]!];
  if (fields[of.run] !== String(runId) || fields[of.table] !== table)
    throw invalid(
      line,
      'it belongs to another run or table',
      'Write the records of each run and table to a file of its own.',
    );
  const file = files.get(name);
  if (file === undefined)
    throw invalid(line, `run ${runId} has loaded no file ${inQuotes(name)} into table ${table}`);
  if (!/^\d{1,15}$/.test(byte)) throw invalid(line, `${inQuotes(byte)} is not the byte of a record`);
  const places = placesOf(file, columns, origin, invalid);
  return {
    name,
    fileId: file.id,
    fileKey: correctionKey(file),
    byte: Number(byte),
    line,
    fields: fieldsAt(record, places, invalid),
    isCorrected: fields[of.record] === '',
  };
};

interface Action {
  readonly take: (records: readonly CorrectionRecord[], origin: Origin, invalid: Invalid) => Promise<void>;
  readonly finish?: (origin: Origin) => Promise<void>;
}

const takeRecords = async (
  client: Client,
  records: AsyncIterable<ReadRecord>,
  columns: CorrectionColumns,
  invalid: Invalid,
  { take, finish }: Action,
): Promise<Origin> => {
  let origin: Origin | undefined;
  let batch: CorrectionRecord[] = [];
  for await (const record of records) {
    if (record.fields.every((field) => field === '')) continue;
    if (origin === undefined) {
      origin = await findOrigin(client, record, columns, invalid);
      // A run in progress has already read its corrections, so it would miss these.
      if (!(await tryLockPipeline(client, origin.pipeline))) throw await lockedError(client, origin.pipeline);
    }
    batch.push(correctionRecord(record, columns, origin, invalid));
    if (batch.length < correctionsAtOnce) continue;
    await take(batch, origin, invalid);
    batch = [];
  }
  if (origin === undefined) throw invalid(1, 'it has no records');
  if (batch.length > 0) await take(batch, origin, invalid);
  await finish?.(origin);
  return origin;
};

/**
 * Reads a CSV file of corrections and performs the action, in one transaction.
 * Errors: ETL_CORRECTIONS, ETL_RUN_UNKNOWN, ETL_RUN_LOCKED, ETL_USAGE.
 */
export const withRecords = async (
  client: Client,
  name: string,
  workingDirectory: string,
  action: Action,
): Promise<Origin> => {
  const invalid: Invalid = (line, problem, hint = 'Correct it and try again.') =>
    new EtlError('ETL_CORRECTIONS', { problem: `${name}:${line}: ${problem}`, hint });
  const records = readRecords(resolve(workingDirectory, name), invalid);
  try {
    const head = await records.next();
    if (head.done === true) throw invalid(1, 'it is empty');
    const columns = readHead(head.value, invalid);
    return await withTransaction(client, () => takeRecords(client, records, columns, invalid, action));
  } finally {
    await records.return();
  }
};
