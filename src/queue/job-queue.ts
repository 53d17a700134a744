// One BullMQ queue or worker, opened on a backend and closed in bounded time, its errors put into our words.

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

/** The queues of one database: each is opened by its name. */
export interface Queues {
  readonly backend: QueueBackend;
  /** Distinguishes them from those of other databases on the same server. */
  readonly namespace: string;
  readonly logger: Logger;
}

/** BullMQ reports thousands of errors a second while the server is down; one of each code is enough for a log. */
const quiet = (logger: Logger): ((error: Error) => void) => {
  const said = new Set<string>();
  return (error) => {
    const code = codeOf(error) ?? error.name;
    if (!said.has(code)) logger.debug({ error }, 'queue');
    said.add(code);
  };
};

/** Closes BullMQ's object in bounded time: what does not close by itself loses its connections. */
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
  /** Its connections, which a worker of the same queue may share. */
  readonly link: QueueLink;
  /** Asks BullMQ; what it throws is put into our words. Errors: ETL_SERVER_LOST, ETL_QUEUE_LOST, ETL_QUEUE_REFUSED. */
  readonly ask: <T>(question: (queue: Queue) => Promise<T>) => Promise<T>;
}

export interface OpenQueue {
  readonly bull: Queue;
  readonly link: QueueLink;
  readonly close: () => Promise<void>;
}

/** A queue or a worker once it is connected; one that fails to is closed. Who shares a link leaves it to its owner to end it. */
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

/** Opens a queue. The caller closes it. Errors: ETL_SERVER_LOST, ETL_QUEUE_LOST, ETL_QUEUE_REFUSED. */
export const openQueue = async (
  { backend, namespace, logger }: Queues,
  name: string,
  link = backend.connect(namespace, 'gives up'),
): Promise<OpenQueue> => {
  const { Queue: BullQueue } = loadBullMq();
  // What it writes down of itself, nobody reads.
  const bull = new BullQueue(name, { ...link.options, skipMetasUpdate: true }, link.factory as never);
  bull.on('error', quiet(logger));
  return { link, ...(await whenReady(bull, backend, link)) };
};

/** Asks an open queue. */
export const asking =
  ({ backend }: Queues, { bull }: OpenQueue): JobQueue['ask'] =>
  async (question) => {
    try {
      return await question(bull);
    } catch (error) {
      throw backend.errorOf(error);
    }
  };

/** Uses a queue for the length of a function. */
export const withQueue = async <T>(
  queues: Queues,
  name: string,
  use: (queue: JobQueue) => Promise<T>,
): Promise<T> => {
  const opened = await openQueue(queues, name);
  try {
    return await use({ link: opened.link, ask: asking(queues, opened) });
  } finally {
    await opened.close();
  }
};

export interface JobWorkerOptions {
  readonly concurrency: number;
  readonly patience?: Patience;
  /**
   * Whether it looks for jobs of dead processes, as one worker of a queue must. Each look is written down on the queue, and a
   * worker that comes when the queue has just been removed would write it down for good.
   */
  readonly findsStalled?: boolean;
  /** Of the same queue, opened by this process. */
  readonly link?: QueueLink | undefined;
}

export interface JobWorker {
  readonly bull: Worker;
  /** Gives jobs in hand back, unless `close` of BullMQ has waited for them before. */
  readonly close: () => Promise<void>;
}

/**
 * Opens a worker that is connected but does not run yet: one whose first connection failed would ask for
 * jobs in a loop that never pauses, not even for a signal.
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
