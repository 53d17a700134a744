// Decides which field of a file goes into which column of a table.

import { composed } from '../../core/characters.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { inQuotes, plural } from '../../core/wording.ts';
import { snakeCase } from '../init/header.ts';
import type { TargetColumn } from './target.ts';

/** What the flags say about fields and columns. */
export interface PairRules {
  /** Column by field: `--map 'Full Name=full_name'`. */
  readonly map: ReadonlyMap<string, string>;
  /** Fields that are not loaded. */
  readonly skip: readonly string[];
  /** Without a header: the columns of the fields, in order. With one: the only columns to load. */
  readonly only: readonly string[] | undefined;
}

export interface Pair {
  /** Place of the field in the records, from 0. */
  readonly index: number;
  readonly field: string;
  readonly column: TargetColumn;
}

/** A word of a command line. */
const shellWord = (text: string): string =>
  /^[\w.=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** Names that differ in case, accents, blanks and underscores alone have the same form. */
const relaxed = (name: string): string => snakeCase(name).replaceAll('_', '');

interface Fields {
  /** Names of the table and of the file, for errors. */
  readonly table: string;
  readonly file: string;
  /** '' for a field without a name. */
  readonly header: readonly string[];
  readonly hasHeader: boolean;
  readonly columns: readonly TargetColumn[];
}

const unfit = ({ table, file }: Fields, problems: readonly string[], hint: string): EtlError =>
  new EtlError('ETL_LOAD_FIELDS', {
    table,
    file,
    problems: problems.map((problem) => `\n  ${problem}`).join(''),
    hint,
  });

const columnNamed = (fields: Fields, flag: string, name: string): TargetColumn => {
  const { columns, table } = fields;
  const found = columns.find((column) => composed(column.name) === composed(name));
  if (found !== undefined) return found;
  throw new EtlError('ETL_USAGE', {
    problem: `${flag}: ${table} has no column ${inQuotes(name)}`,
    hint: `Its columns: ${columns.map((column) => column.name).join(', ')}.`,
  });
};

/** Without a header, fields are matched by position, as by \copy. */
const byPosition = (fields: Fields, { only }: PairRules): readonly Pair[] => {
  const { header, columns } = fields;
  const targets =
    only?.map((name) => columnNamed(fields, '--only', name)) ??
    columns.filter(({ isGenerated }) => !isGenerated);
  if (targets.length !== header.length)
    throw unfit(
      fields,
      [
        `the file has ${plural(header.length, 'field')} and no header, for ${plural(targets.length, 'column')}`,
      ],
      'Name the columns of the fields in their order: --only id,name. If the first record is a header: --header.',
    );
  return targets.map((column, index) => ({ index, field: `field ${index + 1}`, column }));
};

/** Returns the fields, by place, that have this name. */
const fieldsNamed = (fields: Fields, flag: string, name: string): readonly number[] => {
  const found = fields.header.flatMap((field, index) => (composed(field) === composed(name) ? [index] : []));
  if (found.length > 0) return found;
  throw new EtlError('ETL_USAGE', {
    problem: `${flag}: ${fields.file} has no field ${inQuotes(name)}`,
    hint: `Its fields: ${fields.header.map(inQuotes).join(', ')}.`,
  });
};

/** Pairs what has the same form on both sides, if nothing else there has this form. */
const pairAlike = (
  open: Map<number, string>,
  free: Set<TargetColumn>,
  formOf: (name: string) => string,
): readonly Pair[] =>
  [...open].flatMap(([index, field]) => {
    const form = formOf(field);
    const alike = [...free].filter(({ name }) => formOf(name) === form);
    const rivals = [...open.values()].filter((other) => formOf(other) === form);
    if (form === '' || alike.length !== 1 || rivals.length !== 1) return [];
    open.delete(index);
    free.delete(alike[0]!);
    return [{ index, field, column: alike[0]! }];
  });

const problemsOf = (
  open: ReadonlyMap<number, string>,
  free: ReadonlySet<TargetColumn>,
): readonly string[] => [
  ...[...open].map(([index, field]) =>
    field === ''
      ? `field ${index + 1} has no name, and no column`
      : `field ${inQuotes(field)} has no column: --map ${shellWord(`${field}=COLUMN`)} names one, --skip ${shellWord(field)} leaves it out`,
  ),
  ...[...free]
    .filter(({ isNullable, hasDefault, isGenerated }) => !isNullable && !hasDefault && !isGenerated)
    .map(
      ({ name }) =>
        `column ${inQuotes(name)} has no field, and needs a value: --map ${shellWord(`FIELD=${name}`)} names one`,
    ),
];

const byName = (fields: Fields, { map, skip, only }: PairRules): readonly Pair[] => {
  const open = new Map(fields.header.entries());
  const wanted = only?.map((name) => columnNamed(fields, '--only', name));
  const free = new Set(wanted ?? fields.columns.filter(({ isGenerated }) => !isGenerated));
  const mapped = [...map].map(([field, name]): Pair => {
    const column = columnNamed(fields, '--map', name);
    const [index, ...others] = fieldsNamed(fields, '--map', field);
    if (others.length > 0)
      throw unfit(
        fields,
        [`${others.length + 1} fields are called ${inQuotes(field)}`],
        'Use --no-header and --only.',
      );
    if (!free.delete(column))
      throw new EtlError('ETL_USAGE', {
        problem: `--map: column ${inQuotes(name)} cannot get field ${inQuotes(field)}`,
        hint: 'A column gets one field. Generated columns get none; those that --only leaves out, neither.',
      });
    open.delete(index!);
    return { index: index!, field, column };
  });
  for (const name of skip) for (const index of fieldsNamed(fields, '--skip', name)) open.delete(index);
  const pairs = [...mapped, ...pairAlike(open, free, composed), ...pairAlike(open, free, relaxed)];
  const problems = problemsOf(only === undefined ? open : new Map(), free);
  const unfilled =
    only === undefined ? [] : [...free].map(({ name }) => `column ${inQuotes(name)} has no field`);
  const all = [...new Set([...problems, ...unfilled])];
  if (all.length > 0)
    throw unfit(
      fields,
      all,
      `Nothing was loaded. The columns of the table: ${fields.columns.map(({ name }) => name).join(', ')}.`,
    );
  return pairs.toSorted((one, other) => one.index - other.index);
};

/**
 * Pairs fields with columns: by the flags, then by equal names, then by names that differ in case,
 * accents, blanks and underscores alone; without a header by position. Errors: ETL_LOAD_FIELDS if
 * something is left over on either side, ETL_USAGE for flags that name nothing.
 */
export const pairFields = (fields: Fields, rules: PairRules): readonly Pair[] => {
  const pairs = fields.hasHeader ? byName(fields, rules) : byPosition(fields, rules);
  if (pairs.length > 0) return pairs;
  throw unfit(fields, ['no field has a column'], 'Nothing was loaded.');
};
