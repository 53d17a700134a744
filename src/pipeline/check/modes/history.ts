// The declaration of the mode 'history', and the columns that versions of rows need.

import { z } from 'zod';
import { changedChoices, type ColumnSpec, type HistorySpec } from '../../../core/declaration.ts';
import { didYouMean } from '../../../core/nearest.ts';
import { filterSchema } from '../../declare/filter.ts';
import { columnNameProblem } from '../../names.ts';
import { choice, mustBe, strict, type Problems } from '../../problems.ts';
import { timeTypes } from '../declared-values.ts';
import { madeColumn } from '../made-column.ts';
import type { DeclaredMode } from './contract.ts';
import { refuseStagedNames, stagedFor } from './merge.ts';

const columnName = z.string(mustBe('the name of a column'));
const keeps = "gone: 'unload' needs mode 'append': a version may come from several files";

/** The column `from`: a copy of column `at`, or without `at` the start of the run. */
const fromColumn = ({ from, at }: HistorySpec, columns: readonly ColumnSpec[]): readonly ColumnSpec[] => {
  if (at === undefined) return [madeColumn(from, 'timestamptz', { headers: [], lineage: '_loaded_at' })];
  const time = columns.find(({ name }) => name === at);
  return time === undefined ? [] : [{ ...time, name: from }];
};

/** `publish.at` must be a time column that is not nullable and not in the primary key. */
const checkTime = (
  at: string,
  primaryKey: readonly string[],
  columns: readonly ColumnSpec[],
  problems: Problems,
): void => {
  const known = columns.map(({ name }) => name);
  const time = columns.find(({ name }) => name === at);
  if (time === undefined) problems.add(`\`${at}\` is not a column of the table${didYouMean(at, known)}`);
  else if (!timeTypes.includes(time.type))
    problems.add(`\`${at}\` is not a time; it must be a ${timeTypes.join(', ')}`);
  else if (time.nullable) problems.add(`\`${at}\` may be null; a version needs a time`);
  if (primaryKey.includes(at)) problems.add(`\`${at}\` is in the primaryKey; leave it out there`);
};

const checkNames = ({ from, to }: HistorySpec, known: readonly string[], problems: Problems): void => {
  for (const made of [from, to]) {
    problems.at('publish').add(columnNameProblem(made), `the name ${made}`);
    if (known.includes(made))
      problems
        .at(`column ${made}`)
        .add("publish: 'history' makes a column of this name; choose another name");
  }
  if (from === to) problems.at('publish').add(`from and to are both ${from}; choose another name`);
};

export const history = {
  schema: strict({
    mode: z.literal('history'),
    changed: choice(changedChoices).default('error'),
    gone: z.enum(['keep'], { error: () => keeps }).default('keep'),
    from: columnName.default('valid_from'),
    to: columnName.default('valid_to'),
    at: columnName.optional(),
    deleted: filterSchema,
  }).transform((written): HistorySpec => ({ ...written, at: written.at })),
  check: ({ primaryKey, staging, partitionBy, publish }, known = [], columns, problems) => {
    if (primaryKey.length === 0)
      problems.add("publish: 'history' needs a primaryKey, of which versions are kept; declare one");
    // checkStaging refuses 'none'.
    if (staging !== 'typed' && staging !== 'none')
      problems.add("publish: 'history' needs columns and staging: 'typed'; remove staging");
    if (partitionBy !== undefined)
      problems.add('keeps versions of rows, so it cannot be partitioned; remove partitionBy');
    checkNames(publish, known, problems);
    refuseStagedNames(known, 'versions need', problems);
    if (publish.at !== undefined) checkTime(publish.at, primaryKey, columns, problems.at('publish.at'));
  },
  complete: (table, publish) => ({
    ...table,
    columns: [...table.columns, ...fromColumn(publish, table.columns), ...stagedFor(publish.deleted)],
    primaryKey: [...table.primaryKey, publish.from],
  }),
} satisfies DeclaredMode<HistorySpec>;
