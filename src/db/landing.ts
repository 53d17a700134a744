// Names of the tables that COPY fills, and of the tables in which a new version is built.

import { stagingTable } from './staging.ts';
import type { Extent, PipelineSpec, SourceTableSpec, TableSpec } from '../core/declaration.ts';
import { type TableNames, authorsPath, besideName, buildSchema, builtName } from './names.ts';

export const namesOf = (
  spec: PipelineSpec,
  { name, attributes }: TableSpec,
  extent: Extent = 'whole',
): TableNames => ({
  schema: spec.schema,
  table: name,
  buildSchema: buildSchema(spec.name),
  built: extent === 'whole' ? name : besideName(name, 'part'),
  path: authorsPath(spec),
  attributes,
});

/**
 * True if COPY fills the new table directly. The table is logged, so a server crash loses no rows.
 */
export const landsDirectly = ({ staging }: SourceTableSpec): boolean => staging === 'none';

export const landingTable = (spec: PipelineSpec, table: SourceTableSpec): string =>
  landsDirectly(table) ? builtName(namesOf(spec, table)) : stagingTable(spec.name, table.name);

export const sourceNames = ({ tables }: PipelineSpec): readonly string[] =>
  tables.filter(({ kind }) => kind === 'source').map(({ name }) => name);

export const directTables = ({ tables }: PipelineSpec): readonly string[] =>
  tables.filter((table) => table.kind === 'source' && landsDirectly(table)).map(({ name }) => name);
