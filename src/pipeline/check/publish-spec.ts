// Checks `publish`, `evolve`, `keep` and `lineage`, and adds the columns of `lineage`.

import { z } from 'zod';
import {
  changedChoices,
  goneChoices,
  lineageNames,
  publishModes,
  type ColumnSpec,
  type IndexSpec,
  type LineageName,
  type PublishSpec,
  type SourceTableSpec,
  type TableSpec,
} from '../../core/declaration/declaration.ts';
import { columnsMax } from '../../core/limits.ts';
import { fileColumn, partName } from '../../db/names.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { publishedColumns } from '../../publish/table/tables.ts';
import { derivedProblem } from '../names.ts';
import { historySchema } from './history-spec.ts';
import { madeColumn } from './made-column.ts';
import { mergeSchema } from './merge-spec.ts';
import { choice, mustBe, mustBeOneOf, strict, type Problems } from '../problems.ts';

const appendSchema = strict({
  mode: z.literal('append'),
  changed: choice(changedChoices).default('error'),
  gone: choice(goneChoices).default('keep'),
});

const replaceSchema = strict({
  mode: z.literal('replace'),
  only: z.literal('touched', mustBe("'touched'")).optional(),
}).transform(({ mode, only }): PublishSpec =>
  only === undefined ? mode : { mode, only, changed: 'reload', gone: 'keep' },
);

const choices =
  "'replace', 'append', 'merge', 'history', or an object such as { mode: 'append', changed, gone }";

/** Schema of `publish`: the name of a mode, or an object with the mode and its options. */
export const publishSchema = z.preprocess(
  (written = 'replace') => (typeof written === 'string' ? { mode: written } : written),
  z.discriminatedUnion('mode', [replaceSchema, appendSchema, mergeSchema, historySchema], {
    error: ({ input }) =>
      typeof input === 'object' && input !== null && 'mode' in input
        ? mustBeOneOf(publishModes).error({ input: input.mode })
        : mustBe(choices).error({ input }),
  }),
);

/** Refuses `evolve` for a table that every run replaces. */
export const checkEvolve = (
  { publish, evolve }: Pick<TableSpec, 'publish' | 'evolve'>,
  problems: Problems,
): void => {
  if (!meaningOf(publish).stays && evolve !== undefined)
    problems.add('evolve has no effect on a table that every run replaces; remove evolve');
};

/** Refuses `keep` for a table that no run replaces as a whole. */
export const checkKeep = (
  { publish, keep }: Pick<TableSpec, 'publish' | 'keep'>,
  problems: Problems,
): void => {
  if (meaningOf(publish).takesParts && keep !== undefined)
    problems.add("keep needs publish: 'replace', which is the default; remove keep");
};

/** Columns that merge and history add to their table of differences (merge/differences.ts). */
const columnsToCompare = 3;
/** History adds the column `to` to the published table. */
const columnsOfHistory = 1;

/** Refuses a table that exceeds PostgreSQL's limit only because of the columns that a run adds. */
const checkWidth = (
  { columns, attributes, publish }: SourceTableSpec,
  lineage: number,
  problems: Problems,
): void => {
  const { rowsKnownBy, versions } = meaningOf(publish);
  const published = publishedColumns({ columns }).length + (attributes?.serverColumns ?? []).length;
  const added =
    lineage +
    (rowsKnownBy === 'key' ? columnsToCompare : 0) +
    (versions === undefined ? 0 : columnsOfHistory);
  if (published <= columnsMax && published + added > columnsMax)
    problems.add(
      `has ${published} columns, lineage and publish need ${added} more, and PostgreSQL allows ${columnsMax}; leave some out`,
    );
};

/** Schema of `lineage`: true, false or a list of names; parses to a list. */
export const lineageSchema = z
  .preprocess(
    (written) => (written === true ? lineageNames : written === false ? [] : written),
    z.array(choice(lineageNames), mustBe(`true, or a list of ${lineageNames.join(', ')}`)),
  )
  .default([]);

/** Returns the lineage columns in fixed order: those declared, and _file if a mode needs it. */
export const lineageOf = (asked: readonly LineageName[], publish: PublishSpec): readonly LineageName[] => {
  const { fileNeed } = meaningOf(publish);
  return lineageNames.filter(
    (name) => asked.includes(name) || (name === fileColumn && fileNeed !== undefined),
  );
};

const lineageColumn = (name: LineageName): ColumnSpec =>
  madeColumn(name, name === '_loaded_at' ? 'timestamptz' : 'bigint', {
    headers: [],
    lineage: name,
    separator: '',
  });

/** An index to find the rows of a file. A brin index is enough, because these rows are adjacent. */
const lineageIndex = (table: string): IndexSpec => ({
  name: `${table}_${fileColumn}_idx`,
  columns: [fileColumn],
  using: 'brin',
  unique: false,
  where: undefined,
  include: [],
});

/** Checks a table of mode append or only: 'touched', where a run replaces single files. */
const checkByFile = (table: SourceTableSpec, problems: Problems): void => {
  const { name, staging, publish, partitionBy } = table;
  const { replacesPartitions, fileNeed } = meaningOf(publish);
  if (replacesPartitions === true && (partitionBy === undefined || partitionBy.by === 'hash'))
    problems.add("only: 'touched' replaces partitions, and needs partitionBy: range(…) or list(…)");
  if (staging === 'none' && replacesPartitions !== true)
    problems.add("publish: 'append' needs staging: 'typed' or 'text'; remove staging");
  if (fileNeed !== undefined && staging === 'text')
    problems.add(
      `${fileNeed} need columns, because SQL does not keep the file of a row; remove staging: 'text'`,
    );
  for (const made of [partName(name), ...(fileNeed === undefined ? [] : [lineageIndex(name).name])])
    problems.add(derivedProblem('name for appending', made));
};

/** Adds the lineage columns that the table declares or its mode needs, and the index of _file. */
export const withLineage = (
  table: SourceTableSpec,
  asked: readonly LineageName[],
  problems: Problems,
): SourceTableSpec => {
  const { name, publish, staging, columns, indexes } = table;
  const { rowsKnownBy, fileNeed } = meaningOf(publish);
  if (rowsKnownBy === 'file') checkByFile(table, problems);
  checkKeep(table, problems);
  if (asked.length > 0 && staging === 'text')
    problems.add(
      "lineage needs columns, because SQL does not keep the file and the line of a row; remove lineage or staging: 'text'",
    );
  const lineage = lineageOf(asked, publish);
  for (const taken of lineage.filter((made) => columns.some((column) => column.name === made))) {
    const maker = asked.includes(taken) ? 'lineage makes' : `${fileNeed} make`;
    problems.at(`column ${taken}`).add(`${maker} a column of this name; choose another name`);
  }
  checkWidth(table, lineage.length, problems);
  return {
    ...table,
    columns: [...columns, ...lineage.map(lineageColumn)],
    indexes: fileNeed === undefined ? indexes : [...indexes, lineageIndex(name)],
  };
};
