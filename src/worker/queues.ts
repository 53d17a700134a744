// Run queues by name: valid names, the known queues, and their jobs.

import { runQuery, type Client } from '../db/client.ts';
import { EtlError } from '../core/errors/errors.ts';
import { plainNameProblem } from '../pipeline/names.ts';
import { defaultQueue } from '../core/model.ts';
import type { Logger } from '../core/logger.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { listRunJobs, runQueueDepth, type ListedJob } from '../queue/run-queue.ts';
import type { RunQueueDepths } from '../queue/run-queue-state.ts';
import type { Queues } from '../queue/job-queue.ts';

export const checkQueueName = (queueName: string = defaultQueue): string => {
  const problem = plainNameProblem(queueName);
  if (problem === undefined) return queueName;
  throw new EtlError('ETL_USAGE', {
    problem: `the queue ${problem}`,
    hint: 'Queue names follow the rules of table names.',
  });
};

/** Checks names and removes duplicates; without names, returns `default`. Errors: ETL_USAGE. */
export const checkQueueNames = (queueNames: readonly string[] = []): readonly string[] =>
  queueNames.length === 0 ? [defaultQueue] : [...new Set(queueNames.map(checkQueueName))];

/** BullMQ cannot list its queues, so their names are recorded. */
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
    isPaused: each.some((one) => one.isPaused),
    oldestAt: oldest.length === 0 ? null : new Date(Math.min(...oldest)),
    queues: each,
  };
};

const jobsListed = 50;

export interface QueuesSeen extends RunQueueDepths {
  /** Active jobs first, then waiting jobs in order. */
  readonly jobs: readonly (ListedJob & { readonly queue: string })[];
}

/** Returns undefined if nothing was ever enqueued. Errors: those of the queues' server. */
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
