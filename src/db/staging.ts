// Staging tables: names, DDL, and the COPY statements that fill them.

import type { Dialect } from '../core/declaration.ts';
import { fittingName } from './names.ts';
import { quoteName, quoteNames, quoteText, type Query } from './sql.ts';

const stagingSchema = 'etl_staging';

export interface StagingColumn {
  readonly name: string;
  readonly type: string;
}

/** Unique, because a pipeline's name never contains `__` or ends in `_`. */
export const stagingName = (pipeline: string, table: string): string => `${pipeline}__${table}`;

/** Shortens a long name; only a rehearsal's name can be too long. */
export const stagingTable = (pipeline: string, table: string): string =>
  quoteName(stagingSchema, fittingName(stagingName(pipeline, table)));

/**
 * The table is unlogged (except in rehearsals), so a crash empties it. It has no constraints,
 * indexes or autovacuum: rows were checked before COPY and are read once.
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

/** A name alone proves nothing: a run of the pipeline must have had such a table. */
export const selectStaging = (pipeline: string): Query => ({
  text: `select substr(c.relname, length($2::text) + 1) as "table"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $3 and c.relkind = 'r' and starts_with(c.relname, $2::text)
      and exists (select from etl.run r where r.pipeline = $1 and r.table_hashes ? substr(c.relname, length($2::text) + 1))`,
  values: [pipeline, stagingName(pipeline, ''), stagingSchema],
});

export const copyText = (target: string, columns: readonly StagingColumn[]): string =>
  `copy ${target} (${quoteNames(columns.map(({ name }) => name))}) from stdin`;

/** Skips and reports rows with an invalid value. PostgreSQL 17 and later. */
export const copySkipping = (target: string, columns: readonly StagingColumn[]): string =>
  `${copyText(target, columns)} with (on_error ignore, log_verbosity verbose)`;

export const copyBinary = (target: string, columns: readonly StagingColumn[]): string =>
  `${copyText(target, columns)} with (format binary)`;

/**
 * COPY's csv format needs a quote character. Files without quoting get this one; a record that
 * contains it is rejected before COPY.
 */
export const noQuote = '\u0001';

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
