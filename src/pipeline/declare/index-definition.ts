// index(): an index of a production table.

import { z } from 'zod';
import type { IndexSpec } from '../../core/declaration/declaration.ts';
import { freezeDeep } from '../freeze.ts';
import { defaultName, nameProblem } from '../names.ts';
import { boolean, choice, mustBe, oneOrMore, strict, text, type Problems } from '../problems.ts';

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

const name = text('a column name');
const columnsSchema = oneOrMore(name, 'a column name or a list of them');
const optionsSchema = strict({
  using: choice(['btree', 'brin', 'hash', 'gin', 'gist', 'spgist']).default('btree'),
  unique: boolean.default(false),
  where: text('an SQL condition').optional(),
  include: z.array(name, mustBe('a list of column names')).default([]),
  name: z.string(mustBe('a name')).optional(),
});

/** The checked index, or undefined and the problems. */
export const indexSpec = (input: unknown, table: string, problems: Problems): IndexSpec | undefined => {
  const written = input as Partial<IndexDefinition> | null | undefined;
  if (written?.kind !== 'index')
    return problems.add("must be made with index('column'), or index(['column', …])");
  const columns = problems.parse(columnsSchema, written.columns, 'columns');
  const options = problems.parse(optionsSchema, written.options);
  if (columns === undefined || options === undefined) return undefined;
  const { using, unique, where, include, name: given } = options;
  if (given !== undefined) problems.add(nameProblem(given), 'name');
  if (unique && using !== 'btree') problems.add(`a ${using} index cannot be unique; only btree can`);
  return { name: given ?? defaultName([table, ...columns], 'idx'), columns, using, unique, where, include };
};
