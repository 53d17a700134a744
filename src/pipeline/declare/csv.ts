// csv(): the files of a table and how they are written.

import { z } from 'zod';
import type { Dialect, FormatSpec, SourceSpec } from '../../declaration.ts';
import { maxBytesDefault, maxRatioDefault } from '../../decode/bounds.ts';
import { encodingLabels, encodingOfLabel } from '../../decode/encoding/labels.ts';
import { memberLocation } from '../../decode/member-location.ts';
import type { OptionRule } from '../../source/contract.ts';
import type { HttpOptions } from '../../source/http/declared.ts';
import type { S3Options } from '../../source/s3/declared.ts';
import { locationProblem, optionsOf } from '../../source/registry.ts';
import { nearest } from '../../nearest.ts';
import { inQuotes } from '../../wording.ts';
import { dialectProblems } from '../check/dialect-problems.ts';
import { freezeDeep } from '../check/freeze.ts';
import { mustBe, mustBeOneOf, parsePart, strict, type Problems } from '../check/problems.ts';

/** Options of csv(); the defaults follow RFC 4180 with a header line. */
export interface CsvOptions extends Partial<Dialect>, HttpOptions, S3Options {
  /** Label of an encoding, such as 'windows-1252' or 'utf-16le'; 'detect': as the byte order mark says, else UTF-8. */
  readonly encoding?: string;
  /** Parameters may lead to files outside of the working directory, or of the directory that a path names before them. */
  readonly anywhere?: boolean;
  /** Lines at the end of each file that are no records. */
  readonly skipEnd?: number;
  /** How often a compressed file may be larger than it is stored. */
  readonly maxRatio?: number;
  /** How many bytes a compressed file may become. */
  readonly maxBytes?: number;
}

/** Where files are, and what is true of these alone. */
export type Location =
  | string
  | {
      readonly path: string;
      /** Fields that all their records have beside their own, named by columns as those are. */
      readonly constants?: Readonly<Record<string, string | number>>;
      /** In place of that of csv(). */
      readonly encoding?: string;
    };

/** A source as it was written; definePipeline checks it, so that problems name their table. */
export interface CsvSource {
  readonly kind: 'csv';
  readonly paths: unknown;
  readonly options: unknown;
}

/**
 * Reads a table from CSV files.
 *
 * @param paths path or glob, or several, relative to the working directory; with constants, `{ path: 'a/*.csv', constants: { region: 'a' } }`.
 * @param options delimiter ',' · quote '"' · escape = quote · escapes null · quotes 'strict' · lineEnd 'auto' · header true · match 'exact' · nulls [''] · quotedNulls true ·
 *   trim false · skipLines 0 · skipEnd 0 · headerLines 1 · comment null · comments 'lines' · ragged 'reject' · anywhere false · encoding 'utf-8' · maxRatio 1000 · maxBytes 1 TiB.
 */
export const csv = (paths: Location | readonly Location[], options: CsvOptions = {}): CsvSource =>
  freezeDeep({ kind: 'csv', paths, options });

export const csvSourceSchema = z.custom<CsvSource>(
  (value) => (value as Partial<CsvSource> | null | undefined)?.kind === 'csv',
  mustBe("csv('path.csv')"),
);

const path = z.string(mustBe('a path or glob')).min(1, mustBe('a path or glob'));
const pathsMust = mustBe('a path, a glob, { path, constants, encoding }, or a list of them');
const constantsMust = mustBe('an object of texts and numbers');
const constants = z.record(
  z.string(),
  z
    .union(
      [z.string().refine((text) => !text.includes('\0') && text.isWellFormed()), z.number()],
      constantsMust,
    )
    .transform(String),
  constantsMust,
);
/** A location as it may be written. */
const location = z.union(
  [
    path.transform((one) => ({ path: one, constants: undefined, encoding: undefined })),
    strict({ path, constants: constants.optional(), encoding: z.string().optional() }),
  ],
  pathsMust,
);
const pathsSchema = z.union(
  [location.transform((one) => [one]), z.array(location).min(1, pathsMust)],
  pathsMust,
);

const lineBreak = /[\r\n\0]/;
const oneCharacter = mustBe('one ASCII character, not a line break');
const character = z
  .string(oneCharacter)
  .refine((text) => text.length === 1 && text < '\x80' && !lineBreak.test(text), oneCharacter);
const delimiter = z
  .string(mustBe('a text'))
  .refine(
    (text) => text !== '' && !lineBreak.test(text),
    mustBe('at least one character, and no line break'),
  );
const headerMust = mustBe('true, false, or the list of all field names');
const names = z.array(z.string(mustBe('a field name'))).min(1, headerMust);
const texts = z.array(z.string(mustBe('a text')), mustBe('a list of texts'));
/** A trailer is held in memory while a stream is read. */
const lastLinesMax = 100;
const ragged = ['reject', 'pad', 'cut'] as const;
const backslashes = ['postgres', 'mysql', 'any'] as const;
const commenting = ['lines', 'infix'] as const;
const quotings = ['strict', 'lenient'] as const;
const matches = ['exact', 'relaxed'] as const;
const lineEnds = ['auto', 'lf', 'crlf', 'cr'] as const;

/** Its name; undefined: there is none. */
const encodingNamed = (label: string): string | undefined =>
  label === 'detect' ? label : encodingOfLabel(label);

const unknownEncoding = (label: string): string => {
  const near = nearest(label.toLowerCase(), [...encodingLabels, 'detect']);
  return `knows no encoding ${inQuotes(label)}${near === undefined ? '' : `; did you mean ${inQuotes(near)}?`}`;
};

const dialectShape = {
  delimiter: delimiter.optional(),
  quote: character.nullable().optional(),
  escape: character.nullable().optional(),
  escapes: z.enum(backslashes, mustBeOneOf(backslashes)).nullable().optional(),
  header: z.union([z.boolean(), names], headerMust).optional(),
  nulls: texts.optional(),
  quotedNulls: z.boolean(mustBe('true or false')).optional(),
  quotes: z.enum(quotings, mustBeOneOf(quotings)).optional(),
  match: z.enum(matches, mustBeOneOf(matches)).optional(),
  lineEnd: z.enum(lineEnds, mustBeOneOf(lineEnds)).optional(),
  trim: z.union([z.boolean(), z.literal('outside')], mustBe("true, false or 'outside'")).optional(),
  skipLines: z.int(mustBe('a number of lines')).min(0, mustBe('a number of lines')).optional(),
  skipEnd: z
    .int(mustBe('a number of lines'))
    .min(0, mustBe('a number of lines'))
    .max(lastLinesMax, mustBe(`at most ${lastLinesMax} lines`))
    .optional(),
  headerLines: z
    .int(mustBe('a number of lines from 1'))
    .min(1, mustBe('a number of lines from 1'))
    .optional(),
  comment: delimiter.nullable().optional(),
  comments: z.enum(commenting, mustBeOneOf(commenting)).optional(),
  anywhere: z.boolean(mustBe('true or false')).optional(),
  maxRatio: z.number(mustBe('a number')).min(1, mustBe('at least 1')).optional(),
  maxBytes: z.int(mustBe('a number of bytes')).min(1, mustBe('a number of bytes')).optional(),
  ragged: z.enum(ragged, mustBeOneOf(ragged)).optional(),
  encoding: z
    .string(mustBe("the label of an encoding, or 'detect'"))
    .transform((label, context) => {
      const name = encodingNamed(label);
      if (name !== undefined) return name;
      context.addIssue(unknownEncoding(label));
      return z.NEVER;
    })
    .optional(),
};

/** A value is not repeated by the message: it may be a secret that should not be there. */
const sourceOption = ({ must, holds }: OptionRule) => z.custom(holds, `must be ${must}`).optional();
const otherSourceOption = (owners: readonly string[]) =>
  z.undefined(`is for ${owners.join(' and ')} alone, and none of the locations is one`).optional();

const mapValues = <From, To>(values: Readonly<Record<string, From>>, change: (value: From) => To) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));

/** What is wrong with a location that names members of an archive. */
const memberProblem = (text: string): string | undefined => {
  const { location: archive, member } = memberLocation(text);
  if (member === undefined) return undefined;
  if (member === '') return `names no member: ${archive}!/*.csv`;
  return /^!(?!\()/.test(text)
    ? `excludes members, which their glob can do: ${archive.slice(1)}!/!(${member})`
    : undefined;
};

/** What `csv(…)` declares. */
interface CsvSpec {
  readonly source: SourceSpec;
  readonly format: FormatSpec;
}

type DialectOptions = z.output<z.ZodObject<typeof dialectShape>>;

/** The checked source and format, or undefined and the problems. `where` names the table; `isVerbatim`: COPY reads the fields. */
export const csvSpec = (
  source: CsvSource,
  where: string,
  problems: Problems,
  isVerbatim: boolean,
): CsvSpec | undefined => {
  const place = `${where}, csv`;
  const located = parsePart(pathsSchema, source.paths, place, problems, 'path');
  const locations = located?.map(({ path: one }) => one);
  const files = locations?.map((one) => memberLocation(one).location);
  locations?.forEach((one, index) => {
    const problem = memberProblem(one) ?? locationProblem(files![index]!);
    if (problem !== undefined) problems.push(`${place}: path ${index + 1} ${problem}`);
  });
  const { taken, others } = optionsOf(files);
  const sourceShape = { ...mapValues(taken, sourceOption), ...mapValues(others, otherSourceOption) };
  const schema = strict({ ...sourceShape, ...dialectShape });
  const all: (z.output<typeof schema> & DialectOptions) | undefined = parsePart(
    schema,
    source.options,
    place,
    problems,
  );
  if (located === undefined || locations === undefined || all === undefined) return undefined;
  const withConstants = located.filter((one) => one.constants !== undefined);
  const withEncoding = located.filter((one) => one.encoding !== undefined);
  const twice = [...withConstants, ...withEncoding].find((one) =>
    located.some((other) => other !== one && other.path === one.path),
  );
  if (twice !== undefined) {
    const what = twice.constants === undefined ? 'an encoding' : 'constants';
    problems.push(`${place}: names ${inQuotes(twice.path)} twice, with ${what}`);
  }
  for (const { path: at, encoding = '' } of withEncoding)
    if (encodingNamed(encoding) === undefined)
      problems.push(`${place}: ${inQuotes(at)}: encoding ${unknownEncoding(encoding)}`);
  const dialect = dialectOf(all, isVerbatim);
  for (const what of dialectProblems(dialect)) problems.push(`${place}: ${what}`);
  const options = Object.fromEntries(Object.entries(all).filter(([name]) => Object.hasOwn(taken, name)));
  return {
    source: {
      locations,
      skipEnd: all.skipEnd ?? 0,
      constants: Object.fromEntries(withConstants.map((one) => [one.path, one.constants!])),
      ...(withEncoding.length > 0 && {
        encodings: Object.fromEntries(withEncoding.map((one) => [one.path, encodingNamed(one.encoding!)!])),
      }),
      anywhere: all.anywhere ?? false,
      options,
      maxRatio: all.maxRatio ?? maxRatioDefault,
      maxBytes: all.maxBytes ?? maxBytesDefault,
    },
    format: { kind: 'csv', encoding: all.encoding ?? 'utf-8', dialect },
  };
};

const dialectOf = (options: DialectOptions, isVerbatim: boolean): Dialect => {
  const escapes = options.escapes ?? null;
  // Dumps of servers have no quotes, unless they are declared, and write null as \N.
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
    // COPY never takes a quoted field for null.
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
