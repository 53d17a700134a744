// A worker whose Redis is away is not ready; it is ready again when Redis is back.

import { describe, expect, it } from 'vitest';
import { hasRedis, startRedis } from '../helpers/redis-server.ts';
import { useDatabase } from '../helpers/server.ts';
import { until, useWorkers } from '../helpers/workers.ts';

const database = useDatabase();

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
