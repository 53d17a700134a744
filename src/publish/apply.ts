// Applies the publications of all tables of a run, in an order that keeps readers waiting for as little as can be.

import { withPath, type Client } from '../db/client.ts';
import type { PublishPlan, Rest } from './contract.ts';
import { lockTables, type Locksmith } from './locks.ts';
import { namesInProduction } from './names.ts';
import { refusalOf, refusalOfAny } from './refusals.ts';

/** What is left for the last message, and what was proved of each table. */
export interface Applied {
  readonly locked: readonly string[];
  readonly last: readonly string[];
  /** That production has with the commit, by the table's name. */
  readonly rows: ReadonlyMap<string, number>;
}

/** Those whose rows go into the table that is there, and those whose table is another afterwards. */
export const byWriting = (plans: readonly PublishPlan[]): [PublishPlan[], PublishPlan[]] => [
  plans.filter(({ publication }) => publication.writes),
  plans.filter(({ publication }) => !publication.writes),
];

/**
 * Applies every plan and verifies it: rows that are written first, those of tables first whose readers do not wait for it. `copied`
 * are the rows that loading sent, by the table's name.
 *
 * Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY, ETL_PUBLISH_REFUSED, ETL_INCOMPLETE.
 */
export const applyAll = async (
  client: Client,
  plans: readonly PublishPlan[],
  copied: ReadonlyMap<string, number>,
  { untilTaken }: Locksmith,
): Promise<Applied> => {
  const rows = new Map<string, number>();
  const apply = async (some: readonly PublishPlan[]): Promise<readonly Rest[]> => {
    const rests = [];
    for (const applyTo of new Set(some.map(({ publication }) => publication.apply))) {
      const own = some.filter(({ publication }) => publication.apply === applyTo);
      rests.push(await applyTo(client, own));
      for (const plan of own) {
        const { table } = plan.table;
        const verified = plan.publication.verify(client, plan, copied.get(table));
        rows.set(
          table,
          await verified.catch((cause: unknown) => {
            throw refusalOf(table, cause);
          }),
        );
      }
    }
    return rests;
  };
  const [written, moved] = byWriting(plans);
  const loud = written.filter(({ blocksReaders }) => blocksReaders);
  const rests = [...(await apply(written.filter(({ blocksReaders }) => !blocksReaders)))];
  if (loud.length > 0) {
    await untilTaken(namesInProduction(loud), false, (names, queueMs) =>
      client.query(lockTables(names, 'access exclusive', queueMs)),
    );
    rests.push(...(await apply(loud)));
  }
  // The server makes no index of a table for which a deferred foreign key has yet to be checked, and what is left for the commit
  // is done while readers wait. Proved by test/integration/publish-keys.test.ts, "while its foreign keys are deferred".
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
  };
};
