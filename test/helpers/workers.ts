// Workers in this very process, with their queues in PostgreSQL or in a Redis of their own.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { createWorker, type EtlWorker, type Logger, type WorkerOptions } from '../../src/index.ts';
import { hasRedis, startRedis, type RedisServer } from './redis-server.ts';
import type { TestDatabase } from './server.ts';

/** For `describe.each`; without Redis on the machine, which CI has, PostgreSQL alone. */
export const queueKinds = [{ kind: 'PostgreSQL' }, ...(hasRedis ? [{ kind: 'Redis' }] : [])];

/** Waits for something that will come about; the time limit is the test's. */
export const until = async (isIt: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isIt())) await sleep(20);
};

/** Where the tables and the queues are, as options of the library; a Redis is started for the length of the `describe`. */
export const usePlace = (kind: string, database: TestDatabase) => {
  let redis: RedisServer | undefined;
  beforeAll(async () => {
    if (kind === 'Redis') redis = await startRedis();
  });
  afterAll(() => redis?.stop());
  return {
    place: () => ({
      databaseUrl: database.url,
      redis: redis === undefined ? (false as const) : { url: redis.url },
    }),
    /** Undefined without Redis. */
    get redisCommand() {
      return redis?.command;
    },
    /** Empties the queues, as a Redis without persistence does when it restarts. */
    loseJobs: () => redis?.command('flushall') ?? database.query('delete from etl_queue.job'),
  };
};

/** What a worker logged. */
export interface Line {
  /** The name that the test gave to the worker. */
  readonly from: string;
  readonly level: string;
  readonly message: string;
  readonly run?: number;
  readonly job?: string;
  readonly schedule?: string;
  readonly code?: string;
}

export interface TestWorkers {
  readonly start: (given?: Partial<WorkerOptions>, from?: string) => Promise<EtlWorker>;
  /** What all of them logged in this test, debugging aside. */
  lines: readonly Line[];
}

/** Starts workers that are closed after each test. Hooks `afterEach` declared before this one find them closed. */
export const useWorkers = (common: () => WorkerOptions): TestWorkers => {
  const started: EtlWorker[] = [];
  const loggerOf = (from: string): Logger => {
    const note =
      (level: string) =>
      (fields: object, message: string): void =>
        void (workers.lines = [...workers.lines, { ...fields, from, level, message }]);
    return { debug: () => undefined, info: note('info'), warn: note('warn'), error: note('error') };
  };
  const workers: TestWorkers = {
    lines: [],
    start: async (given = {}, from = 'worker') => {
      const worker = await createWorker({ ...common(), logger: loggerOf(from), ...given });
      started.push(worker);
      return worker;
    },
  };
  afterEach(async () => {
    for (const worker of started.splice(0)) await worker.close({ deadlineMs: 0 });
    workers.lines = [];
  });
  return workers;
};
