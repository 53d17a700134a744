// A host that is far away, over a cable that delays and loses packets: a run loads right, or says why not and the next one does.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SetCable } from '../helpers/hosts-cable.ts';
import { openHostsScene, type HostsScene } from '../helpers/hosts-scene.ts';
import { hostsProblem, type Host } from '../helpers/hosts.ts';
import { readCount } from '../helpers/seeded.ts';

/** A minute, or all the time that the suite is given. */
const awayMs = 1_000 * Math.min(60, readCount('HOSTS_SECONDS', 600));

describe.skipIf(hostsProblem !== undefined)('a distant host', () => {
  let scene: HostsScene;
  let far: Host;
  let setCable: SetCable;
  beforeAll(async () => {
    scene = await openHostsScene();
    [far, setCable] = await scene.addFar('far');
  });
  afterAll(() => scene.close());

  const run = () => scene.etl(far, 'run', 'pipelines/hosts.ts', '--workers', '2', '--chunk-bytes', '20000');
  /** What came of a run; the next one, if it has failed for a reason that it gives. */
  const outcomeOf = async (first = run()): Promise<unknown> => {
    const { code, said } = await first;
    if (code === 0) return scene.sums();
    console.log(said);
    return /\bETL_[A-Z_]+/.test(said) && (await run()).code === 0 ? scene.sums() : said;
  };

  it.each([
    [20, 0],
    [60, 0.01],
    [200, 0.01],
  ])('whose answers take %i ms, and of whose packets this share is lost: %d', async (ms, lost) => {
    const expected = scene.change(ms, 300);
    await setCable(ms / 2, lost);
    expect(await outcomeOf()).toEqual(expected);
  });

  it(`that is cut off for ${awayMs / 1_000} s while it loads`, async () => {
    const expected = scene.change(1, 300);
    await setCable(10, 0);
    const running = run();
    await scene.withCopiesHeld(2, async (untilHosts) => {
      await untilHosts(1);
      await far.unplug();
    });
    await sleep(awayMs);
    await far.plugIn();
    expect(await outcomeOf(running)).toEqual(expected);
  });
});
