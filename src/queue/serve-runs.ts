// Works runs off the queues of one process: one at a time in total, however many queues it serves.
//
// With several queues each has a BullMQ worker. Whichever is given a job pauses them all until it is done; one that was given
// another at the same moment hands it back at once, for a process that is idle.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from 'bullmq';
import { asEtlError } from '../core/errors/errors.ts';
import { otherQueuesFirstMs, runHandedOnMs } from '../core/limits.ts';
import { loadBullMq } from './bullmq.ts';
import { openWorker, type JobWorker, type Queues } from './job-queue.ts';
import { bullNameOf } from './run-queue.ts';

/** done: the job is over · later: nothing is wrong with it, but it cannot be worked off here and now. */
export type RunOutcome = 'done' | { readonly laterMs: number };

export type RunWork = (jobId: string, data: unknown, queueName: string) => Promise<RunOutcome>;

export interface RunService {
  /** Takes no more jobs, and waits for the one in hand. */
  readonly drain: () => Promise<void>;
  /** Gives the job in hand back, unless `drain` has waited for it before. */
  readonly close: () => Promise<void>;
}

/** Lets one job be worked on at a time. */
const createTurns = () => {
  const workers: JobWorker[] = [];
  let isBusy = false;
  let isOver = false;
  // One of the others may have been given a job in the meantime.
  const resume = (queue: number): void => {
    if (!isOver && !isBusy) void workers[queue]!.bull.resume();
  };
  /** The others come first, so that a queue that is never empty does not keep them waiting. */
  const resumeBehind = async (queue: number): Promise<void> => {
    for (let step = 1; step < workers.length; step += 1) resume((queue + step) % workers.length);
    await sleep(otherQueuesFirstMs, undefined, { ref: false });
    resume(queue);
  };
  return {
    workers,
    end: () => void (isOver = true),
    /** Undefined when another job is being worked on. */
    take: async <T>(queue: number, work: () => Promise<T>): Promise<T | undefined> => {
      if (isBusy) return undefined;
      isBusy = true;
      try {
        if (workers.length > 1) await Promise.all(workers.map(({ bull }) => bull.pause(true)));
        return await work();
      } finally {
        isBusy = false;
        // After the end of this job, which would otherwise fetch the next one of its own queue.
        if (workers.length > 1) setImmediate(() => void resumeBehind(queue));
      }
    },
  };
};

/** What the work throws decides by its code whether the job is tried again. */
const attempt = async (work: () => Promise<RunOutcome>): Promise<RunOutcome> => {
  const { UnrecoverableError } = loadBullMq();
  try {
    return await work();
  } catch (error) {
    // Only the code is stored: a NUL or a lone surrogate in a message would break BullMQ's own bookkeeping.
    const { code, retry } = asEtlError(error);
    throw retry === 'never' ? new UnrecoverableError(code) : new Error(code);
  }
};

/**
 * Works runs off, one at a time, for as long as it takes: the queue's server may come and go. A job whose process dies
 * comes to another.
 */
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
      const own = (): Promise<RunOutcome> => attempt(() => work(job.id!, job.data, queueName));
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
  // They end only by being closed; errors of their connections are logged where they were opened.
  for (const { bull } of workers) bull.run().catch(() => undefined);
  return {
    drain: async () => {
      turns.end();
      await Promise.all(workers.map(({ bull }) => bull.close()));
    },
    close,
  };
};
