// Publishes all tables of a run in one transaction, as a list of steps; each publication knows how its tables are published.

import { assertPublishing } from '../../checkpoint/epoch.ts';
import { finishRun } from '../../checkpoint/ledger.ts';
import { whyStopped } from '../../checkpoint/run-end.ts';
import { ensureSchema, runQuery, withTransaction } from '../../db/client.ts';
import { applyAll, byWriting, type Applied } from '../../publish/apply.ts';
import type { PublishPlan } from '../../publish/contract.ts';
import { DuplicateRows } from '../../publish/duplicates.ts';
import { lockQuietly, lockTables, type Locksmith } from '../../publish/locks.ts';
import { namesInProduction, type BuiltTable } from '../../publish/names.ts';
import { checkPlanned, checkTargets as checkAll, insertPublished, planPublish } from '../../publish/plan.ts';
import { refusalOfAny } from '../../publish/refusals.ts';
import type { PlannedTable } from '../begin/plan.ts';
import type { RunContext } from '../context.ts';
import { declaredAs, landingTable } from '../landing.ts';
import { untilPublished } from './attempts.ts';
import { checkComplete, checkSources } from './completeness.ts';
import { recordFiles } from './file-state.ts';
import { checkGuards } from './guard.ts';
import { nameRecords } from './name-records.ts';

/** The server ends a session whose client does nothing for this long while it publishes: it is frozen, and others wait for its
 *  locks. We pause for a second at most. Proved by test/fault/publish-frozen.test.ts. */
const frozenMs = 5_000;

/**
 * Checks production before anything is loaded. The columns of tables that SQL makes are not known yet, and are checked when
 * they are built. Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_REFUSED.
 */
export const checkTargets = ({ client, spec }: RunContext, planned: readonly PlannedTable[]): Promise<void> =>
  checkAll(
    client,
    planned.flatMap(({ table, intake: { extent } }) => {
      const target = { table: declaredAs(spec, table, extent), like: landingTable(spec, table) };
      return table.transform === undefined ? [target] : [];
    }),
  );

/** Everything before the locks that affect readers. */
const prepare = async (
  context: RunContext,
  runId: number,
  plans: readonly PublishPlan[],
  rowsBefore: ReadonlyMap<string, number | null>,
  locksmith: Locksmith,
): Promise<Applied> => {
  const { client, spec, epoch } = context;
  const [written, moved] = byWriting(plans);
  await client.query(`set local idle_in_transaction_session_timeout = ${frozenMs}`);
  await assertPublishing(client, spec.name, epoch);
  const copied = await checkComplete(context, runId);
  await ensureSchema(client, spec.schema);
  await lockQuietly(client, namesInProduction(written), namesInProduction(moved));
  await checkPlanned(client, plans);
  const applied = await applyAll(client, plans, copied, rowsBefore, locksmith);
  await runQuery(client, insertPublished(runId, plans, rowsBefore, applied.rows));
  await recordFiles(context, runId, plans);
  return applied;
};

/** The locks that affect readers, and the commit, in one message. A run that was cancelled meanwhile is not published. */
const commit = async (
  { client }: RunContext,
  runId: number,
  plans: readonly PublishPlan[],
  { locked, last }: Applied,
  { untilTaken }: Locksmith,
): Promise<void> => {
  const readersWait = plans.some(({ blocksReaders }) => blocksReaders);
  await untilTaken(locked, readersWait, async (names, queueMs) => {
    const finished = await runQuery(client, finishRun(runId));
    if (finished.rowCount === 0) throw await whyStopped(client, runId);
    await client.query([lockTables(names, 'access exclusive', queueMs), ...last, 'commit'].join('\n'));
  }).catch((cause: unknown) => {
    throw refusalOfAny(byWriting(plans)[1], cause);
  });
};

/**
 * Publishes the built tables together; production changes in one step or not at all.
 *
 * Locks that affect readers are requested with a short bound, all in one statement, and again after a pause, so that readers
 * never queue behind us for long. Errors: ETL_SOURCE_CHANGED, ETL_GUARD, ETL_DUPLICATE_ROWS, ETL_INCOMPLETE, ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY,
 * ETL_PUBLISH_REFUSED, ETL_PUBLISH_LOCKED, ETL_PUBLISH_MEMORY.
 */
export const publishTables = async (
  context: RunContext,
  runId: number,
  built: readonly BuiltTable[],
): Promise<void> => {
  const { client } = context;
  await checkSources(context, runId);
  let rowsBefore: ReadonlyMap<string, number | null> | undefined;
  await untilPublished(context, built, async (locksmith, tell) => {
    const plans = await planPublish(client, built);
    const before = (rowsBefore ??= await checkGuards(context, plans));
    tell(plans.map((plan) => plan.publication.notice(plan)));
    await withTransaction(client, () => prepare(context, runId, plans, before, locksmith), {
      end: (applied) => commit(context, runId, plans, applied, locksmith),
    });
  }).catch(async (cause: unknown) => {
    throw cause instanceof DuplicateRows ? await nameRecords(context, runId, cause) : cause;
  });
};
