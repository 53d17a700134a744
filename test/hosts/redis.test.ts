// Redis as the queue, on a host of its own: one run loads exactly once although its coordinator is killed and the queue's host vanishes.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerRules } from '../helpers/chaos-ledger.ts';
import { ask } from '../helpers/fault-database.ts';
import { openHostsScene, type HostsScene } from '../helpers/hosts-scene.ts';
import { hostsProblem } from '../helpers/hosts.ts';
import { hasRedis } from '../helpers/redis-server.ts';

const awayMs = 8_000;
const slowMs = 1_000;

describe.skipIf(hostsProblem !== undefined || !hasRedis)('hosts whose queue is Redis', () => {
  let scene: HostsScene;
  beforeAll(async () => (scene = await openHostsScene('Redis')));
  afterAll(() => scene.close());

  it('load one run exactly once', async () => {
    const { withCopiesHeld, untilRun, boot, queueHost } = scene;
    const expected = scene.change(1);
    const coordinator = await boot('coordinator');
    await scene.enqueue(coordinator.host, 'hosts');
    await withCopiesHeld(
      2,
      async (untilHosts) => {
        await Promise.all(['one', 'two'].map((name) => boot(name)));
        await untilHosts(3);
        await queueHost!.unplug();
        await sleep(awayMs);
        await queueHost!.plugIn();
        await coordinator.host.kill();
      },
      slowMs,
    );
    const published = await untilRun(({ state }) => state === 'published');
    expect(published).toMatchObject({ id: 1, host: expect.stringMatching(/^(one|two)$/) });
    expect(await scene.sums()).toEqual(expected);
    for (const [rule, sql] of Object.entries(ledgerRules))
      expect(await ask(scene.url, sql), rule).toEqual([]);
    expect(await ask(scene.url, `select to_regclass('etl_queue.job') as there`)).toEqual([{ there: null }]);
  });
});
