// Opens a BullMQ queue or worker, closes it in limited time, and converts its errors.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Queue, Worker } from 'bullmq';
import { codeOf } from '../core/errors/errors.ts';
import {
  jobBackoffMs,
  jobLockMs,
  jobStalledCheckMs,
  jobStalledMax,
  queueCloseTimeoutMs,
} from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Patience, QueueBackend, QueueLink } from './backend.ts';
import { loadBullMq } from './bullmq.ts';
import type { KeptQueues, OpenQueue } from './kept-queues.ts';

export interface Queues {
  readonly backend: QueueBackend;
  /** Text that distinguishes the queues of databases that share a server. */
  readonly namespace: string;
  readonly logger: Logger;
  /** Undefined: each use of a queue opens it. */
  readonly kept?: KeptQueues | undefined;
}

/**
 * Logs each error code once, because BullMQ reports thousands of errors a second while the server
 * is down.
 */
const quiet = (logger: Logger): ((error: Error) => void) => {
  const said = new Set<string>();
  return (error) => {
    const code = codeOf(error) ?? error.name;
    if (!said.has(code)) logger.debug({ error }, 'queue');
    said.add(code);
  };
};

export const closeBounded = async (close: () => Promise<void>, destroy?: () => void): Promise<void> => {
  const timer = new AbortController();
  const late = sleep(queueCloseTimeoutMs, undefined, { signal: timer.signal }).catch(() => undefined);
  const closed = close().catch(() => undefined);
  await Promise.race([closed, late]);
  timer.abort();
  if (destroy === undefined) return;
  destroy();
  await Promise.race([closed, sleep(queueCloseTimeoutMs, undefined, { ref: false })]);
};

export interface JobQueue {
  readonly link: QueueLink;
  /** Errors: ETL_SERVER_LOST, ETL_QUEUE_LOST, ETL_QUEUE_REFUSED. */
  readonly ask: <T>(question: (queue: Queue) => Promise<T>) => Promise<T>;
}

const whenReady = async <B extends Queue | Worker>(
  bull: B,
  backend: QueueBackend,
  { end, destroy }: QueueLink,
  isShared = false,
): Promise<{ readonly bull: B; readonly close: () => Promise<void> }> => {
  const close = (): Promise<void> =>
    isShared
      ? closeBounded(() => bull.close())
      : closeBounded(async () => {
          await bull.close();
          await end();
        }, destroy);
  try {
    await bull.waitUntilReady();
  } catch (error) {
    await close();
    throw backend.errorOf(error);
  }
  return { bull, close };
};

/** Errors: ETL_SERVER_LOST, ETL_QUEUE_LOST, ETL_QUEUE_REFUSED. */
export const openQueue = async (
  { backend, namespace, logger }: Queues,
  name: string,
  link = backend.connect(namespace, 'gives up'),
): Promise<OpenQueue> => {
  const { Queue: BullQueue } = loadBullMq();
  // Skips metadata that nobody reads.
  const bull = new BullQueue(name, { ...link.options, skipMetasUpdate: true }, link.factory as never);
  bull.on('error', quiet(logger));
  return { link, ...(await whenReady(bull, backend, link)) };
};

export const asking =
  ({ backend }: Queues, { bull }: OpenQueue): JobQueue['ask'] =>
  async (question) => {
    try {
      return await question(bull);
    } catch (error) {
      throw backend.errorOf(error);
    }
  };

export const withQueue = async <T>(
  queues: Queues,
  name: string,
  use: (queue: JobQueue) => Promise<T>,
): Promise<T> => {
  const useOpen = (opened: OpenQueue): Promise<T> => use({ link: opened.link, ask: asking(queues, opened) });
  if (queues.kept !== undefined) return queues.kept.use(name, () => openQueue(queues, name), useOpen);
  const opened = await openQueue(queues, name);
  try {
    return await useOpen(opened);
  } finally {
    await opened.close();
  }
};

interface JobWorkerOptions {
  readonly concurrency: number;
  readonly patience?: Patience;
  /**
   * True if this worker searches for jobs of dead processes, as one worker of each queue must. The
   * search writes to the queue, so it must not happen after the queue was removed.
   */
  readonly findsStalled?: boolean;
  readonly link?: QueueLink | undefined;
}

export interface JobWorker {
  readonly bull: Worker;
  /** Returns current jobs to the queue, unless BullMQ's own `close` has waited for them. */
  readonly close: () => Promise<void>;
}

/**
 * Opens a worker without running it: if its first connection failed, a running worker would ask for
 * jobs in an endless loop.
 */
export const openWorker = async (
  { backend, namespace, logger }: Queues,
  name: string,
  work: unknown,
  { concurrency, patience = 'gives up', findsStalled = true, link: shared }: JobWorkerOptions,
): Promise<JobWorker> => {
  const { Worker: BullWorker } = loadBullMq();
  const link = shared ?? backend.connect(namespace, patience);
  const bull = new BullWorker(
    name,
    work as never,
    {
      concurrency,
      lockDuration: jobLockMs,
      stalledInterval: jobStalledCheckMs,
      maxStalledCount: jobStalledMax,
      skipStalledCheck: !findsStalled,
      runRetryDelay: jobBackoffMs,
      ...link.options,
      autorun: false,
    },
    link.factory as never,
  );
  bull.on('error', quiet(logger));
  return whenReady(bull, backend, link, shared !== undefined);
};
