// The server's host vanishes without a word while files are loaded: a run ends with one error; another, after it is back, loads exactly once.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerRules } from '../helpers/chaos-ledger.ts';
import { ask } from '../helpers/fault-database.ts';
import { openHostsScene, type HostsScene } from '../helpers/hosts-scene.ts';
import { hostsProblem, type Host } from '../helpers/hosts.ts';

const awayMs = 45_000;

describe.skipIf(hostsProblem !== undefined)("the server's host", () => {
  let scene: HostsScene;
  let loader: Host;
  beforeAll(async () => {
    scene = await openHostsScene();
    [loader] = await scene.addFar('loader');
  });
  afterAll(() => scene.close());

  const run = (wait: string) =>
    scene.etl(
      loader,
      'run',
      'pipelines/hosts.ts',
      '--workers',
      '2',
      '--chunk-bytes',
      '20000',
      '--wait',
      wait,
    );
  /** Unplugs the server while the run copies. */
  const unplug = (): Promise<void> =>
    scene.withCopiesHeld(2, async (untilHosts) => {
      await untilHosts(1);
      await scene.databaseHost.unplug();
    });
  const expectWhole = async (expected: unknown): Promise<void> => {
    expect(await scene.sums()).toEqual(expected);
    for (const [rule, sql] of Object.entries(ledgerRules))
      expect(await ask(scene.url, sql), rule).toEqual([]);
  };

  it('does not come back: one error says so, and a run after it was found loads exactly once', async () => {
    const expected = scene.change(1, 300);
    const running = run('5s');
    await unplug();
    const { code, said } = await running;
    expect(code, said).not.toBe(0);
    expect(said.match(/^error ETL_\w+/gm), said).toEqual(['error ETL_SERVER_LOST']);
    await scene.databaseHost.plugIn();
    const again = await run('2m');
    expect(again.code, again.said).toBe(0);
    await expectWhole(expected);
  });

  it('comes back while the run waits for it: the same run goes on', async () => {
    const expected = scene.change(2, 300);
    const running = run('5m');
    await unplug();
    await sleep(awayMs);
    await scene.databaseHost.plugIn();
    const { code, said } = await running;
    expect(code, said).toBe(0);
    await expectWhole(expected);
  });
});
