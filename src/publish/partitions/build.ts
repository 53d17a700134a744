// Builds a divided table aside: which partitions its rows make, an empty table of them, and each one on its own.

import type { PartitionSpec } from '../../declaration.ts';
import { runQuery, type Client } from '../../db/client.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { EtlError } from '../../errors.ts';
import { formatCount, plural } from '../../wording.ts';
import { createAs } from '../attributes/storage.ts';
import { inPlaceOf } from '../attributes/tablespace.ts';
import {
  buildDeclared,
  buildError,
  buildOwn,
  buildOwnOf,
  createShape,
  makeServerColumns,
} from '../build-table.ts';
import type { Building, Publication } from '../contract.ts';
import { inheritCollations, inheritStatistics } from '../inherit.ts';
import { builtName, fileColumn, productionName, type BuiltPartition, type TableNames } from '../names.ts';
import { columnsOf } from '../production/table-state.ts';
import { refuseShape } from '../shape.ts';
import { fittingName, partitionOf, type Partition } from './bounds.ts';

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
export interface Dividing extends Pick<
  Building,
  'client' | 'names' | 'primaryKey' | 'indexes' | 'constraints'
> {
  readonly spec: PartitionSpec;
  readonly source: string;
  readonly columns: readonly string[];
  /** Columns that are not null. */
  readonly required: readonly string[];
}

const boundName = 'etl_bound';

/** SQL: the beginning of a row's time, in UTC. */
const startOf = (
  { column, ...spec }: Extract<PartitionSpec, { by: 'range' }>,
  type: string,
): string | undefined => {
  const moment = /^timestamp.* with time zone$/.test(type)
    ? `${quoteName(column)} at time zone 'UTC'`
    : /^(date$|timestamp)/.test(type)
      ? `${quoteName(column)}::timestamp`
      : undefined;
  return moment && `date_trunc('${spec.unit}', ${moment})`;
};

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
  const part = spec.by === 'list' ? quoteName(spec.column) : startOf(spec, type ?? '');
  if (type === undefined || part === undefined)
    return refuseShape(
      table,
      `partitionBy names ${spec.column}, which is ${type ?? 'no column of its SQL'}`,
      'range needs a date or a timestamp.',
    );
  const text = spec.by === 'list' ? 'part::text' : 'part::date::text';
  const { rows } = await client.query(
    `select ${text} as key, rows::float8 as rows, first::text as first, last::text as last
      from (select ${part} as part, count(*) as rows, min(ctid) as first, max(ctid) as last from ${source} group by 1) found
      order by part`,
  );
  return rows;
};

/** Names a row that belongs to no partition. */
const refuseKey = async (
  client: Client,
  { table }: TableNames,
  { column }: PartitionSpec,
  source: string,
  { rows, first }: FoundKey,
): Promise<never> => {
  const found = await client.query(`select r::text as row from ${source} r where ctid = $1::tid`, [first]);
  throw new EtlError('ETL_PARTITION_KEY', {
    table,
    column,
    rows: plural(rows, 'row'),
    row: found.rows[0].row,
  });
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
  dividing: Dividing,
): Promise<{ source: string; parts: readonly PartRows[] }> => {
  const { client, names, spec, source } = dividing;
  const parts = await findPartitions(client, names, spec, source, builtName(names));
  if (!isScattered(parts)) return { source, parts };
  const sorted = quoteName(names.buildSchema, fittingName(`${names.table}__sorted`));
  await client.query(
    `create unlogged table ${sorted} as select * from ${source} order by ${quoteName(spec.column)}`,
  );
  return { source: sorted, parts: await findPartitions(client, names, spec, sorted, builtName(names)) };
};

/** Makes the divided table aside, with its keys and indexes, which partitions have before they are attached. */
export const createDivided = (dividing: Dividing): Promise<void> =>
  inPlaceOf(dividing.client, dividing.names, () => createEmpty(dividing));

const createEmpty = async (dividing: Dividing): Promise<void> => {
  const { client, names, spec, columns, required, source } = dividing;
  const shape = { ...names, built: fittingName(`${names.table}__shape`) };
  const [parent, like] = [builtName(names), builtName(shape)];
  await runQuery(client, createShape(shape, columns, source));
  const set = [...new Set([...required, spec.column])].map(
    (column) => `alter column ${quoteName(column)} set not null`,
  );
  await client.query(
    `create table ${parent} (like ${like}) partition by ${spec.by} (${quoteName(spec.column)});
     drop table ${like};
     alter table ${parent} ${set.join(', ')}`,
  );
  await inheritCollations(client, names);
  await buildDeclared(dividing);
  await buildOwn(dividing);
  await inheritStatistics(client, names);
};

/** Puts those rows of production to the new ones that stay. Errors: ETL_INCOMPLETE when they are others by now. */
const addKept = async (
  client: Client,
  { names: { table }, columns }: Dividing,
  { names, kept }: PartRows,
): Promise<number> => {
  if (kept === undefined) return 0;
  const list = quoteNames(columns);
  const { rowCount } = await client.query(
    `insert into ${builtName(names)} (${list}) select ${list} from ${kept.from} where ${quoteName(fileColumn)} = any ($1::bigint[])`,
    [kept.files],
  );
  if (rowCount !== kept.rows)
    throw new EtlError('ETL_INCOMPLETE', {
      table,
      problem: `${plural(kept.rows, 'row')} of ${kept.from} were to stay, and ${formatCount(rowCount ?? 0)} were found (did somebody change them?)`,
    });
  return kept.rows;
};

/**
 * Builds one partition: rows, not null, the check of its bound, keys, indexes, statistics. In the caller's transaction: nobody sets
 * hint bits on rows of one that is not over. Errors: those of building a table.
 */
export const buildPartition = async (
  client: Client,
  dividing: Dividing,
  part: PartRows,
  source: string,
  build: Publication['build'],
  tell: Building['tell'],
): Promise<BuiltPartition> => {
  const { names: whole, spec, columns, required, primaryKey, indexes, constraints } = dividing;
  const { places, names, key, name, bound, condition } = part;
  const built = builtName(names);
  const at = places === undefined ? '' : `ctid between '${places[0]}'::tid and '${places[1]}'::tid and`;
  const conditions = [condition];
  // A hash is one of a table: that in production is another than the one aside.
  const production = spec.by === 'hash' ? await dividedOid(client, productionName(whole)) : undefined;
  if (production !== undefined) conditions.push(partitionOf(whole.table, spec, key, production)!.condition);
  const set = [...new Set([...required, spec.column])].map(
    (column) => `alter column ${quoteName(column)} set not null`,
  );
  let rows = 0;
  try {
    const create = `${createAs(names)} select ${quoteNames(columns)} from ${source} where ${at} ${condition}`;
    const filled = await client.query(create);
    rows = (filled.rowCount ?? 0) + (await addKept(client, dividing, part));
    await client.query(
      `alter table ${built} ${[...set, `add constraint ${boundName} check (${conditions.join(' and ')})`].join(', ')}`,
    );
  } catch (cause) {
    throw buildError(whole, 'rows', cause);
  }
  await inheritCollations(client, names, whole);
  await makeServerColumns(client, names);
  await buildOwnOf(client, whole, indexes, names);
  const ownName = (one: string): string => fittingName(`${one}_${name.slice(whole.table.length + 1)}`);
  const { serverColumns: _made, ...attributes } = names.attributes ?? {};
  await build({
    client,
    names: { ...names, attributes },
    primaryKey,
    indexes: indexes.map((index) => ({ ...index, name: ownName(index.name) })),
    // A check must have the name that it has in the table.
    constraints: constraints.map((one) => (one.kind === 'check' ? one : { ...one, name: ownName(one.name) })),
    making: (_, work) => work(),
    tell,
  });
  return { key, name, bound, condition, names, rows };
};

const dividedOid = async (client: Client, name: string): Promise<number | undefined> =>
  (
    await client.query(
      `select partrelid as oid from pg_partitioned_table where partrelid = to_regclass($1)`,
      [name],
    )
  ).rows[0]?.oid;

/** Partitions attached in one transaction: it keeps a lock of each, and of each of its indexes, to its end. */
const partsPerAttach = 25;

/** Attaches what was built: readers of the table aside, such as SQL of derived tables, see all rows. */
export const attachAside = async (
  client: Client,
  names: TableNames,
  parts: readonly BuiltPartition[],
): Promise<void> => {
  const attach = ({ names: part, bound }: BuiltPartition): string =>
    `alter table ${builtName(names)} attach partition ${builtName(part)} ${bound}`;
  for (let first = 0; first < parts.length; first += partsPerAttach)
    await client.query(
      parts
        .slice(first, first + partsPerAttach)
        .map(attach)
        .join(';\n'),
    );
};

/** SQL that drops the check of a bound, which attaching has made superfluous. */
export const dropBound = (partition: string): string =>
  `alter table ${partition} drop constraint ${boundName};`;
