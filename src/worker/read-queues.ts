// Reads the queues of runs without changing anything.

import type { Client } from '../db/client.ts';
import type { Logger } from '../core/logger.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { listRunJobs, type ListedJob } from '../queue/run-queue.ts';
import type { RunQueueDepths } from '../queue/run-queue-state.ts';
import { depthOfQueues, knownQueueNames } from './queues.ts';

/** Limit for each queue and state; the depth counts all jobs. */
const jobsListed = 50;

export interface QueuesSeen extends RunQueueDepths {
  /** Active jobs first, then waiting jobs, in their order. */
  readonly jobs: readonly (ListedJob & { readonly queue: string })[];
}

/**
 * Reads all queues; undefined if nothing was ever enqueued. Errors: those of the queue's server.
 */
export const readQueues = async (
  client: Client,
  backend: QueueBackend,
  logger: Logger,
): Promise<QueuesSeen | undefined> => {
  if (!(await backend.isThere(client))) return undefined;
  const queues = { backend, namespace: await backend.namespaceOf(client), logger };
  const names = await knownQueueNames(client);
  const jobs: QueuesSeen['jobs'][number][] = [];
  for (const queue of names)
    for (const job of await listRunJobs(queues, queue, jobsListed)) jobs.push({ ...job, queue });
  return { ...(await depthOfQueues(queues, names)), jobs };
};
