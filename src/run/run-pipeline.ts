// Runs a pipeline from files to published tables. The steps of a run with work to do are in
// carry-out.ts.

import { hostname } from 'node:os';
import { pendingHook } from '../ledger/run/hook-state.ts';
import { heldBefore, type HeldReason } from '../ledger/production/held-files.ts';
import { fileKey } from '../ledger/run/decide.ts';
import { runStanding } from '../ledger/run/ledger.ts';
import { endRun, runOfJob } from '../ledger/run/run-end.ts';
import { runQuery, withClient, type Client } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import { asServerError } from '../db/connect/server-error.ts';
import { walPosition } from '../db/session/server-wal.ts';
import { asEtlError, EtlError, messageOf } from '../core/errors/errors.ts';
import { defaultQueue, type RunResult } from '../core/model.ts';
import type { RunEvent } from '../core/run-event.ts';
import { isPipeline, type Pipeline } from '../pipeline/define-pipeline.ts';
import { FilesHeld } from '../load/files-held.ts';
import { heldError, recordHeld, reportFiles, type KnownHeld } from './files/held-files.ts';
import { recordMoves } from './files/moves.ts';
import { askForEmptied, findOutset, isFullRefresh, lookBack, vanishedTables, type Past } from './outset.ts';
import { planNeeded } from './files/plan-sources.ts';
import type { PlannedTable } from './files/planned-table.ts';
import { step, type RunContext } from './context.ts';
import { finishRun } from './finish.ts';
import { callFailed, callOwed, callPublished } from './hooks.ts';
import type { BegunRun } from './begin.ts';
import { deliverAtEnd, isSomethingOwed, sayUnreachable } from './publish/at-end.ts';
import type { FromWorker, RunOptions } from './options.ts';
import { coordinate, prepareRun, type PreparedRun } from './prepare.ts';
import type { BuiltTable } from '../publish/table/tables.ts';
import { tidyUp } from './publish/tidy-up.ts';
import { endCutSessions, recordEnd, recordFailure, recordUnprepared } from './record-failure.ts';
import { untilDone, type RecoverOptions } from './recover.ts';

interface Memory {
  planned?: readonly PlannedTable[];
  run?: BegunRun | undefined;
  /** Files that were found bad while this process loaded them, by `fileKey`. */
  readonly held: Map<string, HeldReason & { readonly fingerprint: string }>;
  /** True if rows had vanished from staging, and were loaded again. */
  hasReplayed: boolean;
  epoch?: string;
  wal?: string | undefined;
  wasReached: boolean;
  owes: boolean;
}

const endOf = ({ address, settings }: PreparedRun, thrown: unknown): EtlError => {
  const reason: unknown = [settings.abort, settings.drain].find((stop) => stop?.aborted)?.reason;
  if (reason === undefined) return asServerError(address, thrown);
  const signal = messageOf(reason);
  return new EtlError('ETL_INTERRUPTED', { signal }, { cause: thrown });
};

/** Event for a run that has nothing in staging which a crash could have emptied. */
const serverIsBack = (memory: Memory, { epoch }: RunContext): RunEvent => {
  const crashed = memory.epoch !== undefined && memory.epoch !== epoch;
  return { type: 'recovered', crashed, chunks: 0, records: 0 };
};

/**
 * Returns the run if it is published already: the connection was lost during its commit, or another
 * worker did the same job while this worker was paused.
 */
const publishedBefore = async (
  { client, jobId }: RunContext,
  { run }: Memory,
): Promise<number | undefined> => {
  if (run !== undefined)
    return (await runStanding(client, run.lease.runId))?.state === 'published' ? run.lease.runId : undefined;
  const earlier = jobId === undefined ? undefined : await runOfJob(client, jobId);
  return earlier?.state === 'published' ? earlier.id : undefined;
};

/** Imported late, because a run without work starts faster (docs/benchmarks/findings.md). */
const work = () => import('./carry-out.ts');

/**
 * Plans, and begins the run that the plan needs. Returns the published run if there is nothing to
 * do.
 */
const beginWork = async (
  context: RunContext,
  memory: Memory,
  resume: boolean,
  before: KnownHeld['before'],
  past: Past,
  back?: RunEvent,
): Promise<number | undefined> => {
  const { client, spec } = context;
  // Decided at each attempt, because another process may have published meanwhile.
  const known = { before, now: memory.held };
  const judging = { ...context, isFullRefresh: isFullRefresh(context, past.latest), known };
  const [planned, emptiedTable] = await askTogether(client, () => [
    step(context, 'plan', () => planNeeded(judging)),
    askForEmptied(client, past),
  ]);
  const outset = await findOutset(context, planned, past, emptiedTable, resume);
  await recordMoves(context, planned);
  const held = planned.flatMap((one) => one.held);
  await recordHeld(client, spec.name, held, before);
  if (outset.standing !== undefined) {
    if (back !== undefined) context.report.emit(back);
    return outset.standing;
  }
  memory.run = await (await work()).beginRun(judging, planned, outset, back);
  memory.planned = planned;
  reportFiles(planned, context.report);
  return undefined;
};

/** A process killed right after publishing leaves its staging tables behind. */
const finishStanding = (context: RunContext, runId: number, memory: Memory): Promise<RunResult> =>
  finishRun(context, runId, 'unchanged', memory, () => tidyUp(context));

const finishPublished = async (
  context: RunContext,
  runId: number,
  memory: Memory,
  built: readonly BuiltTable[],
): Promise<RunResult> => {
  if (context.spec.hooks?.published === undefined)
    return finishRun(context, runId, 'published', memory, () => tidyUp(context, built));
  await tidyUp(context, built);
  await callPublished(context, runId);
  return finishRun(context, runId, 'published', memory);
};

/**
 * Returns the error if rows have vanished from staging without a crash of the server. Only once: if
 * they vanish again, somebody has to find out why.
 */
const vanishedRows = async (
  context: RunContext,
  memory: Memory,
  error: unknown,
): Promise<EtlError | undefined> => {
  if (!(error instanceof EtlError) || error.code !== 'ETL_INCOMPLETE' || memory.hasReplayed) return undefined;
  memory.hasReplayed = true;
  const vanished = await vanishedTables(context, memory.run!.lease.runId, memory.planned!);
  return vanished.size > 0 ? error : undefined;
};

/**
 * Carries the run out; plans again if files of it turn out to be bad, without them, or if rows have
 * vanished.
 */
const carryOutOthers = async (context: RunContext, memory: Memory): Promise<RunResult> => {
  const { runId } = memory.run!.lease;
  try {
    const built = await (await work()).carryOut(context, memory.run!, memory.planned!);
    return await finishPublished(context, runId, memory, built);
  } catch (error) {
    const held = error instanceof FilesHeld ? error : undefined;
    const ended = held === undefined ? await vanishedRows(context, memory, error) : heldError(held);
    if (ended === undefined) throw error;
    for (const [file, { code, message: problem }] of held?.errors ?? [])
      memory.held.set(fileKey(file), { code, problem, fingerprint: file.fingerprint });
    // If there is other work, it continues this run or takes its place.
    await runQuery(context.client, endRun(runId, 'failed', ended, hostname(), process.pid));
  }
  const { client, spec } = context;
  const [past, before] = await askTogether(client, () => [lookBack(context), heldBefore(client, spec.name)]);
  const standing = await beginWork(context, memory, false, before, past);
  if (standing !== undefined) return finishStanding(context, standing, memory);
  return carryOutOthers(context, memory);
};

const attempt = async (
  prepared: PreparedRun,
  client: Client,
  memory: Memory,
  isRetry: boolean,
): Promise<RunResult> => {
  const { spec, fromWorker, report } = prepared;
  report.enter('connect');
  const look = () =>
    askTogether(client, () => [
      walPosition(client),
      isSomethingOwed(client),
      pendingHook(client, spec.name),
      lookBack({ ...prepared, client }),
      heldBefore(client, spec.name),
    ]);
  const { context, looked } = await coordinate(prepared, client, look, isRetry);
  const [wal, owes, owedHook, past, before] = looked;
  const { latest } = past;
  const back = isRetry ? serverIsBack(memory, context) : undefined;
  memory.epoch = context.epoch;
  if (!isRetry) sayUnreachable(context);
  memory.wal ??= wal;
  memory.owes ||= owes;
  // A promoted standby may not have got the run.
  if (memory.run !== undefined && (latest?.id ?? 0) < memory.run.lease.runId) memory.run = undefined;
  const published = await publishedBefore(context, memory);
  if (published !== undefined) {
    if (back !== undefined) context.report.emit(back);
    // Staging belongs to the newest run, which another worker may have begun meanwhile.
    if (latest?.id === published) await tidyUp(context);
    await callOwed(context, owedHook);
    return finishRun(context, published, 'published', memory);
  }
  await callOwed(context, owedHook);
  if (memory.run === undefined) {
    const standing = await beginWork(context, memory, fromWorker.resume ?? false, before, past, back);
    if (standing !== undefined) return finishStanding(context, standing, memory);
    if (fromWorker.deadly !== undefined) throw fromWorker.deadly;
  } else memory.run = await (await work()).continueRun(context, memory.run);
  return carryOutOthers(context, memory);
};

const runPrepared = async (prepared: PreparedRun): Promise<RunResult> => {
  const { address, backend, settings, fromWorker, spec, report, receivers } = prepared;
  const memory: Memory = {
    held: new Map(),
    hasReplayed: false,
    wasReached: false,
    owes: receivers.length > 0,
  };
  // A worker delivers notifications beside its runs, so its runs do not.
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
    if (settings.abort?.aborted === true && memory.wasReached) await endCutSessions(prepared);
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

/** Like `runPipeline`, for a job of the run queue. */
export const runForWorker = async (
  pipeline: Pipeline,
  options: RunOptions,
  fromWorker: FromWorker,
): Promise<RunResult> => {
  const prepared = await prepareRun(pipeline, options, fromWorker, 'coordinator').catch(
    async (thrown: unknown) => {
      const error = asEtlError(thrown);
      // A worker records what fails before the runs of its jobs.
      if (fromWorker.jobId === undefined && isPipeline(pipeline))
        await recordUnprepared(pipeline, options, error, pipeline.notify ?? []);
      throw error;
    },
  );
  return runPrepared(prepared);
};

/**
 * Runs a pipeline once: plans, loads, checks, builds and publishes; production changes in one step
 * or not at all.
 *
 * An unfinished run is continued, table by table if definition or files have changed. A lost server
 * is waited for. Without `databaseUrl` or `connection` the server is found as on the command line:
 * DATABASE_URL, PG*, embedded. Returns what was done to each table. Errors: EtlError, with the
 * codes of docs/reference/errors.md; etl.run records the end of the run and its error.
 */
export const runPipeline = (pipeline: Pipeline, options: RunOptions = {}): Promise<RunResult> =>
  runForWorker(pipeline, options, {});
