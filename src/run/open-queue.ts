// Opens or removes the load queue of a run.

import { openLoadQueue, removeQueue, type LoadQueue } from '../queue/load-queue.ts';
import type { RunContext } from './context.ts';

const prepareQueues = async ({ client, queues, trust }: RunContext): Promise<void> => {
  const { backend, namespace } = queues;
  await backend.prepare(client, trust);
  await backend.claim(client, namespace);
};

export const forgetJobs = async (context: RunContext, runId: number): Promise<void> => {
  await prepareQueues(context);
  await removeQueue(context.queues, runId);
};

/**
 * Opens the queue. Connecting and emptying it continue during the rehearsal, because they take
 * several round trips. Errors: ETL_QUEUE_CONNECT, ETL_QUEUE_REFUSED, ETL_QUEUE_SHARED.
 */
export const openRunQueue = async (context: RunContext, runId: number): Promise<LoadQueue> => {
  await prepareQueues(context);
  return openLoadQueue(context.queues, runId, context.workers);
};
