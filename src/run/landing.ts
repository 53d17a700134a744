// Where COPY puts the rows of a table, and where its new version is built.

import { stagingTable } from '../copy/staging.ts';
import type { Extent, PipelineSpec, PublishSpec, SourceTableSpec, TableSpec } from '../declaration.ts';
import { authorsPath, buildSchema, builtName, partName, type TableNames } from '../publish/names.ts';
import { modeOf, type DeclaredTable, type VersionTimes, publishedColumns } from '../publish/tables.ts';

export const namesOf = (
  spec: PipelineSpec,
  { name, attributes }: TableSpec,
  extent: Extent = 'whole',
): TableNames => ({
  schema: spec.schema,
  table: name,
  buildSchema: buildSchema(spec.name),
  built: extent === 'whole' ? name : partName(name),
  path: authorsPath(spec),
  attributes,
});

/** The columns of the times of a table's versions; undefined: it has none. */
export const versionsOf = (publish: PublishSpec): VersionTimes | undefined => {
  if (typeof publish === 'string' || publish.mode !== 'history') return undefined;
  const { from, to, at } = publish;
  return { from, to, at };
};

/** What publishing knows of a table before it is built. */
export const declaredAs = (spec: PipelineSpec, table: TableSpec, extent: Extent): DeclaredTable => ({
  ...namesOf(spec, table, extent),
  primaryKey: table.primaryKey,
  constraints: table.constraints ?? [],
  comment: table.comment,
  mode: modeOf(table.publish),
  extent,
  partitionBy: table.partitionBy,
  evolve: table.evolve ?? 'refuse',
  versions: versionsOf(table.publish),
  declared: table.kind === 'source' ? publishedColumns(table) : [],
});

/** Whether rows are loaded straight into the new table, which is logged, so that a crash loses none of them. */
export const landsDirectly = ({ staging }: SourceTableSpec): boolean => staging === 'none';

/** The quoted name of the table that COPY fills. */
export const landingTable = (spec: PipelineSpec, table: SourceTableSpec): string =>
  landsDirectly(table) ? builtName(namesOf(spec, table)) : stagingTable(spec.name, table.name);

/** Names of the tables that are loaded from files. */
export const sourceNames = ({ tables }: PipelineSpec): readonly string[] =>
  tables.filter(({ kind }) => kind === 'source').map(({ name }) => name);

/** Names of the tables whose rows are loaded straight into their new tables. */
export const directTables = ({ tables }: PipelineSpec): readonly string[] =>
  tables.filter((table) => table.kind === 'source' && landsDirectly(table)).map(({ name }) => name);
