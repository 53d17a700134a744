// Finds the partitions that a run changes: loaded rows belong to them, or they have rows of a
// removed file. They are built again, from the loaded rows and from production's rows of listed,
// unchanged files. Proved by test/modes/touched.test.ts.

import type { Client } from '../../../db/client.ts';
import { quoteName } from '../../../db/sql.ts';
import { codeOf } from '../../../core/errors/errors.ts';
import { refuseShape } from '../../table/shape.ts';
import { fileColumn, productionName, type TableNames } from '../../../db/names.ts';
import type { Outgoing, Touched } from '../../table/tables.ts';
import { keyOfBound, partitionOf } from '../../table/bounds.ts';
import { partNames, type PartitionedTable, type PartRows } from '../../aside/find-partitions.ts';

interface There {
  readonly name: string;
  readonly bound: string;
  readonly from: string;
}

const partitionsThere = async (client: Client, production: string): Promise<ReadonlyMap<number, There>> => {
  const { rows } = await client.query(
    `select c.oid, n.nspname as schema, c.relname as name, b.bound
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_namespace n on n.oid = c.relnamespace
        cross join lateral (select pg_get_expr(c.relpartbound, c.oid) as bound) b
      where i.inhparent = to_regclass($1) and b.bound is not null order by c.relname`,
    [production],
  );
  return new Map(
    rows.map(({ oid, schema, name, bound }) => [oid, { name, bound, from: quoteName(schema, name) }]),
  );
};

const looksMax = 10;

/** Calls `look` with production's partitions. Repeats this if one was dropped meanwhile (42P01). */
const lookAt = async <T>(
  client: Client,
  names: TableNames,
  look: (there: ReadonlyMap<number, There>) => Promise<T>,
): Promise<T> => {
  for (let looks = 1; looks <= looksMax; looks += 1) {
    const there = await partitionsThere(client, productionName(names));
    try {
      return await look(there);
    } catch (error) {
      if (codeOf(error) !== '42P01') throw error;
    }
  }
  return refuseShape(
    names.table,
    `partitions of ${names.schema}.${names.table} were dropped again and again while the run read them`,
    'Run again when nobody drops partitions.',
  );
};

/** Finds partitions with rows of `files`. Reads only one row of each, by index. */
const partitionsOf = async (
  client: Client,
  there: ReadonlyMap<number, There>,
  files: readonly number[],
): Promise<readonly number[]> => {
  if (files.length === 0 || there.size === 0) return [];
  const hasRows = [...there].map(
    ([oid, { from }]) =>
      `select ${oid}::oid as oid where exists (select 1 from ${from} where ${quoteName(fileColumn)} = any ($1::bigint[]))`,
  );
  const { rows } = await client.query(hasRows.join('\nunion all\n'), [files]);
  return rows.map(({ oid }) => oid);
};

export const namesOfTouched = async (
  client: Client,
  names: TableNames,
  files: readonly number[],
): Promise<readonly string[]> =>
  lookAt(client, names, async (there) => {
    const touched = new Set(await partitionsOf(client, there, files));
    return [...there].flatMap(([oid, { name }]) => (touched.has(oid) ? [name] : []));
  });

export interface TouchedParts {
  readonly touched: Touched;
  readonly parts: readonly PartRows[];
}

/** Finds the partitions to build. `loaded`: those of the loaded rows. Errors: ETL_PUBLISH_SHAPE. */
export const findTouched = (
  partitioned: PartitionedTable,
  loaded: readonly PartRows[],
  outgoing: Outgoing,
): Promise<TouchedParts> =>
  lookAt(partitioned.client, partitioned.names, (there) => findAmong(there, partitioned, loaded, outgoing));

const findAmong = async (
  there: ReadonlyMap<number, There>,
  partitioned: PartitionedTable,
  loaded: readonly PartRows[],
  { files, stays = [] }: Outgoing,
): Promise<TouchedParts> => {
  const { client, names, spec } = partitioned;
  const keys = new Map([...there].map(([oid, { bound }]) => [oid, keyOfBound(spec, bound)]));
  const all = new Map(loaded.map((part) => [part.key, part]));
  for (const oid of await partitionsOf(client, there, files)) {
    const key = keys.get(oid);
    const left = key === undefined ? undefined : partitionOf(names.table, spec, key, 0);
    if (left !== undefined && !all.has(left.key))
      all.set(left.key, { ...left, names: partNames(names, left.name), ctids: undefined, rows: 0 });
  }
  const touched = [...all.values()].toSorted((one, other) => (one.key < other.key ? -1 : 1));
  const where = touched.map(({ condition }) => `(${condition})`).join(' or ') || 'false';
  // Counts each partition by name. With hundreds of conditions on the whole table, planning would
  // be slow.
  const counts = [...there].flatMap(([oid, { from }]) =>
    all.has(keys.get(oid) ?? '')
      ? `select ${oid}::oid as oid, ${quoteName(fileColumn)}::float8 as file, count(*)::float8 as rows from ${from} group by 2`
      : [],
  );
  const { rows: found } =
    counts.length === 0 ? { rows: [] } : await client.query(`${counts.join('\nunion all\n')}\norder by file`);
  const [staying, outgoing] = [new Set(stays), new Set(files)];
  const kept = new Map<string, { from: string; files: number[]; rows: number }>();
  const leaving = new Map<number, number>();
  for (const { oid, file, rows } of found) {
    if (staying.has(file)) {
      const key = keys.get(oid)!;
      const { from } = there.get(oid)!;
      const own = kept.get(key) ?? { from, files: [], rows: 0 };
      kept.set(key, { from, files: [...own.files, file], rows: own.rows + rows });
    } else if (!outgoing.has(file)) leaving.set(file, (leaving.get(file) ?? 0) + rows);
  }
  return {
    touched: {
      keys: touched.map(({ key }) => key),
      names: touched.map(({ name }) => name),
      where,
      rows: found.reduce((sum, { rows }) => sum + rows, 0),
      leaving: [...leaving].map(([file, rows]) => ({ file, rows })),
    },
    parts: touched
      .map((part) => ({ ...part, kept: kept.get(part.key) }))
      .filter((part) => part.rows > 0 || part.kept !== undefined),
  };
};
