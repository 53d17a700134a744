// Publishes all tables of a run in one transaction: proof of completeness, in-place fills, swaps, record.

import { setTimeout as sleep } from 'node:timers/promises';
import { assertPublishing } from '../../checkpoint/epoch.ts';
import { fileTotals, finishRun } from '../../checkpoint/ledger.ts';
import { whyStopped } from '../../checkpoint/run-end.ts';
import { ensureSchema, runQuery, withPath, withTransaction, type Client } from '../../db/client.ts';
import { retryOf } from '../../db/retry.ts';
import { hintOf, isRefusal } from '../../db/server-error.ts';
import { EtlError, codeOf, messageOf } from '../../errors.ts';
import { doKeySteps, type KeyStep } from '../../publish/keys.ts';
import {
  TablesLocked,
  createLocksmith,
  holdersOf,
  lockQuietly,
  lockTables,
  type Holder,
  type Locksmith,
} from '../../publish/locks.ts';
import { productionName, type BuiltTable } from '../../publish/names.ts';
import { ProductionChanged, readCatalogues } from '../../publish/production.ts';
import {
  checkPlanned,
  checkTargets as checkAll,
  insertPublished,
  planNotice,
  planPublish,
  type PublishPlan,
} from '../../publish/publish-table.ts';
import { replaceRows, unsupported } from '../../publish/replace-rows.ts';
import { prepareSwaps, swapMessage } from '../../publish/swap.ts';
import { checkComplete, checkSources } from './completeness.ts';
import { stopIfAsked, type RunContext } from '../context.ts';
import { checkGuards } from './guard.ts';
import { landingTable, namesOf } from '../landing.ts';
import type { PlannedTable } from '../begin/plan.ts';

/** How long publishing is tried again, before the run stops with a clear error. */
const publishWaitMs = 60_000;

/** A transaction keeps what it has done while it tries to get locks: not for long, because writers may wait for that, and not at
 *  all when readers do. */
const triesMs = 10_000;
const triesWithReadersMs = 1_000;

/** The server ends a session whose client does nothing for this long while it publishes: it is frozen, and others wait for its
 *  locks. We pause for a second at most. Proved by test/fault/publish-frozen.test.ts. */
const frozenMs = 5_000;

/** Somebody is named who is in the way when he has been for this long. */
const patienceMs = 1_000;

/** What another attempt at the same transaction may not meet: a lock, a deadlock, a new view. */
const isPassing = (error: unknown): boolean =>
  error instanceof ProductionChanged || error instanceof TablesLocked || retryOf(error) === 'chunk';

/** Nobody is in the way: the plan is not true any more. */
const isChange = (error: unknown): boolean => error instanceof ProductionChanged || codeOf(error) === '40001';

/**
 * Looks at what is in production before anything is loaded. What SQL makes of a table is not known yet, and judged when it
 * is built. Errors: ETL_PUBLISH_SHAPE, ETL_PUBLISH_REFUSED.
 */
export const checkTargets = ({ client, spec }: RunContext, planned: readonly PlannedTable[]): Promise<void> =>
  checkAll(
    client,
    planned.flatMap(({ table }) =>
      table.transform === undefined
        ? [
            {
              table: { ...namesOf(spec, table), primaryKey: table.primaryKey },
              like: landingTable(spec, table),
            },
          ]
        : [],
    ),
  );

const publishError = (table: string, cause: unknown): unknown => {
  if (isPassing(cause) || !isRefusal(cause)) return cause;
  const details = {
    table,
    sqlstate: codeOf(cause),
    problem: messageOf(cause),
    hint: hintOf(cause),
  };
  return new EtlError('ETL_PUBLISH_REFUSED', details, { cause });
};

/** Of a statement about several tables: the server says which one, or we name them all. What a trigger raises names none. */
const refusedOf = (plans: readonly PublishPlan[], cause: unknown): unknown => {
  const { table = plans.map((plan) => plan.table.table).join(', ') } = cause as { table?: string };
  return publishError(table, cause);
};

/** Keys and indexes that a table still lacks. */
interface Unfinished {
  readonly plan: PublishPlan;
  readonly steps: readonly KeyStep[];
}

const replaceEach = async (client: Client, plans: readonly PublishPlan[]): Promise<readonly Unfinished[]> => {
  const unfinished = [];
  for (const plan of plans) {
    const { table, builtAs, production } = plan;
    const steps = await replaceRows(client, table, builtAs, production!).catch((cause: unknown) => {
      throw publishError(table.table, unsupported(table, production!, cause));
    });
    unfinished.push({ plan, steps });
  }
  return unfinished;
};

/**
 * Replaces rows in place, those of tables first whose readers do not wait for it; then makes keys and indexes, when the rows of
 * all tables are in.
 */
const replaceInPlace = async (
  client: Client,
  plans: readonly PublishPlan[],
  { untilTaken }: Locksmith,
): Promise<void> => {
  const [quiet, loud] = [
    plans.filter((plan) => !plan.blocksReaders),
    plans.filter((plan) => plan.blocksReaders),
  ];
  const unfinished = [...(await replaceEach(client, quiet))];
  if (loud.length > 0) {
    await untilTaken(namesOfPlans(loud), triesMs, (names, queueMs) =>
      client.query(lockTables(names, 'access exclusive', queueMs)),
    );
    unfinished.push(...(await replaceEach(client, loud)));
  }
  // The server makes no index of a table for which a deferred foreign key has yet to be checked, and what is left for the commit
  // is done while readers wait. Proved by test/integration/publish-keys.test.ts, "while its foreign keys are deferred".
  if (plans.length > 0)
    await withPath(client, plans[0]!.table.path, () => client.query('set constraints all immediate')).catch(
      (cause: unknown) => {
        throw refusedOf(plans, cause);
      },
    );
  for (const { plan, steps } of unfinished) await doKeySteps(client, plan.table, steps);
};

const namesOfPlans = (plans: readonly PublishPlan[]): readonly string[] =>
  plans.flatMap(({ table, production }) => (production === undefined ? [] : [productionName(table)]));

const everything = (built: readonly BuiltTable[]): TablesLocked['wanted'] => ({
  names: built.map(productionName),
  mode: 'access exclusive',
});

/** Everything up to the locks that readers feel. */
const prepare = async (
  context: RunContext,
  runId: number,
  plans: readonly PublishPlan[],
  locksmith: Locksmith,
): Promise<void> => {
  const { client, spec } = context;
  const [inPlace, swaps] = byStrategy(plans);
  await client.query(`set local idle_in_transaction_session_timeout = ${frozenMs}`);
  await assertPublishing(client, spec.name, context.epoch);
  await checkComplete(
    context,
    runId,
    plans.map(({ table }) => table),
  );
  await ensureSchema(client, spec.schema);
  await lockQuietly(client, namesOfPlans(inPlace), namesOfPlans(swaps));
  await checkPlanned(client, plans);
  await replaceInPlace(client, inPlace, locksmith);
  if (swaps.length > 0)
    await prepareSwaps(client, runId, swaps).catch((cause: unknown) => {
      throw refusedOf(swaps, cause);
    });
  await runQuery(client, insertPublished(runId, plans));
};

const byStrategy = (plans: readonly PublishPlan[]): [PublishPlan[], PublishPlan[]] => [
  plans.filter(({ strategy }) => strategy === 'in place'),
  plans.filter(({ strategy }) => strategy === 'swap'),
];

/** The swaps and the commit. A run that somebody has cancelled meanwhile is not published. */
const commitSwaps = async (
  { client }: RunContext,
  runId: number,
  plans: readonly PublishPlan[],
  { untilTaken }: Locksmith,
): Promise<void> => {
  const [, swaps] = byStrategy(plans);
  const has = await readCatalogues(client);
  const boundMs = plans.some(({ blocksReaders }) => blocksReaders) ? triesWithReadersMs : triesMs;
  await untilTaken(namesOfPlans(swaps), boundMs, async (names, queueMs) => {
    const finished = await runQuery(client, finishRun(runId));
    if (finished.rowCount === 0) throw await whyStopped(client, runId);
    const message = swaps.length === 0 ? 'commit' : swapMessage(runId, swaps, { names, queueMs, has });
    await client.query(message);
  }).catch((cause: unknown) => {
    throw refusedOf(swaps, cause);
  });
};

const lockedError = (built: readonly BuiltTable[], holder: Holder | undefined, cause: unknown): EtlError => {
  const table = holder?.table ?? built.map(({ table: name }) => name).join(', ');
  const pids = holder?.pid ?? 'unknown';
  return new EtlError('ETL_PUBLISH_LOCKED', { table, seconds: publishWaitMs / 1_000, pids }, { cause });
};

/** The server's memory for locks is the one that many tables exhaust: each needs some at once. */
const memoryError = async ({ client }: RunContext, tables: number, cause: unknown): Promise<unknown> => {
  if (codeOf(cause) !== '53200') return cause;
  const { locks } = (await client.query(`select current_setting('max_locks_per_transaction') as locks`))
    .rows[0];
  return new EtlError('ETL_PUBLISH_MEMORY', { tables, problem: messageOf(cause), locks }, { cause });
};

/** Says everything once. */
const createTeller = ({ emit }: RunContext): ((messages: readonly (string | undefined)[]) => void) => {
  const told = new Set<string>();
  return (messages) => {
    for (const message of messages)
      if (message !== undefined && !told.has(message)) {
        told.add(message);
        emit({ type: 'notice', message });
      }
  };
};

/** Says who is in the way, of each table once: who holds it may change with every look. */
const createHolderTeller = (context: RunContext): ((holders: readonly Holder[]) => void) => {
  const told = new Set<string>();
  return (holders) => {
    const [first] = holders;
    if (first === undefined || told.has(first.table)) return;
    told.add(first.table);
    const pids = [...new Set(holders.filter(({ table }) => table === first.table).map(({ pid }) => pid))];
    const message = `publishing waits for ${first.table}, which is locked by process ${pids.join(', ')}`;
    context.emit({ type: 'notice', message });
  };
};

/**
 * Publishes the built tables together; production changes in one step or not at all.
 *
 * Locks that readers feel are asked for with a short bound, all in one statement, and again after a pause, so that readers never
 * queue behind us for long. Errors: ETL_SOURCE_CHANGED, ETL_GUARD, ETL_INCOMPLETE, ETL_PUBLISH_SHAPE, ETL_PUBLISH_NO_KEY,
 * ETL_PUBLISH_REFUSED, ETL_PUBLISH_LOCKED, ETL_PUBLISH_MEMORY.
 */
export const publishTables = async (
  context: RunContext,
  runId: number,
  built: readonly BuiltTable[],
): Promise<void> => {
  const { client } = context;
  await checkSources(await fileTotals(client, runId));
  const tell = createTeller(context);
  const tellHolders = createHolderTeller(context);
  const locksmith = createLocksmith(client, (holders, waitedMs) => {
    stopIfAsked(context);
    if (waitedMs > patienceMs) tellHolders(holders);
  });
  let measured: readonly BuiltTable[] | undefined;
  const deadline = performance.now() + publishWaitMs;
  for (let attempt = 1; ; attempt += 1) {
    stopIfAsked(context);
    try {
      measured ??= await checkGuards(context, built);
      const plans = await planPublish(client, measured);
      tell(plans.map(planNotice));
      await withTransaction(
        client,
        () => prepare(context, runId, plans, locksmith),
        () => commitSwaps(context, runId, plans, locksmith),
      );
      return;
    } catch (error) {
      if (!isPassing(error)) throw await memoryError(context, built.length, error);
      const wanted = error instanceof TablesLocked ? error.wanted : everything(built);
      const holders = await holdersOf(client, wanted.names, wanted.mode);
      if (performance.now() > deadline) throw lockedError(built, holders[0], error);
      if (!isChange(error)) tellHolders(holders);
      // Whoever queued behind our locks gets his turn before we ask again.
      await sleep(Math.min(100 * attempt, 1_000));
    }
  }
};
