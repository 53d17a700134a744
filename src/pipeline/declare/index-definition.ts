// index(): an index of a production table.

import { z } from 'zod';
import type { IndexSpec } from '../../declaration.ts';
import { freezeDeep } from '../check/freeze.ts';
import { defaultName, nameProblem } from '../check/names.ts';
import { addProblem, mustBe, mustBeOneOf, parsePart, strict, type Problems } from '../check/problems.ts';

export interface IndexOptions<Name extends string = string> {
  /** Access method; 'btree' by default. */
  readonly using?: IndexSpec['using'];
  readonly unique?: boolean;
  /** SQL condition of a partial index. */
  readonly where?: string;
  /** Columns stored beside the key (btree, gist, spgist). */
  readonly include?: readonly Name[];
  /** Made from table and columns by default. */
  readonly name?: string;
}

/** An index as it was written; definePipeline checks it, so that problems name their table. */
export interface IndexDefinition<Name extends string = string> {
  readonly kind: 'index';
  readonly columns: Name | readonly Name[];
  readonly options: IndexOptions<Name>;
}

/** An index over one column or several, built when the rows are in: `index('day', { using: 'brin' })`. */
export const index = <const Name extends string>(
  columns: Name | readonly Name[],
  options: IndexOptions<Name> = {},
): IndexDefinition<Name> => freezeDeep({ kind: 'index', columns, options });

const methods = ['btree', 'brin', 'hash', 'gin', 'gist', 'spgist'] as const;
const name = z.string(mustBe('a column name')).min(1, mustBe('a column name'));
const columnsMust = mustBe('a column name or a list of them');
const columnsSchema = z.union(
  [name.transform((one) => [one]), z.array(name).min(1, columnsMust)],
  columnsMust,
);
const optionsSchema = strict({
  using: z.enum(methods, mustBeOneOf(methods)).default('btree'),
  unique: z.boolean(mustBe('true or false')).default(false),
  where: z.string(mustBe('an SQL condition')).min(1, mustBe('an SQL condition')).optional(),
  include: z.array(name, mustBe('a list of column names')).default([]),
  name: z.string(mustBe('a name')).optional(),
});

/** The checked index, or undefined and the problems. `place` counts from 1. */
export const indexSpec = (
  input: unknown,
  place: number,
  table: string,
  problems: Problems,
): IndexSpec | undefined => {
  const where = `table ${table}, index ${place}`;
  const written = input as Partial<IndexDefinition> | null | undefined;
  if (written?.kind !== 'index') {
    addProblem(problems, where, "must be made with index('column'), or index(['column', …])");
    return undefined;
  }
  const columns = parsePart(columnsSchema, written.columns, where, problems, 'columns');
  const options = parsePart(optionsSchema, written.options, where, problems);
  if (columns === undefined || options === undefined) return undefined;
  const problem = options.name === undefined ? undefined : nameProblem(options.name);
  if (problem !== undefined) addProblem(problems, where, `name ${problem}`);
  if (options.unique && options.using !== 'btree') {
    addProblem(problems, where, `a ${options.using} index cannot be unique; only btree can`);
  }
  const { using, unique, include } = options;
  return {
    name: options.name ?? defaultName([table, ...columns], 'idx'),
    columns,
    using,
    unique,
    where: options.where,
    include,
  };
};
