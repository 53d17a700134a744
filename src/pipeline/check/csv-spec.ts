// Checks csv() and returns its readings: groups of locations whose files are read with the same
// options. Options of a location override those of csv().

import { z } from 'zod';
import { arrivalDefault } from '../../core/arrival.ts';
import type { Dialect, Reading } from '../../core/declaration.ts';
import { maxBytesDefault, maxRatioDefault } from '../../input/decode/bounds.ts';
import { encodingLabels, encodingOfLabel } from '../../input/encodings/labels.ts';
import { memberLocation } from '../../input/decode/member-location.ts';
import { nearest } from '../../core/nearest.ts';
import type { OptionRule } from '../../input/sources/contract.ts';
import { isExclusion, locationProblem, optionsOf } from '../../input/sources/registry.ts';
import { inQuotes } from '../../core/wording.ts';
import type { CsvSource } from '../declare/csv.ts';
import { dialectProblems } from './dialect-problems.ts';
import {
  boolean,
  choice,
  mustBe,
  oneOrMore,
  strict,
  text,
  texts,
  wholeNumber,
  type Problems,
} from '../problems.ts';

const path = text('a path or glob');
const pathsText = "a path, a glob, an object such as { path: 'a/*.csv', delimiter: ';' }, or a list of them";
const location = z.union(
  [path.transform((one) => ({ path: one })), z.looseObject({ path })],
  mustBe(pathsText),
);
const pathsSchema = oneOrMore(location, pathsText);

const constants = z.record(
  z.string(),
  z
    .union(
      [z.string().refine((value) => !value.includes('\0') && value.isWellFormed()), z.number()],
      mustBe('a text or a number'),
    )
    .transform(String),
  mustBe('an object of texts and numbers'),
);

const lineBreak = /[\r\n\0]/;
const oneCharacter = mustBe('one ASCII character other than a line break');
const character = z
  .string(oneCharacter)
  .refine((value) => value.length === 1 && value < '\x80' && !lineBreak.test(value), oneCharacter);
const delimiter = z
  .string(mustBe('a text'))
  .refine(
    (value) => value !== '' && !lineBreak.test(value),
    mustBe('at least one character, without line breaks'),
  );
const headerMust = mustBe('true, false, or the list of all field names');
const names = z.array(z.string(mustBe('a field name'))).min(1, headerMust);
/** Most lines to skip at the end of a file: so many lines are in memory while the file is read. */
const lastLinesMax = 100;

/** Longest wait for one check of a file; a writer that pauses longer needs a marker. */
const settleMax = 600;
const secondsMust = mustBe(`a number of seconds from 0 to ${settleMax}`);
const markerMust = mustBe("the ending of a file name, such as '.done'");

const unknownEncoding = (label: string): string => {
  const near = nearest(label.toLowerCase(), [...encodingLabels, 'detect']);
  return `does not know ${inQuotes(label)}${near === undefined ? '' : `; did you mean ${inQuotes(near)}?`}`;
};

const dialectShape = {
  delimiter: delimiter.optional(),
  quote: character.nullable().optional(),
  escape: character.nullable().optional(),
  escapes: choice(['postgres', 'mysql', 'any']).nullable().optional(),
  header: z.union([z.boolean(), names], headerMust).optional(),
  nulls: texts.optional(),
  quotedNulls: boolean.optional(),
  quotes: choice(['strict', 'lenient']).optional(),
  match: choice(['exact', 'relaxed']).optional(),
  lineEnd: choice(['auto', 'lf', 'crlf', 'cr']).optional(),
  trim: z.union([z.boolean(), z.literal('outside')], mustBe("true, false or 'outside'")).optional(),
  skipLines: wholeNumber('a number of lines', 0).optional(),
  skipEnd: wholeNumber('a number of lines', 0)
    .max(lastLinesMax, mustBe(`at most ${lastLinesMax} lines`))
    .optional(),
  headerLines: wholeNumber('a number of lines from 1', 1).optional(),
  comment: delimiter.nullable().optional(),
  comments: choice(['lines', 'infix']).optional(),
  anywhere: boolean.optional(),
  maxRatio: z.number(mustBe('a number')).min(1, mustBe('at least 1')).optional(),
  maxBytes: wholeNumber('a number of bytes', 1).optional(),
  settle: z.number(secondsMust).min(0, secondsMust).max(settleMax, secondsMust).optional(),
  ready: z
    .string(markerMust)
    .regex(/^\.[^/\\\0]+$/, markerMust)
    .optional(),
  lastLine: choice(['any', 'complete']).optional(),
  onBadFile: choice(['stop', 'skip']).optional(),
  ragged: choice(['reject', 'pad', 'cut']).optional(),
  encoding: z
    .string(mustBe("the label of an encoding, or 'detect'"))
    .transform((label, context) => {
      const name = label === 'detect' ? label : encodingOfLabel(label);
      if (name !== undefined) return name;
      context.addIssue(unknownEncoding(label));
      return z.NEVER;
    })
    .optional(),
};

/** Schema of one source option. Its message hides the value, which may be a secret. */
const sourceOption = ({ must, holds }: OptionRule) => z.custom(holds, `must be ${must}`).optional();
const otherSourceOption = (owners: readonly string[]) =>
  z.undefined(`is only for ${owners.join(' and ')}, and no location is one`).optional();

const mapValues = <From, To>(values: Readonly<Record<string, From>>, change: (value: From) => To) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

const memberProblem = (written: string): string | undefined => {
  const { location: archive, member } = memberLocation(written);
  if (member === undefined) return undefined;
  if (member === '') return `names no member: ${archive}!/*.csv`;
  return isExclusion(written)
    ? `excludes members, which their glob can do: ${archive.slice(1)}!/!(${member})`
    : undefined;
};

type DialectOptions = z.output<z.ZodObject<typeof dialectShape>>;
type SourceOptions = Readonly<Record<string, unknown>>;

/** Returns the schemas of source options. Options of sources that no location uses are refused. */
const sourceShapeOf = (files: readonly string[] | undefined) => {
  const { taken, others } = optionsOf(files);
  return { ...mapValues(taken, sourceOption), ...mapValues(others, otherSourceOption) };
};

interface Located {
  readonly path: string;
  readonly constants: Readonly<Record<string, string>>;
  readonly options: DialectOptions & SourceOptions;
  readonly isOwn: boolean;
}

const locatedAt = (
  written: z.output<typeof location>,
  all: DialectOptions & SourceOptions,
  problems: Problems,
): Located | undefined => {
  const sourceShape = sourceShapeOf([memberLocation(written.path).location]);
  const schema = strict({ path, constants: constants.optional(), ...sourceShape, ...dialectShape });
  const read = problems.parse(schema, written) as
    | (DialectOptions & SourceOptions & { path: string; constants?: Located['constants'] })
    | undefined;
  if (read === undefined) return undefined;
  const { path: at, constants: fixed = {}, ...own } = read;
  const said = Object.entries(own).filter(([, value]) => value !== undefined);
  const isOwn = said.length > 0;
  if (isExclusion(at) && (isOwn || Object.keys(fixed).length > 0))
    problems.add('excludes files, so it cannot have options; write the path alone');
  return { path: at, constants: fixed, options: { ...all, ...Object.fromEntries(said) }, isOwn };
};

const readingOf = ({ constants: fixed, options }: Located, isVerbatim: boolean): Reading => {
  const { taken } = optionsOf(undefined);
  const ofSource = Object.entries(options).filter(([name]) => Object.hasOwn(taken, name));
  return {
    source: {
      locations: [],
      skipEnd: options.skipEnd ?? 0,
      constants: fixed,
      anywhere: options.anywhere ?? false,
      options: Object.fromEntries(ofSource),
      maxRatio: options.maxRatio ?? maxRatioDefault,
      maxBytes: options.maxBytes ?? maxBytesDefault,
      arrival: {
        settle: options.settle ?? arrivalDefault.settle,
        ready: options.ready ?? arrivalDefault.ready,
        lastLine: options.lastLine ?? arrivalDefault.lastLine,
        onBadFile: options.onBadFile ?? arrivalDefault.onBadFile,
      },
    },
    format: { kind: 'csv', encoding: options.encoding ?? 'utf-8', dialect: dialectOf(options, isVerbatim) },
  };
};

/** Groups locations with the same options. Excluded paths belong to every group. */
const groupReadings = (
  located: readonly Located[],
  isVerbatim: boolean,
  problems: Problems,
): readonly Reading[] => {
  const named = located.filter((one) => !isExclusion(one.path));
  const groups = new Map<string, { readonly reading: Reading; readonly paths: Set<string> }>();
  // If all locations are exclusions, one of them is kept, so that the source refuses the list.
  for (const one of named.length === 0 ? located.slice(0, 1) : named) {
    const reading = readingOf(one, isVerbatim);
    const key = JSON.stringify(reading);
    const group = groups.get(key);
    const twice = [...groups.values()].some((other) => other !== group && other.paths.has(one.path));
    if (twice) problems.add(`names ${inQuotes(one.path)} twice, with different options`);
    if (group !== undefined) {
      group.paths.add(one.path);
      continue;
    }
    groups.set(key, { reading, paths: new Set([one.path]) });
    const ofDialect = one.isOwn ? problems.at(partAt(located.indexOf(one))) : problems;
    for (const what of dialectProblems(reading.format.dialect)) ofDialect.addOnce(what);
  }
  return [...groups.values()].map(({ reading: { source, format }, paths }) => {
    const own = located.map((one) => one.path).filter((one) => paths.has(one) || isExclusion(one));
    return { source: { ...source, locations: own }, format };
  });
};

const partAt = (index: number): string => `path ${index + 1}`;

/**
 * Returns the checked readings of a table. If they are not valid, adds problems.
 *
 * @param isVerbatim true for staging: 'text', where COPY and not our code parses the fields
 */
export const readingsOf = (
  source: CsvSource,
  isVerbatim: boolean,
  problems: Problems,
): readonly Reading[] | undefined => {
  const written = problems.parse(pathsSchema, source.paths, 'path');
  const files = written?.map((one) => memberLocation(one.path).location);
  written?.forEach((one, index) => {
    problems.add(memberProblem(one.path) ?? locationProblem(files![index]!), partAt(index));
  });
  const schema = strict({ ...sourceShapeOf(files), ...dialectShape });
  const all = problems.parse(schema, source.options) as (DialectOptions & SourceOptions) | undefined;
  if (written === undefined || all === undefined) return undefined;
  const located = written.map((one, index) => locatedAt(one, all, problems.at(partAt(index))));
  return located.every((one) => one !== undefined) ? groupReadings(located, isVerbatim, problems) : undefined;
};

const dialectOf = (options: DialectOptions, isVerbatim: boolean): Dialect => {
  const escapes = options.escapes ?? null;
  // Dumps of PostgreSQL and MySQL write null as \N, and have no quotes unless declared.
  const isDump = escapes === 'postgres' || escapes === 'mysql';
  const quote = options.quote === undefined ? (isDump ? null : '"') : options.quote;
  return {
    delimiter: options.delimiter ?? ',',
    quote,
    escape: options.escape === undefined ? quote : options.escape,
    escapes,
    header: options.header ?? true,
    match: options.match ?? 'exact',
    nulls: options.nulls ?? (isDump ? [] : ['']),
    // COPY never reads a quoted field as null, so with staging: 'text' the default is false.
    quotedNulls: options.quotedNulls ?? (!isVerbatim || quote === null),
    quotes: options.quotes ?? 'strict',
    lineEnd: options.lineEnd ?? 'auto',
    trim: options.trim ?? false,
    skipLines: options.skipLines ?? 0,
    headerLines: options.headerLines ?? 1,
    comment: options.comment ?? null,
    comments: options.comments ?? 'lines',
    ragged: options.ragged ?? 'reject',
  };
};
