// Names of a pipeline's tables: in the build schema, and in production.

import { createHash } from 'node:crypto';
import type { PipelineSpec } from '../core/declaration.ts';
import type { AttributesSpec } from '../core/shape.ts';
import { identifierBytesMax } from '../core/limits.ts';
import { quoteName, type Query } from './sql.ts';

/** At the end of a shortened name. */
export const hashDigits = 8;

/** Shortens a name that the server would cut; a hash at the end keeps the name unique. */
export const fittingName = (whole: string, bytesMax = identifierBytesMax): string => {
  if (Buffer.byteLength(whole) <= bytesMax) return whole;
  const end = `_${createHash('sha256').update(whole).digest('hex').slice(0, hashDigits)}`;
  const start = Buffer.from(whole).subarray(0, bytesMax - end.length);
  // `stream` drops a character that was cut in half.
  return `${new TextDecoder().decode(start, { stream: true })}${end}`;
};

/** So long that the shortened names of its staging tables still begin with it and `__`. */
export const pipelineNameMax = identifierBytesMax - '__'.length - '_'.length - hashDigits;

/**
 * Schema in which a pipeline's tables are built under their final names: publishing only moves
 * them to another schema, and SQL files find them by search_path.
 */
export const buildSchema = (pipeline: string): string => `etl_build_${pipeline}`;

/** Name, instead of a pipeline's, with which a role rehearses that may not create a schema for it. */
export const rehearsalName = '';

export const keptSchema = 'etl_kept';

/** Schemas in which an author's SQL finds unqualified names. */
export const authorsPath = ({ schema, searchPath }: PipelineSpec): readonly string[] => [
  schema,
  ...searchPath,
];

export const fileColumn = '_file';

/**
 * Tables beside the new one in the build schema: the rows to add (SQL files see old and new rows
 * under the table's own name), the last record of each key, what changes, production's rows with
 * the run's, the new rows without columns that the server fills, the columns of a partition, rows
 * in the order of their partitions, rows with production's types, in a rehearsal the table with its
 * new columns, and the rows of a distributed table that a run may change.
 */
const beside = [
  'part',
  'once',
  'diff',
  'rebuilt',
  'rows',
  'shape',
  'sorted',
  'taken',
  'evolved',
  'there',
] as const;

export const besideName = (table: string, what: (typeof beside)[number]): string =>
  fittingName(`${table}__${what}`);

export const besideNames = (table: string): readonly string[] =>
  beside.map((what) => besideName(table, what));

/** In the SQL of merged tables: a run's rows (`_new`), and the rows that they replace (`_old`). */
export const newName = (table: string): string => `${table}_new`;
export const oldName = (table: string): string => `${table}_old`;

/** In the SQL that makes a table from its text staging: the view of these rows. */
export const stagedName = (table: string): string => `${table}_staging`;

/** Extra columns of staging tables: they order the records of a key, and mark rows to delete. */
export const mergeColumns = { file: '_etl_file', line: '_etl_line', deleted: '_etl_deleted' } as const;

export interface TableNames {
  readonly schema: string;
  readonly table: string;
  readonly buildSchema: string;
  readonly built: string;
  readonly path: readonly string[];
  readonly attributes?: AttributesSpec | undefined;
}

export const productionName = ({ schema, table }: Pick<TableNames, 'schema' | 'table'>): string =>
  quoteName(schema, table);

export const namesInProduction = (
  tables: readonly { readonly table: TableNames; readonly production: object | undefined }[],
): readonly string[] =>
  tables.flatMap(({ table, production }) => (production === undefined ? [] : [productionName(table)]));

export const builtName = ({ buildSchema: schema, built }: TableNames): string => quoteName(schema, built);

export const dropBuiltTable = (names: TableNames): Query => ({
  text: `drop table if exists ${builtName(names)} cascade`,
});
