// Plans publications that every reader sees alike, whatever its snapshot.
//
// A new table is visible to a reader as soon as its name leads to it; rows that are written to an existing table are visible to snapshots
// taken after the commit. A transaction with one snapshot that reads a table of each kind after the commit would see a state that never
// was. So if a run writes to one table, it writes to all, as long as these are small enough. Proved by test/modes/snapshots.test.ts.

import type { Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { evolutionOf } from '../alter/evolve.ts';
import type { PublishPlan } from '../modes/contract.ts';
import { builtName, keptSchema, productionName } from '../../db/names.ts';
import { planPublish } from './plan.ts';
import { rowsWritten, type Dependent } from '../table/dependents.ts';
import type { BuiltTable } from '../table/tables.ts';

/**
 * The largest table, old or new, whose rows are replaced in place for the sake of readers. Rows of 100 bytes take about 4 µs each to delete
 * and to write with one index: some ten seconds for this.
 */
const inPlaceBytesMax = 256 * 2 ** 20;

/** Plans by which a new table replaces an existing one. */
const movedOver = (plans: readonly PublishPlan[]): readonly PublishPlan[] =>
  plans.filter(({ strategy, production }) => !strategy.writes && production !== undefined);

/** Whether the server writes the rows of the existing table again, because a column gets another type. */
const isRewritten = ({ strategy, table, builtAs, production }: PublishPlan): boolean =>
  strategy.writes && production !== undefined && evolutionOf(table, builtAs.columns, production).rewrites;

/**
 * Plans after which the table has rows that an older snapshot does not show, and no others. An earlier version that returns is not one of
 * them: its rows were in production before.
 */
export const emptyForOlder = (plans: readonly PublishPlan[]): readonly PublishPlan[] => [
  ...movedOver(plans).filter(({ table }) => table.buildSchema !== keptSchema),
  ...plans.filter(isRewritten),
];

/** Why new tables may not replace others: rows are written to another table of the run; undefined: they may. */
export const mixedWith = (plans: readonly PublishPlan[]): Dependent | undefined => {
  const written = plans.find(({ strategy, production }) => strategy.writes && production !== undefined);
  if (written === undefined || movedOver(plans).length === 0) return undefined;
  return { kind: rowsWritten, name: `${written.table.schema}.${written.table.table}` };
};

/** What a run cannot avoid: one of its tables is too large, or too different, to be kept beside one whose rows are written. */
export const mixedText = (plans: readonly PublishPlan[], { name }: Dependent): string => {
  const replaced = emptyForOlder(plans).map(({ table }) => `${table.schema}.${table.table}`);
  return (
    `${replaced.join(', ')} will be replaced by new tables while rows are written to ${name}: a transaction with a snapshot from before the ` +
    'publication may see new rows of the former and old rows of the latter'
  );
};

/** Whether the rows of these tables can be replaced in place quickly. A table that has yet to be built counts as empty. */
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

/** The declaration or the table does not allow that rows are replaced in place. */
const isUnfit = (error: unknown): boolean =>
  error instanceof EtlError &&
  ['ETL_PUBLISH_SHAPE', 'ETL_PUBLISH_NO_KEY', 'ETL_PUBLISH_REFUSED'].includes(error.code);

/** Plans by which every table is kept and its rows are replaced; undefined: one of them cannot be published in that way. */
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

/** The plans, or those that keep every table if rows of one of them are written and all are small. */
export const planUniformly = async (
  client: Client,
  tables: readonly BuiltTable[],
  plans: readonly PublishPlan[],
): Promise<readonly PublishPlan[]> => {
  const mixed = mixedWith(plans);
  if (mixed === undefined || !(await areSmall(client, plans))) return plans;
  return (await planInPlace(client, tables, mixed)) ?? plans;
};
