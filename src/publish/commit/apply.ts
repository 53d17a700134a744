// Applies the strategies of all tables of a run, in the order in which readers wait least.

import { withPath, type Client } from '../../db/client.ts';
import { countRows } from '../../db/rows.ts';
import type { RowChanges } from '../../core/model.ts';
import { checkCopied } from '../aside/build-table.ts';
import { foreignKeysOf } from '../table/foreign-keys.ts';
import { dropForeignKeys, makeForeignKeys, obsoleteKeys, violationOf } from '../aside/make-foreign-keys.ts';
import { followsDeletes, parentsFirst } from '../table/written-order.ts';
import type { PublishPlan, Rest } from '../modes/contract.ts';
import { lockTables, type Locksmith } from '../locks.ts';
import { namesInProduction, productionName } from '../../db/names.ts';
import type { BuiltTable } from '../table/tables.ts';
import type { ViewOver } from '../table/views.ts';
import { refusalOf, refusalOfAny } from '../refusals.ts';

/** Locks and statements of the last message, and the proved rows of each table. */
export interface Applied {
  readonly views: readonly ViewOver[];
  readonly locked: readonly string[];
  readonly touched: readonly string[];
  readonly last: readonly string[];
  /** Rows that production has with the commit, by the table's name. */
  readonly rows: ReadonlyMap<string, number>;
  /** Of tables whose rows are merged. */
  readonly changes: ReadonlyMap<string, RowChanges>;
}

/** Plans that fill the existing table, and plans that replace it. */
export const byWriting = (plans: readonly PublishPlan[]): [PublishPlan[], PublishPlan[]] => [
  plans.filter(({ strategy }) => strategy.writes),
  plans.filter(({ strategy }) => !strategy.writes),
];

const isOrdered = (written: readonly PublishPlan[]): boolean =>
  written.some((plan) => followsDeletes(plan, written));

/** Plans that are applied together: all of one strategy, or each table alone, in order, if deletions may cascade. */
const groupsOf = (some: readonly PublishPlan[], inOrder: boolean): readonly (readonly PublishPlan[])[] => {
  if (inOrder) return parentsFirst(some).map((plan) => [plan]);
  const ways = new Set(some.map(({ strategy }) => strategy.apply));
  return [...ways].map((way) => some.filter(({ strategy }) => strategy.apply === way));
};

/** Counts tables that lose rows to cascading deletions, which are over when all is written. */
const countFollowing = async (
  client: Client,
  written: readonly PublishPlan[],
  rows: Map<string, number>,
): Promise<void> => {
  for (const { table } of written.filter((plan) => followsDeletes(plan, written)))
    rows.set(table.table, await countRows(client, productionName(table)));
};

/** Writes the rows of tables that stay, first of those whose readers do not wait, and has the server check them. */
const applyWritten = async (
  client: Client,
  plans: readonly PublishPlan[],
  apply: (some: readonly PublishPlan[]) => Promise<readonly Rest[]>,
  { untilTaken }: Locksmith,
): Promise<Rest[]> => {
  const [written, moved] = byWriting(plans);
  // Tables of one foreign key are written in any order.
  if (written.some(({ table }) => foreignKeysOf(table).length > 0))
    await client.query('set constraints all deferred');
  const isLoud = ({ blocksReaders }: PublishPlan): boolean => blocksReaders;
  const obsolete = obsoleteKeys(written);
  const isTogether = obsolete.length > 0 || (isOrdered(written) && written.some(isLoud));
  const loud = isTogether ? written : written.filter(isLoud);
  const rests = [...(await apply(written.filter((plan) => !loud.includes(plan))))];
  if (loud.length > 0) {
    // With those that the last message locks: a reader of both, who has one and waits for the other, would be the victim of a
    // deadlock. Proved by test/modes/publish-locks.test.ts, "all at once".
    await untilTaken(namesInProduction([...loud, ...moved]), false, (names, queueMs) =>
      client.query(lockTables(names, 'access exclusive', queueMs)),
    );
    if (obsolete.length > 0) await dropForeignKeys(client, obsolete);
    rests.push(...(await apply(loud)));
  }
  // The server makes no index on a table whose deferred foreign keys are unchecked, and a check at the commit keeps readers
  // waiting. Proved by test/modes/publish-keys.test.ts, "while its foreign keys are deferred".
  const tables = plans.map(({ table }) => table);
  if (written.length > 0)
    await withPath(client, written[0]!.table.path, () => client.query('set constraints all immediate')).catch(
      (cause: unknown) => {
        throw violationOf(tables, cause) ?? refusalOfAny(written, cause);
      },
    );
  return rests;
};

/** A table that is merged the first time gets all its rows. */
const allInserted = ({ rows, staged }: BuiltTable): RowChanges => ({
  inserted: rows,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  superseded: staged - rows,
});

/**
 * Applies and verifies every plan. Plans that write rows come first, beginning with tables whose readers do not wait. `copied`:
 * loaded rows, `before`: rows of production, by the table's name.
 *
 * Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY, ETL_PUBLISH_REFUSED, ETL_CONSTRAINT_REFUSED, ETL_PUBLISH_WITHHELD, RowsRefused.
 */
export const applyAll = async (
  client: Client,
  plans: readonly PublishPlan[],
  copied: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number | null>,
  locksmith: Locksmith,
): Promise<Applied> => {
  const rows = new Map<string, number>();
  const changes = new Map<string, RowChanges>();
  const [written, moved] = byWriting(plans);
  const apply = async (some: readonly PublishPlan[]): Promise<readonly Rest[]> => {
    const rests = [];
    for (const own of groupsOf(some, isOrdered(written))) {
      rests.push(await own[0]!.strategy.apply(client, own));
      for (const plan of own) {
        const { table } = plan.table;
        const had = before.get(table) ?? null;
        checkCopied(table, copied.get(table), plan.table.staged);
        const verified = plan.strategy.verify?.(client, plan, had).catch((cause: unknown) => {
          throw refusalOf(table, cause);
        });
        rows.set(table, (await verified) ?? plan.strategy.rowsAtLeast(plan.table, had));
        if (plan.table.mode.rowsKnownBy === 'key')
          changes.set(table, (await plan.strategy.changes?.(client, plan)) ?? allInserted(plan.table));
      }
    }
    return rests;
  };
  const rests = await applyWritten(client, plans, apply, locksmith);
  await countFollowing(client, written, rows);
  rests.push(...(await apply(moved)));
  for (const { finish } of rests) await finish?.();
  await makeForeignKeys(
    client,
    plans.map((plan) => ({ ...plan, oid: plan.strategy.oidInProduction(plan) })),
  );
  return {
    views: rests.flatMap(({ views = [] }) => views),
    locked: rests.flatMap(({ locked = [] }) => locked),
    touched: [...new Set(rests.flatMap(({ touched = [] }) => touched))],
    last: rests.flatMap(({ last = [] }) => last),
    rows,
    changes,
  };
};
