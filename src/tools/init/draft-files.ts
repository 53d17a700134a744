// Lists the files for `etl init`, and finds encoding, dialect and header from their first bytes.

import { isUtf8 } from 'node:buffer';
import { arrivalDefault } from '../../core/arrival.ts';
import type { Dialect, ReadTable, SourceSpec } from '../../core/declaration.ts';
import { maxBytesDefault, maxRatioDefault } from '../../input/decode/bounds.ts';
import type { EncodingName } from '../../input/encodings/labels.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { columnsMax, headerBytesMax } from '../../core/limits.ts';
import { otherText } from '../../format/records/content.ts';
import { plainDialect, type GivenDialect } from './delimiter.ts';
import { guessDialect, type HeadGuess } from './dialect.ts';
import { findEncoding, utf16Of, type EncodingCandidate, type EncodingFound } from './encoding.ts';
import { hasHeader } from './header.ts';
import type { Access } from '../../input/sources/contract.ts';
import { withFilesAtOnce } from '../../input/sources/at-once.ts';
import { foundFiles, type Found } from '../../run/files/found-files.ts';
import { refuseContent } from '../../run/files/file-head.ts';
import { storedFiles, type StoredFile } from '../../run/files/stored-files.ts';
import { openInput, withBytes } from '../../input/input.ts';
import { markedEncoding } from '../../input/encodings/marks.ts';
import { asList, formatCount } from '../../core/wording.ts';

const draftTable = 'init';

/** How the user says that the files are to be read; what is absent is found out. */
export interface GivenReading extends GivenDialect {
  readonly encoding?: EncodingName | undefined;
}

/** Asks which of several encodings a file has. */
export type AskEncoding = (file: string, found: EncodingFound) => Promise<EncodingCandidate>;

export interface InitReading {
  /** The table that errors name. Default: `init`, because only the files tell which tables there will be. */
  readonly table?: string | undefined;
  readonly workingDirectory: string;
  readonly allowPrivate: boolean;
  readonly given: GivenReading;
  /** undefined: nobody can be asked. */
  readonly askEncoding: AskEncoding | undefined;
  readonly signal: AbortSignal | undefined;
}

export interface DraftFile {
  readonly stored: StoredFile;
  /** With samples if it was found by the words of the file. */
  readonly encoding: EncodingCandidate;
  /** Reads the whole file. For a file whose first bytes, but not all, are UTF-8. */
  readonly findEncoding: () => Promise<EncodingCandidate>;
  readonly dialect: Dialect;
  readonly header: readonly string[];
  readonly remarks: readonly string[];
  readonly location: string;
  readonly access: Access;
}

export const sourceOf = (locations: readonly string[], options: SourceSpec['options'] = {}): SourceSpec => ({
  locations,
  skipEnd: 0,
  constants: {},
  anywhere: true,
  options,
  maxRatio: maxRatioDefault,
  maxBytes: maxBytesDefault,
  arrival: arrivalDefault,
});

const draftCommon = {
  kind: 'source',
  name: draftTable,
  staging: 'typed',
  columns: [],
  filter: [],
  missing: 'error',
  extra: 'ignore',
  rejectLimit: { kind: 'count', records: 0 },
  transform: undefined,
  primaryKey: [],
  indexes: [],
  publish: 'replace',
  comment: undefined,
  guard: { rowsMin: 0, shrinkMaxPercent: 100 },
} as const;

export const draftSpec = (source: SourceSpec, dialect: Dialect, encoding = 'utf-8'): ReadTable => {
  const reading = { source, format: { kind: 'csv', encoding, dialect } } as const;
  return { ...reading, ...draftCommon, readings: [reading] };
};

export const optionsOf = (location: string, allowPrivate: boolean): SourceSpec['options'] =>
  allowPrivate && /^https?:/i.test(location) ? { allowPrivate } : {};

const accessOf = (location: string, allowPrivate: boolean, signal?: AbortSignal): Access => ({
  declared: sourceOf([location], optionsOf(location, allowPrivate)),
  signal,
});

/** Returns the names in the first records, or undefined if the file has no header. */
const headerOf = (
  { records, fields }: HeadGuess,
  { isHeader, headerLines = 1 }: GivenDialect,
): readonly string[] | undefined => {
  if (fields === 0) return [];
  if (!(isHeader ?? (headerLines > 1 || hasHeader(records)))) return undefined;
  const lines = records.slice(0, headerLines);
  return (lines[0] ?? []).map((_, index) =>
    lines
      .map((record) => (record[index] ?? '').trim())
      .filter(Boolean)
      .join(' '),
  );
};

const notCertain = (file: string, found: EncodingFound): EtlError => {
  const list = found.map(({ encoding, samples }) => `${encoding}: ${samples.join(', ')}`);
  const likely = found[0]?.encoding ?? 'windows-1252';
  return new EtlError('ETL_SOURCE_ENCODING', { file, likely, examples: asList(list) });
};

/** Returns a function that decides between encodings. Questions are asked one after the other. */
const settlerOf = (ask: AskEncoding | undefined) => {
  const chosen = new Set<EncodingName>();
  let turn: Promise<unknown> = Promise.resolve();
  const settle = async (file: string, found: EncodingFound): Promise<EncodingCandidate> => {
    if (ask === undefined || found.length === 0) throw notCertain(file, found);
    const { encoding } = found.find((one) => chosen.has(one.encoding)) ?? (await ask(file, found));
    chosen.add(encoding);
    return { encoding, samples: [] };
  };
  return (file: string, found: EncodingFound): Promise<EncodingCandidate> => {
    if (found.length === 1) return Promise.resolve(found[0]!);
    const settled = turn.then(() => settle(file, found));
    turn = settled.catch(() => undefined);
    return settled;
  };
};

interface Drafting {
  readonly table: string;
  readonly access: Access;
  readonly given: GivenReading;
  readonly settle: ReturnType<typeof settlerOf>;
}

const characterBytesMax = 4;

/** True for valid UTF-8. The last character may be incomplete if the bytes are not the whole file. */
const isTextInUtf8 = (head: Buffer, isWhole: boolean): boolean => {
  if (isWhole) return isUtf8(head);
  for (let cut = 0; cut < characterBytesMax; cut += 1)
    if (isUtf8(head.subarray(0, head.length - cut))) return true;
  return false;
};

const draftFile = async (
  { stored, head }: { readonly stored: StoredFile; readonly head: Buffer },
  location: string,
  { access, given, settle }: Drafting,
): Promise<DraftFile> => {
  const file = { ...stored, head };
  const readHead = (encoding: EncodingName): Promise<Buffer> =>
    withBytes({ ...file, encoding }, access, (read) => read(0, headerBytesMax));
  const raw = await readHead('utf-8');
  const named = { table: stored.table, file: stored.name };
  refuseContent(raw, named);
  let found: EncodingCandidate | undefined;
  const find = async (): Promise<EncodingCandidate> =>
    (found ??= await settle(
      stored.name,
      await findEncoding(() => openInput({ ...file, encoding: 'utf-8' }, access, 0)),
    ));
  const isWhole = raw.length < headerBytesMax;
  const certain = markedEncoding(raw) ?? given.encoding ?? utf16Of(raw);
  const known = certain ?? (isTextInUtf8(raw, isWhole) ? 'utf-8' : undefined);
  const encoding = known === undefined ? await find() : { encoding: known, samples: [] };
  const text = encoding.encoding === 'utf-8' ? raw : await readHead(encoding.encoding);
  const other = otherText(text.toString('utf8', 0, 1024));
  if (other !== undefined) throw new EtlError('ETL_SOURCE_FORMAT', { ...named, ...other });
  const guess = guessDialect(text, text.length < headerBytesMax, given);
  const header = guess.dialect.header;
  const names = typeof header === 'boolean' ? headerOf(guess, given) : header;
  if (guess.fields > columnsMax)
    throw new EtlError('ETL_SOURCE_FORMAT', {
      ...named,
      problem: `has ${formatCount(guess.fields)} fields, and PostgreSQL allows ${formatCount(columnsMax)} columns`,
      hint: 'Write a pipeline that declares the columns that you need, or two tables that share the fields.',
    });
  return {
    stored,
    encoding,
    findEncoding: () => (certain === undefined ? find() : Promise.resolve(encoding)),
    dialect: {
      ...guess.dialect,
      header: typeof header === 'boolean' ? names !== undefined : header,
      headerLines: given.headerLines ?? 1,
    },
    header: names ?? Array.from({ length: guess.fields }, () => ''),
    remarks: guess.remarks,
    location,
    access,
  };
};

const draftFound = async (
  found: Found,
  location: string,
  drafting: Drafting,
): Promise<readonly DraftFile[]> => {
  const drafts: DraftFile[] = [];
  try {
    for await (const file of storedFiles(drafting.table, found, drafting.access))
      drafts.push(await draftFile(file, location, drafting));
  } catch (cause) {
    if (cause instanceof EtlError) throw cause;
    const details = { table: drafting.table, file: found.file.name, problem: messageOf(cause) };
    throw new EtlError('ETL_SOURCE_UNREADABLE', details, { cause });
  }
  return drafts;
};

export const listedNames = async (location: string, workingDirectory: string): Promise<readonly string[]> => {
  const spec = draftSpec(sourceOf([location]), plainDialect);
  const names: string[] = [];
  const looking = { workingDirectory, signal: undefined };
  for await (const { file } of foundFiles(spec, looking)) names.push(file.name);
  return names;
};

/** Reads the first bytes of all files. Errors: ETL_SOURCE_ENCODING, those of sources and decodings. */
export const draftFiles = async (
  locations: readonly string[],
  { table = draftTable, workingDirectory, allowPrivate, given, askEncoding, signal }: InitReading,
): Promise<readonly DraftFile[]> => {
  const drafts: DraftFile[] = [];
  const settle = settlerOf(askEncoding);
  for (const location of locations) {
    const access = accessOf(location, allowPrivate, signal);
    const found: Found[] = [];
    const spec = { ...draftSpec(access.declared, plainDialect), name: table };
    for await (const one of foundFiles(spec, { workingDirectory, signal })) found.push(one);
    const drafting = { table, access, given, settle };
    drafts.push(...(await withFilesAtOnce(found, (one) => draftFound(one, location, drafting))).flat());
  }
  const seen = new Set<string>();
  return drafts.filter(({ stored }) => {
    const key = JSON.stringify([stored.location, stored.member]);
    return !seen.has(key) && seen.add(key);
  });
};
