// Checks `publish: 'merge'` and adds the staging columns that it needs.

import { z } from 'zod';
import {
  changedChoices,
  type ColumnSpec,
  type MergeSpec,
  type PublishSpec,
  type SourceTableSpec,
  type TableSpec,
} from '../../core/declaration/declaration.ts';
import { neededFields } from '../../format/rows/header-check.ts';
import { didYouMean } from '../../core/nearest.ts';
import { diffName, mergeColumns, onceName, partName, rebuiltName } from '../../db/names.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { filterSchema } from '../declare/filter.ts';
import type { Known } from './declared-values.ts';
import { madeColumn } from './made-column.ts';
import { derivedProblem } from '../names.ts';
import { choice, mustBe, strict, type Problems } from '../problems.ts';

const columnName = z.string(mustBe('the name of a column'));
const unloads = "gone: 'unload' needs mode 'append': a merged row may come from several files";

/** `publish: { mode: 'merge', … }`. */
export const mergeSchema = strict({
  mode: z.literal('merge'),
  changed: choice(changedChoices).default('error'),
  gone: z.enum(['keep'], { error: () => unloads }).default('keep'),
  update: z.array(columnName, mustBe('a list of columns')).min(1, mustBe('a list of columns')).optional(),
  newer: columnName.optional(),
  deleted: filterSchema,
  twice: choice(['last', 'reject']).default('last'),
  by: choice(['upsert', 'rebuild']).optional(),
}).transform((written): MergeSpec => ({ ...written, update: written.update, newer: written.newer }));

/**
 * Staging columns with the file and line of a record, which tell the last record of a key, and with
 * the result of the filter `deleted`.
 */
export const stagedFor = (deleted: MergeSpec['deleted']): readonly ColumnSpec[] => {
  const { file, line, deleted: marked } = mergeColumns;
  // With missing: 'null', a file without the fields of `deleted` deletes no rows.
  const test = { headers: neededFields([], deleted), test: deleted, default: 'f' };
  return [
    madeColumn(file, 'bigint', { headers: [], lineage: '_file', stagedOnly: true }),
    madeColumn(line, 'bigint', { headers: [], lineage: '_line', stagedOnly: true }),
    ...(deleted.length === 0 ? [] : [madeColumn(marked, 'boolean', { ...test, stagedOnly: true })]),
  ];
};

export const stagedForMerge = (publish: PublishSpec): readonly ColumnSpec[] =>
  typeof publish === 'string' || publish.mode !== 'merge' ? [] : stagedFor(publish.deleted);

/** Checks that the columns of `update` and `newer` exist and are not in the primary key. */
const checkColumns = (
  { update = [], newer }: MergeSpec,
  primaryKey: readonly string[],
  known: Known,
  problems: Problems,
): void => {
  const check = (key: string, name: string): void => {
    if (known?.includes(name) === false)
      problems.at(key).add(`\`${name}\` is not a column of the table${didYouMean(name, known)}`);
    else if (primaryKey.includes(name))
      problems.at(key).add(`\`${name}\` is in the primaryKey, by which rows are merged; leave it out`);
  };
  for (const name of update) check('publish.update', name);
  if (newer === undefined) return;
  check('publish.newer', newer);
  if (update.length > 0 && !update.includes(newer))
    problems
      .at('publish.update')
      .add(`leaves out \`${newer}\`, so that newer: '${newer}' would always see the first value; add it`);
};

/** Checks a table with `publish: 'merge'`; does nothing for other tables. */
export const checkMerge = (
  table: Pick<TableSpec, 'name' | 'primaryKey' | 'publish'> & Partial<Pick<SourceTableSpec, 'staging'>>,
  known: Known,
  problems: Problems,
): void => {
  const { name, primaryKey, publish, staging } = table;
  if (typeof publish === 'string' || publish.mode !== 'merge') return;
  if (primaryKey.length === 0)
    problems.add("publish: 'merge' needs a primaryKey, by which rows are merged; declare one");
  if (staging === 'none') problems.add("publish: 'merge' needs staging: 'typed' or 'text'; remove staging");
  if (staging !== 'typed' && publish.deleted.length > 0)
    problems.add('deleted looks at fields of records, and here SQL makes the rows; remove it');
  checkColumns(publish, primaryKey, known, problems);
  const made: readonly string[] = Object.values(mergeColumns);
  for (const column of known?.filter((one) => made.includes(one)) ?? [])
    problems.at(`column ${column}`).add('has a name that merging needs; choose another name');
  for (const other of [partName(name), onceName(name), diffName(name), rebuiltName(name)])
    problems.add(derivedProblem('name for merging', other));
};

/** Checks the mode of a derived table. */
export const checkDerived = (publish: PublishSpec, problems: Problems): void => {
  const { mayBeDerived, takesParts, changed } = meaningOf(publish);
  if (mayBeDerived !== true)
    problems.add(
      "is made from other tables, and can only be replaced or merged; remove publish, or use 'merge'",
    );
  else if (takesParts && changed !== 'error') problems.add('has no files; remove changed');
};
