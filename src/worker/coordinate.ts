// Works off a job of a run queue: finds pipeline and run, coordinates the run, reports the outcome.

import { hostname } from 'node:os';
import { isAbsolute } from 'node:path';
import { readDeaths } from '../ledger/run/deaths.ts';
import { runOfJob } from '../ledger/run/run-end.ts';
import { runQuery, withClient } from '../db/client.ts';
import { asEtlError, EtlError } from '../core/errors/errors.ts';
import { runDeathPauseMs, runDeathsMax, runHandedOnMs, runLockedRetryMs } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { TraceContext } from '../core/model.ts';
import type { RunEvent } from '../core/run-event.ts';
import type { Receiver } from '../core/notification.ts';
import { readRunRequest, type RunRequest } from '../pipeline/job-payload.ts';
import { bullNameOf } from '../queue/run-queue.ts';
import type { RunDelivery, RunOutcome } from '../queue/serve-runs.ts';
import { recordFailure } from '../run/record-failure.ts';
import type { FromWorker, RunOptions } from '../run/options.ts';
import { runForWorker } from '../run/run-pipeline.ts';
import { traceDelivery } from '../report/job-trace.ts';
import { noticeOf } from '../report/notice.ts';
import type { Catalog } from './catalog.ts';
import type { LockedRuns } from './locked-runs.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { Site } from './find-site.ts';
import { isScheduledJob, recordJobEnd } from './schedule/store.ts';

export interface Shared {
  readonly site: Site;
  readonly catalog: Catalog;
  readonly queueNames: readonly string[];
  readonly metrics: WorkerMetrics;
  readonly logger: Logger;
  readonly drain: AbortController;
  readonly abort: AbortController;
  readonly common: RunOptions;
  readonly lockedRuns: LockedRuns;
  readonly fromWorker: (pipeline: string) => FromWorker;
  /** `pipeline` is undefined if the job cannot be read. */
  readonly receiversOf: (pipeline: string | undefined) => readonly Receiver[];
}

const earlierRun = async ({ site }: Shared, jobId: string): ReturnType<typeof runOfJob> => {
  const { backend, namespace } = site.queues;
  const run = await withClient(site.address, async (client) => {
    await backend.claim(client, namespace);
    return runOfJob(client, jobId);
  });
  if (run?.errorCode === 'ETL_RUN_CANCELLED') throw new EtlError('ETL_RUN_CANCELLED', { run: run.id });
  return run;
};

/** Set for a job that must wait before it is tried again. */
class Later extends Error {
  readonly laterMs: number;

  /** Without a reason, another run of the pipeline goes first. */
  constructor(laterMs: number, why = '') {
    super(why);
    this.laterMs = laterMs;
  }
}

/**
 * Returns the error with which a run ends that has killed too many processes. Throws Later if the
 * run must pause.
 */
const deadlyOf = async (
  { site }: Shared,
  pipeline: string,
  earlier: Awaited<ReturnType<typeof earlierRun>>,
  stalls: number,
): Promise<EtlError | undefined> => {
  if (earlier === undefined) {
    // The processes died before the run had a number; only the queue has counted them.
    if (stalls < runDeathsMax) return undefined;
    throw new EtlError('ETL_RUN_DEADLY', {
      pipeline,
      deaths: stalls,
      run: 'a job, before its run began',
      last: '',
    });
  }
  const { id, state } = earlier;
  if (['published', 'failed', 'cancelled'].includes(state)) return undefined;
  const { count, sinceMs, host, pid } = await withClient(site.address, (client) => readDeaths(client, id));
  if (count > 1 && count < runDeathsMax && sinceMs < runDeathPauseMs)
    throw new Later(Math.ceil(runDeathPauseMs - sinceMs), 'the run pauses: two processes died');
  const last = `; the last was process ${pid} on ${host}, in state ${state}`;
  const details = { pipeline, deaths: count, run: `run ${id}`, last };
  return count < runDeathsMax ? undefined : new EtlError('ETL_RUN_DEADLY', details);
};

/** Replaces the error of a host that lacks local files of a run which another host has planned. */
const asElsewhere = (error: unknown, { host: plannedOn }: { readonly host: string }): unknown => {
  const host = hostname();
  if (!(error instanceof EtlError) || error.code !== 'ETL_SOURCE_NOT_FOUND' || plannedOn === host)
    return error;
  const { table, glob: file, directory } = error.details;
  // A bucket is the same for all hosts.
  if (!isAbsolute(String(directory))) return error;
  const problem = `nothing matches in ${directory}; host ${plannedOn} planned the run`;
  return new EtlError('ETL_SOURCE_ELSEWHERE', { table, host, file, problem }, { cause: error });
};

const runRequest = async (
  shared: Shared,
  delivery: RunDelivery,
  request: RunRequest,
  parent: TraceContext | undefined,
  onBegun: () => void,
): Promise<'published' | 'unchanged'> => {
  const { catalog, metrics, logger, drain, abort, common, fromWorker, lockedRuns } = shared;
  const { jobId, queueName, stalls } = delivery;
  const { pipeline: name, options } = request;
  const waitMs = await lockedRuns.waitOf(name, delivery);
  if (waitMs !== undefined) throw new Later(waitMs);
  const { pipeline, directory, file } = catalog.find(name);
  const earlier = await earlierRun(shared, jobId);
  if (earlier?.state === 'published') return earlier.state;
  const deadly = await deadlyOf(shared, name, earlier, stalls);
  // A later delivery continues its run, with the definition and parameters that the run recorded.
  const isFirst = earlier === undefined;
  const { params, definition: hash } = earlier ?? request;
  const definedBy = isFirst ? request.definedBy : undefined;
  const onEvent = (event: RunEvent): void => {
    metrics.hear(name, event);
    if (event.type === 'started') {
      onBegun();
      logger.info({ run: event.runId, pipeline: name, job: jobId }, 'run started');
    }
    const notice = noticeOf(event);
    if (notice !== undefined)
      logger[event.type === 'waiting' ? 'warn' : 'info']({ pipeline: name, job: jobId }, notice);
  };
  const own: RunOptions = {
    ...common,
    params,
    directory,
    pipelineFile: file,
    fresh: isFirst && options.fresh,
    fullRefresh: isFirst && options.fullRefresh,
    allowShrink: options.allowShrink,
    drain: drain.signal,
    signal: abort.signal,
    onEvent,
  };
  const resume = !isFirst || options.resume;
  const result = await runForWorker(pipeline, own, {
    ...fromWorker(name),
    jobId,
    queueName,
    definition: { hash, ...(definedBy !== undefined && { params: definedBy }) },
    resume,
    deadly,
    parent,
  }).catch((error: unknown) => {
    throw earlier === undefined ? error : asElsewhere(error, earlier);
  });
  const { runId: run, outcome, seconds } = result;
  metrics.runEnded(name, outcome);
  logger.info({ run, pipeline: name, job: jobId, outcome, seconds }, 'run ended');
  return outcome;
};

/** Records the run's outcome in its schedule. A failure is logged; it must not repeat the run. */
const recordOutcome = async ({ site, logger }: Shared, jobId: string, state: string): Promise<void> => {
  if (!isScheduledJob(jobId)) return;
  await withClient(site.address, (client) => runQuery(client, recordJobEnd(jobId, state))).catch(
    (error: unknown) =>
      logger.warn({ job: jobId, code: asEtlError(error).code }, 'the schedule cannot be updated'),
  );
};

/** Returns when the run is offered again; undefined: it has failed. */
const laterOf = (
  { logger, drain, lockedRuns }: Shared,
  { jobId: job }: RunDelivery,
  pipeline: string | undefined,
  thrown: unknown,
): { readonly laterMs: number } | undefined => {
  if (thrown instanceof Later) {
    const { laterMs, message } = thrown;
    if (message === '') logger.info({ job, pipeline, laterMs }, 'the run waits');
    else logger.warn({ job, pipeline, laterMs }, message);
    return { laterMs };
  }
  const error = asEtlError(thrown);
  const fields = { job, pipeline, code: error.code };
  if (error.code === 'ETL_INTERRUPTED' || drain.signal.aborted) {
    logger.info(fields, 'the run is handed over');
    return { laterMs: runHandedOnMs };
  }
  if (error.code === 'ETL_RUN_LOCKED') {
    logger.info({ ...fields, error: error.message }, 'the run waits');
    return { laterMs: lockedRuns.wasLocked(pipeline!, job) };
  }
  // Only this worker cannot run it.
  if (error.code !== 'ETL_QUEUE_SHARED' && error.code !== 'ETL_SCHEMA_NEWER') return undefined;
  logger.error({ ...fields, error: error.message, hint: error.hint }, 'the job is handed back');
  return { laterMs: runLockedRetryMs };
};

export const coordinate = async (shared: Shared, delivered: RunDelivery): Promise<RunOutcome> => {
  const { jobId, data, queueName } = delivered;
  const { site, logger, metrics, common, lockedRuns } = shared;
  let pipeline: string | undefined;
  let hasBegun = false;
  const onBegun = (): void => {
    hasBegun = true;
    lockedRuns.wasFree(pipeline!);
  };
  try {
    const request = readRunRequest(data, jobId);
    pipeline = request.pipeline;
    const delivery = {
      tracer: common.tracer,
      queueName: bullNameOf(queueName),
      jobId,
      pipeline,
      parent: request.trace,
    };
    const outcome = await traceDelivery(delivery, (trace) =>
      runRequest(shared, delivered, request, trace, onBegun),
    );
    await recordOutcome(shared, jobId, outcome);
    await lockedRuns.offerNext(pipeline, queueName);
    return 'done';
  } catch (thrown) {
    const later = laterOf(shared, delivered, pipeline, thrown);
    if (later !== undefined) return later;
    const error = asEtlError(thrown);
    // A started or cancelled run records its own end.
    if (!hasBegun && error.code !== 'ETL_RUN_CANCELLED')
      await recordFailure(
        site.address,
        { pipeline: pipeline ?? null, job: jobId, queue: queueName },
        error,
        logger,
        shared.receiversOf(pipeline),
      );
    await recordOutcome(shared, jobId, error.code);
    if (pipeline !== undefined) await lockedRuns.offerNext(pipeline, queueName);
    metrics.runEnded(pipeline ?? 'unknown', error.code);
    const { code, message, hint } = error;
    logger.error({ job: jobId, pipeline, code, error: message, hint }, 'run failed');
    throw error;
  }
};
