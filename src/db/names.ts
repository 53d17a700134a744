// Names of a pipeline's table: where it is built, and in production.

import type { PipelineSpec } from '../core/declaration/declaration.ts';
import type { AttributesSpec } from '../core/declaration/shape.ts';
import { quoteName, type Query } from './sql.ts';

/**
 * Each pipeline builds in a schema of its own, under the final names of tables and indexes: publishing moves them, and SQL
 * files find the new tables by search_path.
 */
export const buildSchema = (pipeline: string): string => `etl_build_${pipeline}`;

/** Where earlier versions of tables are kept. */
export const keptSchema = 'etl_kept';

/** Where the author's SQL finds unqualified names. */
export const authorsPath = ({ schema, searchPath }: PipelineSpec): readonly string[] => [
  schema,
  ...searchPath,
];

/** The column that says which version of a file a row is of. */
export const fileColumn = '_file';

/** Where rows are built that are added to others; under the table's own name, SQL files see all of its rows. */
export const partName = (table: string): string => `${table}__part`;

/** Names, for SQL of merged tables, of the rows that a run brings to a table, and of the rows that they replace. */
export const newName = (table: string): string => `${table}_new`;
export const oldName = (table: string): string => `${table}_old`;

/** Has the last record of each key, if staging has a key twice. */
export const onceName = (table: string): string => `${table}__once`;

/** Has the differences that a merge writes. */
export const diffName = (table: string): string => `${table}__diff`;

/** A table that is built again from its own rows and those of a run. */
export const rebuiltName = (table: string): string => `${table}__rebuilt`;

/** Columns that only staging has: which record of a key is the last, and whether it deletes the row. */
export const mergeColumns = { file: '_etl_file', line: '_etl_line', deleted: '_etl_deleted' } as const;

/** A table of the pipeline: in production, and aside while it is built. */
export interface TableNames {
  readonly schema: string;
  readonly table: string;
  readonly buildSchema: string;
  /** Its name there. */
  readonly built: string;
  /** Schemas in which the author's SQL, and functions that it calls, find unqualified names. */
  readonly path: readonly string[];
  /** Declared attributes that the table is created with. */
  readonly attributes?: AttributesSpec | undefined;
}

export const productionName = ({ schema, table }: Pick<TableNames, 'schema' | 'table'>): string =>
  quoteName(schema, table);

/** Quoted names of the tables that exist. */
export const namesInProduction = (
  tables: readonly { readonly table: TableNames; readonly production: object | undefined }[],
): readonly string[] =>
  tables.flatMap(({ table, production }) => (production === undefined ? [] : [productionName(table)]));

export const builtName = ({ buildSchema: schema, built }: TableNames): string => quoteName(schema, built);

export const dropBuiltTable = (names: TableNames): Query => ({
  text: `drop table if exists ${builtName(names)} cascade`,
});
