// A table of a pipeline as publishing knows it before it is built.

import type { Extent, PipelineSpec, PublishSpec, TableSpec } from '../../core/declaration/declaration.ts';
import { modeOf, publishedColumns, type DeclaredTable, type VersionTimes } from './tables.ts';
import { namesOf } from '../../db/landing.ts';

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
