// Checks the names of a pipeline, its schema, its tables and its columns.

import { identifierBytesMax } from '../core/limits.ts';
import { fittingName, keptSchema, pipelineNameMax } from '../db/names.ts';
import { storable } from '../db/sql.ts';

const longest = `PostgreSQL cuts names at ${identifierBytesMax}`;

const plainName = /^[a-z_][a-z0-9_]*$/;
/** Pipelines of `etl load`: `load-users`, `load-app-users`. No other pipeline has such a name. */
const loadName = /^load(?:-[a-z0-9_]+){1,2}$/;

const reservedSchemas = new Set(['etl', keptSchema, 'etl_queue', 'etl_staging', 'information_schema']);
const reservedSchemaPrefixes = ['etl_build', 'pg_'];

/** Returns what PostgreSQL would not accept in the name of a table, a column or an index. */
export const nameProblem = (name: string): string | undefined => {
  if (name === '') return '`` is empty; give a name';
  const bytes = Buffer.byteLength(name);
  if (bytes > identifierBytesMax) return `\`${name}\` is ${bytes} bytes long, and ${longest}; shorten it`;
  if (name.includes('\0') || !name.isWellFormed())
    return `\`${storable(name)}\` is not a name: PostgreSQL stores neither NUL nor half of a character; leave it out`;
  return undefined;
};

/** Returns what is wrong with the name of a pipeline or a queue, which is typed in a shell. */
export const plainNameProblem = (name: string): string | undefined => {
  if (plainName.test(name)) return nameProblem(name);
  const plain = plainVersion(name);
  const suggestion = plainName.test(plain) ? `, such as \`${plain}\`` : '';
  return `\`${name}\` is not a plain name; use lower-case letters, digits and _, with a letter first${suggestion}`;
};

/** Refuses a long table name from which a name is made that the author's SQL has to repeat. */
export const writtenNameProblem = (name: string): string | undefined => {
  const bytes = Buffer.byteLength(name);
  return bytes > identifierBytesMax
    ? `its name for SQL \`${name}\` would be ${bytes} bytes long, and ${longest}; shorten the name of the table`
    : undefined;
};

export const pipelineNameProblem = (name: string): string | undefined => {
  const problem = loadName.test(name) ? undefined : plainNameProblem(name);
  if (problem !== undefined) return problem;
  if (name.includes('__'))
    return `\`${name}\` contains __, which separates pipeline and table in staging; use one _`;
  if (name.endsWith('_'))
    return `\`${name}\` ends in _, after which __ separates pipeline and table in staging; leave it out`;
  if (name.length > pipelineNameMax)
    return `\`${name}\` has ${name.length} characters, and its staging tables are named after it; use ${pipelineNameMax} at most`;
  return undefined;
};

/** Column names that PostgreSQL reserves in every table ("System Columns" in its manual). */
const systemColumns = new Set(['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid']);

export const columnNameProblem = (name: string): string | undefined =>
  nameProblem(name) ??
  (systemColumns.has(name)
    ? `\`${name}\` belongs to PostgreSQL, whose tables all have it; choose another name`
    : undefined);

export const schemaNameProblem = (name: string): string | undefined =>
  nameProblem(name) ??
  (reservedSchemas.has(name) || reservedSchemaPrefixes.some((prefix) => name.startsWith(prefix))
    ? `\`${name}\` belongs to ${name.startsWith('etl') ? 'sluice itself' : 'PostgreSQL'}; choose another schema`
    : undefined);

const plainVersion = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '_')
    .replace(/^_+|_+$/g, '');

/** Returns `sale_day_idx` for ['sale', 'day'] and 'idx', like PostgreSQL. Shortens long names. */
export const defaultName = (parts: readonly string[], end: string): string =>
  `${fittingName(parts.join('_'), identifierBytesMax - end.length - 1)}_${end}`;
