// `etl init`: from files to the text of a pipeline, with remarks.

import { EtlError } from '../../core/errors/errors.ts';
import { tableNames } from './infer/table-names.ts';
import { pipelineText, type WrittenLocation, type WrittenTable } from './infer/write-pipeline.ts';
import { holdsSecret } from '../../input/sources/http/url.ts';
import { formatCount, inQuotes, plural } from '../../core/wording.ts';
import { draftFiles, listedNames, optionsOf } from './draft-files.ts';
import { draftTables, type ReadFile, type TableDraft } from './draft-tables.ts';
import { groupedBy } from './grouped.ts';

export interface InitOptions {
  readonly locations: readonly string[];
  readonly workingDirectory: string;
  /** Addresses may lead to private hosts. */
  readonly allowPrivate?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** A glob of these paths that finds these files and no others; undefined: there is none. */
const globOf = async (
  paths: readonly string[],
  names: readonly string[],
  workingDirectory: string,
): Promise<string | undefined> => {
  const [first = '', ...others] = paths.toSorted();
  const last = others.at(-1) ?? first;
  if (paths.some((path) => /[*?[\]{}!()\\]|:\/\//.test(path))) return undefined;
  let start = 0;
  while (start < first.length && first[start] === last[start]) start += 1;
  let end = 0;
  const shortest = Math.min(...paths.map((path) => path.length)) - start;
  while (end < shortest && paths.every((path) => path.at(-1 - end) === first.at(-1 - end))) end += 1;
  // A run of digits that begins alike is all of it different: 2011*.txt would leave 2012 out.
  while (start > 0 && /\d/.test(first[start - 1]!)) start -= 1;
  const glob = `${first.slice(0, start)}*${first.slice(first.length - end)}`;
  if (/[*][^*]*[/]/.test(glob)) return undefined;
  const found = await listedNames(glob, workingDirectory);
  return found.length === names.length && found.every((name) => names.includes(name)) ? glob : undefined;
};

/** The places of files that are read alike, as a person would write them. `all`: the files of all tables. */
const placesOf = async (
  files: readonly ReadFile[],
  options: InitOptions,
  all: readonly ReadFile[],
): Promise<readonly string[]> => {
  const ofOther = new Set(all.filter((file) => !files.includes(file)).map(({ location }) => location));
  const asGiven = [...new Set(files.map(({ location, name }) => (ofOther.has(location) ? name : location)))];
  const glob =
    asGiven.length > 1
      ? await globOf(
          asGiven,
          files.map(({ name }) => name),
          options.workingDirectory,
        )
      : undefined;
  return glob === undefined ? asGiven : [glob];
};

/** The places of a table's files; where these are read in different ways, each with its own. */
const locationsOf = async (
  { files }: TableDraft,
  options: InitOptions,
  drafts: readonly TableDraft[],
): Promise<readonly WrittenLocation[]> => {
  const all = drafts.flatMap((draft) => draft.files);
  const alike = groupedBy(files, ({ encoding, dialect }) => JSON.stringify([encoding, dialect]));
  const encodings = new Set(files.map(({ encoding }) => encoding));
  const locations: WrittenLocation[] = [];
  for (const group of alike.values()) {
    const { encoding, dialect } = group[0]!;
    const own = encodings.size > 1 && encoding !== 'utf-8' ? { encoding } : {};
    const paths = await placesOf(group, options, all);
    locations.push(...paths.map((path) => ({ path, dialect, ...own })));
  }
  return locations;
};

/** What is not sure about the files of a table, or wrong with them. */
const remarksOf = ({ files, faults, isKeyUnknown, remarks, dialect }: TableDraft): readonly string[] => {
  const guessed = files.filter(({ isGuess }) => isGuess);
  return [
    ...remarks,
    ...(files.some(({ location }) => holdsSecret(location))
      ? [
          'the address holds a secret: make it a parameter that is declared secret before others see this file',
        ]
      : []),
    ...(guessed.length === 0
      ? []
      : [
          `${guessed[0]!.name}: not UTF-8, read as ${guessed[0]!.encoding}, which is a guess: look at letters with accents`,
        ]),
    ...(dialect.header === true ? [] : ['no header: fields are named by their positions']),
    ...(dialect.ragged === 'pad'
      ? [
          `records with fewer fields than the ${dialect.header === true ? 'header' : 'others'}: the last ones are empty`,
        ]
      : []),
    ...faults.map(
      ({ count, first: { file, line, reason } }) =>
        `${plural(count, 'record')} will be rejected, the first at line ${formatCount(line)} of ${file}: ${reason}`,
    ),
    ...(isKeyUnknown ? ['too many records to look for a primary key'] : []),
  ];
};

const writtenTable = async (
  name: string,
  draft: TableDraft,
  options: InitOptions,
  drafts: readonly TableDraft[],
): Promise<WrittenTable> => {
  const encodings = [...new Set(draft.files.map(({ encoding }) => encoding))];
  const [encoding] = encodings;
  return {
    ...draft,
    name,
    locations: await locationsOf(draft, options, drafts),
    options: Object.assign(
      {},
      ...draft.files.map(({ location }) => optionsOf(location, options.allowPrivate === true)),
    ),
    encoding: encodings.length > 1 || encoding === 'utf-8' ? undefined : encoding,
    remarks: remarksOf(draft),
  };
};

/** What was found, before a pipeline is written of it. */
export interface InitDraft {
  readonly tables: readonly WrittenTable[];
  /** The name of the pipeline that the files suggest. */
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Reads all of the files, table by table. Errors: ETL_USAGE for stdin, which cannot be read again, and for what is no address; ETL_SOURCE_…, ETL_HEADER_….
 */
export const readForInit = async (options: InitOptions): Promise<InitDraft> => {
  const { locations, workingDirectory, allowPrivate = false, signal } = options;
  if (locations.includes('-'))
    throw new EtlError('ETL_USAGE', {
      problem: 'stdin can be read only once, and files are read several times',
      hint: 'Write it to a file first.',
    });
  const broken = locations.find((location) => /^https?:/i.test(location) && !URL.canParse(location));
  if (broken !== undefined)
    throw new EtlError('ETL_USAGE', {
      problem: `${inQuotes(broken)} is no address`,
      hint: 'See etl init --help.',
    });
  const files = await draftFiles(locations, workingDirectory, allowPrivate, signal);
  const drafts = await draftTables(files, signal);
  const names = tableNames(drafts.map((draft) => draft.files.map((file) => file.name)));
  const tables: WrittenTable[] = [];
  for (const [place, draft] of drafts.entries())
    tables.push(await writtenTable(names[place]!, draft, options, drafts));
  return {
    tables,
    name: names[0]!,
    files: files.length,
    bytes: drafts.reduce((sum, { bytes }) => sum + bytes, 0),
  };
};

/** The text of the pipeline; `file`: where it is kept. */
export const initText = ({ tables }: InitDraft, name: string, file: string): string =>
  pipelineText({ name, tables, file });
