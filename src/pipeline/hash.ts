// definitionHash(): one word for everything in a definition that can change what a run makes.

import { ok as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import type { PipelineSpec } from '../core/declaration/declaration.ts';

const sha256 = (value: unknown): string => createHash('sha256').update(canonical(value, [])).digest('hex');

/**
 * A hash of each table's declaration, SQL file included, by which a changed table is found. `tests`, `keep` and `copies`
 * do not count, because they change no row.
 */
export const tableHashes = (
  spec: PipelineSpec,
  sqlTexts: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    spec.tables.map((declared) => {
      const { keep: _keep, tests: _tests, ...rest } = declared;
      const { copies: _copies, ...table } = { copies: undefined, ...rest };
      if (table.transform === undefined) return [table.name, sha256(table)];
      const sql = sqlTexts.get(table.name);
      assert(sql !== undefined, `no SQL text of table ${table.name}`);
      return [table.name, sha256({ ...table, transform: sql })];
    }),
  );

/**
 * Hashes of what shapes the staged rows of each table with files: first that of the table, then one of each reading.
 * Parameters count, because functions may hold them, and schemas where the server looks types up. What is built from
 * the rows (keys, indexes, SQL, publication) and what judges them (limits, guard) does not.
 */
export const stagedHashes = ({
  tables,
  params,
  schema,
  searchPath,
}: PipelineSpec): Readonly<Record<string, string>> =>
  Object.fromEntries(
    tables.flatMap((table) => {
      if (table.kind !== 'source') return [];
      const { name, staging, columns, filter, missing } = table;
      const readings = table.readings.map(({ source: { constants, skipEnd }, format }) =>
        sha256({ constants, skipEnd, format }),
      );
      const typesFrom = columns.some(({ type }) => type === 'of') ? [schema, ...searchPath] : [];
      const ofTable = sha256({ params, staging, columns, filter, missing, typesFrom });
      return [[name, [ofTable, ...readings].join(' ')]];
    }),
  );

/** What shapes the rows of a file: the hashes of its table, and the place of its reading among them. */
interface StagedAs {
  readonly staged: string;
  readonly reading: number;
}

const hashOfFile = ({ staged, reading }: StagedAs): string => {
  const [ofTable, ...readings] = staged.split(' ');
  return `${ofTable} ${readings[reading]}`;
};

/** Whether two such hashes are of one declaration of the table, however its files are read. */
export const isOfOneTable = (one: string, other: string): boolean =>
  one.split(' ')[0] === other.split(' ')[0];

/** Whether the rows of a file are shaped in the same way, however other files of its table are read. */
export const isShapedAlike = (one: StagedAs, other: StagedAs): boolean =>
  hashOfFile(one) === hashOfFile(other);

/**
 * SHA-256, in hex, of the bound definition. The order of object keys and the directory do not matter; functions
 * count by their source text and Zod schemas by their definition, refinements included. What a function takes
 * from around it is not seen: a changed constant outside of it needs `--full-refresh`.
 *
 * @param sqlTexts content of the SQL file of each table that has one, by table name.
 */
export const definitionHash = (spec: PipelineSpec, sqlTexts: ReadonlyMap<string, string>): string => {
  const { name, schema, searchPath, params, tables, rejectLimit } = spec;
  const order = tables.map((table) => table.name);
  return sha256({
    name,
    schema,
    searchPath,
    params,
    order,
    tables: tableHashes(spec, sqlTexts),
    // Left out where there is none, so that adding the option changed no hash.
    ...(rejectLimit && { rejectLimit }),
  });
};

/** JSON with sorted keys that also writes what JSON cannot: functions, patterns, big numbers, Zod schemas. */
const canonical = (value: unknown, outer: readonly object[]): string => {
  if (typeof value === 'function') return JSON.stringify(`function ${String(value)}`);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'symbol' || value === undefined || Object.is(value, -0)) return String(value);
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' ? String(value) : JSON.stringify(value);
  if (value instanceof RegExp || value instanceof URL) return JSON.stringify(String(value));
  if (value instanceof Date) return JSON.stringify(`date ${value.getTime()}`);
  if (outer.includes(value)) return '"circular"';
  const inner = [...outer, value];
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, inner)).join(',')}]`;
  if (value instanceof Set || value instanceof Map) return canonical([...value], inner);
  return canonicalObject(value, inner);
};

const canonicalObject = (value: object, outer: readonly object[]): string => {
  // A Zod schema or check: its definition says it all, the rest of the object is methods.
  const { _zod: zod } = value as { readonly _zod?: { readonly def: object } };
  const written = zod === undefined ? value : zod.def;
  const entries = Object.entries(written).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part, outer)}`).join(',')}}`;
};
