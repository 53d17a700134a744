// The loading process is killed at its n-th effect, for n = 1, 2, 3 …, until a run is untouched.
//
// All of them take more than an hour, so by default a few are sampled at equal distances. FAULT_EVERY=1 takes all,
// FAULT_EVERY=10 each tenth; FAULT_FROM=300 begins there. Of the two small streams, which are loaded
// by the same steps, the first is killed at every odd effect of the load and the other at every even one.

import { afterEach, expect, inject, it } from 'vitest';
import { killRest } from '../helpers/fault-child.ts';
import { chunksOf } from '../helpers/fault-outcome.ts';
import { effectPoint, loadEffectPoint } from '../helpers/fault-points.ts';
import type { Point } from '../helpers/fault-proxy.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { killChild, openScene, type Scene } from '../helpers/fault-scene.ts';

const samples = { largeData: 6, packedData: 4 };
type Data = keyof typeof samples | 'tinyHttpData' | 'tinyBucketData';
const timeout = 4 * 3_600_000;

/** Kills at once: a run waits for the server as much as it works. */
const lanes = 2;

const scenes = new Set<Scene>();
const open = async (data: Data): Promise<Scene> => {
  const scene = await openScene(inject(data));
  scenes.add(scene);
  return scene;
};
const close = async (scene: Scene): Promise<void> => {
  scenes.delete(scene);
  await scene.close();
};
afterEach(async () => {
  killRest();
  for (const scene of scenes) await close(scene);
});

/** Effects of an undisturbed run, and how its chunks divide. */
const countEffects = async (data: Data): Promise<number> => {
  const scene = await open(data);
  const { proxy, run, expectWhole, url } = scene;
  expect(await run()).toMatchObject({ end: 0 });
  await expectWhole();
  const observations = (await chunksOf(url)).filter(({ proof }) => proof.includes('hourly'));
  expect(observations.length).toBeGreaterThanOrEqual(20);
  await close(scene);
  return proxy.effects();
};

/** Kills at the point and runs again; false when the run ended before. */
const killAt = async (data: Data, point: Point): Promise<boolean> => {
  const scene = await open(data);
  const { proxy, start, expectWhole } = scene;
  proxy.arm(point, (...struck) => killChild(child)(...struck));
  const child = start();
  const { end } = await child.ended;
  proxy.disarm();
  if (end === 'SIGKILL') await resumeAfterKill(scene);
  else expect(end).toBe(0);
  await expectWhole();
  await close(scene);
  return end === 'SIGKILL';
};

interface Places {
  readonly point: (n: number) => Point;
  readonly from: number;
  readonly every: number;
}

/** Kills at one place after the other, until a run is untouched. Returns how many runs were killed. */
const killOnAndOn = async (data: Data, { point, from, every }: Places): Promise<number> => {
  let kills = 0;
  let next = from;
  let isUntouched = false;
  const lane = async (): Promise<void> => {
    while (!isUntouched) {
      const killing = point(next);
      next += every;
      const isKilled = await killAt(data, killing).catch((cause: unknown) => {
        throw new Error(`killed at ${killing.name}`, { cause });
      });
      kills += Number(isKilled);
      isUntouched ||= !isKilled;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return kills;
};

it.each([
  { files: 'files', data: 'largeData' },
  { files: 'files in gzip, zip and zstd', data: 'packedData' },
] as const)(
  '$files: killed at every effect, the next run makes what an undisturbed run makes',
  async ({ data }) => {
    const effects = await countEffects(data);
    const every = Number(process.env['FAULT_EVERY']) || Math.ceil(effects / samples[data]);
    const from = Number(process.env['FAULT_FROM']) || 1;
    expect(await killOnAndOn(data, { point: effectPoint, from, every })).toBeGreaterThan(1);
  },
  timeout,
);

it.each([
  { file: 'one file in gzip over HTTP that is cut off', data: 'tinyHttpData', first: 1 },
  { file: 'an object of S3', data: 'tinyBucketData', first: 2 },
] as const)(
  '$file, loaded by two workers: killed at every second effect of the load, the next run makes what an undisturbed run makes',
  async ({ data, first }) => {
    const isAll = process.env['FAULT_EVERY'] === '1';
    const places = isAll ? { from: 1, every: 1 } : { from: first, every: 2 };
    const kills = await killOnAndOn(data, { point: loadEffectPoint, ...places });
    // Of each chunk the claim, the COPY, its data, its end and its commit.
    expect(kills * places.every).toBeGreaterThan(5 * inject(data).outcome.counts.chunks);
  },
  timeout,
);
