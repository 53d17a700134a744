// Staging tables: names, DDL, and the COPY statements that fill them.

import type { Dialect } from '../core/declaration.ts';
import { fittingName } from './names.ts';
import { quoteName, quoteNames, quoteText, type Query } from './sql.ts';

const stagingSchema = 'etl_staging';

export interface StagingColumn {
  readonly name: string;
  readonly type: string;
}

/** The result is unique, because a pipeline's name never contains `__` or ends in `_`. */
export const stagingName = (pipeline: string, table: string): string => `${pipeline}__${table}`;

/** Shortens a long name; only a rehearsal's name can be too long. */
export const stagingTable = (pipeline: string, table: string): string =>
  quoteName(stagingSchema, fittingName(stagingName(pipeline, table)));

/**
 * Creates a staging table: unlogged (except in rehearsals), so a crash empties it; without
 * constraints, indexes and autovacuum, because rows are checked before COPY and read once.
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
 * Selects the pipeline's staging tables. The name alone does not prove that a table is one: a run
 * of the pipeline must have had such a table.
 */
export const selectStaging = (pipeline: string): Query => ({
  text: `select substr(c.relname, length($2::text) + 1) as "table"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = $3 and c.relkind = 'r' and starts_with(c.relname, $2::text)
      and exists (select from etl.run r where r.pipeline = $1 and r.table_hashes ? substr(c.relname, length($2::text) + 1))`,
  values: [pipeline, stagingName(pipeline, ''), stagingSchema],
});

export const copyText = (target: string, columns: readonly StagingColumn[]): string =>
  `copy ${target} (${quoteNames(columns.map(({ name }) => name))}) from stdin`;

/** COPY that skips and reports rows with an invalid value. Needs PostgreSQL 17. */
export const copySkipping = (target: string, columns: readonly StagingColumn[]): string =>
  `${copyText(target, columns)} with (on_error ignore, log_verbosity verbose)`;

export const copyBinary = (target: string, columns: readonly StagingColumn[]): string =>
  `${copyText(target, columns)} with (format binary)`;

/**
 * Quote character for files without quoting, because COPY's csv format needs one. A record that
 * contains this character is rejected before COPY.
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
