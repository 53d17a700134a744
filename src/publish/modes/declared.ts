// A declared table as publishing needs it, before it is built.

import type { Extent, PipelineSpec, TableSpec } from '../../core/declaration.ts';
import { namesOf } from '../../db/landing.ts';
import { publishedColumns, type DeclaredTable } from '../table/tables.ts';
import { meaningOf } from './meanings.ts';

export const declaredAs = (spec: PipelineSpec, table: TableSpec, extent: Extent): DeclaredTable => ({
  ...namesOf(spec, table, extent),
  primaryKey: table.primaryKey,
  constraints: table.constraints ?? [],
  comment: table.comment,
  mode: meaningOf(table.publish),
  extent,
  partitionBy: table.partitionBy,
  evolve: table.evolve ?? 'refuse',
  declared: table.kind === 'source' ? publishedColumns(table) : [],
});
