// A long-lived worker: coordinates runs from the queue, one at a time, and helps other workers in
// between.
//
// ready -> stopping -> closed; stopping drains its run and hands the job to another worker.

import { parse } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { withClient } from '../db/client.ts';
import { watchSessionName } from '../db/connect/session-names.ts';
import { queueCloseTimeoutMs, stopDeadlineMsDefault } from '../core/limits.ts';
import type { Receiver } from '../core/notification.ts';
import { checkReceivers } from '../pipeline/declare/notify.ts';
import { serveRuns, type RunWork } from '../queue/serve-runs.ts';
import { resolveOptions, type RunOptions, type RunSettings } from '../run/options.ts';
import { recordFailure } from '../run/record-failure.ts';
import { untilDone, type RecoverOptions } from '../run/recover.ts';
import { loadCatalog } from './catalog.ts';
import { coordinate, type Shared } from './coordinate.ts';
import { serveHealth } from './health.ts';
import { createDeliverer, receiversFor } from './deliver.ts';
import { createHelper, type Helper } from './help-others.ts';
import { createLockedRuns } from './locked-runs.ts';
import { lookForLostJobs } from './lost-jobs.ts';
import { createMetrics } from './metrics.ts';
import type { HealthOptions, SiteOptions } from './options.ts';
import { findSite, type FoundSite } from './find-site.ts';
import { openFoundSite } from './site.ts';
import { checkQueueNames, depthOfQueues } from './queues.ts';
import { lookForSlots } from './schedule/make-due.ts';
import { lookForFiles } from './schedule/look-for-files.ts';
import { lookForLate } from './schedule/late.ts';
import { createScheduleMetrics } from './schedule/metrics.ts';
import { comingSlots } from './schedule/list.ts';
import { createFailingLook, showStanding, type Standing } from './standing.ts';
import { watchDatabase, watchQueues, type QueueWatch } from './watch.ts';

/** Options of createWorker. */
export interface WorkerOptions
  extends
    Omit<SiteOptions, 'client'>,
    Pick<RunOptions, 'workers' | 'chunkBytes' | 'workingDirectory' | 'waitMs'> {
  /** Folder of pipeline files; the worker runs no other pipelines. */
  readonly pipelines: string;
  /** Queues that the worker serves, and whose runs it helps. Default: only `default`. */
  readonly queues?: readonly string[];
  /**
   * Notified of the runs of all pipelines, beside each pipeline's receivers:
   * `[webhook(env('HOOK'))]`.
   */
  readonly notify?: readonly Receiver[];
  /** Serves /health, /ready and /metrics. Default: off. */
  readonly health?: HealthOptions;
  /** Ends the wait for server and queue while starting; closes a running worker. */
  readonly signal?: AbortSignal;
  /** Registry of the metrics. Default: a new one. */
  readonly registry?: Registry;
}

/** A running worker: the result of createWorker. It works until it is closed. */
export interface EtlWorker {
  /** Names of the pipelines that the worker runs. */
  readonly pipelines: readonly string[];
  /** Registry of prom-client with the worker's metrics, for a service that serves them itself. */
  readonly registry: Registry;
  /** Port of the health endpoints. */
  readonly healthPort: number | undefined;
  /**
   * Accepts no more work, finishes the current chunks and hands the run over; aborts them after the
   * deadline. Resolves when everything that the worker opened is closed.
   */
  readonly close: (options?: {
    /** Time for the chunks in flight, in milliseconds. Default: 25,000. */
    readonly deadlineMs?: number;
  }) => Promise<void>;
  /** Aborts all work at once; may be called after `close` to speed it up. */
  readonly abort: () => void;
}

/** Pauses helping other runs, so that loads stay within `workers`. */
const coordinateAlone =
  (shared: Shared, helper: Helper): RunWork =>
  async (delivery) => {
    await helper.pause();
    try {
      return await coordinate(shared, delivery);
    } finally {
      helper.resume();
    }
  };

type WhenReached = <T>(step: () => Promise<T>) => Promise<T>;

/** Retries work until server and queues, which may be starting with the worker, are reachable. */
const waitingFor = (
  { address, backend }: FoundSite,
  options: WorkerOptions,
  settings: RunSettings,
): WhenReached => {
  const { logger } = settings;
  const recovery: RecoverOptions = {
    ...settings,
    address,
    backend,
    waitsForFirst: true,
    emit: ({ problem, waitMs }) => logger.warn({ problem, waitMs }, 'the worker waits for the server'),
    wasReached: () => false,
    progress: () => 0,
    abort: options.signal,
    drain: undefined,
  };
  return (step) => untilDone(recovery, step);
};

interface Started extends Shared {
  readonly whenReached: WhenReached;
  readonly queueWatch: QueueWatch;
  /** What is wrong with each server that is watched. */
  readonly servers: (() => string | undefined)[];
}

const areWell = (servers: Started['servers']): boolean => servers.every((problem) => problem() === undefined);

const share = async (options: WorkerOptions): Promise<Started> => {
  const { pipelines, redis, workers, chunkBytes, workingDirectory, waitMs, registry, tracer, logger } =
    options;
  const own: RunOptions = { redis, workers, chunkBytes, workingDirectory, waitMs, tracer, logger };
  const settings = resolveOptions(own);
  const queueNames = checkQueueNames(options.queues);
  const notify = checkReceivers(options.notify);
  // Loaded before an embedded server is started, to report problems of the folder first.
  const catalog = await loadCatalog(pipelines);
  const found = await findSite(options);
  const whenReached = waitingFor(found, options, settings);
  const site = await whenReached(() => openFoundSite(found, options, queueNames));
  const [drain, abort] = [new AbortController(), new AbortController()];
  const readDepths = () => depthOfQueues(site.queues, queueNames);
  const queueWatch = watchQueues(site.queues, drain.signal);
  const servers = [queueWatch.problem];
  const metrics = createMetrics(readDepths, () => areWell(servers), drain.signal, registry);
  const common: RunOptions = { ...own, connection: site.address.config };
  const fromWorker: Shared['fromWorker'] = (pipeline) => ({
    onChunk: (times) => metrics.chunkLoaded(pipeline, times),
    notify,
  });
  return {
    site,
    whenReached,
    queueWatch,
    servers,
    catalog,
    queueNames,
    metrics,
    logger: settings.logger,
    drain,
    abort,
    common,
    lockedRuns: createLockedRuns(site, settings.logger),
    fromWorker,
    receiversOf: receiversFor(catalog, notify),
  };
};

const stopReason = (): DOMException => new DOMException('the worker stops', 'AbortError');

interface Upkeep {
  readonly standing: Standing;
  readonly over: Promise<void>;
}

const lookAfter = (shared: Started, helper: Helper): Upkeep => {
  const { site, catalog, queueNames, metrics, logger, drain, common, queueWatch, servers } = shared;
  const { tracer } = common;
  const readSlots = () => withClient(site.address, comingSlots);
  const onSlot = createScheduleMetrics(metrics.registry, readSlots, () => areWell(servers), drain.signal);
  const lostJobs = lookForLostJobs(site, queueNames, logger);
  const polling = { logger, tracer, onSlot, receiversOf: shared.receiversOf };
  const slots = lookForSlots(site, polling);
  const files = lookForFiles(shared, polling);
  // A session that polls without ever waiting: its queries show that this worker is alive.
  const address = { ...site.address, sessionName: watchSessionName };
  const signs = watchDatabase(address, [helper.look], logger, drain.signal);
  const late = lookForLate(shared.receiversOf, logger);
  const deliverer = createDeliverer(site, logger, drain.signal);
  const databaseProblem = () => signs.problemOf(helper.look);
  servers.push(databaseProblem);
  const { look, failing } = createFailingLook();
  const looks = [lostJobs, slots, files.look, late, deliverer.look, look] as const;
  const others = watchDatabase(site.address, looks, logger, drain.signal);
  const standing: Standing = {
    broken: catalog.broken,
    databaseProblem,
    queueProblem: queueWatch.problem,
    isStopping: () => drain.signal.aborted,
    failing,
  };
  showStanding(standing, metrics.registry);
  const end = async (): Promise<void> => {
    await Promise.all([signs.over, others.over]);
    await Promise.all([deliverer.settled(), files.settled()]);
  };
  return { standing, over: end() };
};

/** Logs the files that cannot be loaded, and records them, so that status and page show them. */
const tellBroken = async ({ catalog, site, logger, queueNames, receiversOf }: Shared): Promise<void> => {
  for (const { file, error } of catalog.broken) {
    logger.error(
      { file, code: error.code, error: error.message, hint: error.hint },
      'a pipeline file is broken',
    );
    const failed = { pipeline: parse(file).name, job: null, queue: queueNames[0]! };
    await recordFailure(site.address, failed, error, logger, receiversOf(undefined));
  }
};

/**
 * Starts a worker, which runs until it is closed. Installs no signal handlers, and never ends the
 * process.
 *
 * Errors: ETL_PIPELINE_FOLDER, those of loading a pipeline file, of server and queue; ETL_USAGE
 * (health port).
 */
export const createWorker = async (options: WorkerOptions): Promise<EtlWorker> => {
  // Listens first: a probe must not restart a worker that waits for its server.
  const health = options.health && (await serveHealth(options.health));
  const failed = async (error: unknown): Promise<never> => {
    await health?.close();
    throw error;
  };
  const shared = await share(options).catch(failed);
  const { site, whenReached, queueWatch, catalog, queueNames, metrics, logger, drain, abort } = shared;
  const { common, fromWorker } = shared;
  const helper = createHelper({ catalog, queueNames, logger, common, fromWorker, abort: abort.signal });
  const upkeep = lookAfter(shared, helper);
  const closeOthers = async (): Promise<void> => {
    drain.abort(stopReason());
    await Promise.all([helper.close(), upkeep.over, queueWatch.over]);
  };
  const serve = () => serveRuns(site.queues, queueNames, coordinateAlone(shared, helper));
  const runs = await whenReached(serve).catch(async (error: unknown) => {
    await closeOthers();
    return failed(error);
  });
  health?.show(upkeep.standing, metrics);
  const stop = async (deadlineMs: number): Promise<void> => {
    drain.abort(stopReason());
    const timer = new AbortController();
    const finished = Promise.all([runs.drain(), closeOthers()]);
    // Without its server, a queue cannot be closed properly: stop waiting at the deadline.
    const late = (async () => {
      await sleep(deadlineMs, undefined, { signal: timer.signal });
      abort.abort(stopReason());
      await sleep(queueCloseTimeoutMs, undefined, { signal: timer.signal });
    })().catch(() => undefined);
    await Promise.race([finished, late]);
    timer.abort();
    await runs.close();
    await shared.lockedRuns.close();
  };
  let closing: Promise<void> | undefined;
  const close = async (deadlineMs: number): Promise<void> => {
    try {
      await stop(deadlineMs);
    } finally {
      await health?.close();
    }
  };
  await tellBroken(shared);
  logger.info(
    { pipelines: catalog.names, queue: site.queues.backend.label, queues: queueNames },
    'worker ready',
  );
  return {
    pipelines: catalog.names,
    registry: metrics.registry,
    healthPort: health?.port,
    close: ({ deadlineMs = stopDeadlineMsDefault } = {}) => (closing ??= close(deadlineMs)),
    abort: () => abort.abort(stopReason()),
  };
};
