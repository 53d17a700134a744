// Checks the names of a pipeline, its schema, its tables and its columns.

import { stagingName } from '../db/staging.ts';
import { identifierBytesMax } from '../core/limits.ts';
import { buildSchema, fittingName, keptSchema } from '../db/names.ts';

const plainName = /^[a-z_][a-z0-9_]*$/;
/** Letters without case, marks and digits of other scripts: psql needs no quotes for them, either. */
const plainColumn = /^[_\p{Ll}\p{Lo}\p{Lm}][_\p{Ll}\p{Lo}\p{Lm}\p{M}\p{N}]*$/u;

const reservedSchemas = new Set(['etl', keptSchema, 'etl_queue', 'etl_staging', 'information_schema']);
const reservedSchemaPrefixes = ['etl_build', 'pg_'];

/**
 * Returns what is wrong with a name, or undefined. psql needs quotes for names that are not lower
 * case, so these are refused. Reserved words are allowed, because sluice quotes every name.
 */
export const nameProblem = (name: string, pattern = plainName): string | undefined => {
  const bytes = Buffer.byteLength(name);
  if (bytes > identifierBytesMax) {
    const longest = `PostgreSQL cuts names at ${identifierBytesMax}`;
    return `\`${name}\` is ${bytes} bytes long, and ${longest}; shorten it`;
  }
  if (pattern.test(name)) return undefined;
  const plain = plainVersion(name);
  const suggestion = plainName.test(plain) ? `, such as \`${plain}\`` : '';
  return `\`${name}\` is not a plain name; use lower-case letters, digits and _, with a letter first${suggestion}`;
};

/**
 * Refuses a derived name that is too long: PostgreSQL would truncate it without an error, so two
 * pipelines could use the same table.
 * Proved by test/unit/pipeline/names.test.ts, "a name that is derived from others".
 */
export const derivedProblem = (
  what: string,
  made: string,
  shorten = 'the name of the table',
): string | undefined => {
  const bytes = Buffer.byteLength(made);
  if (bytes <= identifierBytesMax) return undefined;
  const longest = `PostgreSQL cuts names at ${identifierBytesMax}`;
  return `its ${what} \`${made}\` would be ${bytes} bytes long, and ${longest}; shorten ${shorten}`;
};

export const pipelineNameProblem = (name: string): string | undefined => {
  const problem = nameProblem(name);
  if (problem !== undefined) return problem;
  if (name.includes('__'))
    return `\`${name}\` contains __, which separates pipeline and table in staging; use one _`;
  if (name.endsWith('_'))
    return `\`${name}\` ends in _, after which __ separates pipeline and table in staging; leave it out`;
  const derived = derivedProblem('build schema', buildSchema(name), 'it');
  return derived && `\`${name}\` is too long: ${derived}`;
};

/** Column names that PostgreSQL reserves in every table ("System Columns" in its manual). */
const systemColumns = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']);

export const columnNameProblem = (name: string): string | undefined =>
  nameProblem(name, plainColumn) ??
  (systemColumns.has(name)
    ? `\`${name}\` belongs to PostgreSQL, whose tables all have it; choose another name`
    : undefined);

export const schemaNameProblem = (name: string): string | undefined =>
  nameProblem(name) ??
  (reservedSchemas.has(name) || reservedSchemaPrefixes.some((prefix) => name.startsWith(prefix))
    ? `\`${name}\` belongs to ${name.startsWith('etl') ? 'sluice itself' : 'PostgreSQL'}; choose another schema`
    : undefined);

export const tableNameProblem = (table: string, pipeline: string): string | undefined => {
  const problem = nameProblem(table);
  if (problem !== undefined) return `the name ${problem}`;
  if (table.endsWith('_staging')) {
    return `the name \`${table}\` ends in _staging, which sluice uses for staging tables; choose another name`;
  }
  return derivedProblem(
    'staging table',
    stagingName(pipeline, table),
    'the name of the pipeline or of the table',
  );
};

const plainVersion = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '');

/** Returns `sale_day_idx` for ['sale', 'day'] and 'idx', like PostgreSQL. Shortens long names. */
export const defaultName = (parts: readonly string[], end: string): string =>
  `${fittingName(parts.join('_'), identifierBytesMax - end.length - 1)}_${end}`;
