// Opens or removes the load queue of a run.

import { openLoadQueue, removeQueue, type LoadQueue } from '../queue/load-queue.ts';
import type { RunContext } from './context.ts';

/**
 * Prepares the backend of the queues. Errors: ETL_QUEUE_CONNECT, ETL_QUEUE_REFUSED,
 * ETL_QUEUE_SHARED; the driver's own.
 */
const prepareQueues = async ({ client, queues, trust }: RunContext): Promise<void> => {
  const { backend, namespace } = queues;
  await backend.prepare(client, trust);
  await backend.claim(client, namespace);
};

/** Removes the jobs of a run that is finished, or that nobody will continue. */
export const forgetJobs = async (context: RunContext, runId: number): Promise<void> => {
  await prepareQueues(context);
  await removeQueue(context.queues, runId);
};

/**
 * Opens the queue of a run that has files. The queue is connected and emptied during the rehearsal,
 * and closed while the tables are built, because these steps wait for several answers of the
 * server.
 */
export const openRunQueue = async (context: RunContext, runId: number): Promise<LoadQueue> => {
  await prepareQueues(context);
  return openLoadQueue(context.queues, runId, context.workers);
};
