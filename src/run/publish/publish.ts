// Publishes all tables of a run in one transaction, as a list of steps.

import { assertPublishing } from '../../ledger/run/epoch.ts';
import { markPublished } from '../../ledger/run/ledger.ts';
import { recordPartitions } from '../../ledger/production/published-tables.ts';
import { whyStopped } from '../../ledger/run/run-end.ts';
import { ensureSchema, runQuery, runTogether, withOwnTransaction } from '../../db/client.ts';
import { askTogether } from '../../db/ask-together.ts';
import { applyAll, byWriting, type Applied } from '../../publish/apply.ts';
import type { PublishPlan } from '../../publish/modes/contract.ts';
import { boundWaits, lockPublishing, lockQuietly, lockTables, type Locksmith } from '../../publish/locks.ts';
import { keptSchema, namesInProduction, productionName } from '../../db/names.ts';
import {
  checkPlanned,
  insertPublished,
  replacedText,
  takenNotice,
  unlimitedWaits,
} from '../../publish/plan.ts';
import { ChangedByHand } from '../../publish/table/by-hand.ts';
import { insertKept, isKept } from '../../publish/modes/replace/keep.ts';
import { lockViews } from '../../publish/table/views.ts';
import { publishRefusalOfAny } from '../../publish/refusals.ts';
import type { BuiltTable } from '../../publish/table/tables.ts';
import type { PlannedTable } from '../files/planned-table.ts';
import { refuseOtherSchemas } from '../../db/session/access.ts';
import { durable } from '../../db/session/session-settings.ts';
import type { RunContext } from '../context.ts';
import { oweHook, publishingError, publishingStatements } from '../hooks.ts';
import { owePublished } from '../../report/notify/events.ts';
import { untilPublished } from './attempts.ts';
import { checkComplete, type Complete } from './completeness.ts';
import { recordFiles } from './file-state.ts';
import { checkGuards, passUncounted, recordedRows, type RecordedRows } from './guard.ts';
import { withRecords } from '../name-records.ts';
import { createPlanner } from './older-snapshots.ts';
import { confirmPlanned, keepsWritersOut, Overtaken } from './overtaken.ts';

/**
 * The server ends our publishing session if it sends nothing for this long, because others wait for
 * its locks. Our longest pause is a second. Proved by test/fault/publish-waits.test.ts.
 */
const frozenMs = 5_000;

/** What differs between publishing loaded files and restoring an earlier version. */
export interface Occasion {
  /** Missing for a rollback: its run begins only when it is published. */
  readonly runId?: number;
  /** Asked together with each plan, by one query for each table: what `judge` needs to know. */
  readonly look?: () => Promise<void>;
  /** Returns row counts in production by table; throws if a table would have too few rows. */
  readonly judge: (plans: readonly PublishPlan[]) => Promise<ReadonlyMap<string, number | null>>;
  /** Called once for plans that were judged, right before the publishing transaction. */
  readonly onJudged?: (plans: readonly PublishPlan[]) => Promise<void>;
  /** Called in the publishing transaction; throws if the plan's assumptions no longer hold. */
  readonly confirm?: () => Promise<void>;
  /** Called in the publishing transaction; returns the run, and the proof of what was loaded. */
  readonly begin: () => Promise<{ readonly runId: number } & Complete>;
  readonly record: (runId: number, plans: readonly PublishPlan[]) => Promise<void>;
}

interface Prepared extends Applied, Pick<Complete, 'totals'> {
  readonly runId: number;
}

/**
 * Creates the schema for kept versions. Checks the owner of an existing schema, which another role
 * may have created since preflight.
 */
const ensureKept = async (
  { client, spec, trust }: RunContext,
  plans: readonly PublishPlan[],
): Promise<void> => {
  if (!plans.some(isKept) || (await ensureSchema(client, keptSchema))) return;
  await refuseOtherSchemas(client, spec.name, trust);
};

const prepare = async (
  context: RunContext,
  { begin, confirm, record }: Occasion,
  plans: readonly PublishPlan[],
  rowsBefore: ReadonlyMap<string, number | null>,
  locksmith: Locksmith,
): Promise<Prepared> => {
  const { client, spec, epoch } = context;
  const [written, moved] = byWriting(plans);
  const names = plans.map(({ table }) => productionName(table));
  const held = moved.filter(keepsWritersOut);
  const [, , { runId, copied, totals }] = await askTogether(client, () => [
    lockPublishing(client, names),
    assertPublishing(client, spec.name, epoch),
    begin(),
    lockQuietly(client, namesInProduction([...written, ...held]), namesInProduction(moved)),
    checkPlanned(client, plans),
    confirm?.() ?? Promise.resolve(),
    ensureSchema(client, spec.schema),
  ]);
  await ensureKept(context, plans);
  const recordAll = (applied: Applied) =>
    askTogether(client, () => [
      runQuery(client, insertKept(runId, spec.name, plans)),
      runQuery(client, insertPublished(runId, plans, rowsBefore, applied)),
      record(runId, plans),
      oweHook(context, runId),
      owePublished(context, runId),
    ]);
  const [, applied] = await askTogether(client, () => [
    runQuery(client, unlimitedWaits),
    applyAll(client, plans, copied, rowsBefore, locksmith, recordAll),
  ]);
  return { ...applied, runId, totals };
};

const isPartitioned = ({ table, production }: PublishPlan): boolean =>
  table.partitionBy !== undefined || production?.kind === 'p';

const commit = async (
  context: RunContext,
  plans: readonly PublishPlan[],
  { runId, totals, views, locked, touched, last }: Prepared,
  { untilTaken }: Locksmith,
): Promise<void> => {
  const { client } = context;
  const readersWait = plans.some(({ blocksReaders }) => blocksReaders);
  const viewNames = views.map(({ name }) => name);
  const mark = async (): Promise<void> => {
    const marked = await runQuery(client, markPublished(runId, totals));
    if (marked.rowCount === 0) throw await whyStopped(client, runId);
  };
  const take = async (names: readonly string[], queueMs: number): Promise<void> => {
    const own = names.filter((name) => locked.includes(name));
    // These statements lock tables of other owners, which we may not be allowed to lock ourselves.
    // They get the same time limit.
    const bounded =
      last.length === 0
        ? last
        : [boundWaits(queueMs, touched.length), ...last, 'set local lock_timeout = 0;'];
    await client.query(
      [
        lockTables(own, 'access exclusive', queueMs, 'only ', lockViews(views)),
        ...bounded,
        // Precedes the hook, whose statements use the author's search path.
        ...(plans.some(isPartitioned) ? [recordPartitions(runId)] : []),
        ...publishingStatements(context),
        'commit',
      ].join('\n'),
    );
  };
  await untilTaken([...viewNames, ...locked, ...touched], readersWait, take, mark).catch((cause: unknown) => {
    throw publishRefusalOfAny(byWriting(plans)[1], publishingError(context, cause));
  });
};

/**
 * State on which row counts depend. If it changes between attempts, rows are counted again. Proved
 * by test/modes/append.test.ts, "at the same time", and dropped-partitions.test.ts.
 */
const judgedBy = (plans: readonly PublishPlan[]): string =>
  JSON.stringify(
    plans.map(({ production: found }) => [
      found?.oid,
      found?.published,
      found?.partitioning?.partitions.map(({ oid }) => oid),
    ]),
  );

/**
 * Publishes the built tables together; production changes in one step or not at all.
 *
 * All locks that affect readers are requested in one statement with a short time limit, and again
 * after a pause, so that readers never queue behind us for long. Errors: ETL_INCOMPLETE,
 * ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY, ETL_PUBLISH_REFUSED, ETL_PUBLISH_LOCKED,
 * ETL_PUBLISH_MEMORY; ChangedByHand.
 */
export const publishTables = async (
  context: RunContext,
  built: readonly BuiltTable[],
  occasion: Occasion,
): Promise<void> => {
  const { client } = context;
  let judged: { readonly by: string; readonly before: ReadonlyMap<string, number | null> } | undefined;
  const plan = createPlanner(context, built, occasion.runId);
  await untilPublished(context, built, async (locksmith, announce, untimed) => {
    // In this order: a publication in between is noticed, because production is not as planned then.
    const [plans] = await askTogether(client, () => [untimed(plan), occasion.look?.() ?? Promise.resolve()]);
    const by = judgedBy(plans);
    const isNew = judged?.by !== by;
    if (judged === undefined || isNew) judged = { by, before: await occasion.judge(plans) };
    const { before } = judged;
    announce(
      plans.flatMap((one) => [
        one.strategy.notice(one),
        takenNotice(one),
        replacedText(context.spec.name, one),
      ]),
    );
    await withOwnTransaction(client, async (beginning) => {
      const idle = { text: `set local idle_in_transaction_session_timeout = ${frozenMs}` };
      const [, , prepared] = await askTogether(client, () => [
        (isNew && occasion.onJudged?.(plans)) || Promise.resolve(),
        runTogether(client, [beginning, idle, ...durable]),
        prepare(context, occasion, plans, before, locksmith),
      ]);
      await commit(context, plans, prepared, locksmith);
    });
  });
};

/**
 * Publishes a run. Returns a reason if the tables must be built again, because production or their
 * sources have changed. `onJudged` is called before the transaction. Errors: those of
 * `publishTables` and `confirmPlanned`, ETL_GUARD, ETL_DUPLICATE_ROWS.
 */
export const publishRun = async (
  context: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
  built: readonly BuiltTable[],
  onJudged: (plans: readonly PublishPlan[]) => Promise<void>,
): Promise<ChangedByHand | Overtaken | undefined> => {
  const confirm = (): Promise<void> => confirmPlanned(context, planned, built);
  let recorded: RecordedRows = [];
  try {
    await publishTables(context, built, {
      runId,
      look: async () => void (recorded = await recordedRows(context.client, built)),
      judge: async (plans) => {
        // Before rows are counted in vain, or refused although the tables will be built again.
        if (!passUncounted(context, plans, recorded))
          await askTogether(context.client, () => [confirm(), onJudged(plans)]);
        return checkGuards(context, plans, recorded);
      },
      onJudged,
      confirm,
      begin: async () => ({ runId, ...(await checkComplete(context, runId)) }),
      record: (_, plans) => recordFiles(context, runId, plans),
    });
    return undefined;
  } catch (cause) {
    if (cause instanceof ChangedByHand || cause instanceof Overtaken) return cause;
    throw await withRecords(context, runId, cause, (name) => built.find(({ table }) => table === name)!);
  }
};
