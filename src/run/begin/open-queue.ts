// Opens the load queue of a run, or removes it, after a look at where queues are.

import { openLoadQueue, removeQueue, type LoadQueue } from '../../queue/load-queue.ts';
import type { RunContext } from '../context.ts';
import type { LoadingRun } from '../../load/loading-run.ts';

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
 * Opens the queue of a run that has files: it is connected and emptied while the run is rehearsed, and closed while its tables are
 * built, for each of these waits for several answers of the server one after the other.
 */
export const openRunQueue = async (
  context: RunContext,
  { lease, files }: LoadingRun,
): Promise<LoadQueue | undefined> => {
  if (files.length === 0) return undefined;
  await prepareQueues(context);
  return openLoadQueue(context.queues, lease.runId, context.workers);
};
