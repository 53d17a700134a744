// Finds the partitions that a table's rows need, and the position of each partition's rows.

import type { PartitionSpec } from '../../core/declaration.ts';
import type { Client } from '../../db/client.ts';
import { quoteName, quoteText } from '../../db/sql.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { plural } from '../../core/wording.ts';
import { RowsRefused } from '../table/refused-rows.ts';
import type { Building } from './building.ts';
import { type TableNames, besideName, builtName } from '../../db/names.ts';
import { columnsOf } from '../table/table-state.ts';
import { refuseShape } from '../table/shape.ts';
import { partitionOf, type Partition } from '../table/bounds.ts';

export interface PartRows extends Partition {
  readonly names: TableNames;
  /** ctids of the first and last row; undefined: unknown (hash). */
  readonly ctids: readonly [string, string] | undefined;
  /** Number of rows; 0 for hash partitions, which are about equal in size. */
  readonly rows: number;
  readonly kept?:
    | { readonly from: string; readonly files: readonly number[]; readonly rows: number }
    | undefined;
}

export interface PartitionedTable extends Pick<
  Building,
  'client' | 'names' | 'primaryKey' | 'indexes' | 'constraints'
> {
  readonly spec: PartitionSpec;
  readonly source: string;
  readonly columns: readonly string[];
  readonly required: readonly string[];
}

/** `date_bin` needs timestamps after its origin: PostgreSQL 14 rounds earlier ones down. */
const binned = { from: '0001-01-01 00:00:00+00', to: '200000-01-01 00:00:00+00' };

/**
 * SQL: `day` is midnight in UTC of a row's day; `start` begins that day's partition. Computing the
 * day first makes `date_trunc` run once per day instead of once per row.
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

/** Text of a value. A cast to text would drop the blanks of char(n). */
const textOf = (type: string): string => (type === 'boolean' ? 'part::text' : `format('%s', part)`);

const partsOf = (part: string, rows: string, first: string, last: string, from: string): string =>
  `select ${part} as part, ${rows} as rows, min(${first}) as first, max(${last}) as last from ${from} group by 1`;

interface FoundKey {
  readonly key: string | null;
  readonly rows: number;
  readonly first: string;
  readonly last: string;
}

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
      `partitionBy names ${spec.column}, which is ${type ?? 'not a column of its SQL'}`,
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

const hasKey = (spec: Exclude<PartitionSpec, { by: 'hash' }>, key: string | null): string => {
  const column = quoteName(spec.column);
  if (key === null) return `${column} is null`;
  const part = spec.by === 'list' ? column : `date_trunc('${spec.unit}', ${column})::date`;
  return `${part}::text = ${quoteText(key)}`;
};

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

/**
 * Finds partitions. `parent`: quoted name of the partitioned table. Errors: ETL_PARTITION_KEY,
 * ETL_PUBLISH_SHAPE.
 */
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
      return { ...partition, names: partNames(names, partition.name), ctids: undefined, rows: 0 };
    });
  const parts: PartRows[] = [];
  for (const found of await findKeys(client, names, spec, source)) {
    const { key, rows, first, last } = found;
    const partition = key === null ? undefined : partitionOf(names.table, spec, key, oid);
    if (partition === undefined) return refuseKey(client, names, spec, source, found);
    parts.push({ ...partition, names: partNames(names, partition.name), ctids: [first, last], rows });
  }
  return parts;
};

/** Block of a ctid. A partition's rows are read from their first to their last block. */
const blockOf = (ctid: string): number => Number(ctid.slice(1, ctid.indexOf(',')));

/** How often all rows may be read: writing a row takes as long as reading it 20 times. */
const readsMax = 16;

const isScattered = (parts: readonly PartRows[]): boolean => {
  const known = parts.flatMap(({ ctids }) => (ctids === undefined ? [] : [ctids.map(blockOf)]));
  const blocks = Math.max(0, ...known.map(([, last]) => last! + 1));
  return known.reduce((sum, [first, last]) => sum + last! - first! + 1, 0) > readsMax * blocks;
};

/**
 * Sorts the rows first if partitions are interleaved in the source, so that each row is read only
 * once.
 */
export const gathered = async (
  partitioned: PartitionedTable,
): Promise<{ source: string; parts: readonly PartRows[] }> => {
  const { client, names, spec, source } = partitioned;
  const parts = await findPartitions(client, names, spec, source, builtName(names));
  if (!isScattered(parts)) return { source, parts };
  const sorted = quoteName(names.buildSchema, besideName(names.table, 'sorted'));
  await client.query(
    `create unlogged table ${sorted} as select * from ${source} order by ${quoteName(spec.column)}`,
  );
  return { source: sorted, parts: await findPartitions(client, names, spec, sorted, builtName(names)) };
};
