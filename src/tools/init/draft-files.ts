// Lists the files for `etl init`, and guesses encoding, dialect and header from their first bytes.

import type { Dialect, ReadTable, SourceSpec } from '../../core/declaration.ts';
import { maxBytesDefault, maxRatioDefault } from '../../input/decode/bounds.ts';
import type { EncodingName } from '../../input/encodings/labels.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { headerBytesMax } from '../../core/limits.ts';
import { otherText } from '../../format/records/content.ts';
import { guessDialect, plainDialect, type HeadGuess } from './dialect.ts';
import { guessEncoding } from './encoding.ts';
import { hasHeader } from './header.ts';
import type { Access } from '../../input/sources/contract.ts';
import { withFilesAtOnce } from '../../input/sources/at-once.ts';
import { foundFiles, type Found } from '../../run/files/found-files.ts';
import { refuseContent } from '../../run/files/file-head.ts';
import { storedFiles, type StoredFile } from '../../run/files/stored-files.ts';
import { withBytes } from '../../input/input.ts';

export const draftTable = 'init';

export interface DraftFile {
  readonly stored: StoredFile;
  readonly encoding: EncodingName;
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

const headerOf = ({ records, fields }: HeadGuess): readonly string[] | undefined =>
  hasHeader(records) ? records[0]!.map((name) => name.trim()) : fields === 0 ? [] : undefined;

const draftFile = async (
  { stored, head }: { readonly stored: StoredFile; readonly head: Buffer },
  location: string,
  access: Access,
): Promise<DraftFile> => {
  const file = { ...stored, head };
  const raw = await withBytes({ ...file, encoding: 'utf-8' }, access, (read) => read(0, headerBytesMax));
  const named = { table: draftTable, file: stored.name };
  refuseContent(raw, named);
  const encoding = guessEncoding(raw, raw.length < headerBytesMax);
  const text =
    encoding === 'utf-8'
      ? raw
      : await withBytes({ ...file, encoding }, access, (read) => read(0, headerBytesMax));
  const other = otherText(text.toString('utf8', 0, 1024));
  if (other !== undefined) throw new EtlError('ETL_SOURCE_FORMAT', { ...named, ...other });
  const guess = guessDialect(text, text.length < headerBytesMax);
  const given = guess.dialect.header;
  const header = typeof given === 'boolean' ? headerOf(guess) : given;
  return {
    stored,
    encoding,
    dialect: { ...guess.dialect, header: typeof given === 'boolean' ? header !== undefined : given },
    header: header ?? Array.from({ length: guess.fields }, () => ''),
    remarks: guess.remarks,
    location,
    access,
  };
};

const draftFound = async (found: Found, location: string, access: Access): Promise<readonly DraftFile[]> => {
  const drafts: DraftFile[] = [];
  try {
    for await (const file of storedFiles(draftTable, found, access))
      drafts.push(await draftFile(file, location, access));
  } catch (cause) {
    if (cause instanceof EtlError) throw cause;
    const details = { table: draftTable, file: found.file.name, problem: messageOf(cause) };
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

/** Reads the first bytes of all files. Errors: those of sources and decodings. */
export const draftFiles = async (
  locations: readonly string[],
  workingDirectory: string,
  allowPrivate: boolean,
  signal?: AbortSignal,
): Promise<readonly DraftFile[]> => {
  const drafts: DraftFile[] = [];
  for (const location of locations) {
    const access = accessOf(location, allowPrivate, signal);
    const found: Found[] = [];
    const spec = draftSpec(access.declared, plainDialect);
    for await (const one of foundFiles(spec, { workingDirectory, signal })) found.push(one);
    drafts.push(...(await withFilesAtOnce(found, (one) => draftFound(one, location, access))).flat());
  }
  const seen = new Set<string>();
  return drafts.filter(({ stored }) => {
    const key = JSON.stringify([stored.location, stored.member]);
    return !seen.has(key) && seen.add(key);
  });
};
