// The load queue of one run: a job for every segment, worked off by this process.

import type { Job, Queue, Worker } from 'bullmq';
import type { ServerAddress } from '../db/address.ts';
import { codeOf } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { jobLockMs, jobStalledMax } from '../limits.ts';
import { loadBullMq, queueConnection } from './backend.ts';

/** What a job carries: references, never rows. */
export interface SegmentJob {
  readonly runId: number;
  readonly fileId: number;
}

export interface WorkOptions {
  readonly address: ServerAddress;
  readonly runId: number;
  readonly jobs: readonly SegmentJob[];
  readonly workers: number;
  readonly logger: Logger;
  /** Loads one segment. Its signal is aborted when another segment failed. */
  readonly load: (job: SegmentJob, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal | undefined;
}

/** Every run has a queue of its own: processes that know other pipelines must not take its jobs. */
const queueName = (runId: number): string => `etl-load-${runId}`;

const openQueue = (address: ServerAddress, runId: number, logger: Logger): Queue => {
  const { Queue: BullQueue, createPostgresBackend } = loadBullMq();
  const queue = new BullQueue(queueName(runId), { connection: queueConnection(address) }, createPostgresBackend as never);
  queue.on('error', (error) => logger.debug({ error }, 'queue'));
  return queue as unknown as Queue;
};

const openWorker = (options: WorkOptions, process: (job: Job<SegmentJob>) => Promise<void>): Worker => {
  const { Worker: BullWorker, createPostgresBackend } = loadBullMq();
  const worker = new BullWorker(
    queueName(options.runId),
    process as never,
    {
      connection: queueConnection(options.address),
      concurrency: options.workers,
      lockDuration: jobLockMs,
      maxStalledCount: jobStalledMax,
    },
    createPostgresBackend as never,
  );
  worker.on('error', (error) => options.logger.debug({ error }, 'worker'));
  return worker as unknown as Worker;
};

/** Removes what a run left in the queue: its jobs, finished or not. */
export const removeQueue = async (address: ServerAddress, runId: number, logger: Logger): Promise<void> => {
  const queue = openQueue(address, runId, logger);
  try {
    await queue.obliterate({ force: true });
  } finally {
    await queue.close();
  }
};

/**
 * Puts the jobs on the run's queue and works them off, `workers` at a time. Returns when all are done; the first failure
 * stops the others and is thrown as it was.
 */
export const workOff = async (options: WorkOptions): Promise<void> => {
  const { address, runId, jobs, load, logger } = options;
  if (jobs.length === 0) return;
  const failure = new AbortController();
  const signal = options.signal === undefined ? failure.signal : AbortSignal.any([options.signal, failure.signal]);
  const { UnrecoverableError } = loadBullMq();
  let settle: (failure: { error: unknown } | undefined) => void;
  const outcome = new Promise<{ error: unknown } | undefined>((resolve) => (settle = resolve));
  let open = jobs.length;
  const processJob = async ({ data }: Job<SegmentJob>): Promise<void> => {
    try {
      await load(data, signal);
      open -= 1;
      if (open === 0) settle(undefined);
    } catch (error) {
      settle({ error });
      failure.abort();
      // Only the code is stored: a NUL or a lone surrogate in a message would break BullMQ's own bookkeeping.
      throw new UnrecoverableError(codeOf(error) ?? 'unknown');
    }
  };
  const queue = openQueue(address, runId, logger);
  const worker = openWorker(options, processJob);
  try {
    await queue.addBulk(jobs.map((data) => ({ name: 'segment', data, opts: { jobId: `file-${data.fileId}` } })));
    const failed = await outcome;
    if (failed !== undefined) throw failed.error;
  } finally {
    await worker.close();
    await queue.obliterate({ force: true });
    await queue.close();
  }
};
