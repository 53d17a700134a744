// Plans a run so that every reader sees one consistent state, whatever its snapshot.
//
// A new table is visible to all readers at once, but rows written into an existing table only to
// snapshots taken after the commit. A transaction with an older snapshot that reads a table of each
// kind would see a mixture. So if a run writes into one table, it writes into all, unless they are
// too large. Proved by test/modes/snapshots.test.ts.

import type { Client } from '../db/client.ts';
import { EtlError } from '../core/errors/errors.ts';
import { evolutionOf } from './alter/evolve.ts';
import type { PublishPlan } from './modes/contract.ts';
import { builtName, keptSchema, productionName } from '../db/names.ts';
import { planPublish } from './plan.ts';
import { rowsWritten, type Dependent } from './table/dependents.ts';
import type { BuiltTable } from './table/tables.ts';

/**
 * Largest table whose rows are replaced in place only for consistency. Deleting and inserting rows
 * of 100 bytes with one index takes 4 µs each: some ten seconds.
 */
const inPlaceBytesMax = 256 * 2 ** 20;

const movedOver = (plans: readonly PublishPlan[]): readonly PublishPlan[] =>
  plans.filter(({ strategy, production }) => !strategy.writes && production !== undefined);

const isRewritten = ({ strategy, table, builtAs, production }: PublishPlan): boolean =>
  strategy.writes && production !== undefined && evolutionOf(table, builtAs.columns, production).rewrites;

/**
 * Tables that older snapshots see empty. Restored versions are left out: their rows are older
 * still.
 */
export const emptyForOlder = (plans: readonly PublishPlan[]): readonly PublishPlan[] => [
  ...movedOver(plans).filter(({ table }) => table.buildSchema !== keptSchema),
  ...plans.filter(isRewritten),
];

/** Returns the table into which rows are written, as a reason to replace no other table. */
export const mixedWith = (plans: readonly PublishPlan[]): Dependent | undefined => {
  const written = plans.find(({ strategy, production }) => strategy.writes && production !== undefined);
  if (written === undefined || movedOver(plans).length === 0) return undefined;
  return { kind: rowsWritten, name: `${written.table.schema}.${written.table.table}` };
};

export const mixedText = (plans: readonly PublishPlan[], { name }: Dependent): string => {
  const replaced = emptyForOlder(plans).map(({ table }) => `${table.schema}.${table.table}`);
  return (
    `${replaced.join(', ')} will be replaced by new tables while rows are written to ${name}: a transaction with an older ` +
    'snapshot may see new rows of the former and old rows of the latter'
  );
};

/** True if all tables to swap are small. A table that is not built yet counts as empty. */
export const areSmall = async (client: Client, plans: readonly PublishPlan[]): Promise<boolean> => {
  const names = movedOver(plans).flatMap(({ table }) => [productionName(table), builtName(table)]);
  const { rows } = await client.query(
    `select coalesce(max(bytes), 0)::float8 as bytes from (
        select coalesce((select sum(pg_table_size(relid)) from pg_partition_tree(oid)), pg_table_size(oid)) as bytes
          from unnest($1::text[]) as name, to_regclass(name) as oid
      ) size`,
    [names],
  );
  return rows[0].bytes <= inPlaceBytesMax;
};

const isUnfit = (error: unknown): boolean =>
  error instanceof EtlError &&
  ['ETL_PUBLISH_SHAPE', 'ETL_PUBLISH_NO_KEY', 'ETL_PUBLISH_REFUSED'].includes(error.code);

/** Plans to keep all tables in place. Returns undefined if one of them cannot be kept. */
export const planInPlace = async (
  client: Client,
  tables: readonly BuiltTable[],
  stays: Dependent,
): Promise<readonly PublishPlan[] | undefined> =>
  planPublish(client, tables, { stays }).then(
    (plans) => (plans.some(isRewritten) ? undefined : plans),
    (error: unknown) => {
      if (isUnfit(error)) return undefined;
      throw error;
    },
  );

export const planUniformly = async (
  client: Client,
  tables: readonly BuiltTable[],
  plans: readonly PublishPlan[],
): Promise<readonly PublishPlan[]> => {
  const mixed = mixedWith(plans);
  if (mixed === undefined || !(await areSmall(client, plans))) return plans;
  return (await planInPlace(client, tables, mixed)) ?? plans;
};
