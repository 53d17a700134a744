// A worker whose Redis is away is not ready; it is ready again when Redis is back.

import { describe, expect, it } from 'vitest';
import { createWorker } from '../../src/index.ts';
import { freePort, hasRedis, startRedis } from '../helpers/redis-server.ts';
import { useDatabase } from '../helpers/server.ts';
import { until, useWorkers } from '../helpers/workers.ts';

const database = useDatabase();

it('a worker that waits for its server at the start is live and not ready, and closes its port if it gives up', async () => {
  const [nobody, port] = [await freePort(), await freePort()];
  const databaseUrl = `postgres://me@127.0.0.1:${nobody}/none`;
  const over = new AbortController();
  const place = { pipelines: 'pipelines', databaseUrl, redis: false } as const;
  const worker = createWorker({ ...place, health: { port }, signal: over.signal });
  const ended = worker.catch((error: unknown) => error);
  const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`);
  await until(() => ask('/health').then(Boolean, () => false));
  const [health, ready, metrics] = await Promise.all(['/health', '/ready', '/metrics'].map(ask));
  expect([health!.status, ready!.status, metrics!.status]).toEqual([200, 503, 503]);
  expect(await health!.text()).toBe(
    'live\nthe worker starts: it waits until its server and its queue answer\n',
  );
  over.abort();
  expect(await ended).toMatchObject({ code: 'ABORT_ERR' });
  await expect(ask('/health')).rejects.toThrow('fetch failed');
});

describe.runIf(hasRedis)('a worker of queues in Redis', () => {
  const workers = useWorkers(() => ({ pipelines: 'pipelines', databaseUrl: database.url }));

  it.each([
    { name: 'killed', away: 'SIGKILL', back: undefined },
    { name: 'frozen', away: 'SIGSTOP', back: 'SIGCONT' },
  ] as const)('is not ready while its Redis is $name', async ({ away, back }) => {
    const redis = await startRedis();
    try {
      const worker = await workers.start({ redis: { url: redis.url }, health: { port: 0 } });
      const ask = (path: string) => fetch(`http://127.0.0.1:${worker.healthPort}${path}`);
      const isReady = async (): Promise<boolean> => (await ask('/ready')).status === 200;
      const depth = 'sluice_queue_jobs{queue="default",state="waiting"} 0';
      await until(isReady);
      expect(await (await ask('/metrics')).text()).toContain(depth);
      await redis.signal(away);
      await until(async () => !(await isReady()));
      expect((await ask('/health')).status).toBe(200);
      expect(await (await ask('/metrics')).text()).not.toContain('sluice_queue_jobs{');
      await (back === undefined ? redis.start() : redis.signal(back));
      await until(isReady);
      expect(await (await ask('/metrics')).text()).toContain(depth);
      await worker.close();
    } finally {
      await redis.stop();
    }
  });
});
