// Staging tables: names, DDL, and the COPY statements that fill them.

import type { Dialect, PipelineSpec } from '../core/declaration.ts';
import { identifierBytesMax } from '../core/limits.ts';
import { runQuery, type Client } from './client.ts';
import { fittingName, hashDigits } from './names.ts';
import { executing, quoteName, quoteNames, quoteText, type Query } from './sql.ts';

const stagingSchema = 'etl_staging';

export interface StagingColumn {
  readonly name: string;
  readonly type: string;
}

/** Other pipelines' names do not begin so: a pipeline's name never contains `__` or ends in `_`. */
export const stagingPrefix = (pipeline: string): string => `${pipeline}__`;

/** Shortens the names of most rehearsals, and of tables with long names. */
const stagingName = (pipeline: string, table: string): string =>
  fittingName(`${stagingPrefix(pipeline)}${table}`);

export const stagingTable = (pipeline: string, table: string): string =>
  quoteName(stagingSchema, stagingName(pipeline, table));

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
 * SQL: true if `c.relname` is the staging table of a key of `tables`, an object of JSON. Names that
 * were shortened are known by their hash. `prefix`: SQL of what the pipeline's tables begin with.
 */
export const isStagingOf = (prefix: string, tables: string): string =>
  `(starts_with(c.relname, ${prefix}) and (${tables} ? substr(c.relname, length(${prefix}) + 1)
    or exists (select from jsonb_object_keys(${tables}) as t (name)
      where octet_length(${prefix} || t.name) > ${identifierBytesMax}
        and right(c.relname, ${hashDigits}) = left(encode(sha256(convert_to(${prefix} || t.name, 'UTF8')), 'hex'), ${hashDigits}))))`;

/**
 * Drops the pipeline's staging tables except those of `kept`. The caller must hold its lock. The
 * name alone does not prove that a table is one: a run of the pipeline must have had such a table.
 */
export const dropStaleStaging = async (
  { client, spec }: { readonly client: Client; readonly spec: Pick<PipelineSpec, 'name'> },
  kept: readonly string[],
): Promise<void> => {
  const selectDrops: Query = {
    text: `select format('drop table if exists %I.%I', n.nspname, c.relname)
      from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = $3 and c.relkind = 'r' and c.relname <> all ($4::text[])
        and exists (select from etl.run r where r.pipeline = $1 and ${isStagingOf('$2::text', 'r.table_hashes')})`,
    values: [
      spec.name,
      stagingPrefix(spec.name),
      stagingSchema,
      kept.map((table) => stagingName(spec.name, table)),
    ],
  };
  await runQuery(client, executing(selectDrops));
};

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
