// Where COPY puts the rows of a table, and where its new version is built.

import { stagingTable } from './staging.ts';
import type { Extent, PipelineSpec, SourceTableSpec, TableSpec } from '../core/declaration/declaration.ts';
import { authorsPath, buildSchema, builtName, partName, type TableNames } from './names.ts';

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
