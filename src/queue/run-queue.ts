// The queue of runs, `etl-run`: a job for every run that somebody asked for; a worker coordinates one at a time.

import { randomUUID } from 'node:crypto';
import type { Job } from 'bullmq';
import { asEtlError } from '../errors.ts';
import { finishedRunJobsKept, runAttemptsMax, runBackoffMs } from '../limits.ts';
import { loadBullMq } from './bullmq.ts';
import type { AddedRun, RunQueueState } from './run-queue-state.ts';
import { openWorker, withQueue, type JobWorker, type QueuePlace } from './job-queue.ts';

export const runQueueName = 'etl-run';

export interface AddRunOptions {
  readonly delayMs: number;
  /** 1 comes first; without one, a job goes before all that have one. */
  readonly priority: number | undefined;
  readonly dedupe: string | undefined;
}

const jobOptions = {
  attempts: runAttemptsMax,
  backoff: { type: 'exponential', delay: runBackoffMs },
  // History is ours, in etl.run.
  removeOnComplete: { count: finishedRunJobsKept },
  removeOnFail: { count: finishedRunJobsKept },
};

/** Puts a run on the queue. */
export const addRun = (place: QueuePlace, data: object, options: AddRunOptions): Promise<AddedRun> =>
  withQueue(place, runQueueName, async ({ ask }) => {
    const { delayMs, priority, dedupe } = options;
    const jobId = `run-${randomUUID()}`;
    const added = await ask((bull) =>
      bull.add('run', data, {
        ...jobOptions,
        jobId,
        delay: delayMs,
        ...(priority !== undefined && { priority }),
        ...(dedupe !== undefined && { deduplication: { id: dedupe } }),
      }),
    );
    return { job: added.id!, isNew: added.id === jobId };
  });

/** A job that must be on the queue. */
export interface RunJob {
  readonly job: string;
  readonly data: object;
  readonly priority?: number;
}

/** Puts jobs on the queue that it does not know, under their own names; returns them. Those that it knows stay as they are. */
export const restoreRuns = (place: QueuePlace, jobs: readonly RunJob[]): Promise<readonly string[]> =>
  withQueue(place, runQueueName, async ({ ask }) => {
    const restored: string[] = [];
    for (const { job, data, priority } of jobs) {
      if ((await ask((bull) => bull.getJob(job))) !== undefined) continue;
      const own = { jobId: job, ...(priority !== undefined && { priority }) };
      await ask((bull) => bull.add('run', data, { ...jobOptions, ...own }));
      restored.push(job);
    }
    return restored;
  });

const overStates = new Set(['completed', 'failed', 'unknown']);

/** Whether a job waits, is active, or will be tried again. */
export const runIsOpen = (place: QueuePlace, job: string): Promise<boolean> =>
  withQueue(
    place,
    runQueueName,
    async ({ ask }) => !overStates.has(await ask((bull) => bull.getJobState(job))),
  );

export const runQueueState = (place: QueuePlace): Promise<RunQueueState> =>
  withQueue(place, runQueueName, async ({ ask }) => {
    const counts = await ask((bull) =>
      bull.getJobCounts('wait', 'prioritized', 'delayed', 'active', 'failed'),
    );
    const oldest = await ask((bull) => bull.getJobs(['wait', 'prioritized'], 0, 0, true));
    const addedAt = oldest.map((job) => job.timestamp);
    return {
      waiting: (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0),
      delayed: counts['delayed'] ?? 0,
      active: counts['active'] ?? 0,
      failed: counts['failed'] ?? 0,
      oldestAt: addedAt.length === 0 ? null : new Date(Math.min(...addedAt)),
    };
  });

/** done: the job is over · later: nothing is wrong with it, but it cannot be worked off here and now. */
export type RunOutcome = 'done' | { readonly laterMs: number };

/**
 * Works runs off, one at a time, for as long as it takes: the queue's server may come and go. A job whose process dies
 * comes to another. What `work` throws decides by its code whether the job is tried again.
 */
export const serveRuns = async (
  place: QueuePlace,
  work: (job: string, data: unknown) => Promise<RunOutcome>,
): Promise<JobWorker> => {
  const { DelayedError, UnrecoverableError } = loadBullMq();
  const attempt = async (job: Job): Promise<RunOutcome> => {
    try {
      return await work(job.id!, job.data);
    } catch (error) {
      // Only the code is stored: a NUL or a lone surrogate in a message would break BullMQ's own bookkeeping.
      const { code, retry } = asEtlError(error);
      throw retry === 'never' ? new UnrecoverableError(code) : new Error(code);
    }
  };
  const process = async (job: Job, token: string): Promise<void> => {
    const outcome = await attempt(job);
    if (outcome === 'done') return;
    await job.moveToDelayed(Date.now() + outcome.laterMs, token);
    throw new DelayedError();
  };
  const worker = await openWorker(place, runQueueName, process, { concurrency: 1, patience: 'keeps trying' });
  // It ends only by being closed; errors of its connection are logged where it was opened.
  worker.bull.run().catch(() => undefined);
  return worker;
};
