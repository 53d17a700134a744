// Opens the load queue of a run, or removes it, after a look at where queues are.

import { openLoadQueue, removeQueue, type LoadQueue } from '../../queue/load-queue.ts';
import type { RunContext } from '../context.ts';

/** Errors: ETL_QUEUE_CONNECT, ETL_QUEUE_REFUSED, ETL_QUEUE_SHARED; the driver's own. */
const prepareQueues = async ({ client, queues, trust }: RunContext): Promise<void> => {
  const { backend, namespace } = queues;
  await backend.prepare(client, trust);
  await backend.claim(client, namespace);
};

/** Removes the jobs of a run whose work is done, or that nobody will continue. */
export const forgetJobs = async (context: RunContext, runId: number): Promise<void> => {
  await prepareQueues(context);
  await removeQueue(context.queues, runId);
};

/**
 * Opens the queue of a run that has files. It is connected and emptied while the run is rehearsed, and closed while the tables are
 * built: each of these waits for several answers of the server, one after another.
 */
export const openRunQueue = async (context: RunContext, runId: number): Promise<LoadQueue> => {
  await prepareQueues(context);
  return openLoadQueue(context.queues, runId, context.workers);
};
