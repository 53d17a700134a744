// Checks `publish: 'history'` and adds the columns that versions of rows need.

import { z } from 'zod';
import {
  changedChoices,
  type ColumnSpec,
  type HistorySpec,
  type SourceTableSpec,
} from '../../core/declaration/declaration.ts';
import { didYouMean } from '../../core/nearest.ts';
import { diffName, mergeColumns, partName } from '../../db/names.ts';
import { filterSchema } from '../declare/filter.ts';
import { timeTypes } from './declared-values.ts';
import { madeColumn } from './made-column.ts';
import { stagedFor } from './merge-spec.ts';
import { columnNameProblem, derivedProblem } from '../names.ts';
import { choice, mustBe, strict, type Problems } from '../problems.ts';

const columnName = z.string(mustBe('the name of a column'));
const keeps = "gone: 'unload' needs mode 'append': a version may come from several files";

/** `publish: { mode: 'history', … }`. */
export const historySchema = strict({
  mode: z.literal('history'),
  changed: choice(changedChoices).default('error'),
  gone: z.enum(['keep'], { error: () => keeps }).default('keep'),
  from: columnName.default('valid_from'),
  to: columnName.default('valid_to'),
  at: columnName.optional(),
  deleted: filterSchema,
}).transform((written): HistorySpec => ({ ...written, at: written.at }));

/** Makes the column `from`: a copy of column `at`, or without `at` the start of the run. */
const fromColumn = ({ from, at }: HistorySpec, columns: readonly ColumnSpec[]): readonly ColumnSpec[] => {
  if (at === undefined) return [madeColumn(from, 'timestamptz', { headers: [], lineage: '_loaded_at' })];
  const time = columns.find(({ name }) => name === at);
  return time === undefined ? [] : [{ ...time, name: from }];
};

/** Adds the columns that versions need, and `from` to the primary key. */
export const withVersions = (table: SourceTableSpec): SourceTableSpec => {
  const { publish, columns, primaryKey } = table;
  if (typeof publish === 'string' || publish.mode !== 'history') return table;
  return {
    ...table,
    columns: [...columns, ...fromColumn(publish, columns), ...stagedFor(publish.deleted)],
    primaryKey: [...primaryKey, publish.from],
  };
};

/** Checks a table with `publish: 'history'`; does nothing for other tables. */
export const checkHistory = (
  table: Pick<SourceTableSpec, 'name' | 'primaryKey' | 'staging' | 'publish' | 'partitionBy'>,
  lineage: readonly string[],
  columns: readonly ColumnSpec[],
  problems: Problems,
): void => {
  const { name, primaryKey, publish } = table;
  if (typeof publish === 'string' || publish.mode !== 'history') return;
  const { from, to } = publish;
  if (primaryKey.length === 0)
    problems.add("publish: 'history' needs a primaryKey, of which versions are kept; declare one");
  if (table.staging !== 'typed')
    problems.add("publish: 'history' needs columns and staging: 'typed'; remove staging");
  if (table.partitionBy !== undefined)
    problems.add('keeps versions of rows, so it cannot be partitioned; remove partitionBy');
  const known = columns.map((column) => column.name);
  for (const made of [from, to]) {
    problems.at('publish').add(columnNameProblem(made), `the name ${made}`);
    if ([...known, ...lineage].includes(made))
      problems
        .at(`column ${made}`)
        .add("publish: 'history' makes a column of this name; choose another name");
  }
  if (from === to) problems.at('publish').add(`from and to are both ${from}; choose another name`);
  for (const taken of known.filter((one) => (Object.values(mergeColumns) as string[]).includes(one)))
    problems.at(`column ${taken}`).add('has a name that versions need; choose another name');
  if (publish.at !== undefined) checkTime(publish.at, primaryKey, columns, problems.at('publish.at'));
  for (const other of [partName(name), diffName(name)])
    problems.add(derivedProblem('name for versions', other));
};

/** Checks `publish.at`: an existing, not nullable time column outside the primary key. */
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
