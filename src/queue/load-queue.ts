// The load queue of one run: the coordinator adds jobs, and every process that has the pipeline may
// load them.

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
  /** The coordinator's lease on the run. Segments of other generations may overlap with its own. */
  readonly lease: Lease;
  readonly workers: number;
  /** When aborted, work stops after the current chunks, and closing waits for them. */
  readonly drain: AbortSignal | undefined;
  /** Rejects if the work must stop for another reason than an error of the queue. */
  readonly outside: Promise<never>;
  /** Loads a job; `leave` is aborted when the process must stop loading at once. */
  readonly load: (job: SegmentJob, leave: AbortSignal) => Promise<void>;
  readonly read: (data: unknown, jobId: string) => SegmentJob;
  readonly trace?: TraceContext | undefined;
}

export interface Work {
  readonly segments: readonly Segment[];
  /** Set for a segment that all loaders of a process load together, in pieces of this size. */
  readonly pieceBytes?: number | undefined;
}

export interface SegmentJob extends Work {
  readonly generation: number;
  readonly trace?: TraceContext | undefined;
}

/** Each run has its own queue: a process must not take jobs of pipelines that it does not have. */
const loadQueueName = (runId: number): string => `etl-load-${runId}`;

export const removeQueue = (queues: Queues, runId: number): Promise<void> =>
  withQueue(queues, loadQueueName(runId), empty);

const empty = ({ ask }: JobQueue): Promise<void> => ask((bull) => bull.obliterate({ force: true }));

export interface Service {
  /** Rejects with the first error of a segment; never resolves. */
  readonly failed: Promise<never>;
  readonly done: ReadonlySet<string>;
  onDone: () => void;
  readonly close: () => Promise<void>;
}

/** Errors after which this process must stop: the run was cancelled, or taken over by another. */
const unwantedCodes = new Set(['ETL_RUN_SUPERSEDED', 'ETL_RUN_TAKEN', 'ETL_RUN_CANCELLED']);

interface IdleWorker extends JobWorker {
  readonly start: (work: (job: Job) => Promise<void>) => Promise<void>;
}

const openIdle = async (
  queues: Queues,
  runId: number,
  concurrency: number,
  link?: QueueLink,
): Promise<IdleWorker> => {
  let working: ((job: Job) => Promise<void>) | undefined;
  const opened = await openWorker(queues, loadQueueName(runId), (job: Job) => working!(job), {
    concurrency,
    // False for a helper: it may start just after the coordinator has removed the queue.
    findsStalled: link !== undefined,
    link,
  });
  const start = (work: (job: Job) => Promise<void>): Promise<void> => {
    working = work;
    return opened.bull.run();
  };
  return { ...opened, start };
};

/** Loads jobs of the queue until closed. Only a coordinator passes a worker of its own. */
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
      // A former coordinator added this job.
      if (generation < ours) return;
      if (generation > ours) throw new EtlError('ETL_RUN_SUPERSEDED', { run: runId });
      // A job may be delivered twice; the ledger shows what the first delivery has loaded.
      await options.load(job, leaving.signal);
    } catch (error) {
      fail(error);
      // Only the code is stored: BullMQ cannot store a message with a NUL or a lone surrogate.
      const code = codeOf(error) ?? 'unknown';
      // A process that stops serving the queue returns its job for another process.
      const isLeaving = leaving.signal.aborted || options.drain?.aborted === true || unwantedCodes.has(code);
      // An error may concern only a helper, such as an unreadable file: other processes may retry.
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

/** `failedCodes`: the error code of a failed job, if any. */
const look = async ({ ask }: JobQueue): Promise<{ open: number; failedCodes: readonly string[] }> => {
  const { failed = 0, ...open } = await ask((bull) =>
    bull.getJobCounts('wait', 'active', 'delayed', 'prioritized', 'failed'),
  );
  const failedJobs = failed === 0 ? [] : await ask((bull) => bull.getFailed(0, 0));
  const failedCodes = failedJobs.map(({ failedReason }) => failedReason);
  return { open: Object.values(open).reduce((sum, jobs) => sum + jobs, 0), failedCodes };
};

/** Polls the queue only while other processes have jobs. */
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
    // Compares ids, because `done` may contain jobs that a former coordinator has added.
    if (known >= jobs.size && [...jobs].every((id) => service.done.has(id))) return;
    const { open, failedCodes } = await look(queue);
    if (open === 0 && failedCodes.length === 0) return;
    if (failedCodes.length > 0) {
      // Prefers this process's own error: of another process's error, only the code is known.
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
      // Retried, so that another process gets the job if a helper loses its connection.
      attempts: jobAttemptsMax,
      backoff: jobBackoffMs,
    },
  }));
  await ask((bull) => bull.addBulk(jobs));
};

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

export interface LoadQueue {
  readonly emptied: Promise<unknown>;
  /**
   * Adds jobs batch by batch, and loads them together with other processes. Resolves when all jobs
   * are done; the queue may still be closing. The first failure stops this process's work.
   */
  readonly workOff: (options: ServeOptions, batches: AsyncGenerator<readonly Work[], void>) => Promise<void>;
  /** Errors: why the queue could not be emptied at the end. */
  readonly close: () => Promise<void>;
}

/** Opens the queue in the background: `emptied` and `workOff` report errors of opening it. */
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
    const feeding = addAll(queue, options, batches);
    // Awaited below; if the service fails first, an error of adding must not count as unhandled.
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
