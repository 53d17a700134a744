// Hosts that are killed, vanish and are cut off from each other at random, for as long as HOSTS_SECONDS says: each version of the files
// is published once, whole, and readers see nothing else.
//
//   HOSTS_SECONDS=600 HOSTS_SEED=1 npm run test:hosts -- storm

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ledgerRules, leftoversSql } from '../helpers/chaos-ledger.ts';
import { ask } from '../helpers/fault-database.ts';
import { openHostsScene, type HostsScene } from '../helpers/hosts-scene.ts';
import { startHostsStorm, type HostsStorm } from '../helpers/hosts-storm.ts';
import { hostsProblem } from '../helpers/hosts.ts';
import { createChance, readCount } from '../helpers/seeded.ts';

const seconds = readCount('HOSTS_SECONDS', 600);
const seed = readCount('HOSTS_SEED', 1 + (Date.now() % 1_000_000));
const names = ['one', 'two', 'three', 'four'];

const openJobsSql = `select from etl_queue.job where state in ('waiting', 'active', 'delayed')`;
const newestSql = `select coalesce(max(id), 0)::int as id from etl.run where state = 'published'`;

describe.skipIf(hostsProblem !== undefined)(`${seconds} seconds of faults, seed ${seed}`, () => {
  let scene: HostsScene;
  let storm: HostsStorm;
  const diary: string[] = [];
  const startedAt = performance.now();
  const note = (what: string): void =>
    void diary.push(`${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${what}`);
  /** What production holds of each version, as text. */
  const versions: string[] = [];
  const seen = new Set<string>();
  const wrong: string[] = [];
  let retries = 0;
  let isOver = false;

  const published = async (): Promise<number> =>
    (await ask<{ id: number }>(scene.url, newestSql).catch(() => []))[0]?.id ?? 0;

  /** Changes all files, and enqueues a run until one has published them. */
  const publishVersion = async (): Promise<void> => {
    const before = await published();
    versions.push(JSON.stringify(scene.change(versions.length + 1)));
    note(`version ${versions.length}`);
    await scene.enqueue(scene.databaseHost, 'hosts');
    while ((await published()) === before) {
      await sleep(200);
      if ((await ask(scene.url, openJobsSql)).length > 0 || (await published()) > before) continue;
      retries += 1;
      note('no run is left: once more');
      await scene.enqueue(scene.databaseHost, 'hosts');
    }
    if (JSON.stringify(await scene.sums()) !== versions.at(-1)) wrong.push(`version ${versions.length}`);
  };
  const read = async (): Promise<void> => {
    for (; !isOver; await sleep(200)) seen.add(JSON.stringify(await scene.sums()));
  };
  beforeAll(async () => {
    console.log(`HOSTS_SEED=${seed} HOSTS_SECONDS=${seconds}`);
    scene = await openHostsScene();
    try {
      storm = await startHostsStorm({ scene, names, chance: createChance(seed), note });
      await publishVersion();
      const reading = read();
      while (performance.now() - startedAt < seconds * 1_000) await publishVersion();
      await storm.stop();
      note('calm');
      await publishVersion();
      isOver = true;
      await reading;
    } catch (error) {
      console.log(diary.join('\n'));
      throw error;
    }
    const runs = await ask(
      scene.url,
      `select state, error_code as code, count(*)::int as runs, sum(generation)::int as coordinators from etl.run group by 1, 2`,
    );
    const figures = { seed, seconds, versions: versions.length, retries, faults: storm.counts, runs };
    console.log(JSON.stringify(figures, null, 2));
  });
  afterAll(() => scene.close());

  it('every version was published once and whole, and readers saw nothing else', () => {
    expect(
      { wrong, strange: [...seen].filter((sums) => !versions.includes(sums)) },
      diary.join('\n'),
    ).toEqual({
      wrong: [],
      strange: [],
    });
  });

  it.each(Object.entries(ledgerRules))('the ledger holds: %s', async (_, sql) =>
    expect(await ask(scene.url, sql), diary.join('\n')).toEqual([]),
  );

  it('when the workers are gone, nothing of them is left on the server', async () => {
    await storm.killWorkers();
    await expect.poll(() => ask(scene.url, leftoversSql), { timeout: 60_000, interval: 200 }).toEqual([]);
  });
});
