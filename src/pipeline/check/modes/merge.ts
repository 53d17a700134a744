// The declaration of the mode 'merge', and the staging columns that the mode needs.

import { z } from 'zod';
import { changedChoices, type ColumnSpec, type MergeSpec } from '../../../core/declaration.ts';
import { didYouMean } from '../../../core/nearest.ts';
import { mergeColumns } from '../../../db/names.ts';
import { neededFields } from '../../../format/rows/header-check.ts';
import { filterSchema } from '../../declare/filter.ts';
import { choice, mustBe, strict, type Problems } from '../../problems.ts';
import type { Known } from '../declared-values.ts';
import { madeColumn } from '../made-column.ts';
import type { DeclaredMode } from './contract.ts';

const columnName = z.string(mustBe('the name of a column'));
const unloads = "gone: 'unload' needs mode 'append': a merged row may come from several files";

/**
 * Returns the extra staging columns: file and line, by which the last record of a key is found, and
 * a column that tells whether the record deletes its row.
 */
export const stagedFor = (deleted: MergeSpec['deleted']): readonly ColumnSpec[] => {
  const { file, line, deleted: marked } = mergeColumns;
  // The default is false: with missing: 'null', a file without the fields deletes no rows.
  const test = { headers: neededFields([], deleted), test: deleted, default: 'f' };
  return [
    madeColumn(file, 'bigint', { headers: [], lineage: '_file', stagedOnly: true }),
    madeColumn(line, 'bigint', { headers: [], lineage: '_line', stagedOnly: true }),
    ...(deleted.length === 0 ? [] : [madeColumn(marked, 'boolean', { ...test, stagedOnly: true })]),
  ];
};

export const refuseStagedNames = (known: Known, need: string, problems: Problems): void => {
  const made: readonly string[] = Object.values(mergeColumns);
  for (const column of known?.filter((one) => made.includes(one)) ?? [])
    problems.at(`column ${column}`).add(`has a name that ${need}; choose another name`);
};

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

export const merge = {
  schema: strict({
    mode: z.literal('merge'),
    changed: choice(changedChoices).default('error'),
    gone: z.enum(['keep'], { error: () => unloads }).default('keep'),
    update: z.array(columnName, mustBe('a list of columns')).min(1, mustBe('a list of columns')).optional(),
    newer: columnName.optional(),
    deleted: filterSchema,
    twice: choice(['last', 'reject']).default('last'),
    by: choice(['upsert', 'rebuild']).optional(),
  }).transform((written): MergeSpec => ({ ...written, update: written.update, newer: written.newer })),
  check: ({ primaryKey, staging, publish }, known, _columns, problems) => {
    if (primaryKey.length === 0)
      problems.add("publish: 'merge' needs a primaryKey, by which rows are merged; declare one");
    if (staging !== 'typed' && publish.deleted.length > 0)
      problems.add('deleted looks at fields of records, and here SQL makes the rows; remove it');
    checkColumns(publish, primaryKey, known, problems);
    refuseStagedNames(known, 'merging needs', problems);
  },
  complete: (table, { deleted }) => ({ ...table, columns: [...table.columns, ...stagedFor(deleted)] }),
} satisfies DeclaredMode<MergeSpec>;
