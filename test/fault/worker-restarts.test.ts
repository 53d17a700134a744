// A worker outlives what it depends on: PostgreSQL and Redis go away and come back, and it does what is enqueued then.

import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { createWorker, enqueue, loadPipelineFile, type EtlWorker, type Logger } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { ask, startOwnServer } from '../helpers/own-server.ts';
import { hasRedis, startRedis } from '../helpers/redis-server.ts';

const { directory } = useFiles();
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const cases = [
  { name: 'PostgreSQL is killed', redisUrl: false, strike: 'postgres' },
  ...(hasRedis
    ? [
        { name: 'PostgreSQL is killed, queues in Redis', redisUrl: true, strike: 'postgres' },
        { name: 'Redis is killed', redisUrl: true, strike: 'redis' },
      ]
    : []),
];

it.each(cases)('$name, and started again, while the worker idles', async ({ redisUrl, strike }) => {
  const server = await startOwnServer();
  closing.push(server.remove);
  const redis = redisUrl ? await startRedis() : undefined;
  if (redis !== undefined) closing.push(redis.stop);
  const ended: string[] = [];
  const note = (fields: object, message: string): void => {
    if (message === 'run ended') ended.push((fields as { job: string }).job);
  };
  const logger: Logger = {
    debug: () => undefined,
    info: note,
    warn: () => undefined,
    error: () => undefined,
  };
  const place = {
    databaseUrl: server.server.url,
    redis: redis === undefined ? (false as const) : { url: redis.url },
  };
  const folder = join(directory, 'pipelines');
  mkdirSync(folder, { recursive: true });
  cpSync('pipelines', folder, { recursive: true });
  const worker: EtlWorker = await createWorker({ ...place, pipelines: folder, workers: 1, logger });
  closing.push(() => worker.close({ deadlineMs: 0 }));
  if (strike === 'redis') {
    await redis!.signal('SIGKILL');
    await redis!.start();
  } else {
    await server.end('SIGKILL');
    await server.start();
  }
  const { pipeline, directory: own } = await loadPipelineFile(join(folder, 'noaa.ts'));
  const { job } = await enqueue(pipeline, { ...place, directory: own });
  while (!ended.includes(job)) await sleep(20);
  expect(await ask(place.databaseUrl, 'select count(*)::int as rows from noaa.observation')).toEqual([
    { rows: 5276 },
  ]);
});
