// Works off run queues in one process, one run at a time.
//
// Each queue has a worker. The first worker that gets a job pauses the others. A worker that gets a
// job at the same time returns the job, for an idle process.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { asEtlError } from '../core/errors/errors.ts';
import { otherQueuesFirstMs, runHandedOnMs } from '../core/limits.ts';
import { loadBullMq } from './bullmq.ts';
import { openWorker, type JobWorker, type Queues } from './job-queue.ts';
import { bullNameOf, isUntouched } from './run-queue.ts';

/** laterMs: the job is returned to the queue, because it cannot be worked off here and now. */
export type RunOutcome = 'done' | { readonly laterMs: number };

export interface RunDelivery {
  readonly jobId: string;
  readonly data: unknown;
  readonly queueName: string;
  /** How often a process that had the job ended without a word. */
  readonly stalls: number;
  /** False for a job that failed or stalled before. */
  readonly isUntouched: boolean;
}

export type RunWork = (delivery: RunDelivery) => Promise<RunOutcome>;

export interface RunService {
  readonly drain: () => Promise<void>;
  /** Returns the current job to the queue, unless `drain` has waited for it. */
  readonly close: () => Promise<void>;
}

const createTurns = () => {
  const workers: JobWorker[] = [];
  let isBusy = false;
  let isOver = false;
  // Another worker may have got a job in the meantime.
  const resume = (queue: number): void => {
    if (!isOver && !isBusy) void workers[queue]!.bull.resume();
  };
  /** Resumes the other queues before this one, which might never be empty and would block them. */
  const resumeBehind = async (queue: number): Promise<void> => {
    for (let step = 1; step < workers.length; step += 1) resume((queue + step) % workers.length);
    await sleep(otherQueuesFirstMs, undefined, { ref: false });
    resume(queue);
  };
  return {
    workers,
    end: () => void (isOver = true),
    take: async <T>(queue: number, work: () => Promise<T>): Promise<T | undefined> => {
      if (isBusy) return undefined;
      isBusy = true;
      try {
        if (workers.length > 1) await Promise.all(workers.map(({ bull }) => bull.pause(true)));
        return await work();
      } finally {
        isBusy = false;
        // Without this pause, BullMQ would fetch the next job from the same queue.
        if (workers.length > 1) setImmediate(() => void resumeBehind(queue));
      }
    },
  };
};

const attempt = async (work: () => Promise<RunOutcome>): Promise<RunOutcome> => {
  const { UnrecoverableError } = loadBullMq();
  try {
    return await work();
  } catch (error) {
    // Only the code is stored: BullMQ cannot store a message with a NUL or a lone surrogate.
    const { code, retry } = asEtlError(error);
    throw retry === 'never' ? new UnrecoverableError(code) : new Error(code);
  }
};

/** Serves the queues, also after their server restarts. If we die, another process gets our job. */
export const serveRuns = async (
  queues: Queues,
  queueNames: readonly string[],
  work: RunWork,
): Promise<RunService> => {
  const { DelayedError } = loadBullMq();
  const turns = createTurns();
  const { workers } = turns;
  const close = async (): Promise<void> => {
    turns.end();
    await Promise.all(workers.map((worker) => worker.close()));
  };
  const serve =
    (queueName: string, index: number) =>
    async (job: Job, token: string): Promise<void> => {
      const { id, data, stalledCounter: stalls } = job;
      const delivery = {
        jobId: id!,
        data: data as unknown,
        queueName,
        stalls,
        isUntouched: isUntouched(job),
      };
      const own = () => attempt(() => work(delivery));
      const outcome = (await turns.take(index, own)) ?? { laterMs: runHandedOnMs };
      if (outcome === 'done') return;
      await job.moveToDelayed(Date.now() + outcome.laterMs, token);
      throw new DelayedError();
    };
  try {
    for (const [index, queueName] of queueNames.entries())
      workers.push(
        await openWorker(queues, bullNameOf(queueName), serve(queueName, index), {
          concurrency: 1,
          patience: 'keeps trying',
        }),
      );
  } catch (error) {
    await close();
    throw error;
  }
  for (const { bull } of workers) bull.run().catch(() => undefined);
  return {
    drain: async () => {
      turns.end();
      await Promise.all(workers.map(({ bull }) => bull.close()));
    },
    close,
  };
};
