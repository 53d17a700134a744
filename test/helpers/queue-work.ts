// Queues of both kinds, with a database and a Redis of their own, and jobs that load nothing.

import { afterAll, beforeAll } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { silentLogger } from '../../src/core/logger.ts';
import type { Lease, Segment } from '../../src/core/model.ts';
import { readSegmentJob } from '../../src/pipeline/job-payload.ts';
import { chooseBackend } from '../../src/queue/choose-backend.ts';
import type { Queues } from '../../src/queue/job-queue.ts';
import { openLoadQueue, type ServeOptions, type Work } from '../../src/queue/load-queue.ts';
import { startRedis, type RedisServer } from './redis-server.ts';
import { useDatabase } from './server.ts';

const never = new Promise<never>(() => undefined);

export const segment = (fileId: number): Segment => ({
  fileId,
  start: { byte: 0, line: 1, record: 1 },
  byteEnd: 10,
});

export async function* batches(...fileIds: number[]): AsyncGenerator<readonly Work[], void> {
  yield fileIds.map((fileId) => ({ segments: [segment(fileId)] }));
}

/** Opens a run's queue, puts jobs on it, works them off and closes it. */
export const workOff = async (
  options: ServeOptions,
  jobs: AsyncGenerator<readonly Work[], void>,
): Promise<void> => {
  const queue = openLoadQueue(options.queues, options.lease.runId, options.workers);
  try {
    await queue.workOff(options, jobs);
  } finally {
    await queue.close();
  }
};

const leaseOf = (runId: number): Lease => ({ runId, epoch: '', generation: 1 });

/** A database and, for that kind, a Redis; `place` is a queue of theirs, and `servingRun` works one run's jobs off. */
export const useQueues = (kind: string) => {
  const database = useDatabase();
  const servers: RedisServer[] = [];
  beforeAll(async () => {
    if (kind === 'Redis') servers.push(await startRedis());
    await place().backend.prepare();
  });
  afterAll(() => servers[0]?.stop());

  const redisOption = () => (servers[0] === undefined ? false : { url: servers[0].url });
  const place = (namespace = 'one'): Queues => ({
    backend: chooseBackend(addressFromUrl(database.url), redisOption(), {}),
    namespace,
    logger: silentLogger,
  });
  const servingRun = (
    runId: number,
    load: ServeOptions['load'],
    given: Partial<ServeOptions> = {},
  ): ServeOptions => ({
    queues: place(),
    lease: leaseOf(runId),
    workers: 2,
    drain: undefined,
    outside: never,
    load,
    read: readSegmentJob,
    ...given,
  });
  return { database, redis: () => servers[0], redisOption, place, servingRun };
};
