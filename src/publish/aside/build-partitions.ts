// Builds a partitioned table: first the empty table, then each partition on its own.

import { runQuery, type Client } from '../../db/client.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { EtlError, codeOf } from '../../core/errors/errors.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { byConnections, createFilled, distribute, isDistributed } from '../table/distribution.ts';
import { inTablespaceOf } from '../table/tablespace.ts';
import { buildAsProduction, buildError, buildOwnOf, createShape, makeServerColumns } from './build-table.ts';
import type { Building } from './building.ts';
import { inheritStatistics, inheritCollations } from './inherit.ts';
import {
  type TableNames,
  besideName,
  builtName,
  fileColumn,
  fittingName,
  hashDigits,
  productionName,
} from '../../db/names.ts';
import type { BuiltPartition } from '../table/tables.ts';
import { partitionOf } from '../table/bounds.ts';
import { refuseUnpartitionable } from '../table/partition-shape.ts';
import type { PartitionedTable, PartRows } from './find-partitions.ts';

const boundName = 'etl_bound';

export const createPartitioned = (partitioned: PartitionedTable): Promise<void> =>
  inTablespaceOf(partitioned.client, partitioned.names, () => createEmpty(partitioned));

const createEmpty = async (partitioned: PartitionedTable): Promise<void> => {
  const { client, names, spec, columns, required, source } = partitioned;
  const shape = { ...names, built: besideName(names.table, 'shape') };
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
  if (spec.by === 'list') await refuseUnpartitionable(client, names.table, parent);
  await distribute(client, names);
  const build = await buildAsProduction(partitioned);
  await build();
  await inheritStatistics(client, names);
};

const addKept = async (
  client: Client,
  { names: { table }, columns }: PartitionedTable,
  { names, kept }: PartRows,
): Promise<number> => {
  if (kept === undefined) return 0;
  const list = quoteNames(columns);
  const incomplete = (found: string, cause?: unknown): EtlError => {
    const problem = `${plural(kept.rows, 'row')} of ${kept.from} should have been kept, but ${found}`;
    return new EtlError('ETL_INCOMPLETE', { table, problem }, { cause });
  };
  const { rowCount } = await client
    .query(
      `insert into ${builtName(names)} (${list}) select ${list} from ${kept.from} where ${quoteName(fileColumn)} = any ($1::bigint[])`,
      [kept.files],
    )
    .catch((cause: unknown) => {
      throw codeOf(cause) === '42P01' ? incomplete('it was dropped', cause) : cause;
    });
  if (rowCount !== kept.rows)
    throw incomplete(`${formatCount(rowCount ?? 0)} were found (did somebody change them?)`);
  return kept.rows;
};

/**
 * Builds one partition. Needs a transaction, so that no session sets hint bits on the rows. Errors:
 * those of building a table.
 */
export const buildPartition = async (
  client: Client,
  partitioned: PartitionedTable,
  part: PartRows & Pick<Building, 'statistics'>,
  source: string,
  complete: (work: Building) => Promise<() => Promise<void>>,
  announce: Building['announce'],
): Promise<BuiltPartition> => {
  const { names: whole, spec, columns, required, primaryKey, indexes, constraints } = partitioned;
  const { ctids, names, key, name, bound, condition, statistics } = part;
  const built = builtName(names);
  const at = ctids === undefined ? '' : `ctid between '${ctids[0]}'::tid and '${ctids[1]}'::tid and`;
  const conditions = [condition];
  // A hash partition's condition contains the oid of the partitioned table, which is different in
  // production. The check needs both conditions.
  const production = spec.by === 'hash' ? await partitionedOid(client, productionName(whole)) : undefined;
  if (production !== undefined) conditions.push(partitionOf(whole.table, spec, key, production)!.condition);
  const set = [...new Set([...required, spec.column])].map(
    (column) => `alter column ${quoteName(column)} set not null`,
  );
  let rows = 0;
  try {
    if (isDistributed(names)) await runQuery(client, byConnections);
    const select = `select ${quoteNames(columns)} from ${source} where ${at} ${condition}`;
    rows = await createFilled(client, names, select, [], whole);
    rows += await addKept(client, partitioned, part);
    const check = `add constraint ${boundName} check (${conditions.join(' and ')})`;
    // Citus adds a constraint only by a statement of its own.
    const changes = isDistributed(names) ? [set.join(', '), check] : [[...set, check].join(', ')];
    for (const change of changes) await client.query(`alter table ${built} ${change}`);
  } catch (cause) {
    throw buildError(whole, 'rows', cause);
  }
  await inheritCollations(client, names, whole);
  await makeServerColumns(client, names);
  await buildOwnOf(client, whole, indexes, names);
  const start = `${whole.table}_`;
  // The name of a partition that was shortened is its own by the hash at its end.
  const own = name.startsWith(start) ? name.slice(start.length) : name.slice(-hashDigits);
  const ownName = (one: string): string => fittingName(`${one}_${own}`);
  const { serverColumns: _made, ...attributes } = names.attributes ?? {};
  const completeNow = await complete({
    client,
    names: { ...names, attributes },
    whole,
    primaryKey,
    indexes: indexes.map((index) => ({ ...index, name: ownName(index.name) })),
    // A check must have the same name in the table and its partition.
    constraints: constraints.map((one) => (one.kind === 'check' ? one : { ...one, name: ownName(one.name) })),
    making: (_, work) => work(),
    announce,
    statistics,
  });
  await completeNow();
  return { key, name, bound, condition, names, rows };
};

/** Returns the table's oid if it is partitioned. `name` is quoted. */
export const partitionedOid = async (client: Client, name: string): Promise<number | undefined> =>
  (
    await client.query(
      `select partrelid as oid from pg_partitioned_table where partrelid = to_regclass($1)`,
      [name],
    )
  ).rows[0]?.oid;

/** Partitions attached per transaction, which locks them and all of their indexes. */
const partsPerAttach = 25;

/** Attaches partitions to the built table, so that SQL of derived tables can read all its rows. */
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

/** Drops the check of the bound, which an attached partition does not need. */
export const dropBound = (partition: string): string =>
  `alter table ${partition} drop constraint ${boundName};`;
