// Names of a pipeline's table: where it is built, and in production.

import type { PipelineSpec, PublishMode } from '../declaration.ts';
import { quoteName, type Query } from '../db/sql.ts';

/**
 * Each pipeline builds in a schema of its own, under the final names of tables and indexes: publishing moves them, and SQL
 * files find the new tables by search_path.
 */
export const buildSchema = (pipeline: string): string => `etl_build_${pipeline}`;

/** Where the author's SQL finds unqualified names. */
export const authorsPath = ({ schema, searchPath }: PipelineSpec): readonly string[] => [
  schema,
  ...searchPath,
];

/** A table of the pipeline: in production, and aside while it is built. */
export interface TableNames {
  readonly schema: string;
  readonly table: string;
  readonly buildSchema: string;
  /** Schemas in which the author's SQL, and functions that it calls, find unqualified names. */
  readonly path: readonly string[];
}

/** The declared part of any table. */
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

/** Quoted names of the tables that exist. */
export const namesInProduction = (
  tables: readonly { readonly table: TableNames; readonly production: object | undefined }[],
): readonly string[] =>
  tables.flatMap(({ table, production }) => (production === undefined ? [] : [productionName(table)]));

export const builtName = ({ buildSchema: schema, table }: TableNames): string => quoteName(schema, table);

export const dropBuiltTable = (names: TableNames): Query => ({
  text: `drop table if exists ${builtName(names)} cascade`,
});
