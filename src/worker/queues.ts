// Run queues by name: valid names, and the known queues.

import { runQuery, type Client } from '../db/client.ts';
import { EtlError } from '../core/errors/errors.ts';
import { nameProblem } from '../pipeline/names.ts';
import { defaultQueue } from '../core/model.ts';
import { runQueueDepth } from '../queue/run-queue.ts';
import type { RunQueueDepths } from '../queue/run-queue-state.ts';
import type { Queues } from '../queue/job-queue.ts';

/** Errors: ETL_USAGE. */
export const checkQueueName = (queueName: string = defaultQueue): string => {
  const problem = nameProblem(queueName);
  if (problem === undefined) return queueName;
  throw new EtlError('ETL_USAGE', {
    problem: `the queue ${problem}`,
    hint: 'Queue names follow the rules of table names.',
  });
};

/**
 * Returns a worker's queues without duplicates; the default is the default queue. Errors:
 * ETL_USAGE.
 */
export const checkQueueNames = (queueNames: readonly string[] = []): readonly string[] =>
  queueNames.length === 0 ? [defaultQueue] : [...new Set(queueNames.map(checkQueueName))];

/** BullMQ cannot list its queues. */
export const rememberQueueNames = async (client: Client, queueNames: readonly string[]): Promise<void> => {
  const text = 'insert into etl.queue select unnest($1::text[]) on conflict do nothing';
  await runQuery(client, { text, values: [queueNames.toSorted()] });
};

export const knownQueueNames = async (client: Client): Promise<readonly string[]> =>
  (await runQuery(client, { text: 'select name from etl.queue order by name' })).rows.map(({ name }) => name);

export const depthOfQueues = async (
  queues: Queues,
  queueNames: readonly string[],
): Promise<RunQueueDepths> => {
  const each: RunQueueDepths['queues'][number][] = [];
  for (const queue of queueNames) each.push({ queue, ...(await runQueueDepth(queues, queue)) });
  const sum = (key: 'waiting' | 'delayed' | 'active' | 'failed'): number =>
    each.reduce((total, one) => total + one[key], 0);
  const oldest = each.flatMap(({ oldestAt }) => (oldestAt === null ? [] : [oldestAt.getTime()]));
  return {
    waiting: sum('waiting'),
    delayed: sum('delayed'),
    active: sum('active'),
    failed: sum('failed'),
    oldestAt: oldest.length === 0 ? null : new Date(Math.min(...oldest)),
    queues: each,
  };
};
