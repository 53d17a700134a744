// How a table is published, and which columns say where its rows are from: as they are written, and checked.

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
} from '../../declaration.ts';
import { fileColumn, partName } from '../../publish/names.ts';
import { derivedProblem } from './names.ts';
import { addProblem, mustBe, mustBeOneOf, strict, type Problems } from './problems.ts';

/** How a mode is written with its choices, and with every default. */
const choicesSchema = strict(
  {
    mode: z.enum(publishModes, mustBeOneOf(publishModes)),
    changed: z.enum(changedChoices, mustBeOneOf(changedChoices)).optional(),
    gone: z.enum(goneChoices, mustBeOneOf(goneChoices)).optional(),
  },
  "'replace', 'append', or { mode: 'append', changed, gone }",
).transform(({ mode, changed = 'error', gone = 'keep' }): PublishSpec =>
  mode === 'replace' ? mode : { mode, changed, gone },
);

/** `publish`: a mode, or a mode with its choices. */
export const publishSchema = z.preprocess(
  (written = 'replace') => (typeof written === 'string' ? { mode: written } : written),
  choicesSchema,
);

/** What `evolve` is not for; problems are added. */
export const checkEvolve = (
  where: string,
  { publish, evolve }: Pick<TableSpec, 'publish' | 'evolve'>,
  problems: Problems,
): void => {
  if (publish === 'replace' && evolve !== undefined)
    addProblem(problems, where, 'evolve is for tables that stay, and this one is replaced; remove evolve');
};

/** Whether rows must be known by their file, because those of a single file may leave. */
const needsFile = (publish: PublishSpec): boolean =>
  publish !== 'replace' && (publish.changed === 'reload' || publish.gone === 'unload');

/** `lineage`: all of its columns, or those that are named. */
export const lineageSchema = z
  .preprocess(
    (written) => (written === true ? lineageNames : written === false ? [] : written),
    z.array(
      z.enum(lineageNames, mustBeOneOf(lineageNames)),
      mustBe(`true, or a list of ${lineageNames.join(', ')}`),
    ),
  )
  .default([]);

/** The columns of a table that say where its rows are from, whatever the order in which they were asked for. */
export const lineageOf = (asked: readonly LineageName[], publish: PublishSpec): readonly LineageName[] =>
  lineageNames.filter((name) => asked.includes(name) || (name === fileColumn && needsFile(publish)));

const lineageColumn = (name: LineageName): ColumnSpec => ({
  name,
  type: name === '_loaded_at' ? 'timestamptz' : 'bigint',
  options: {},
  headers: [],
  lineage: name,
  separator: '',
  nullable: false,
  nulls: [],
  tokens: {},
  default: undefined,
  map: undefined,
  rules: [],
  checks: [],
  schema: undefined,
});

/** Rows of a file lie together, so that a small index finds them. */
const lineageIndex = (table: string): IndexSpec => ({
  name: `${table}_${fileColumn}_idx`,
  columns: [fileColumn],
  using: 'brin',
  unique: false,
  where: undefined,
  include: [],
});

/** What an appended table cannot be; problems are added. */
const checkAppend = (where: string, table: SourceTableSpec, problems: Problems): void => {
  const { name, staging, publish } = table;
  const add = (what: string): void => addProblem(problems, where, what);
  if (staging === 'none') add("publish: 'append' needs staging: 'typed' or 'text'; remove staging");
  if (needsFile(publish) && staging === 'text')
    add(
      "changed: 'reload' and gone: 'unload' need columns, because SQL does not keep the file of a row; remove staging: 'text'",
    );
  for (const made of [partName(name), ...(needsFile(publish) ? [lineageIndex(name).name] : [])]) {
    const problem = derivedProblem('name for appending', made, 'the name of the table');
    if (problem !== undefined) add(problem);
  }
};

/** The table as it is published: with the columns that say where its rows are from, where they are wanted or needed. */
export const withLineage = (
  where: string,
  table: SourceTableSpec,
  asked: readonly LineageName[],
  problems: Problems,
): SourceTableSpec => {
  const { name, publish, staging, columns, indexes } = table;
  if (publish !== 'replace') checkAppend(where, table, problems);
  if (publish !== 'replace' && table.keep !== undefined)
    addProblem(problems, where, "keep needs publish: 'replace', which is the default; remove keep");
  if (asked.length > 0 && staging === 'text')
    addProblem(
      problems,
      where,
      "lineage needs columns, because SQL does not keep the file and the line of a row; remove lineage or staging: 'text'",
    );
  const lineage = lineageOf(asked, publish);
  for (const taken of lineage.filter((made) => columns.some((column) => column.name === made)))
    addProblem(
      problems,
      `${where}, column ${taken}`,
      `${asked.includes(taken) ? 'lineage makes' : "changed: 'reload' and gone: 'unload' make"} a column of this name; choose another name`,
    );
  return {
    ...table,
    columns: [...columns, ...lineage.map(lineageColumn)],
    indexes: needsFile(publish) ? [...indexes, lineageIndex(name)] : indexes,
  };
};
