// The queues of runs: a job for every requested run. The default queue is BullMQ's `etl-run`.

import { randomUUID } from 'node:crypto';
import type { Job } from 'bullmq';
import { finishedRunJobsKept, runAttemptsMax, runBackoffMs } from '../core/limits.ts';
import { defaultQueue } from '../core/model.ts';
import type { AddedRun, QueueDepth } from './run-queue-state.ts';
import { withQueue, type Queues } from './job-queue.ts';

export const bullNameOf = (queueName: string): string =>
  queueName === defaultQueue ? 'etl-run' : `etl-run-${queueName}`;

export interface AddRunOptions {
  readonly queueName: string;
  readonly delayMs: number;
  /** 1 comes first; a job without a priority comes before all jobs with a priority. */
  readonly priority: number | undefined;
  readonly dedupe: string | undefined;
}

const jobOptions = {
  attempts: runAttemptsMax,
  backoff: { type: 'exponential', delay: runBackoffMs },
  removeOnComplete: { count: finishedRunJobsKept },
  removeOnFail: { count: finishedRunJobsKept },
};

export const addRun = (queues: Queues, data: object, options: AddRunOptions): Promise<AddedRun> =>
  withQueue(queues, bullNameOf(options.queueName), async ({ ask }) => {
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

export interface RunJob {
  readonly queue: string;
  readonly job: string;
  readonly data: object;
  readonly priority?: number;
}

const restoreOn = (queues: Queues, queueName: string, jobs: readonly RunJob[]): Promise<readonly string[]> =>
  withQueue(queues, bullNameOf(queueName), async ({ ask }) => {
    const restored: string[] = [];
    for (const { job, data, priority } of jobs) {
      if ((await ask((bull) => bull.getJob(job))) !== undefined) continue;
      const own = { jobId: job, ...(priority !== undefined && { priority }) };
      await ask((bull) => bull.add('run', data, { ...jobOptions, ...own }));
      restored.push(job);
    }
    return restored;
  });

/** Adds the jobs that are missing on their queue, under the given ids; returns the added ids. */
export const restoreRuns = async (queues: Queues, jobs: readonly RunJob[]): Promise<readonly string[]> => {
  const restored: string[] = [];
  for (const queueName of new Set(jobs.map((job) => job.queue)))
    restored.push(
      ...(await restoreOn(
        queues,
        queueName,
        jobs.filter(({ queue }) => queue === queueName),
      )),
    );
  return restored;
};

const overStates = new Set(['completed', 'failed', 'unknown']);

export const runIsOpen = (queues: Queues, queueName: string, jobId: string): Promise<boolean> =>
  withQueue(
    queues,
    bullNameOf(queueName),
    async ({ ask }) => !overStates.has(await ask((bull) => bull.getJobState(jobId))),
  );

export const runQueueDepth = (queues: Queues, queueName: string): Promise<QueueDepth> =>
  withQueue(queues, bullNameOf(queueName), async ({ ask }) => {
    const counts = await ask((bull) =>
      bull.getJobCounts('wait', 'prioritized', 'delayed', 'active', 'failed'),
    );
    const oldest = await ask((bull) => bull.getJobs(['wait', 'prioritized'], 0, 0, true));
    const isPaused = await ask((bull) => bull.isPaused());
    const addedAt = oldest.map((job) => job.timestamp);
    return {
      waiting: (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0),
      delayed: counts['delayed'] ?? 0,
      active: counts['active'] ?? 0,
      failed: counts['failed'] ?? 0,
      isPaused,
      oldestAt: addedAt.length === 0 ? null : new Date(Math.min(...addedAt)),
    };
  });

export interface ListedJob {
  readonly job: string;
  /** null: another program's job. */
  readonly pipeline: string | null;
  readonly state: 'active' | 'waiting' | 'delayed' | 'failed';
  readonly addedAt: Date;
  readonly attempts: number;
}

const pipelineOf = (data: unknown): string | null => {
  const { pipeline } = (data ?? {}) as { readonly pipeline?: unknown };
  return typeof pipeline === 'string' ? pipeline : null;
};

export const isUntouched = ({ attemptsMade, stalledCounter }: Job): boolean =>
  attemptsMade + stalledCounter === 0;

/** Delayed jobs among which the next one is searched; others become due by themselves. */
const waitingSeen = 100;

/** Makes the oldest job of the pipeline due that was begun and put back. */
export const offerWaiting = (queues: Queues, queueName: string, pipeline: string): Promise<void> =>
  withQueue(queues, bullNameOf(queueName), async ({ ask }) => {
    const delayed = (await ask((bull) => bull.getDelayed(0, waitingSeen - 1))).filter(Boolean);
    // A job that was never begun waits for the time for which it was enqueued.
    const [next] = delayed
      .filter((job) => job.attemptsStarted > 0 && isUntouched(job) && pipelineOf(job.data) === pipeline)
      .toSorted((one, other) => one.timestamp - other.timestamp);
    // Its time may have come meanwhile.
    await next?.promote().catch(() => undefined);
  });

const listedStates = [
  ['active', ['active']],
  ['waiting', ['prioritized', 'wait']],
  ['delayed', ['delayed']],
  ['failed', ['failed']],
] as const;

export const listRunJobs = (
  queues: Queues,
  queueName: string,
  limit: number,
): Promise<readonly ListedJob[]> =>
  withQueue(queues, bullNameOf(queueName), async ({ ask }) => {
    const listed: ListedJob[] = [];
    for (const [state, types] of listedStates) {
      // A job may be removed after BullMQ has read its id.
      const found = (await ask((bull) => bull.getJobs([...types], 0, limit - 1, true))).filter(Boolean);
      for (const { id, data, timestamp, attemptsStarted } of found.slice(0, limit))
        listed.push({
          job: String(id),
          pipeline: pipelineOf(data),
          state,
          addedAt: new Date(timestamp),
          attempts: attemptsStarted,
        });
    }
    return listed;
  });
