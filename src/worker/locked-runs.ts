// Runs that wait because another process runs their pipeline.
//
// Of those that a worker gets from the queue, one is tried every few seconds: an attempt also ends
// a holder of the lock that is frozen. The others wait for longer, so that a long queue costs
// nothing. The worker that ends a run offers the next one at once.

import { withClient } from '../db/client.ts';
import { createIdle } from '../db/idle-clients.ts';
import { lockSpace } from '../db/connect/advisory-keys.ts';
import { lockHolder } from '../db/session/advisory-lock.ts';
import { codeOf } from '../core/errors/errors.ts';
import { runLockedRetryMs } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { offerWaiting } from '../queue/run-queue.ts';
import type { RunDelivery } from '../queue/serve-runs.ts';
import type { Site } from './find-site.ts';

/** Longest wait of a run that nobody offers, because the worker that should was killed. */
const waitMs = 60_000;

/** A run that is tried again is expected back from the queue in this time. */
const triedAgainMs = 2 * runLockedRetryMs;

/** Keeps the connection while the jobs of a long queue arrive one after the other. */
const idleMs = 5_000;

interface Tried {
  readonly jobId: string;
  readonly until: number;
}

export interface LockedRuns {
  /** Returns how long a job waits without being tried; undefined: it is tried. */
  readonly waitOf: (pipeline: string, delivery: RunDelivery) => Promise<number | undefined>;
  /** Records that the pipeline was locked when the job was tried; returns how long the job waits. */
  readonly wasLocked: (pipeline: string, jobId: string) => number;
  readonly wasFree: (pipeline: string) => void;
  readonly offerNext: (pipeline: string, queueName: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

export const createLockedRuns = ({ address, queues }: Site, logger: Logger): LockedRuns => {
  const tried = new Map<string, Tried>();
  const idle = createIdle(idleMs);
  const isLocked = (pipeline: string): Promise<boolean> =>
    withClient({ ...address, idle }, async (client) => {
      const { rowCount } = await client.query(lockHolder, [pipeline, lockSpace]);
      return rowCount !== 0;
    });
  return {
    waitOf: async (pipeline, { jobId, isUntouched }) => {
      const other = tried.get(pipeline);
      if (other === undefined || other.jobId === jobId || other.until < performance.now()) return undefined;
      // A job that failed or stalled is not offered early.
      return isUntouched && (await isLocked(pipeline)) ? waitMs : undefined;
    },
    wasLocked: (pipeline, jobId) => {
      tried.set(pipeline, { jobId, until: performance.now() + triedAgainMs });
      return runLockedRetryMs;
    },
    wasFree: (pipeline) => void tried.delete(pipeline),
    offerNext: (pipeline, queueName) =>
      offerWaiting(queues, queueName, pipeline).catch((error: unknown) =>
        logger.warn({ pipeline, code: codeOf(error) }, 'the next run of the pipeline cannot be offered'),
      ),
    close: idle.close,
  };
};
