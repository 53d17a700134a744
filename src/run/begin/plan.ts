// Plans the loading: which files each table reads, what their headers say, what staging will look like.

import type { LineEnd, PipelineSpec, ReadTable, SourceTableSpec } from '../../declaration.ts';
import { EtlError, messageOf } from '../../errors.ts';
import { identifierBytesMax, recordBytesMax } from '../../limits.ts';
import { fileKey } from '../../checkpoint/decide.ts';
import type { NewFile } from '../../checkpoint/ledger.ts';
import type { StagingColumn } from '../../copy/staging.ts';
import { typeOf } from '../../format/column-types/registry.ts';
import { differencesOf } from '../../format/file-differences.ts';
import { fieldsOf } from '../../format/file-fields.ts';
import { checkHeader, checkUnique, neededFields, type HeaderPlace } from '../../format/header-check.ts';
import { lastLinesStart } from '../../format/split/last-lines.ts';
import { withFilesAtOnce } from '../../source/at-once.ts';
import type { Access } from '../../source/contract.ts';
import { isSeekable, trailerError, withBytes, type InputFile } from '../input.ts';
import { stopSignal } from '../context.ts';
import type { RunSettings } from '../options.ts';
import { askedFiles } from './asked-files.ts';
import { readHead } from './file-head.ts';
import { foundFiles, inBatches, twiceFound, type Found } from './found-files.ts';
import { createSieve } from './needed-files.ts';
import { takeEverything, type Intake, type Judging, type Sieve } from './sieve.ts';
import { storedFiles, type StoredFile } from './stored-files.ts';

/** A table that is loaded from files: those that the run reads, and what staging looks like. */
export interface LoadedTable {
  readonly table: SourceTableSpec;
  readonly files: readonly NewFile[];
  readonly staging: readonly StagingColumn[];
}

export interface PlannedTable extends LoadedTable {
  /** What of its files the run brings. */
  readonly intake: Intake;
}

/** The last position that a table names; 0: it names none. */
const positionsOf = ({ columns, filter }: SourceTableSpec): number =>
  Math.max(0, ...neededFields(columns, filter).filter((ref) => typeof ref === 'number'));

/** Checks the fields of a file, and says how its header differs from what the table names. */
const checkFields = (
  table: ReadTable,
  file: Pick<NewFile, 'name' | 'header' | 'constants'>,
  at: HeaderPlace,
): NewFile['differs'] => {
  const { dialect } = table.format;
  if (table.staging === 'text') {
    const header = textColumns(file.header);
    checkUnique(header, fieldsOf({ ...file, header }, dialect), dialect.match, at);
    return null;
  }
  const fields = fieldsOf(file, dialect);
  checkHeader(table, fields, at);
  return differencesOf(fields, neededFields(table.columns, table.filter));
};

/** First guess for the size of a file's trailer; nearly all are far smaller. */
const tailBytes = 64 * 1024;

/** Where the data of a seekable file ends: at the end of the file, or where its trailer begins. */
const endOf = async (
  file: InputFile & Pick<NewFile, 'bytes'>,
  access: Access,
  dataByte: number,
  lineEnd: LineEnd,
): Promise<number> => {
  const { bytes } = file;
  const { skipEnd } = access.declared;
  if (skipEnd === 0) return bytes;
  for (let size = tailBytes; ; size *= 8) {
    const from = Math.max(dataByte, bytes - size);
    const tail = await withBytes(file, access, (read) => read(from, bytes - from));
    const { start, missing } = lastLinesStart(tail, skipEnd, lineEnd);
    // The first line of the tail may be incomplete.
    if (missing === 0 && (start > 0 || from === dataByte)) return from + start;
    if (from === dataByte) throw trailerError(file, skipEnd)('missing');
    if (size > (skipEnd + 1) * recordBytesMax) throw trailerError(file, skipEnd)('long');
  }
};

/**
 * A file without its place in the table's list. Its header may not fit, which only matters if the file is needed: files in
 * production often date from a time when the table had other columns.
 */
interface PlannedFile extends Omit<NewFile, 'ordinal'> {
  readonly misfit?: EtlError;
}

const planFile = async (
  table: ReadTable,
  reading: number,
  stored: StoredFile,
  head: Buffer,
  access: Access,
): Promise<PlannedFile> => {
  const { name } = stored;
  const { constants } = table.source;
  const positions = positionsOf(table);
  const { encoding, header: found } = await readHead({ ...stored, head }, table.format, access, positions);
  const file = { ...stored, encoding, reading };
  const { names, line, dataByte, dataLine, lineEnd } = found;
  const at = { table: table.name, file: name, line, skip: dataLine - 1 };
  const planned = { ...file, header: names, constants, dataByte, dataLine, lineEnd };
  let differs: NewFile['differs'] = null;
  try {
    differs = checkFields(table, planned, at);
  } catch (misfit) {
    if (!(misfit instanceof EtlError)) throw misfit;
    return { ...planned, differs, dataEnd: null, misfit };
  }
  const dataEnd = isSeekable(file) ? await endOf(file, access, dataByte, lineEnd) : null;
  return { ...planned, differs, dataEnd };
};

/** Plans a file that its source lists, or the wanted members of an archive. */
const planFound = async (
  declared: SourceTableSpec,
  { source, file, member, reading }: Found,
  signal: AbortSignal | undefined,
): Promise<readonly PlannedFile[]> => {
  const table: ReadTable = { ...declared, ...declared.readings[reading]! };
  const access = { declared: table.source, signal };
  try {
    const planned: PlannedFile[] = [];
    for await (const { stored, head } of storedFiles(table.name, { source, file, member }, access))
      planned.push(await planFile(table, reading, stored, head, access));
    return planned;
  } catch (cause) {
    if (cause instanceof EtlError) throw cause;
    const details = { table: table.name, file: file.name, problem: messageOf(cause) };
    throw new EtlError('ETL_SOURCE_UNREADABLE', details, { cause });
  }
};

/** A file with the locations that found it. */
interface GroupedFile {
  readonly file: PlannedFile;
  readonly group: string;
}

/** Files that are read and judged together. */
const filesPerBatch = 1_000;

/** Each file once: two globs may match a member. Errors: ETL_FILE_OPTIONS. */
const eachOnce = (found: readonly GroupedFile[]): readonly PlannedFile[] => {
  const seen = new Map<string, GroupedFile>();
  for (const one of found) {
    const { file, group } = one;
    const key = fileKey(file);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, one);
    else if (first.file.reading !== file.reading) throw twiceFound(file.table, file.name, first.group, group);
  }
  return [...seen.values()].map(({ file }) => file);
};

/** Cuts a name to the server's limit; the server would cut it itself, and two columns might get the same name. */
const cutName = (name: string): string =>
  new TextDecoder().decode(Buffer.from(name).subarray(0, identifierBytesMax), { stream: true });

/** Column names in the staging of a text table, from the fields of a header. */
const textColumns = (header: readonly string[]): readonly string[] =>
  header.map((name, index) => (name === '' ? `field_${index + 1}` : cutName(name)));

/** Columns of the staging table: the declared ones in their types, or every header as text. */
export const stagingColumns = (
  table: SourceTableSpec,
  files: readonly NewFile[],
): readonly StagingColumn[] => {
  if (table.staging !== 'text')
    return table.columns.map((column) => ({ name: column.name, type: typeOf(column).sql(column.options) }));
  const [first, ...others] = files;
  const header = first!.header;
  const different = others.find((file) => file.header.join('\0') !== header.join('\0'));
  if (different !== undefined) {
    const details = { table: table.name, file: different.name, first: first!.name };
    throw new EtlError('ETL_HEADER_DIFFERS', details);
  }
  return textColumns(header).map((name) => ({ name, type: 'text' }));
};

/** Creates the sieve for the files of a table. */
type SieveFor = (table: SourceTableSpec) => Sieve | Promise<Sieve>;

type Planning = Pick<RunSettings, 'workingDirectory'> & Partial<Pick<RunSettings, 'abort' | 'drain'>>;

const planTable = async (
  table: SourceTableSpec,
  planning: Planning,
  params: PipelineSpec['params'],
  sieveFor: SieveFor,
): Promise<PlannedTable> => {
  const { workingDirectory } = planning;
  const signal = stopSignal(planning);
  // Thousands of files nearly always have one header, which is kept once.
  const headers = new Map<string, Pick<NewFile, 'header' | 'differs'>>();
  const planOne = async (one: Found): Promise<readonly GroupedFile[]> =>
    (await planFound(table, one, signal)).map((planned) => {
      const { header, differs } = planned;
      const key = JSON.stringify([header, differs]);
      const known = headers.get(key) ?? { header, differs };
      headers.set(key, known);
      return { file: { ...planned, ...known }, group: one.group };
    });
  const sieve = await sieveFor(table);
  const needed: GroupedFile[] = [];
  let some: Found | undefined;
  for await (const batch of inBatches(
    foundFiles(table, { workingDirectory, params, signal }),
    filesPerBatch,
  )) {
    some ??= batch[0];
    const open = (await sieve.open?.(batch)) ?? batch.keys();
    const opened = [...open].map((place) => batch[place]!);
    const found = (await withFilesAtOnce(opened, planOne)).flat();
    const places = await sieve.take(found.map(({ file }) => file));
    for (const place of places) {
      const one = found[place]!;
      if (one.file.misfit !== undefined) throw one.file.misfit;
      needed.push(one);
    }
  }
  const files = eachOnce(needed).map((file, ordinal) => ({ ...file, ordinal }));
  // If no file is needed, the first one determines the shape of text staging; declared columns need no file for that.
  const isShaped = files.length > 0 || table.staging !== 'text';
  const shaping = isShaped ? files : (await planOne(some!)).map(({ file }) => ({ ...file, ordinal: 0 }));
  return { table, files, staging: stagingColumns(table, shaping), intake: await sieve.end() };
};

/**
 * Plans every table that is loaded from files. Reads only the first bytes of each file, and its end for `skipEnd`. Without
 * sieves every file is needed. Errors: those of the sources, of headers, and of the sieves.
 */
export const planSources = async (
  spec: PipelineSpec,
  planning: Planning,
  sieveFor: SieveFor = takeEverything,
): Promise<readonly PlannedTable[]> => {
  const sources = spec.tables.filter((table) => table.kind === 'source');
  const planned: PlannedTable[] = [];
  for (const table of sources) planned.push(await planTable(table, planning, spec.params, sieveFor));
  return planned;
};

/** Plans only the files that a run needs. Errors: those of `planSources` and `createSieve`, ETL_FILE_UNKNOWN. */
export const planNeeded = async (
  judging: Omit<Judging, 'asked'> & Planning & Pick<RunSettings, 'reload' | 'unload'>,
): Promise<readonly PlannedTable[]> => {
  const asked = askedFiles(judging);
  const planned = await planSources(judging.spec, judging, (table) =>
    createSieve({ ...judging, asked }, table),
  );
  asked.refuseUnknown(judging.spec.name);
  return planned;
};
