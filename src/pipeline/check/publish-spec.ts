// How a table is published, as it is written and checked, and the column that some ways of it need.

import { z } from 'zod';
import {
  changedChoices,
  goneChoices,
  publishModes,
  type ColumnSpec,
  type IndexSpec,
  type PublishSpec,
  type SourceTableSpec,
} from '../../declaration.ts';
import { fileColumn, partName } from '../../publish/names.ts';
import { derivedProblem } from './names.ts';
import { addProblem, mustBeOneOf, strict, type Problems } from './problems.ts';

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

/** Whether rows must be known by their file, because those of a single file may leave. */
const needsFile = (publish: PublishSpec): boolean =>
  publish !== 'replace' && (publish.changed === 'reload' || publish.gone === 'unload');

const lineage: ColumnSpec = {
  name: fileColumn,
  type: 'bigint',
  options: {},
  headers: [{ of: 'file' }],
  separator: ' ',
  nullable: false,
  nulls: [],
  tokens: {},
  default: undefined,
  map: undefined,
  rules: [],
  checks: [],
  schema: undefined,
};

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
  const { name, staging, columns, publish } = table;
  const add = (what: string): void => addProblem(problems, where, what);
  if (staging === 'none') add("publish: 'append' needs staging: 'typed' or 'text'; remove staging");
  if (needsFile(publish) && staging === 'text')
    add(
      "changed: 'reload' and gone: 'unload' need columns, because SQL does not keep the file of a row; remove staging: 'text'",
    );
  if (needsFile(publish) && columns.some((column) => column.name === fileColumn))
    add(`column ${fileColumn} is made by changed: 'reload' and gone: 'unload'; choose another name`);
  for (const made of [partName(name), ...(needsFile(publish) ? [lineageIndex(name).name] : [])]) {
    const problem = derivedProblem('name for appending', made, 'the name of the table');
    if (problem !== undefined) add(problem);
  }
};

/** The table as it is published: with the column of the file, where that is needed. */
export const withLineage = (where: string, table: SourceTableSpec, problems: Problems): SourceTableSpec => {
  const { name, publish, columns, indexes } = table;
  if (publish === 'replace') return table;
  checkAppend(where, table, problems);
  if (!needsFile(publish)) return table;
  return { ...table, columns: [...columns, lineage], indexes: [...indexes, lineageIndex(name)] };
};
