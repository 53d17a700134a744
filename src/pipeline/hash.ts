// Hashes of a definition, its tables and their staged rows, to notice changes.

import { ok as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import type { PipelineSpec, Reading } from '../core/declaration.ts';

const sha256 = (value: unknown): string => createHash('sha256').update(canonical(value, [])).digest('hex');

/** Leaves out how files arrive: that changes no rows. */
const withoutArrival = (reading: Reading): object => {
  const { arrival: _arrival, ...source } = reading.source;
  return { ...reading, source };
};

/** Hashes each table with its SQL, without options that change no rows, such as `tests`. */
export const tableHashes = (
  spec: PipelineSpec,
  sqlTexts: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    spec.tables.map((declared) => {
      const { keep: _keep, tests: _tests, ...rest } = declared;
      const { copies: _copies, ...table } = { copies: undefined, ...rest };
      if (table.kind === 'source')
        return [table.name, sha256({ ...table, readings: table.readings.map(withoutArrival) })];
      if (table.transform === undefined) return [table.name, sha256(table)];
      const sql = sqlTexts.get(table.name);
      assert(sql !== undefined, `no SQL text of table ${table.name}`);
      return [table.name, sha256({ ...table, transform: sql })];
    }),
  );

/**
 * Hashes everything that determines the staged rows of each table with files. Each result has
 * hashes with blanks between them: first of the table, then of each reading (locations with the
 * same options).
 *
 * Parameters are included, because functions of the declaration can use them; schemas, if a column
 * has a type of the server (column.of). Options that apply after staging are left out: keys,
 * indexes, SQL, publish, limits, guard.
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

interface StagedAs {
  readonly staged: string;
  readonly reading: number;
}

const hashOfFile = ({ staged, reading }: StagedAs): string => {
  const [ofTable, ...readings] = staged.split(' ');
  return `${ofTable} ${readings[reading]}`;
};

/** True if two results of stagedHashes have the same table hash. Their readings may differ. */
export const isOfOneTable = (one: string, other: string): boolean =>
  one.split(' ')[0] === other.split(' ')[0];

/** True if two files are staged in the same way. The readings of other files do not matter. */
export const isShapedAlike = (one: StagedAs, other: StagedAs): boolean =>
  hashOfFile(one) === hashOfFile(other);

/**
 * Returns the SHA-256 of the bound definition, in hex. Object key order and the directory do not
 * matter. Functions are hashed by their source text, Zod schemas by their definition. A changed
 * variable outside of a function is not noticed: a run then needs `--full-refresh`.
 *
 * @param sqlTexts content of the tables' SQL files, by table name
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
    ...(rejectLimit && { rejectLimit }),
  });
};

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
  // `_zod.def` describes a Zod schema or check completely; its other properties are methods.
  const { _zod: zod } = value as { readonly _zod?: { readonly def: object } };
  const written = zod === undefined ? value : zod.def;
  const entries = Object.entries(written).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, part]) => `${JSON.stringify(key)}:${canonical(part, outer)}`).join(',')}}`;
};
