// The load queue of one run: a job for every segment, or for some that are small. The coordinator fills it; any process that
// knows the pipeline may work it off.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { retryOf } from '../db/retry.ts';
import { EtlError, codeOf } from '../core/errors/errors.ts';
import { jobAttemptsMax, jobBackoffMs, queuePollMs } from '../core/limits.ts';
import type { Lease, Segment, TraceContext } from '../core/model.ts';
import type { QueueLink } from './backend.ts';
import { loadBullMq } from './bullmq.ts';
import {
  asking,
  closeBounded,
  openQueue,
  openWorker,
  withQueue,
  type JobQueue,
  type JobWorker,
  type Queues,
} from './job-queue.ts';

export interface ServeOptions {
  readonly queues: Queues;
  /** Of the coordinator that is served: other generations' segments may overlap its own. */
  readonly lease: Lease;
  readonly workers: number;
  /** Asks the work to stop after the chunks in flight: closing then waits for them. */
  readonly drain: AbortSignal | undefined;
  /** Rejects when the work must stop for a reason outside the queue. */
  readonly outside: Promise<never>;
  /** Loads the segments of a job; `leave` is aborted when the queue is left at once. */
  readonly load: (job: SegmentJob, leave: AbortSignal) => Promise<void>;
  /** Checks what comes out of the queue, given the job's id for people. */
  readonly read: (data: unknown, jobId: string) => SegmentJob;
  /** What the jobs that are put on the queue belong to. */
  readonly trace?: TraceContext | undefined;
}

/** Segments that one process loads. */
export interface Work {
  /** They are loaded one after the other, unless there are `pieceBytes`. */
  readonly segments: readonly Segment[];
  /** The segments are of one stream, which is read once, and all loaders of the process load pieces of so many bytes. */
  readonly pieceBytes?: number | undefined;
}

/** What a job holds: references, never rows. */
export interface SegmentJob extends Work {
  /** Of the coordinator that cut the segments. */
  readonly generation: number;
  /** Of the coordinator, when the run is traced. */
  readonly trace?: TraceContext | undefined;
}

/** Every run has a queue of its own: processes that know other pipelines must not take its jobs. */
const loadQueueName = (runId: number): string => `etl-load-${runId}`;

/** Removes what a run left in the queue: its jobs, finished or not. */
export const removeQueue = (queues: Queues, runId: number): Promise<void> =>
  withQueue(queues, loadQueueName(runId), empty);

const empty = ({ ask }: JobQueue): Promise<void> => ask((bull) => bull.obliterate({ force: true }));

/** A process's share in the work of a run. */
export interface Service {
  /** Rejects with the first error of a segment; never resolves. */
  readonly failed: Promise<never>;
  /** Ids of the jobs that this process has done. */
  readonly done: ReadonlySet<string>;
  /** Called whenever a job is done. */
  onDone: () => void;
  readonly close: () => Promise<void>;
}

/** The run goes on without this process, or not at all: its coordinator knows. */
const unwantedCodes = new Set(['ETL_RUN_SUPERSEDED', 'ETL_RUN_TAKEN', 'ETL_RUN_CANCELLED']);

/** A worker of a run's queue that is connected, and does not ask for jobs yet. */
interface IdleWorker extends JobWorker {
  readonly start: (work: (job: Job) => Promise<void>) => Promise<void>;
}

/** `link`: of the coordinator, which has the queue open. */
const openIdle = async (
  queues: Queues,
  runId: number,
  concurrency: number,
  link?: QueueLink,
): Promise<IdleWorker> => {
  let working: ((job: Job) => Promise<void>) | undefined;
  const opened = await openWorker(queues, loadQueueName(runId), (job: Job) => working!(job), {
    concurrency,
    // A helper may come when the coordinator has just removed the queue.
    findsStalled: link !== undefined,
    link,
  });
  const start = (work: (job: Job) => Promise<void>): Promise<void> => {
    working = work;
    return opened.bull.run();
  };
  return { ...opened, start };
};

/** Begins to work the queue off, `workers` segments at a time; as its coordinator, with the worker that this one has opened. */
export const serveQueue = async (options: ServeOptions, coordinators?: IdleWorker): Promise<Service> => {
  const { UnrecoverableError } = loadBullMq();
  const leaving = new AbortController();
  let fail: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => undefined);
  options.outside.catch(fail);
  const { runId, generation: ours } = options.lease;
  const work = async ({ id = '', data }: Job): Promise<void> => {
    try {
      const job = options.read(data, id);
      const { generation } = job;
      // Left on the queue by a coordinator that is gone.
      if (generation < ours) return;
      if (generation > ours) throw new EtlError('ETL_RUN_SUPERSEDED', { run: runId });
      // A second delivery finds in the ledger what the first one loaded.
      await options.load(job, leaving.signal);
    } catch (error) {
      fail(error);
      // Only the code is stored: a NUL or a lone surrogate in a message would break BullMQ's own bookkeeping.
      const code = codeOf(error) ?? 'unknown';
      // A process that leaves gives its job back, also one that has found out that it is no longer wanted.
      const isLeaving = leaving.signal.aborted || options.drain?.aborted === true || unwantedCodes.has(code);
      // What is wrong for a helper, such as a file that it cannot read, need not be for the others.
      const isFinal = retryOf(error) === 'never' && coordinators !== undefined && !isLeaving;
      throw isFinal ? new UnrecoverableError(code) : new Error(code);
    }
  };
  const { bull, close, start } = coordinators ?? (await openIdle(options.queues, runId, options.workers));
  const done = new Set<string>();
  const service: Service = {
    failed,
    done,
    onDone: () => undefined,
    close: async () => {
      if (options.drain?.aborted) await bull.close().catch(() => undefined);
      leaving.abort();
      await close();
    },
  };
  bull.on('completed', ({ id }) => {
    done.add(id!);
    service.onDone();
  });
  start(work).catch(fail);
  return service;
};

/** Jobs that are not done yet, and the codes of those that failed, here or in another process. */
const look = async ({ ask }: JobQueue): Promise<{ open: number; failedCodes: readonly string[] }> => {
  const { failed = 0, ...open } = await ask((bull) =>
    bull.getJobCounts('wait', 'active', 'delayed', 'prioritized', 'failed'),
  );
  const failedJobs = failed === 0 ? [] : await ask((bull) => bull.getFailed(0, 0));
  const failedCodes = failedJobs.map(({ failedReason }) => failedReason);
  return { open: Object.values(open).reduce((sum, jobs) => sum + jobs, 0), failedCodes };
};

/** Waits until every job is done, by whomever; the queue need not be asked about those that are done here. */
const waitUntilDone = async (queue: JobQueue, service: Service, jobs: ReadonlySet<string>): Promise<void> => {
  for (let known = 0; ;) {
    const wake = new AbortController();
    service.onDone = () => wake.abort();
    if (service.done.size === known) {
      const pause = sleep(queuePollMs, undefined, { signal: wake.signal }).catch(() => undefined);
      await Promise.race([pause, service.failed]);
      wake.abort();
    }
    known = service.done.size;
    // A coordinator that is gone may have put others on the queue since it was emptied.
    if (known >= jobs.size && [...jobs].every((id) => service.done.has(id))) return;
    const { open, failedCodes } = await look(queue);
    if (open === 0 && failedCodes.length === 0) return;
    if (failedCodes.length > 0) {
      // Our own failure is thrown as it was; another process's by its code.
      await Promise.race([service.failed, sleep(queuePollMs)]);
      throw new EtlError('ETL_WORKER_FAILED', { problem: failedCodes[0] });
    }
  }
};

const jobIdOf = ({ segments }: Work): string => `file-${segments[0]!.fileId}-${segments[0]!.start.byte}`;

const addJobs = async (
  { ask }: JobQueue,
  { lease: { generation }, trace }: ServeOptions,
  batch: readonly Work[],
): Promise<void> => {
  const jobs = batch.map((work) => ({
    name: 'segments',
    data: { ...work, generation, ...(trace && { trace }) } satisfies SegmentJob,
    opts: {
      jobId: jobIdOf(work),
      removeOnComplete: true,
      // A process that joined may lose its own connection: the job then goes to another.
      attempts: jobAttemptsMax,
      backoff: jobBackoffMs,
    },
  }));
  await ask((bull) => bull.addBulk(jobs));
};

/** Adds jobs batch by batch, and returns their ids. */
const addAll = async (
  queue: JobQueue,
  options: ServeOptions,
  batches: AsyncGenerator<readonly Work[]>,
): Promise<ReadonlySet<string>> => {
  const ids = new Set<string>();
  for await (const batch of batches) {
    await addJobs(queue, options, batch);
    for (const work of batch) ids.add(jobIdOf(work));
  }
  return ids;
};

/** The queue of a run as its coordinator has it. */
export interface LoadQueue {
  /** Resolves when nothing of an earlier process is left on it. */
  readonly emptied: Promise<unknown>;
  /**
   * Puts jobs of segments on it, batch by batch as they are found, and works them off together with everybody else who serves it.
   * Returns when all are done, while the queue closes; the first failure stops this process's share and is thrown as it was.
   */
  readonly workOff: (options: ServeOptions, batches: AsyncGenerator<readonly Work[], void>) => Promise<void>;
  /** Waits until it is closed. Errors: what kept it from being emptied when all jobs were done. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the queue of a run with a worker, and removes what an earlier process left on it, while its caller does something else. What
 * goes wrong is reported by `emptied` and `workOff`.
 */
export const openLoadQueue = (queues: Queues, runId: number, workers: number): LoadQueue => {
  const link = queues.backend.connect(queues.namespace, 'gives up');
  const opening = openQueue(queues, loadQueueName(runId), link);
  const readying = (async (): Promise<JobQueue> => {
    const queue = { link, ask: asking(queues, await opening) };
    await empty(queue);
    return queue;
  })();
  readying.catch(() => undefined);
  const idle = opening.then(() => openIdle(queues, runId, workers, link));
  idle.catch(() => undefined);
  const end = (): Promise<void> =>
    closeBounded(async () => {
      await idle.then(({ close }) => close()).catch(() => undefined);
      await (await opening).close();
    }, link.destroy);
  let closing: Promise<void> | undefined;

  const work = async (options: ServeOptions, batches: AsyncGenerator<readonly Work[]>): Promise<void> => {
    const queue = await readying;
    // Loading begins with the first batch, while the rest is looked for.
    const feeding = addAll(queue, options, batches);
    // A batch may be on its way to a queue that nobody serves any more.
    feeding.catch(() => undefined);
    const service = await serveQueue(options, await idle);
    try {
      await waitUntilDone(queue, service, await Promise.race([feeding, service.failed]));
    } catch (error) {
      await service.close();
      throw error;
    }
    closing = (async () => {
      await service.close();
      try {
        await empty(queue);
      } finally {
        await end();
      }
    })();
    closing.catch(() => undefined);
  };
  return {
    emptied: readying,
    workOff: async (options, batches) => {
      try {
        await work(options, batches);
      } finally {
        await batches.return();
      }
    },
    close: () => (closing ??= end()),
  };
};
