// Holds back single files: a file that is not ready, or cannot be loaded, need not stop the others.
//
// Planning decides (plan-sources.ts), and an error of one file while it is loaded makes the run plan
// again without that file. etl.held_file has the files that the newest run of a pipeline held back.

import { createHash } from 'node:crypto';
import { runQuery, type Client } from '../../db/client.ts';
import { replaceHeld, type HeldReason, type HeldVersion } from '../../ledger/production/held-files.ts';
import { fileKey } from '../../ledger/run/decide.ts';
import type { NewFile } from '../../ledger/run/ledger.ts';
import type { SourceTableSpec } from '../../core/declaration.ts';
import { EtlError, type ErrorCode } from '../../core/errors/errors.ts';
import { CountedFiles } from './counted.ts';
import { firstOf } from '../../core/wording.ts';
import type { FilesHeld, HoldsBack } from '../../load/files-held.ts';
import type { RunEvent } from '../../core/run-event.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';

/**
 * `misfit`: why the file does not fit the table. Matters only if the file has to be loaded: files
 * loaded long ago often had other columns.
 */
export interface PlannedFile extends NewFile {
  readonly misfit?: EtlError | undefined;
  /** The last record has no line end. Known of plain local files. */
  readonly isOpen?: true | undefined;
  /** As `touched` of Look. */
  readonly touched?: string | undefined;
}

/** Errors of a single file. Others, such as missing credentials, concern all files of a source. */
const codesOfFiles: ReadonlySet<string> = new Set<ErrorCode>([
  'ETL_FILE_CHANGED',
  'ETL_FILE_NOT_READY',
  'ETL_FILE_VALUE',
  'ETL_HEADER_AMBIGUOUS',
  'ETL_HEADER_DIFFERS',
  'ETL_HEADER_DUPLICATE',
  'ETL_HEADER_EXTRA',
  'ETL_HEADER_INVALID',
  'ETL_HEADER_MISSING',
  'ETL_HEADER_REPEATED',
  'ETL_PATH_PART',
  'ETL_SOURCE_ARCHIVED',
  'ETL_SOURCE_CHANGED',
  'ETL_SOURCE_CORRUPT',
  'ETL_SOURCE_EMPTY',
  'ETL_SOURCE_EXPANDS',
  'ETL_SOURCE_FORMAT',
  'ETL_SOURCE_GONE',
  'ETL_SOURCE_IRREGULAR',
  'ETL_SOURCE_TRAILER',
  'ETL_SOURCE_UNREADABLE',
]);

export const isOfFile = (code: string | undefined): boolean => codesOfFiles.has(code ?? '');

/**
 * Found where the whole file is read. An unchanged file has the same fault, so it is not read
 * again.
 */
const lastingCodes: ReadonlySet<string> = new Set<ErrorCode>([
  'ETL_FILE_NOT_READY',
  'ETL_SOURCE_CORRUPT',
  'ETL_SOURCE_EXPANDS',
  'ETL_SOURCE_FORMAT',
  'ETL_SOURCE_TRAILER',
]);

/** True if an error with this code holds back only its file. */
const skips = (
  { readings, publish }: SourceTableSpec,
  reading: number,
  code: string | undefined,
  isFullRefresh: boolean,
): boolean => {
  const { locations, arrival } = readings[reading]!.source;
  const { onBadFile: declared } = arrival;
  // Standard input is the only file, and a full refresh replaces the rows of all files.
  const isDefault = meaningOf(publish).skipsBadFiles === true && !isFullRefresh && !locations.includes('-');
  return isOfFile(code) && (declared === null ? isDefault : declared === 'skip');
};

interface JudgedTable {
  readonly table: SourceTableSpec;
  readonly intake: { readonly basis?: { readonly isFullRefresh: boolean } };
}

/** Judges errors of files that are found after planning. */
export const holdsBackIn = (planned: readonly JudgedTable[]): HoldsBack => {
  const tables = new Map(planned.map((one) => [one.table.name, one]));
  return ({ table: name, reading }, { code }) => {
    const { table, intake } = tables.get(name)!;
    return skips(table, reading, code, intake.basis?.isFullRefresh === true);
  };
};

type Version = Pick<NewFile, 'table' | 'source' | 'location' | 'member'>;

/** What is known about bad files before a run is planned. */
export interface KnownHeld {
  /** Held back by an earlier run, by `fileKey`. */
  readonly before: ReadonlyMap<string, HeldVersion>;
  /** Found while this process loaded the run, by `fileKey`. */
  readonly now: ReadonlyMap<string, HeldReason & { readonly fingerprint: string }>;
}

type Holdable = Version &
  Pick<PlannedFile, 'name' | 'reading' | 'touched' | 'misfit'> & {
    readonly fingerprint: string | null;
    readonly header?: readonly string[];
  };

/**
 * Returns the version of a file that was held back, and of the options to read it; null if it could
 * not be looked at.
 */
const versionOf = ({ readings }: SourceTableSpec, file: Holdable): string | null => {
  const { fingerprint, touched = '', reading } = file;
  if (fingerprint === null) return null;
  const options = createHash('sha256').update(JSON.stringify(readings[reading]));
  return `${fingerprint} ${touched} ${options.digest('hex')}`;
};

export interface Holder {
  readonly held: readonly HeldVersion[];
  /**
   * Holds the file back if it has an error, or is known to have one, and its source declares so.
   * False: the file is loaded, or its error stops the run.
   */
  readonly holds: (file: Holdable, error?: EtlError) => boolean;
}

const reasonOf = ({ code, message: problem }: EtlError): HeldReason => ({ code, problem });

export const createHolder = (
  table: SourceTableSpec,
  isFullRefresh: boolean,
  { before, now }: KnownHeld,
  isRetried: (file: Holdable) => boolean = () => false,
): Holder => {
  const held: HeldVersion[] = [];
  /** Returns why the file was held back before, if another attempt would find the same. */
  const known = (file: Holdable, earlier: HeldVersion | undefined): HeldReason | undefined => {
    const reason = now.get(fileKey(file));
    if (reason !== undefined || earlier === undefined) return reason;
    const isLasting = lastingCodes.has(earlier.code) && earlier.version === versionOf(table, file);
    return isLasting ? earlier : undefined;
  };
  return {
    held,
    holds: (file, error = file.misfit) => {
      const key = fileKey(file);
      const earlier = before.get(key);
      const isAsked = (earlier !== undefined || now.has(key)) && isRetried(file);
      const reason = error === undefined ? known(file, isAsked ? undefined : earlier) : reasonOf(error);
      if (reason === undefined || !skips(table, file.reading, reason.code, isFullRefresh)) return false;
      const { source, location, member, name } = file;
      const { code, problem } = reason;
      // Only a file that was read is not tried again: not one that changed since, and may be good.
      const isOther = (now.get(fileKey(file))?.fingerprint ?? file.fingerprint) !== file.fingerprint;
      const version = isOther || error !== undefined ? null : versionOf(table, file);
      held.push({ table: table.name, file: name, location, code, problem, source, member, version });
      return true;
    },
  };
};

/** Returns the error of a file whose header is not that of the first file. */
export const headerDiffers = (
  table: string,
  first: Pick<Holdable, 'name' | 'header'>,
  file: Pick<Holdable, 'name' | 'header'>,
): EtlError | undefined =>
  first.header?.join('\0') === file.header?.join('\0')
    ? undefined
    : new EtlError('ETL_HEADER_DIFFERS', { table, file: file.name, first: first.name });

/**
 * Also holds back files whose header differs from that of the first file, for a staging table that has
 * the fields of the files as columns.
 */
export const withOneHeader = ({ name: table }: SourceTableSpec, { held, holds }: Holder): Holder => {
  let first: Holdable | undefined;
  return {
    held,
    holds: (file, error = file.misfit) => {
      if (holds(file, error)) return true;
      if (error !== undefined) return false;
      first ??= file;
      const differs = headerDiffers(table, first, file);
      return differs !== undefined && holds(file, differs);
    },
  };
};

/** Files named by an error. */
const filesNamed = 5;

export const filesHeld = (table: string | undefined, reasons: readonly HeldReason[]): EtlError => {
  const lines = reasons.map(({ code, problem }) => `  ${code}: ${problem}`);
  return new EtlError('ETL_FILES_HELD', { table, problems: firstOf(lines, filesNamed).join('\n') });
};

/** Returns the error of a run whose files turned out to be bad while it loaded them. */
export const heldError = ({ errors }: FilesHeld): EtlError =>
  filesHeld([...errors.keys()][0]?.table, [...errors.values()].map(reasonOf));

/**
 * Records which files are held back, for everybody who looks at the pipeline, and for the next run.
 */
export const recordHeld = async (
  client: Client,
  pipeline: string,
  held: readonly HeldVersion[],
  before: KnownHeld['before'],
): Promise<void> => {
  if (held.length > 0 || before.size > 0) await runQuery(client, replaceHeld(pipeline, held));
};

interface ReportedTable {
  readonly table: { readonly name: string };
  readonly files: readonly Pick<PlannedFile, 'name' | 'isOpen'>[];
  readonly held: readonly HeldVersion[];
}

/** Says which files are held back, and which have no line end after their last record. */
export const reportFiles = (
  planned: readonly ReportedTable[],
  { emit }: { readonly emit: (event: Extract<RunEvent, { type: 'notice' }>) => void },
): void => {
  for (const { table, files, held } of planned) {
    const [back, open] = [new CountedFiles(), new CountedFiles()];
    for (const { file, code } of held) back.add(`${file} (${code})`);
    for (const { name, isOpen } of files) if (isOpen === true) open.add(name);
    const say = (message: string): void => emit({ type: 'notice', message: `${table.name}: ${message}` });
    if (back.count > 0) say(`held back: ${back.text()}`);
    if (open.count > 0) say(`the last record has no line end, and is loaded as it is: ${open.text()}`);
  }
};
