// A long-lived worker: coordinates runs from the queue, one at a time, and helps with those of other workers in between.
//
//   ready -> stopping -> closed      a run in hand is drained, and its job handed on to another worker

import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { runOfJob } from '../checkpoint/run-end.ts';
import { runQuery, withClient } from '../db/client.ts';
import { asEtlError, EtlError } from '../errors.ts';
import { queueCloseTimeoutMs, runHandedOnMs, runLockedRetryMs, stopDeadlineMsDefault } from '../limits.ts';
import { silentLogger, type Logger } from '../logger.ts';
import type { RunEvent } from '../model.ts';
import { readRunRequest, type RunRequest } from '../pipeline/job-payload.ts';
import { runQueueState, serveRuns, type RunOutcome } from '../queue/run-queue.ts';
import type { RunHooks, RunOptions } from '../run/options.ts';
import { runForWorker } from '../run/run-pipeline.ts';
import { loadCatalog, type Catalog } from './catalog.ts';
import { serveHealth } from './health.ts';
import { createHelper, type Helper } from './help-others.ts';
import { lookForLostJobs } from './lost-jobs.ts';
import { createMetrics, type WorkerMetrics } from './metrics.ts';
import type { HealthOptions, PlaceOptions } from './options.ts';
import { openPlace, type Place } from './place.ts';
import { lookForSlots } from './schedule/make-due.ts';
import { isScheduledJob, recordJobEnd } from './schedule/store.ts';
import { watchDatabase } from './watch.ts';

export interface WorkerOptions
  extends PlaceOptions, Pick<RunOptions, 'workers' | 'chunkBytes' | 'workingDirectory' | 'waitMs'> {
  /** Folder of pipeline files; nothing outside of it is ever run. */
  readonly pipelines: string;
  /** Serves /health, /ready and /metrics. Default: not. */
  readonly health?: HealthOptions;
  /** Where the metrics go. Default: a registry of their own. */
  readonly registry?: Registry;
}

export interface EtlWorker {
  /** Names of the pipelines that it runs. */
  readonly pipelines: readonly string[];
  readonly registry: Registry;
  /** Of the health endpoints. */
  readonly healthPort: number | undefined;
  /**
   * Takes no more work, finishes the chunks in flight and hands the run on; after the deadline (25 s) breaks them off.
   * Everything that the worker opened is closed when it resolves.
   */
  readonly close: (options?: { readonly deadlineMs?: number }) => Promise<void>;
  /** Breaks off whatever is in flight; to be called after `close`, to hurry it. */
  readonly abort: () => void;
}

/** What all parts of one worker share. */
interface Shared {
  readonly place: Place;
  readonly catalog: Catalog;
  readonly metrics: WorkerMetrics;
  readonly logger: Logger;
  readonly drain: AbortController;
  readonly abort: AbortController;
  /** What every run of this worker is told. */
  readonly common: RunOptions;
  readonly hooksOf: (pipeline: string) => RunHooks;
}

/** A job that was delivered before may have a run: published by now, cancelled, or to be gone on with. */
const earlierRun = async ({ place }: Shared, job: string): Promise<'none' | 'unfinished' | 'published'> => {
  const run = await withClient(place.address, (client) => runOfJob(client, job));
  if (run?.errorCode === 'ETL_RUN_CANCELLED') throw new EtlError('ETL_RUN_CANCELLED', { run: run.id });
  if (run === undefined) return 'none';
  return run.state === 'published' ? 'published' : 'unfinished';
};

/** Returns what became of the run. */
const runRequest = async (
  shared: Shared,
  job: string,
  request: RunRequest,
): Promise<'published' | 'unchanged'> => {
  const { catalog, metrics, logger, drain, abort, common, hooksOf } = shared;
  const { pipeline: name, params, definition, options } = request;
  const { pipeline, directory, file } = catalog.find(name);
  const earlier = await earlierRun(shared, job);
  if (earlier === 'published') return earlier;
  // Only the first delivery begins anew: a later one goes on with what the first has loaded.
  const isFirst = earlier === 'none';
  const onEvent = (event: RunEvent): void => {
    metrics.hear(name, event);
    if (event.type === 'started') logger.info({ run: event.runId, pipeline: name, job }, 'run started');
    if (event.type === 'notice') logger.info({ pipeline: name, job }, event.message);
    if (event.type === 'waiting') logger.warn({ pipeline: name, job }, event.problem);
  };
  const own: RunOptions = {
    ...common,
    params,
    directory,
    pipelineFile: file,
    fresh: isFirst && options.fresh,
    fullRefresh: isFirst && options.fullRefresh,
    drain: drain.signal,
    signal: abort.signal,
    onEvent,
  };
  const resume = !isFirst || options.resume;
  const result = await runForWorker(pipeline, own, { ...hooksOf(name), job, definition, resume });
  const { runId: run, outcome, seconds } = result;
  metrics.runEnded(name, outcome);
  logger.info({ run, pipeline: name, job, outcome, seconds }, 'run ended');
  return outcome;
};

/** A schedule shows what became of its newest run. A server that cannot be told now is no reason to run again. */
const tellSchedule = async ({ place, logger }: Shared, job: string, state: string): Promise<void> => {
  if (!isScheduledJob(job)) return;
  await withClient(place.address, (client) => runQuery(client, recordJobEnd(job, state))).catch(
    (error: unknown) => logger.warn({ job, code: asEtlError(error).code }, 'the schedule cannot be told'),
  );
};

/** One delivery of a job: what becomes of it. */
const coordinate = async (shared: Shared, job: string, data: unknown): Promise<RunOutcome> => {
  const { logger, metrics, drain } = shared;
  let pipeline: string | undefined;
  try {
    const request = readRunRequest(data, job);
    pipeline = request.pipeline;
    await tellSchedule(shared, job, await runRequest(shared, job, request));
    return 'done';
  } catch (thrown) {
    const error = asEtlError(thrown);
    const fields = { job, pipeline, code: error.code };
    if (error.code === 'ETL_INTERRUPTED' || drain.signal.aborted) {
      logger.info(fields, 'the run is handed on');
      return { laterMs: runHandedOnMs };
    }
    if (error.code === 'ETL_RUN_LOCKED') {
      logger.info({ ...fields, error: error.message }, 'the run waits');
      return { laterMs: runLockedRetryMs };
    }
    await tellSchedule(shared, job, error.code);
    metrics.runEnded(pipeline ?? 'unknown', error.code);
    logger.error({ ...fields, error: error.message, hint: error.hint }, 'run failed');
    throw error;
  }
};

/** While it coordinates a run, a worker helps nobody: its loads stay within `workers`. */
const coordinateAlone =
  (shared: Shared, helper: Helper) =>
  async (job: string, data: unknown): Promise<RunOutcome> => {
    await helper.pause();
    try {
      return await coordinate(shared, job, data);
    } finally {
      helper.resume();
    }
  };

const share = async (options: WorkerOptions): Promise<Shared> => {
  const { pipelines, redis, workers, chunkBytes, workingDirectory, waitMs, registry } = options;
  const logger = options.logger ?? silentLogger;
  // What is wrong with the folder is told before a server is started for it.
  const catalog = await loadCatalog(pipelines);
  const place = await openPlace(options);
  const metrics = createMetrics(() => runQueueState(place.queue), registry);
  const common: RunOptions = {
    connection: place.address.config,
    logger,
    ...(redis !== undefined && { redis }),
    ...(workers !== undefined && { workers }),
    ...(chunkBytes !== undefined && { chunkBytes }),
    ...(workingDirectory !== undefined && { workingDirectory }),
    ...(waitMs !== undefined && { waitMs }),
  };
  const hooksOf: Shared['hooksOf'] = (pipeline) => ({
    onChunk: (times) => metrics.chunkLoaded(pipeline, times),
  });
  const [drain, abort] = [new AbortController(), new AbortController()];
  return { place, catalog, metrics, logger, drain, abort, common, hooksOf };
};

const stopReason = (): DOMException => new DOMException('the worker stops', 'AbortError');

/**
 * Starts a worker, which runs until it is closed. It installs no signal handlers and never ends the process.
 *
 * Errors: ETL_PIPELINE_FOLDER, those of loading a pipeline file, of server and queue; ETL_USAGE (health port).
 */
export const createWorker = async (options: WorkerOptions): Promise<EtlWorker> => {
  const shared = await share(options);
  const { place, catalog, metrics, logger, drain, abort, common, hooksOf } = shared;
  const helper = createHelper({ catalog, logger, common, hooksOf, signal: abort.signal });
  const looks = [helper.look, lookForLostJobs(place, logger), lookForSlots(place, logger)] as const;
  const watch = watchDatabase(place.address, looks, logger, drain.signal);
  const closeOthers = async (): Promise<void> => {
    drain.abort(stopReason());
    await Promise.all([helper.close(), watch.over]);
  };
  const runs = await serveRuns(place.queue, coordinateAlone(shared, helper)).catch(async (error: unknown) => {
    await closeOthers();
    throw error;
  });
  const stop = async (deadlineMs: number): Promise<void> => {
    drain.abort(stopReason());
    const timer = new AbortController();
    const finished = Promise.all([runs.bull.close(), closeOthers()]);
    // A queue whose server is gone cannot be told; it is left when the deadline is over.
    const late = (async () => {
      await sleep(deadlineMs, undefined, { signal: timer.signal });
      abort.abort(stopReason());
      await sleep(queueCloseTimeoutMs, undefined, { signal: timer.signal });
    })().catch(() => undefined);
    await Promise.race([finished, late]);
    timer.abort();
    await runs.close();
  };
  const isReady = (): boolean => watch.isWell(helper.look) && !drain.signal.aborted;
  const health =
    options.health &&
    (await serveHealth(options.health, isReady, metrics).catch(async (error: unknown) => {
      await stop(0);
      throw error;
    }));
  let closing: Promise<void> | undefined;
  const close = async (deadlineMs: number): Promise<void> => {
    try {
      await stop(deadlineMs);
    } finally {
      await health?.close();
    }
  };
  logger.info({ pipelines: catalog.names, queue: place.queue.backend.label }, 'worker ready');
  return {
    pipelines: catalog.names,
    registry: metrics.registry,
    healthPort: health?.port,
    close: ({ deadlineMs = stopDeadlineMsDefault } = {}) => (closing ??= close(deadlineMs)),
    abort: () => abort.abort(stopReason()),
  };
};
