// index(): declares an index of a production table.

import { z } from 'zod';
import type { IndexSpec } from '../../core/declaration.ts';
import { freezeDeep } from '../freeze.ts';
import { defaultName, nameProblem } from '../names.ts';
import { boolean, choice, mustBe, oneOrMore, strict, text, type Problems } from '../problems.ts';

/** Options of index(). */
export interface IndexOptions<Name extends string = string> {
  /** Access method. Default: 'btree'. */
  readonly using?: IndexSpec['using'];
  /** Creates a unique index (btree only). Default: false. */
  readonly unique?: boolean;
  /** SQL condition that makes a partial index: `'price > 0'`. */
  readonly where?: string;
  /** Columns to store in the index beside its key (btree, gist, spgist). */
  readonly include?: readonly Name[];
  /** Default: `<table>_<columns>_idx`. */
  readonly name?: string;
}

/** A declared index, unchecked: definePipeline checks it, so that errors can name the table. */
export interface IndexDefinition<Name extends string = string> {
  /** Marks an index, as made by index(). */
  readonly kind: 'index';
  /** Columns of the index's key, in this order. */
  readonly columns: Name | readonly Name[];
  /** Options as given, without defaults. */
  readonly options: IndexOptions<Name>;
}

/**
 * Declares an index over one or more columns: `index('day', { using: 'brin' })`,
 * `index(['store', 'day'], { unique: true })`. It is built after the rows are inserted.
 */
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

/** Checks a declared index. Returns undefined, and adds problems, if it is not valid. */
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
