// The composer: one run of a pipeline from files to published tables, as a list of steps.

import { hasCorrections } from '../checkpoint/corrections.ts';
import { advanceRun, latestRun, runStanding } from '../checkpoint/ledger.ts';
import { runOfJob, whyStopped } from '../checkpoint/run-end.ts';
import { lossOf, runQuery, withClient, type Client } from '../db/client.ts';
import { retryOf } from '../db/retry.ts';
import { asServerError } from '../db/server-error.ts';
import { walPosition } from '../db/session/server-wal.ts';
import { EtlError, messageOf } from '../errors.ts';
import { defaultQueue, type RunEvent, type RunResult } from '../model.ts';
import type { Pipeline } from '../pipeline/declare/define-pipeline.ts';
import type { BuiltTable } from '../publish/tables.ts';
import type { LoadQueue } from '../queue/load-queue.ts';
import { beginRun, continueRun } from './begin/begin.ts';
import { findOutset, isFullRefresh } from './begin/outset.ts';
import { planNeeded } from './begin/plan-sources.ts';
import type { PlannedTable } from './begin/planned-table.ts';
import { buildTables } from './build/build.ts';
import { dropBuilt } from './build/empty-schema.ts';
import { step, type RunContext } from './context.ts';
import { finishRun } from './finish.ts';
import { callFailed, callOwed, callPublished, runHook } from './hooks.ts';
import { applyCorrections, sayOutdated, withRoomForCorrections } from './load/apply-corrections.ts';
import { loadMissing } from './load/load.ts';
import type { LoadingRun } from './load/loading-run.ts';
import { openRunQueue } from './load/open-queue.ts';
import { saveNotices } from './notices/save-notices.ts';
import { deliverAtEnd, isSomethingOwed, sayUnreachable } from './notify/at-end.ts';
import type { FromWorker, RunOptions } from './options.ts';
import { keepRunPlan } from './plan/keep-plan.ts';
import { rehearse } from './plan/rehearse.ts';
import { coordinatorContext, prepareRun, type PreparedRun } from './prepare.ts';
import { checkRejects } from './publish/completeness.ts';
import { publishRun } from './publish/publish.ts';
import { tidyUp } from './publish/tidy-up.ts';
import { recordEnd, recordFailure } from './record-failure.ts';
import { untilDone, type RecoverOptions } from './recover.ts';
import { takeLock } from './take-lock.ts';
import { testRun } from './tests/test-run.ts';

/** State of the run that survives lost connections. */
interface Memory {
  planned?: readonly PlannedTable[];
  run?: LoadingRun;
  /** The server's epoch when it was last connected. */
  epoch?: string;
  /** Where the server's log ended when it was first connected. */
  wal?: string | undefined;
  /** A connection was opened at least once. */
  wasReached: boolean;
  /** There may be notifications to deliver. */
  owes: boolean;
  readonly start: number;
}

/** Advances the state of the run, and saves its notices so far. Errors: ETL_RUN_CANCELLED. */
const advance = async (
  { client, report }: RunContext,
  runId: number,
  state: 'loading' | 'loaded' | 'publishing',
): Promise<void> => {
  const advanced = await runQuery(client, advanceRun(runId, state));
  if (advanced.rowCount === 0) throw await whyStopped(client, runId);
  await saveNotices(client, report, runId);
};

/**
 * Drops built tables after a failure: they are logged and as large as production, and the next run may never come. If the
 * server is gone, or is shutting down, the next run drops them.
 */
const dropAfterFailure = async (context: RunContext, error: unknown): Promise<void> => {
  const { address, client, report } = context;
  if (retryOf(lossOf(client, address, error)) === 'server') return;
  await dropBuilt(context).catch((cause: unknown) =>
    report.logger.warn(
      { error: cause },
      'the built tables could not be dropped; the next run will drop them',
    ),
  );
};

/** Loads missing data, and corrections of rejected records: those of earlier rejects first, because these alone may exceed a limit. */
const loadCorrected = async (
  context: RunContext,
  run: LoadingRun,
  queue: LoadQueue | undefined,
): Promise<ReadonlyMap<string, number>> => {
  const isCorrected = await hasCorrections(context.client, context.spec.name);
  if (isCorrected) {
    await sayOutdated(context, run);
    await applyCorrections(context, run);
  }
  const roomy = isCorrected ? await withRoomForCorrections(context, run) : { context, run };
  const seconds = await loadMissing(roomy.context, roomy.run, queue).catch((error: unknown) => {
    // A table over its limit stops the load early; `checkRejects` throws the error that names its rejects.
    if (!(error instanceof EtlError) || error.code !== 'ETL_REJECT_LIMIT') throw error;
    return new Map<string, number>();
  });
  if (isCorrected) await applyCorrections(context, run);
  return seconds;
};

/** rehearse -> load -> check rejects -> build -> test, with the run's state in the ledger at every step. */
const loadAndBuild = async (
  context: RunContext,
  run: LoadingRun,
  planned: readonly PlannedTable[],
  queue: LoadQueue | undefined,
): Promise<readonly BuiltTable[]> => {
  const { runId } = run.lease;
  const { plans } = await rehearse(context, planned);
  await keepRunPlan(context, runId, planned, plans);
  await advance(context, runId, 'loading');
  await runHook(context, 'before', runId);
  // The first rehearsal could not see what the hook creates.
  if (context.spec.hooks?.before !== undefined) await rehearse(context, planned, ['after']);
  const loadSeconds = await step(context, 'load', () => loadCorrected(context, run, queue));
  await checkRejects(context, runId);
  await advance(context, runId, 'loaded');
  await runHook(context, 'after', runId);
  const built = await step(context, 'build', () => buildTables(context, runId, planned, loadSeconds));
  await testRun(context, runId, built);
  return built;
};

/** The queue is open from the rehearsal to the build. */
const loadAndPublish = async (
  context: RunContext,
  run: LoadingRun,
  planned: readonly PlannedTable[],
): Promise<readonly BuiltTable[]> => {
  const { runId } = run.lease;
  const queue = await openRunQueue(context, run);
  const built = await loadAndBuild(context, run, planned, queue).catch(async (error: unknown) => {
    await queue?.close().catch(() => undefined);
    throw error;
  });
  await queue?.close();
  await advance(context, runId, 'publishing');
  await step(context, 'publish', () => publishRun(context, runId, built));
  return built;
};

/** Why a run ended, for the ledger and the caller. */
const endOf = ({ address, settings }: PreparedRun, thrown: unknown): EtlError => {
  const reason: unknown = [settings.abort, settings.drain].find((stop) => stop?.aborted)?.reason;
  if (reason === undefined) return asServerError(address, thrown);
  const signal = messageOf(reason);
  return new EtlError('ETL_INTERRUPTED', { signal }, { cause: thrown });
};

/** The event for a server that is back, when nothing of this run was in staging or staging no longer matters. */
const serverIsBack = (memory: Memory, { epoch }: RunContext): RunEvent => {
  const crashed = memory.epoch !== undefined && memory.epoch !== epoch;
  return { type: 'recovered', crashed, chunks: 0, records: 0 };
};

/**
 * The run, if it is already published: by an earlier attempt, whose commit succeeded although its connection was lost, or by
 * another delivery of the job. A worker that was paused before this point cannot know of that one, but the lock's holder can look.
 */
const publishedBefore = async (
  { client, jobId }: RunContext,
  { run }: Memory,
): Promise<number | undefined> => {
  if (run !== undefined)
    return (await runStanding(client, run.lease.runId)).state === 'published' ? run.lease.runId : undefined;
  const earlier = jobId === undefined ? undefined : await runOfJob(client, jobId);
  return earlier?.state === 'published' ? earlier.id : undefined;
};

/** One attempt on one connection. What earlier attempts did is in the ledger. */
const attempt = async (
  prepared: PreparedRun,
  client: Client,
  memory: Memory,
  isRetry: boolean,
): Promise<RunResult> => {
  const { spec, fromWorker } = prepared;
  const context = await coordinatorContext(prepared, client);
  const back = isRetry ? serverIsBack(memory, context) : undefined;
  memory.epoch = context.epoch;
  memory.wal ??= await walPosition(client);
  await takeLock(context, isRetry);
  if (!isRetry) sayUnreachable(context);
  memory.owes ||= await isSomethingOwed(client);
  const published = await publishedBefore(context, memory);
  if (published !== undefined) {
    if (back !== undefined) context.report.emit(back);
    // Staging belongs to the newest run, which may be another one by now, between two of its workers.
    if ((await latestRun(client, spec.name))?.id === published) await tidyUp(context);
    await callOwed(context);
    return finishRun(context, published, 'published', memory);
  }
  await callOwed(context);
  if (memory.run === undefined) {
    // Evaluated again after a lost connection: another process may have published since.
    const judging = { ...context, isFullRefresh: await isFullRefresh(context) };
    const planned = await step(context, 'plan', () => planNeeded(judging));
    const outset = await findOutset(context, planned, fromWorker.resume ?? false);
    if (outset.standing !== undefined) {
      if (back !== undefined) context.report.emit(back);
      // A process killed right after publishing leaves its staging tables.
      await tidyUp(context);
      return finishRun(context, outset.standing, 'unchanged', memory);
    }
    memory.run = await beginRun(judging, planned, outset, back);
    memory.planned = planned;
  } else memory.run = await continueRun(context, memory.run);
  const built = await loadAndPublish(context, memory.run, memory.planned!).catch(async (error: unknown) => {
    await dropAfterFailure(context, error);
    throw error;
  });
  await tidyUp(context, built);
  await callPublished(context, memory.run.lease.runId);
  return finishRun(context, memory.run.lease.runId, 'published', memory);
};

const runPrepared = async (prepared: PreparedRun): Promise<RunResult> => {
  const { address, backend, settings, fromWorker, spec, report, receivers } = prepared;
  const memory: Memory = { wasReached: false, owes: receivers.length > 0, start: performance.now() };
  // A worker delivers notifications beside its other runs.
  const deliver = async (): Promise<void> => {
    if (memory.owes && memory.wasReached && fromWorker.jobId === undefined)
      await deliverAtEnd(address, report.logger);
  };
  const recovery: RecoverOptions = {
    ...settings,
    address,
    backend,
    emit: report.emit,
    wasReached: () => memory.wasReached,
    progress: report.progress,
  };
  try {
    const result = await untilDone(recovery, (isRetry) =>
      withClient(
        address,
        (client) => {
          memory.wasReached = true;
          return attempt(prepared, client, memory, isRetry);
        },
        settings.abort,
      ),
    );
    await report.end();
    await deliver();
    return result;
  } catch (thrown) {
    const error = endOf(prepared, thrown);
    const runId = memory.run?.lease.runId;
    error.run = runId;
    if (runId !== undefined) await recordEnd(prepared, runId, error);
    else if (fromWorker.jobId === undefined) {
      const failed = { pipeline: spec.name, job: null, queue: defaultQueue };
      await recordFailure(address, failed, error, report.logger, receivers);
    }
    await callFailed(prepared, runId, error);
    await report.end(error);
    if (error.code !== 'ETL_INTERRUPTED') await deliver();
    throw error;
  }
};

/** Runs a pipeline as `runPipeline` does, for a job of the run queue. */
export const runForWorker = async (
  pipeline: Pipeline,
  options: RunOptions,
  fromWorker: FromWorker,
): Promise<RunResult> => runPrepared(await prepareRun(pipeline, options, fromWorker, 'coordinator'));

/**
 * Runs a pipeline once: plans, loads, checks, builds and publishes; production changes in one step or not at all.
 *
 * It continues an unfinished run, table by table if definition or files have changed, and waits for a lost server. Without
 * `databaseUrl` or `connection` the server is found as on the command line: DATABASE_URL, PG*, embedded.
 * Returns what was done to each table. Errors: EtlError, with the codes of docs/reference/errors.md; the run's end and
 * its error are recorded in etl.run.
 */
export const runPipeline = (pipeline: Pipeline, options: RunOptions = {}): Promise<RunResult> =>
  runForWorker(pipeline, options, {});
