// `etl init`: reads files and writes the text of a pipeline, with remarks.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pipeline } from '../../pipeline/define-pipeline.ts';
import { loadPipelineFile } from '../../pipeline/load-file.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { Decision } from './contract.ts';
import type { Loss } from '../loss.ts';
import { columnNames } from './header.ts';
import { tableNames } from './table-names.ts';
import { initPipelineText, type WrittenTable } from './write-pipeline.ts';
import type { WrittenLocation, WrittenSource } from './pipeline-text.ts';
import { holdsSecret } from '../../input/sources/http/url.ts';
import { formatCount, inQuotes, plural } from '../../core/wording.ts';
import { draftFiles, listedNames, optionsOf, type InitReading } from './draft-files.ts';
import { draftTables, type ReadFile, type TableDraft } from './draft-tables.ts';
import { groupedBy } from './grouped.ts';
import { noRules, type ColumnRules } from './rules.ts';

interface InitOptions extends Partial<InitReading> {
  readonly locations: readonly string[];
  readonly workingDirectory: string;
  readonly rules?: ColumnRules;
}

/** Returns a glob that matches exactly these files, or undefined. */
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
  // Do not split a number: 20110*.txt for 201101.txt would exclude 201110.txt.
  while (start > 0 && /\d/.test(first[start - 1]!)) start -= 1;
  const glob = `${first.slice(0, start)}*${first.slice(first.length - end)}`;
  if (/[*][^*]*[/]/.test(glob)) return undefined;
  const found = await listedNames(glob, workingDirectory);
  return found.length === names.length && found.every((name) => names.includes(name)) ? glob : undefined;
};

/**
 * Returns locations as a person would write them: a given argument, a glob, or the files' names.
 *
 * @param all files of all tables: an argument that also matches another table's files is not used
 */
const placesOf = async (
  files: readonly ReadFile[],
  options: Pick<InitOptions, 'workingDirectory'>,
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

const locationsOf = async (
  files: readonly ReadFile[],
  options: Pick<InitOptions, 'workingDirectory'>,
  all: readonly ReadFile[],
): Promise<readonly WrittenLocation[]> => {
  const alike = groupedBy(files, ({ encoding, dialect }) => JSON.stringify([encoding.encoding, dialect]));
  const encodings = new Set(files.map(({ encoding }) => encoding.encoding));
  const locations: WrittenLocation[] = [];
  for (const group of alike.values()) {
    const { dialect } = group[0]!;
    const { encoding } = group[0]!.encoding;
    const own = encodings.size > 1 && encoding !== 'utf-8' ? { encoding } : {};
    const paths = await placesOf(group, options, all);
    locations.push(...paths.map((path) => ({ path, dialect, ...own })));
  }
  return locations;
};

/** Returns a loss for each encoding that was found by the words of files. */
const encodingLosses = (files: readonly ReadFile[]): readonly Loss[] => {
  const found = files.filter(({ encoding }) => encoding.samples.length > 0);
  return [...groupedBy(found, ({ encoding }) => encoding.encoding).values()].map((alike) => {
    const [{ name, encoding }] = alike as [ReadFile];
    const more = alike.length > 1 ? ` and ${plural(alike.length - 1, 'more file')}` : '';
    return {
      what: `${name}${more}: not UTF-8, read as ${encoding.encoding}: ${encoding.samples.join(', ')}`,
      keep: 'if these texts are wrong, `--encoding` names the right encoding',
    };
  });
};

/** Returns a loss for each name that the header has more than once. */
const nameLosses = (header: readonly string[]): readonly Loss[] => {
  const columns = columnNames(header);
  const same = groupedBy([...header.keys()], (index) => header[index]!);
  return [...same]
    .filter(([name, indexes]) => name !== '' && indexes.length > 1)
    .map(([name, indexes]) => ({
      what: `the header has ${inQuotes(name)} ${formatCount(indexes.length)}×`,
      keep: `the columns are ${indexes.map((index) => columns[index]).join(', ')}`,
    }));
};

/** Losses of whole records and files. */
const lossesOf = ({ files, faults, header, repeats, decisions }: TableDraft): readonly Loss[] => [
  ...(repeats > 0 && decisions.some(({ type }) => type !== 'text')
    ? [
        {
          what: `${plural(repeats, 'record')} like the header, which the pipeline leaves out`,
          keep: '`--type` makes every column text, and then they are kept',
        },
      ]
    : []),
  ...encodingLosses(files),
  ...nameLosses(header),
  ...faults.map(({ count, first: { file, line, reason } }) => ({
    what: `${plural(count, 'record')} will be rejected, the first in line ${formatCount(line)} of ${file}: ${reason}`,
    keep: '`etl rejects` keeps and shows them',
  })),
];

const remarksOf = ({ files, isKeyUnknown, remarks, dialect }: TableDraft): readonly string[] => {
  return [
    ...remarks,
    ...(files.some(({ location }) => holdsSecret(location))
      ? [
          'the address holds a secret: make it a parameter that is declared secret before others see this file',
        ]
      : []),
    ...(dialect.header === true ? [] : ['no header: fields are named by their positions']),
    ...(dialect.ragged === 'pad'
      ? [
          `records with fewer fields than the ${dialect.header === true ? 'header' : 'others'}: missing fields are empty`,
        ]
      : []),
    ...(isKeyUnknown ? ['too many records to look for a primary key'] : []),
  ];
};

/** Returns how files are written as a source, without their dialect. `all`: the files of all tables. */
export const writtenFiles = async (
  files: readonly ReadFile[],
  options: Pick<InitOptions, 'workingDirectory' | 'allowPrivate'>,
  all: readonly ReadFile[],
): Promise<Omit<WrittenSource, 'dialect'>> => {
  const encodings = [...new Set(files.map(({ encoding }) => encoding.encoding))];
  const [encoding] = encodings;
  return {
    locations: await locationsOf(files, options, all),
    options: Object.assign(
      {},
      ...files.map(({ location }) => optionsOf(location, options.allowPrivate === true)),
    ),
    encoding: encodings.length > 1 || encoding === 'utf-8' ? undefined : encoding,
  };
};

const writtenTable = async (
  name: string,
  draft: TableDraft,
  options: InitOptions,
  drafts: readonly TableDraft[],
): Promise<WrittenTable> => {
  const all = drafts.flatMap(({ files }) => files);
  return {
    ...draft,
    ...(await writtenFiles(draft.files, options, all)),
    name,
    columns: columnNames(draft.header),
    losses: lossesOf(draft),
    faulty: draft.faults.reduce((sum, { count }) => sum + count, 0),
    remarks: remarksOf(draft),
  };
};

export interface InitDraft {
  readonly tables: readonly WrittenTable[];
  readonly name: string;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Reads all files and infers the tables. Errors: ETL_USAGE for an invalid address, and for standard
 * input, which can be read only once; ETL_SOURCE_ENCODING; ETL_SOURCE_…, ETL_HEADER_….
 */
export const readForInit = async (options: InitOptions): Promise<InitDraft> => {
  const {
    table,
    locations,
    workingDirectory,
    signal,
    askEncoding,
    allowPrivate = false,
    given = {},
  } = options;
  if (locations.includes('-'))
    throw new EtlError('ETL_USAGE', {
      problem: 'stdin can be read only once, and files are read several times',
      hint: 'Write it to a file first.',
    });
  const broken = locations.find((location) => /^https?:/i.test(location) && !URL.canParse(location));
  if (broken !== undefined)
    throw new EtlError('ETL_USAGE', {
      problem: `${inQuotes(broken)} is not a valid address`,
      hint: 'See etl init --help.',
    });
  const reading = { table, workingDirectory, allowPrivate, given, askEncoding, signal };
  const files = await draftFiles(locations, reading);
  const drafts = await draftTables(files, given, options.rules ?? noRules, signal);
  const names = tableNames(drafts.map((draft) => draft.files.map((file) => file.name)));
  const tables: WrittenTable[] = [];
  for (const [index, draft] of drafts.entries())
    tables.push(await writtenTable(names[index]!, draft, options, drafts));
  return {
    tables,
    name: names[0]!,
    files: files.length,
    bytes: drafts.reduce((sum, { bytes }) => sum + bytes, 0),
  };
};

/** Returns the pipeline of this text. Errors: those of definitions. */
export const loadText = async (text: string): Promise<Pipeline> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-init-'));
  try {
    await writeFile(join(directory, 'pipeline.ts'), text);
    return (await loadPipelineFile(join(directory, 'pipeline.ts'))).pipeline;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

/**
 * Returns the text of the pipeline, which was loaded once. Errors: those of definitions, if init
 * wrote something that they refuse.
 */
export const initText = async ({ tables }: InitDraft, name: string, file: string): Promise<string> => {
  const text = initPipelineText({ name, tables, file });
  await loadText(text);
  return text;
};

/**
 * Applies an alternative that the user chose. Removes the primary key if the column can no longer be
 * in it.
 */
export const settleColumn = (table: WrittenTable, index: number, decision: Decision): WrittenTable => {
  const { key } = table;
  const isInKey = key?.includes(index) === true;
  const mayBeInKey = decision.missing === 0 && decision.isOneToOne;
  return {
    ...table,
    decisions: table.decisions.with(index, decision),
    key: isInKey && !mayBeInKey ? undefined : key,
  };
};
