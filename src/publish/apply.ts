// Applies the strategies of all tables of a run, in the order that makes readers wait least.

import { withPath, type Client } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import { countRows } from '../db/rows.ts';
import type { RowChanges } from '../core/model.ts';
import { checkCopied } from './aside/build-table.ts';
import { foreignKeysOf, targetAt } from './table/foreign-keys.ts';
import {
  dropForeignKeys,
  haveForeignKeys,
  makeForeignKeys,
  obsoleteKeys,
  violationOf,
} from './aside/make-foreign-keys.ts';
import type { PublishPlan, Rest } from './modes/contract.ts';
import { advanceSequences } from './table/owned-sequences.ts';
import { lockTables, type Locksmith } from './locks.ts';
import { namesInProduction, productionName } from '../db/names.ts';
import type { BuiltTable } from './table/tables.ts';
import type { ViewOver } from './table/views.ts';
import { publishRefusal, publishRefusalOfAny } from './refusals.ts';

export interface Applied {
  readonly views: readonly ViewOver[];
  readonly locked: readonly string[];
  readonly touched: readonly string[];
  readonly last: readonly string[];
  /** Rows in production after the commit, by table name. */
  readonly rows: ReadonlyMap<string, number>;
  /** Only for tables whose rows are merged. */
  readonly changes: ReadonlyMap<string, RowChanges>;
}

export const byWriting = (plans: readonly PublishPlan[]): [PublishPlan[], PublishPlan[]] => [
  plans.filter(({ strategy }) => strategy.writes),
  plans.filter(({ strategy }) => !strategy.writes),
];

/** Sorts tables so that referenced tables come first. Tables in a cycle have no order. */
const parentsFirst = (plans: readonly PublishPlan[]): readonly PublishPlan[] => {
  const tables = plans.map(({ table }) => table);
  const ordered = new Set<PublishPlan>();
  const visited = new Set<PublishPlan>();
  const visit = (plan: PublishPlan): void => {
    if (visited.has(plan)) return;
    visited.add(plan);
    for (const key of foreignKeysOf(plan.table)) {
      const parent = plans[targetAt(plan.table, key, tables)];
      if (parent !== undefined) visit(parent);
    }
    ordered.add(plan);
  };
  for (const plan of plans) visit(plan);
  return [...ordered];
};

/** Returns true if deletes in one of these tables also delete or change rows of this table. */
const followsDeletes = ({ table }: PublishPlan, plans: readonly PublishPlan[]): boolean => {
  const tables = plans.map((plan) => plan.table);
  return foreignKeysOf(table).some(
    (key) => key.onDelete !== 'no action' && targetAt(table, key, tables) !== -1,
  );
};

const isOrdered = (written: readonly PublishPlan[]): boolean =>
  written.some((plan) => followsDeletes(plan, written));

/** Groups plans with the same strategy. If deletes may cascade, each table is alone. */
const groupsOf = (some: readonly PublishPlan[], inOrder: boolean): readonly (readonly PublishPlan[])[] => {
  if (inOrder) return parentsFirst(some).map((plan) => [plan]);
  const ways = new Set(some.map(({ strategy }) => strategy.apply));
  return [...ways].map((way) => some.filter(({ strategy }) => strategy.apply === way));
};

const countFollowing = async (
  client: Client,
  written: readonly PublishPlan[],
  rows: Map<string, number>,
): Promise<void> => {
  for (const { table } of written.filter((plan) => followsDeletes(plan, written)))
    rows.set(table.table, await countRows(client, productionName(table)));
};

/** Writes rows, first of the tables whose readers need not wait. */
const applyWritten = async (
  client: Client,
  plans: readonly PublishPlan[],
  apply: (some: readonly PublishPlan[]) => Promise<readonly Rest[]>,
  { untilTaken }: Locksmith,
): Promise<Rest[]> => {
  const [written, moved] = byWriting(plans);
  // Deferred checks let tables that reference each other be written in any order.
  if (written.some(({ table }) => foreignKeysOf(table).length > 0))
    await client.query('set constraints all deferred');
  const isLoud = ({ blocksReaders }: PublishPlan): boolean => blocksReaders;
  const obsolete = obsoleteKeys(written);
  const isTogether = obsolete.length > 0 || (isOrdered(written) && written.some(isLoud));
  const loud = isTogether ? written : written.filter(isLoud);
  const rests = [...(await apply(written.filter((plan) => !loud.includes(plan))))];
  if (loud.length > 0) {
    // Takes the locks of the last query already here, so that no reader of two tables forms a
    // deadlock with us. Proved by test/modes/publish-locks.test.ts, "all at once".
    await untilTaken(namesInProduction([...loud, ...moved]), false, (names, queueMs) =>
      client.query(lockTables(names, 'access exclusive', queueMs)),
    );
    if (obsolete.length > 0) await dropForeignKeys(client, obsolete);
    rests.push(...(await apply(loud)));
  }
  // Foreign keys are checked now: while checks are pending, the server refuses to create an index,
  // and checks at the commit would keep readers waiting. Proved by test/modes/publish-keys.test.ts,
  // "while its foreign keys are deferred".
  const tables = plans.map(({ table }) => table);
  if (written.length > 0)
    await withPath(client, written[0]!.table.path, () => client.query('set constraints all immediate')).catch(
      (cause: unknown) => {
        throw violationOf(tables, cause) ?? publishRefusalOfAny(written, cause);
      },
    );
  return rests;
};

const allInserted = ({ rows, staged }: BuiltTable): RowChanges => ({
  inserted: rows,
  updated: 0,
  unchanged: 0,
  deleted: 0,
  superseded: staged - rows,
});

/**
 * Applies and verifies every plan: first plans that write rows, starting with those that block no
 * reader. `copied`: loaded rows, `before`: production's rows, both by table name. `record` is called
 * at the end, and must not use savepoints.
 *
 * Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY, ETL_PUBLISH_REFUSED, ETL_CONSTRAINT_REFUSED,
 * ETL_PUBLISH_WITHHELD, RowsRefused.
 */
export const applyAll = async (
  client: Client,
  plans: readonly PublishPlan[],
  copied: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number | null>,
  locksmith: Locksmith,
  record: (applied: Applied) => Promise<unknown>,
): Promise<Applied> => {
  const rows = new Map<string, number>();
  const changes = new Map<string, RowChanges>();
  const [written, moved] = byWriting(plans);
  const apply = async (some: readonly PublishPlan[]): Promise<readonly Rest[]> => {
    const rests = [];
    for (const own of groupsOf(some, isOrdered(written))) {
      rests.push(await own[0]!.strategy.apply(client, own));
      for (const plan of own) if (plan.strategy.writes) await advanceSequences(client, plan);
      for (const plan of own) {
        const { table } = plan.table;
        const had = before.get(table) ?? null;
        checkCopied(table, copied.get(table), plan.table.staged);
        const verified = plan.strategy.verify?.(client, plan, had).catch((cause: unknown) => {
          throw publishRefusal(table, cause);
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
  const applied = {
    views: rests.flatMap(({ views = [] }) => views),
    locked: rests.flatMap(({ locked = [] }) => locked),
    touched: [...new Set(rests.flatMap(({ touched = [] }) => touched))],
    last: rests.flatMap(({ last = [] }) => last),
    rows,
    changes,
  };
  const move = () => rests.flatMap((rest) => (rest.move === undefined ? [] : [rest.move()]));
  if (haveForeignKeys(plans)) {
    await askTogether(client, move);
    await makeForeignKeys(
      client,
      plans.map((plan) => ({ ...plan, oid: plan.strategy.oidInProduction(plan) })),
    );
    await record(applied);
  } else await askTogether(client, () => [...move(), record(applied)]);
  return applied;
};
