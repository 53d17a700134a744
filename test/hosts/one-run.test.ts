// One run that a server, a store of files, a coordinator and three workers share, each on a host of its own with a file system of its
// own: it loads exactly once although its coordinator is killed, a host vanishes, and the network splits.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerRules } from '../helpers/chaos-ledger.ts';
import { openHostsScene, type HostsScene } from '../helpers/hosts-scene.ts';
import { hostsProblem } from '../helpers/hosts.ts';
import { ask } from '../helpers/fault-database.ts';

const splitMs = 8_000;
/** So that files are left when another worker has become the coordinator, and when the network is whole again. */
const slowMs = 1_000;

describe.skipIf(hostsProblem !== undefined)('hosts', () => {
  let scene: HostsScene;
  beforeAll(async () => (scene = await openHostsScene()));
  afterAll(() => scene.close());

  it('load one run exactly once, while they are killed, vanish and are cut off from each other', async () => {
    const { network, withCopiesHeld, untilRun, boot } = scene;
    const expected = scene.change(1);
    const coordinator = await boot('coordinator');
    await scene.enqueue(coordinator.host, 'hosts');
    const kill = async (untilHosts: (hosts: number) => Promise<unknown>) => {
      const started = await Promise.all(['one', 'two', 'three'].map((name) => boot(name)));
      await untilHosts(4);
      await started[0]!.host.unplug();
      await coordinator.host.kill();
      return started;
    };
    const workers = await withCopiesHeld(2, kill, slowMs);
    const { host: successor } = await untilRun((run) => run.generation === 2 && run.state === 'loading');
    const next = workers.find(({ host }) => host.name === successor)!;
    await network.split([next.host, scene.storeHost]);
    await sleep(splitMs);
    await network.heal();
    const published = await untilRun(({ state }) => state === 'published');
    expect(published.id).toBe(1);
    expect(await scene.sums()).toEqual(expected);
    for (const [rule, sql] of Object.entries(ledgerRules))
      expect(await ask(scene.url, sql), rule).toEqual([]);
  });
});
