// Applies the publications of all tables of a run, in the order in which readers wait least.

import { withPath, type Client } from '../db/client.ts';
import type { RowChanges } from '../model.ts';
import type { PublishPlan, Rest } from './contract.ts';
import { lockTables, type Locksmith } from './locks.ts';
import { namesInProduction, type BuiltTable } from './names.ts';
import { refusalOf, refusalOfAny } from './refusals.ts';

/** Locks and statements of the last message, and the proved rows of each table. */
export interface Applied {
  readonly locked: readonly string[];
  readonly last: readonly string[];
  /** Rows that production has with the commit, by the table's name. */
  readonly rows: ReadonlyMap<string, number>;
  /** Of tables whose rows are merged. */
  readonly changes: ReadonlyMap<string, RowChanges>;
}

/** Plans that fill the existing table, and plans that replace it. */
export const byWriting = (plans: readonly PublishPlan[]): [PublishPlan[], PublishPlan[]] => [
  plans.filter(({ publication }) => publication.writes),
  plans.filter(({ publication }) => !publication.writes),
];

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
 * Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY, ETL_PUBLISH_REFUSED, ETL_INCOMPLETE.
 */
export const applyAll = async (
  client: Client,
  plans: readonly PublishPlan[],
  copied: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number | null>,
  { untilTaken }: Locksmith,
): Promise<Applied> => {
  const rows = new Map<string, number>();
  const changes = new Map<string, RowChanges>();
  const apply = async (some: readonly PublishPlan[]): Promise<readonly Rest[]> => {
    const rests = [];
    for (const applyTo of new Set(some.map(({ publication }) => publication.apply))) {
      const own = some.filter(({ publication }) => publication.apply === applyTo);
      rests.push(await applyTo(client, own));
      for (const plan of own) {
        const { table } = plan.table;
        const { verify } = plan.publication;
        const verified = verify(client, plan, copied.get(table), before.get(table) ?? null);
        rows.set(
          table,
          await verified.catch((cause: unknown) => {
            throw refusalOf(table, cause);
          }),
        );
        if (plan.table.merge !== undefined)
          changes.set(table, (await plan.publication.changes?.(client, plan)) ?? allInserted(plan.table));
      }
    }
    return rests;
  };
  const [written, moved] = byWriting(plans);
  const loud = written.filter(({ blocksReaders }) => blocksReaders);
  const rests = [...(await apply(written.filter(({ blocksReaders }) => !blocksReaders)))];
  if (loud.length > 0) {
    // With those that the last message locks: a reader of both, who has one and waits for the other, would be the victim of a
    // deadlock. Proved by test/integration/publish-locks.test.ts, "all at once".
    await untilTaken(namesInProduction([...loud, ...moved]), false, (names, queueMs) =>
      client.query(lockTables(names, 'access exclusive', queueMs)),
    );
    rests.push(...(await apply(loud)));
  }
  // The server makes no index on a table whose deferred foreign keys are unchecked, and a check at the commit keeps readers
  // waiting. Proved by test/integration/publish-keys.test.ts, "while its foreign keys are deferred".
  if (written.length > 0)
    await withPath(client, written[0]!.table.path, () => client.query('set constraints all immediate')).catch(
      (cause: unknown) => {
        throw refusalOfAny(written, cause);
      },
    );
  rests.push(...(await apply(moved)));
  for (const { finish } of rests) await finish?.();
  return {
    locked: rests.flatMap(({ locked = [] }) => locked),
    last: rests.flatMap(({ last = [] }) => last),
    rows,
    changes,
  };
};
