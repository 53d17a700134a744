// A table of a pipeline: where it is built before anyone sees it, and where it belongs.

import type { PipelineSpec, PublishMode } from '../declaration.ts';
import { quoteName, type Query } from '../db/sql.ts';

/**
 * Each pipeline builds in a schema of its own, under the final names of tables and indexes: publishing moves them, and SQL
 * files find the new tables by search_path.
 */
export const buildSchema = (pipeline: string): string => `etl_build_${pipeline}`;

/** Where SQL of the pipeline's author finds names without a schema. */
export const authorsPath = ({ schema, searchPath }: PipelineSpec): readonly string[] => [
  schema,
  ...searchPath,
];

/** A table of the pipeline: in production, and aside while it is built. */
export interface TableNames {
  readonly schema: string;
  readonly table: string;
  readonly buildSchema: string;
  /** Schemas in which SQL of the author's, and functions that it calls, find names without one. */
  readonly path: readonly string[];
}

/** What the declaration says of it, whatever it is made from. */
export interface DeclaredTable extends TableNames {
  readonly primaryKey: readonly string[];
  readonly publish: PublishMode;
}

/** A table that is built aside and will be published. */
export interface BuiltTable extends DeclaredTable {
  readonly comment: string | undefined;
  readonly rows: number;
  readonly seconds: number;
  /** Names of the declared ones. */
  readonly indexes: readonly string[];
}

export const productionName = ({ schema, table }: TableNames): string => quoteName(schema, table);

/** Quoted names of those that there are. */
export const namesInProduction = (
  tables: readonly { readonly table: TableNames; readonly production: object | undefined }[],
): readonly string[] =>
  tables.flatMap(({ table, production }) => (production === undefined ? [] : [productionName(table)]));

export const builtName = ({ buildSchema: schema, table }: TableNames): string => quoteName(schema, table);

export const dropBuiltTable = (names: TableNames): Query => ({
  text: `drop table if exists ${builtName(names)} cascade`,
});
