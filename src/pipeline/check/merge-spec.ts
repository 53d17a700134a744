// How rows are merged, as it is written and checked, and the columns of staging that this needs.

import { z } from 'zod';
import {
  changedChoices,
  type ColumnSpec,
  type MergeSpec,
  type PublishSpec,
  type SourceTableSpec,
  type TableSpec,
} from '../../declaration.ts';
import { neededFields } from '../../format/header-check.ts';
import { diffName, mergeColumns, onceName, partName, rebuiltName } from '../../publish/names.ts';
import { filterSchema } from '../declare/filter.ts';
import { madeColumn } from './made-column.ts';
import { derivedProblem } from './names.ts';
import { addProblem, mustBe, mustBeOneOf, strict, type Problems } from './problems.ts';
import { didYouMean } from '../../nearest.ts';

const twiceChoices = ['last', 'reject'] as const;
const ways = ['upsert', 'rebuild'] as const;
const columnName = z.string(mustBe('the name of a column'));
const unloads = "gone: 'unload' needs mode 'append': a merged row may come from several files";

/** `publish: { mode: 'merge', … }`. */
export const mergeSchema = strict({
  mode: z.literal('merge'),
  changed: z.enum(changedChoices, mustBeOneOf(changedChoices)).default('error'),
  gone: z.enum(['keep'], { error: () => unloads }).default('keep'),
  update: z.array(columnName, mustBe('a list of columns')).min(1, mustBe('a list of columns')).optional(),
  newer: columnName.optional(),
  deleted: filterSchema,
  twice: z.enum(twiceChoices, mustBeOneOf(twiceChoices)).default('last'),
  by: z.enum(ways, mustBeOneOf(ways)).optional(),
});

/** Columns of staging that say which record of a key is the last, and whether it deletes the row. */
export const stagedFor = (deleted: MergeSpec['deleted']): readonly ColumnSpec[] => {
  const { file, line, deleted: marked } = mergeColumns;
  // A file that lacks the fields deletes nothing, where fields may be missing.
  const test = { headers: neededFields([], deleted), test: deleted, default: 'f' };
  return [
    madeColumn(file, 'bigint', { headers: [], lineage: '_file', stagedOnly: true }),
    madeColumn(line, 'bigint', { headers: [], lineage: '_line', stagedOnly: true }),
    ...(deleted.length === 0 ? [] : [madeColumn(marked, 'boolean', { ...test, stagedOnly: true })]),
  ];
};

export const stagedForMerge = (publish: PublishSpec): readonly ColumnSpec[] =>
  typeof publish === 'string' || publish.mode !== 'merge' ? [] : stagedFor(publish.deleted);

/** Columns that the merge names must be there, and not be the key's. */
const checkColumns = (
  where: string,
  { primaryKey }: Pick<TableSpec, 'primaryKey'>,
  { update = [], newer }: MergeSpec,
  known: readonly string[] | undefined,
  problems: Problems,
): void => {
  const check = (what: string, name: string): void => {
    const at = `${where}, publish.${what}`;
    if (known?.includes(name) === false)
      addProblem(problems, at, `\`${name}\` is not a column of the table${didYouMean(name, known)}`);
    else if (primaryKey.includes(name))
      addProblem(problems, at, `\`${name}\` is in the primaryKey, by which rows are merged; leave it out`);
  };
  for (const name of update) check('update', name);
  if (newer === undefined) return;
  check('newer', newer);
  if (update.length > 0 && !update.includes(newer))
    addProblem(
      problems,
      `${where}, publish.update`,
      `leaves out \`${newer}\`, so that newer: '${newer}' would always see the first value; add it`,
    );
};

/** What a merged table cannot be; problems are added. `known` is undefined where SQL makes the columns. */
export const checkMerge = (
  where: string,
  table: Pick<TableSpec, 'name' | 'primaryKey' | 'publish'> & Partial<Pick<SourceTableSpec, 'staging'>>,
  known: readonly string[] | undefined,
  problems: Problems,
): void => {
  const { name, primaryKey, publish, staging } = table;
  if (typeof publish === 'string' || publish.mode !== 'merge') return;
  const add = (what: string): void => addProblem(problems, where, what);
  if (primaryKey.length === 0)
    add("publish: 'merge' needs a primaryKey, by which rows are merged; declare one");
  if (staging === 'none') add("publish: 'merge' needs staging: 'typed' or 'text'; remove staging");
  if (staging !== 'typed' && publish.deleted.length > 0)
    add('deleted looks at fields of records, and here SQL makes the rows; remove it');
  checkColumns(where, table, publish, known, problems);
  const made = [mergeColumns.file, mergeColumns.line, mergeColumns.deleted];
  for (const column of (known ?? []).filter((one) => (made as readonly string[]).includes(one)))
    addProblem(problems, `${where}, column ${column}`, 'has a name that merging needs; choose another name');
  for (const other of [partName(name), onceName(name), diffName(name), rebuiltName(name)]) {
    const problem = derivedProblem('name for merging', other, 'the name of the table');
    if (problem !== undefined) add(problem);
  }
};

/** How a table that SQL makes from others cannot be published; problems are added. */
export const checkDerived = (where: string, publish: PublishSpec, problems: Problems): void => {
  if (publish === 'replace') return;
  const add = (what: string): void => addProblem(problems, where, what);
  if (publish.mode !== 'merge')
    return add(
      "is made from other tables, and can only be replaced or merged; remove publish, or use 'merge'",
    );
  if (publish.changed !== 'error') add('has no files; remove changed');
};
