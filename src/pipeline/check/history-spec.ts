// How versions of rows are kept, as it is written and checked, and the columns that this needs.

import { z } from 'zod';
import {
  changedChoices,
  type ColumnSpec,
  type HistorySpec,
  type PublishSpec,
  type SourceTableSpec,
} from '../../declaration.ts';
import { diffName, mergeColumns, partName } from '../../publish/names.ts';
import { filterSchema } from '../declare/filter.ts';
import { stagedFor } from './merge-spec.ts';
import { madeColumn } from './made-column.ts';
import { columnNameProblem, derivedProblem } from './names.ts';
import { addProblem, mustBe, mustBeOneOf, strict, type Problems } from './problems.ts';
import { didYouMean } from '../../nearest.ts';

const columnName = z.string(mustBe('the name of a column'));
const keeps = "gone: 'unload' needs mode 'append': a version may come from several files";

/** `publish: { mode: 'history', … }`. */
export const historySchema = strict({
  mode: z.literal('history'),
  changed: z.enum(changedChoices, mustBeOneOf(changedChoices)).default('error'),
  gone: z.enum(['keep'], { error: () => keeps }).default('keep'),
  from: columnName.default('valid_from'),
  to: columnName.default('valid_to'),
  at: columnName.optional(),
  deleted: filterSchema,
});

/** Types whose values are times. */
const timeTypes = ['timestamptz', 'timestamp', 'date'];

/** The column of the time from which a version is valid: that of the run, or of the record. */
const fromColumn = ({ from, at }: HistorySpec, columns: readonly ColumnSpec[]): readonly ColumnSpec[] => {
  if (at === undefined) return [madeColumn(from, 'timestamptz', { headers: [], lineage: '_loaded_at' })];
  const time = columns.find(({ name }) => name === at);
  return time === undefined ? [] : [{ ...time, name: from }];
};

/** The table with the columns that its versions need. */
export const withVersions = (table: SourceTableSpec): SourceTableSpec => {
  const { publish, columns, primaryKey } = table;
  if (typeof publish === 'string' || publish.mode !== 'history') return table;
  return {
    ...table,
    columns: [...columns, ...fromColumn(publish, columns), ...stagedFor(publish.deleted)],
    primaryKey: [...primaryKey, publish.from],
  };
};

/** What a table with versions cannot be; problems are added. */
export const checkHistory = (
  where: string,
  {
    name,
    primaryKey,
    staging,
    publish,
    lineage,
    partitionBy,
  }: Pick<SourceTableSpec, 'name' | 'primaryKey' | 'staging' | 'partitionBy'> & {
    readonly publish: PublishSpec;
    readonly lineage: readonly string[];
  },
  columns: readonly ColumnSpec[],
  problems: Problems,
): void => {
  if (typeof publish === 'string' || publish.mode !== 'history') return;
  const { from, to, at } = publish;
  const add = (what: string): void => addProblem(problems, where, what);
  if (primaryKey.length === 0)
    add("publish: 'history' needs a primaryKey, of which versions are kept; declare one");
  if (staging !== 'typed') add("publish: 'history' needs columns and staging: 'typed'; remove staging");
  if (partitionBy !== undefined)
    add('keeps versions, and cannot be divided into partitions; remove partitionBy');
  const known = columns.map((column) => column.name);
  for (const made of [from, to]) {
    const problem = columnNameProblem(made);
    if (problem !== undefined) addProblem(problems, `${where}, publish`, `the name ${made} ${problem}`);
    if ([...known, ...lineage].includes(made))
      addProblem(
        problems,
        `${where}, column ${made}`,
        "publish: 'history' makes a column of this name; choose another name",
      );
  }
  if (from === to)
    addProblem(problems, `${where}, publish`, `from and to are both ${from}; choose another name`);
  for (const taken of known.filter((one) => (Object.values(mergeColumns) as string[]).includes(one)))
    addProblem(problems, `${where}, column ${taken}`, 'has a name that versions need; choose another name');
  if (at !== undefined) {
    const time = columns.find((column) => column.name === at);
    const place = `${where}, publish.at`;
    if (time === undefined)
      addProblem(problems, place, `\`${at}\` is not a column of the table${didYouMean(at, known)}`);
    else if (!timeTypes.includes(time.type))
      addProblem(problems, place, `\`${at}\` is not a time; it must be a ${timeTypes.join(', ')}`);
    else if (time.nullable) addProblem(problems, place, `\`${at}\` may be null; a version needs a time`);
    if (primaryKey.includes(at))
      addProblem(problems, place, `\`${at}\` is in the primaryKey; leave it out there`);
  }
  for (const other of [partName(name), diffName(name)]) {
    const problem = derivedProblem('name for versions', other, 'the name of the table');
    if (problem !== undefined) add(problem);
  }
};
