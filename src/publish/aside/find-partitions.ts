// Finds which partitions the rows of a table make, and where in it the rows of each one lie.

import type { PartitionSpec } from '../../core/declaration/declaration.ts';
import type { Client } from '../../db/client.ts';
import { quoteName, quoteText } from '../../db/sql.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { plural } from '../../core/wording.ts';
import { RowsRefused } from '../table/refused-rows.ts';
import type { Building } from './building.ts';
import { builtName, fittingName, type TableNames } from '../../db/names.ts';
import { columnsOf } from '../table/table-state.ts';
import { refuseShape } from '../table/shape.ts';
import { partitionOf, type Partition } from '../table/bounds.ts';

/** A partition that is to be built: where in their table its rows lie. */
export interface PartRows extends Partition {
  readonly names: TableNames;
  /** First and last place, where they are known. */
  readonly places: readonly [string, string] | undefined;
  /** Rows that were counted; where none were, all partitions have about as many. */
  readonly rows: number;
  /** Rows of the partition in production that stay, by their files. */
  readonly kept?:
    | { readonly from: string; readonly files: readonly number[]; readonly rows: number }
    | undefined;
}

/** A table that is to be divided, and the quoted name of the one that has its rows. */
export interface PartitionedTable extends Pick<
  Building,
  'client' | 'names' | 'primaryKey' | 'indexes' | 'constraints'
> {
  readonly spec: PartitionSpec;
  readonly source: string;
  readonly columns: readonly string[];
  /** Columns that are not null. */
  readonly required: readonly string[];
}

/** Between these `date_bin` takes every moment; before its origin PostgreSQL 14 rounds a midnight to the day before. */
const binned = { from: '0001-01-01 00:00:00+00', to: '200000-01-01 00:00:00+00' };

/**
 * SQL: midnight in UTC of a row's day, and of such a day the beginning of its part of time. The server finds a day by an integer
 * division, in half the time that it takes to put a moment into a calendar, which is then done once for each day.
 */
const timesOf = (
  { column, unit }: Extract<PartitionSpec, { by: 'range' }>,
  type: string,
): { readonly day: string; readonly start: string } | undefined => {
  const name = quoteName(column);
  const start = (day: string): string => `date_trunc('${unit}', ${day})`;
  if (type === 'date') return { day: `${name}::timestamp`, start: start('day') };
  if (!type.startsWith('timestamp')) return undefined;
  const isZoned = type.endsWith(' with time zone');
  const [kind, utc] = isZoned ? ['timestamptz', " at time zone 'UTC'"] : ['timestamp', ''];
  const [from, to] = [`'${binned.from}'::${kind}`, `'${binned.to}'::${kind}`];
  return {
    day: `case when ${name} >= ${from} and ${name} < ${to} then date_bin('1 day', ${name}, ${from})
      else date_trunc('day', ${name}${utc})${utc} end`,
    start: start(`day${utc}`),
  };
};

/** SQL: a value as the bound of its partition shows it: char(n) with its blanks, which a cast to text loses. */
const textOf = (type: string): string => (type === 'boolean' ? 'part::text' : `format('%s', part)`);

/** SQL: rows of each part, and where they lie, of a selection that has them. */
const partsOf = (part: string, rows: string, first: string, last: string, from: string): string =>
  `select ${part} as part, ${rows} as rows, min(${first}) as first, max(${last}) as last from ${from} group by 1`;

/** Rows of one key, and where they lie. */
interface FoundKey {
  readonly key: string | null;
  readonly rows: number;
  readonly first: string;
  readonly last: string;
}

/** Errors: ETL_PUBLISH_SHAPE. */
export const findKeys = async (
  client: Client,
  { table }: TableNames,
  spec: Exclude<PartitionSpec, { by: 'hash' }>,
  source: string,
): Promise<readonly FoundKey[]> => {
  const [columns] = await columnsOf(client, [source]);
  const type = columns!.find(({ name }) => name === spec.column)?.type;
  const times = spec.by === 'list' ? undefined : timesOf(spec, type ?? '');
  if (type === undefined || (spec.by === 'range' && times === undefined))
    return refuseShape(
      table,
      `partitionBy names ${spec.column}, which is ${type ?? 'no column of its SQL'}`,
      'range needs a date or a timestamp.',
    );
  const text = times === undefined ? textOf(type) : 'part::date::text';
  const each = partsOf(times?.day ?? quoteName(spec.column), 'count(*)', 'ctid', 'ctid', source);
  const found =
    times === undefined
      ? each
      : partsOf(times.start, 'sum(rows)', 'first', 'last', `(${each}) days (day, rows, first, last)`);
  const { rows } = await client.query(
    `select ${text} as key, rows::float8 as rows, first::text as first, last::text as last from (${found}) found order by part`,
  );
  return rows;
};

/** SQL: whether a row has a key that was found. */
const hasKey = (spec: Exclude<PartitionSpec, { by: 'hash' }>, key: string | null): string => {
  const column = quoteName(spec.column);
  if (key === null) return `${column} is null`;
  const part = spec.by === 'list' ? column : `date_trunc('${spec.unit}', ${column})::date`;
  return `${part}::text = ${quoteText(key)}`;
};

/** Names a row that belongs to no partition. */
const refuseKey = async (
  client: Client,
  { table }: TableNames,
  spec: Exclude<PartitionSpec, { by: 'hash' }>,
  source: string,
  { key, rows, first }: FoundKey,
): Promise<never> => {
  const { column } = spec;
  const found = await client.query(`select r::text as row from ${source} r where ctid = $1::tid`, [first]);
  const details = { table, column, rows: plural(rows, 'row'), row: found.rows[0].row };
  const rule = { kind: 'partition key', condition: hasKey(spec, key) } as const;
  throw new RowsRefused({ table, what: column, rule }, { cause: new EtlError('ETL_PARTITION_KEY', details) });
};

export const partNames = (names: TableNames, name: string): TableNames => ({
  ...names,
  table: name,
  built: name,
});

const oidOf = async (client: Client, name: string): Promise<number> =>
  (await client.query('select coalesce(to_regclass($1)::oid, 0) as oid', [name])).rows[0].oid;

/** The partitions of the rows in a table. Errors: ETL_PARTITION_KEY, ETL_PUBLISH_SHAPE. */
export const findPartitions = async (
  client: Client,
  names: TableNames,
  spec: PartitionSpec,
  source: string,
  parent: string,
): Promise<readonly PartRows[]> => {
  const oid = await oidOf(client, parent);
  if (spec.by === 'hash')
    return Array.from({ length: spec.partitions }, (_, remainder) => {
      const partition = partitionOf(names.table, spec, String(remainder), oid)!;
      return { ...partition, names: partNames(names, partition.name), places: undefined, rows: 0 };
    });
  const parts: PartRows[] = [];
  for (const found of await findKeys(client, names, spec, source)) {
    const { key, rows, first, last } = found;
    const partition = key === null ? undefined : partitionOf(names.table, spec, key, oid);
    if (partition === undefined) return refuseKey(client, names, spec, source, found);
    parts.push({ ...partition, names: partNames(names, partition.name), places: [first, last], rows });
  }
  return parts;
};

/** Each partition is read from the blocks between its first row and its last. */
const blockOf = (place: string): number => Number(place.slice(1, place.indexOf(',')));

/** How often all rows may be read: a row is written once, which takes as long as reading it some twenty times. */
const readsMax = 16;

const isScattered = (parts: readonly PartRows[]): boolean => {
  const known = parts.flatMap(({ places }) => (places === undefined ? [] : [places.map(blockOf)]));
  const blocks = Math.max(0, ...known.map(([, last]) => last! + 1));
  return known.reduce((sum, [first, last]) => sum + last! - first! + 1, 0) > readsMax * blocks;
};

/** Where rows of one partition lie among those of all others, they are sorted first: then each is read once. */
export const gathered = async (
  partitioned: PartitionedTable,
): Promise<{ source: string; parts: readonly PartRows[] }> => {
  const { client, names, spec, source } = partitioned;
  const parts = await findPartitions(client, names, spec, source, builtName(names));
  if (!isScattered(parts)) return { source, parts };
  const sorted = quoteName(names.buildSchema, fittingName(`${names.table}__sorted`));
  await client.query(
    `create unlogged table ${sorted} as select * from ${source} order by ${quoteName(spec.column)}`,
  );
  return { source: sorted, parts: await findPartitions(client, names, spec, sorted, builtName(names)) };
};
