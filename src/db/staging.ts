// Staging tables: their names, their DDL, and the COPY statement that fills them.

import { createHash } from 'node:crypto';
import type { Dialect } from '../core/declaration/declaration.ts';
import { quoteName, quoteNames, quoteText, type Query } from './sql.ts';
import { identifierBytesMax } from '../core/limits.ts';

/** Of a hash: enough that no two tables of a pipeline have the same. */
const hashChars = 32;

/** Schema of all staging tables; made by the first migration. */
const stagingSchema = 'etl_staging';

/** A column of a staging table, with its SQL type. */
export interface StagingColumn {
  readonly name: string;
  readonly type: string;
}

/** Name of a table's staging table within `stagingSchema`. A pipeline's name holds no `__` and does not end in `_`, so two never meet. */
export const stagingName = (pipeline: string, table: string): string => `${pipeline}__${table}`;

/**
 * The quoted name, with its schema. A definition makes none that the server would cut; that of a rehearsal, whose own name is longer
 * than most, has a hash for its table then.
 */
export const stagingTable = (pipeline: string, table: string): string => {
  const name = stagingName(pipeline, table);
  const isFit = Buffer.byteLength(name) <= identifierBytesMax;
  const hash = (): string => createHash('sha256').update(table).digest('hex').slice(0, hashChars);
  return quoteName(stagingSchema, isFit ? name : stagingName(pipeline, hash()));
};

/**
 * Makes an empty staging table. Unlogged: its rows skip the write-ahead log, and a crash of the server empties it.
 * No constraint, no index, no autovacuum: the rows were checked on the way in and are read once. That of a rehearsal is logged.
 */
export const createStaging = (
  pipeline: string,
  table: string,
  columns: readonly StagingColumn[],
  persistence: 'unlogged' | 'logged' = 'unlogged',
): Query => ({
  text: `create ${persistence === 'unlogged' ? 'unlogged ' : ''}table ${stagingTable(pipeline, table)} (
    ${columns.map(({ name, type }) => `${quoteName(name)} ${type}`).join(',\n    ')}
  ) with (autovacuum_enabled = false)`,
});

export const dropStaging = (pipeline: string, table: string): Query => ({
  text: `drop table if exists ${stagingTable(pipeline, table)}`,
});

/**
 * Tables of a pipeline that have a staging table, by name. It is the pipeline's when its runs had a table of that name: nothing is
 * made of the name alone.
 */
export const selectStaging = (pipeline: string): Query => ({
  text: `select substr(c.relname, length($2::text) + 1) as "table"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $3 and c.relkind = 'r' and starts_with(c.relname, $2::text)
      and exists (select from etl.run r where r.pipeline = $1 and r.table_hashes ? substr(c.relname, length($2::text) + 1))`,
  values: [pipeline, stagingName(pipeline, ''), stagingSchema],
});

/** COPY of rows in text format, into a table by its quoted name. */
export const copyText = (target: string, columns: readonly StagingColumn[]): string =>
  `copy ${target} (${quoteNames(columns.map(({ name }) => name))}) from stdin`;

/** The same, which skips rows with a text that its type refuses, and says which. PostgreSQL 17 and later. */
export const copySkipping = (target: string, columns: readonly StagingColumn[]): string =>
  `${copyText(target, columns)} with (on_error ignore, log_verbosity verbose)`;

/** COPY of rows in binary format. */
export const copyBinary = (target: string, columns: readonly StagingColumn[]): string =>
  `${copyText(target, columns)} with (format binary)`;

/**
 * A quote character for files in which quotes are data. COPY's csv format cannot do without one, so it gets a control
 * character; the verbatim decoder rejects a record that holds it.
 */
export const noQuote = '\u0001';

/** COPY of the file's own bytes, in the file's own dialect. */
export const copyVerbatim = (
  target: string,
  columns: readonly StagingColumn[],
  { delimiter, quote, escape, nulls }: Dialect,
): string => {
  const quoteCharacter = quote ?? noQuote;
  const options = [
    'format csv',
    `delimiter ${quoteText(delimiter)}`,
    `quote ${quoteText(quoteCharacter)}`,
    `escape ${quoteText(escape ?? quoteCharacter)}`,
    `null ${quoteText(nulls[0]!)}`,
  ];
  return `${copyText(target, columns)} with (${options.join(', ')})`;
};
