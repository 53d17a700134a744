// Publishes all tables of a run in one transaction: proof of completeness, in-place fills, swaps, record.

import { setTimeout as sleep } from 'node:timers/promises';
import { assertPublishing } from '../checkpoint/epoch.ts';
import { fileTotals, finishRun } from '../checkpoint/ledger.ts';
import { whyStopped } from '../checkpoint/run-end.ts';
import { ensureSchema, runQuery, withPath, withTransaction, type Client } from '../db/client.ts';
import { retryOf } from '../db/retry.ts';
import { isRefusal, unknownNameHint } from '../db/server-error.ts';
import { EtlError, codeOf, messageOf } from '../errors.ts';
import { publishWaitMs, swapLockTimeoutMs } from '../limits.ts';
import { doKeySteps, type KeyStep } from '../publish/keys.ts';
import { productionName, type BuiltTable } from '../publish/names.ts';
import { ProductionChanged } from '../publish/production.ts';
import {
  checkTarget,
  insertPublished,
  planNotice,
  planPublish,
  publishTable,
  type PublishPlan,
} from '../publish/publish-table.ts';
import { checkComplete, checkSources } from './completeness.ts';
import { stopIfAsked, type RunContext } from './context.ts';
import { checkGuards } from './guard.ts';
import { landingTable, namesOf } from './landing.ts';
import type { PlannedTable } from './plan.ts';

/** What another attempt at the same transaction may not meet: a lock, a deadlock, a new view. */
const isPassing = (error: unknown): boolean =>
  error instanceof ProductionChanged || retryOf(error) === 'chunk';

/**
 * Looks at what is in production before anything is loaded. What SQL makes of a table is not known yet, and judged when it
 * is built. Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_REFUSED.
 */
export const checkTargets = async (
  { client, spec }: RunContext,
  planned: readonly PlannedTable[],
): Promise<void> => {
  for (const { table } of planned)
    if (table.transform === undefined)
      await checkTarget(
        client,
        { ...namesOf(spec, table), primaryKey: table.primaryKey },
        landingTable(spec, table),
      );
};

const planAll = async (
  context: RunContext,
  built: readonly BuiltTable[],
): Promise<readonly PublishPlan[]> => {
  const plans: PublishPlan[] = [];
  for (const table of built) plans.push(await planPublish(context.client, table));
  return plans;
};

/** Keys and indexes that a table still lacks. */
type Unfinished = readonly { readonly plan: PublishPlan; readonly steps: readonly KeyStep[] }[];

const publishEach = async (client: Client, plans: readonly PublishPlan[]): Promise<Unfinished> => {
  const unfinished = [];
  for (const plan of plans) {
    const steps = await publishTable(client, plan).catch((cause: unknown) => {
      throw publishError(plan.table.table, cause);
    });
    unfinished.push({ plan, steps });
  }
  return unfinished;
};

/** Makes keys and indexes of tables whose rows were replaced, when all of them are in. */
const finishInPlace = async (client: Client, unfinished: Unfinished): Promise<void> => {
  if (unfinished.length === 0) return;
  // The server makes no index of a table for which a deferred foreign key has yet to be checked. Proved by
  // test/integration/publish-keys.test.ts, "while its foreign keys are deferred".
  const { path } = unfinished[0]!.plan.table;
  await withPath(client, path, () => client.query('set constraints all immediate')).catch(
    (cause: unknown) => {
      // What a trigger raises names no table: it is one of those whose rows were replaced.
      const replaced = unfinished.map(({ plan }) => plan.table.table).join(', ');
      throw publishError((cause as { table?: string }).table ?? replaced, cause);
    },
  );
  for (const { plan, steps } of unfinished) await doKeySteps(client, plan.table, steps);
};

const publishAll = (context: RunContext, runId: number, plans: readonly PublishPlan[]): Promise<void> =>
  withTransaction(context.client, async () => {
    const { client, spec } = context;
    await client.query(`set local lock_timeout = ${swapLockTimeoutMs}`);
    await assertPublishing(client, spec.name, context.epoch);
    await checkComplete(
      context,
      runId,
      plans.map(({ table }) => table),
    );
    await ensureSchema(client, spec.schema);
    const inPlace = plans.filter(({ strategy }) => strategy === 'in place');
    const swaps = plans.filter(({ strategy }) => strategy === 'swap');
    // In-place fills take long and lock readers out of little; swaps lock them out and take a moment: they go last.
    await finishInPlace(client, await publishEach(client, inPlace));
    await publishEach(client, swaps);
    for (const plan of plans) await runQuery(client, insertPublished(runId, plan));
    const finished = await runQuery(client, finishRun(runId));
    if (finished.rowCount === 0) throw await whyStopped(client, runId);
  });

const publishError = (table: string, cause: unknown): unknown => {
  if (isPassing(cause) || !isRefusal(cause)) return cause;
  const { detail, hint } = cause as { detail?: string; hint?: string };
  const details = {
    table,
    sqlstate: codeOf(cause),
    problem: messageOf(cause),
    hint: detail ?? (unknownNameHint(cause) || hint),
  };
  return new EtlError('ETL_PUBLISH_REFUSED', details, { cause });
};

/** Who keeps us from a table, as far as it can be seen. */
interface Lock {
  readonly table: string;
  readonly pids: string;
}

const lockOn = async ({ client }: RunContext, built: readonly BuiltTable[]): Promise<Lock | undefined> => {
  const { rows } = await client.query(
    `select relation::regclass::text as table, string_agg(distinct pid::text, ', ') as pids from pg_locks
      where relation = any (select to_regclass(name) from unnest($1::text[]) as name) and granted and pid <> pg_backend_pid()
      group by relation order by relation limit 1`,
    [built.map(productionName)],
  );
  return rows[0];
};

const lockedError = (built: readonly BuiltTable[], lock: Lock | undefined, cause: unknown): EtlError => {
  const { table, pids } = lock ?? { table: built.map(({ table: name }) => name).join(', '), pids: 'unknown' };
  return new EtlError('ETL_PUBLISH_LOCKED', { table, seconds: publishWaitMs / 1_000, pids }, { cause });
};

/**
 * Publishes the built tables together; production changes in one step or not at all.
 *
 * The swap asks for its locks with a short timeout and tries again, so that readers never queue behind it for long.
 * Errors: ETL_SOURCE_CHANGED, ETL_GUARD, ETL_INCOMPLETE, ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY, ETL_PUBLISH_REFUSED,
 * ETL_PUBLISH_LOCKED.
 */
export const publishTables = async (
  context: RunContext,
  runId: number,
  built: readonly BuiltTable[],
): Promise<void> => {
  await checkSources(await fileTotals(context.client, runId));
  const told = new Set<string>();
  const tell = (message: string | undefined): void => {
    if (message === undefined || told.has(message)) return;
    told.add(message);
    context.emit({ type: 'notice', message });
  };
  let measured: readonly BuiltTable[] | undefined;
  const deadline = performance.now() + publishWaitMs;
  for (let attempt = 1; ; attempt += 1) {
    stopIfAsked(context);
    try {
      measured ??= await checkGuards(context, built);
      const plans = await planAll(context, measured);
      for (const plan of plans) tell(planNotice(plan));
      return await publishAll(context, runId, plans);
    } catch (error) {
      if (!isPassing(error)) throw error;
      const lock = await lockOn(context, built);
      if (performance.now() > deadline) throw lockedError(built, lock, error);
      tell(lock && `publishing waits for ${lock.table}, which is locked by process ${lock.pids}`);
      // Readers that queued behind our lock get their turn before we ask again.
      await sleep(Math.min(100 * attempt, 1_000));
    }
  }
};
