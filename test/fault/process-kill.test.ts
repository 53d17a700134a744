// The loading process is killed at named points; the next run loads what is missing and nothing else.

import { describe, expect, it } from 'vitest';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { chunksOf, expectNoSessions, stateOf, tableNumbers } from '../helpers/fault-outcome.ts';
import {
  buildPoints,
  builtPoint,
  byName,
  publishedPoint,
  tidyPoint,
  unpublishedPoints,
} from '../helpers/fault-points.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { killChild, useScene } from '../helpers/fault-scene.ts';

const scene = useScene();

describe('etl is killed', () => {
  it.each(unpublishedPoints())(
    '%s: nothing is published, and the next run loads what is missing and publishes',
    async (_, point) => {
      expect((await scene().runStruck(point, killChild)).end).toBe('SIGKILL');
      const { outcome } = eventsOf(await resumeAfterKill(scene()), 'finished')[0]!.result;
      expect(outcome).toBe('published');
      await scene().expectWhole();
    },
  );

  it.each(byName([publishedPoint, tidyPoint]))(
    '%s: the next run finds it published, does not publish again, and tidies up',
    async (_, point) => {
      await scene().runStruck(point, killChild);
      await expectNoSessions(scene().url);
      expect(await stateOf(scene().url)).toBe('published');
      const [tables, chunks] = [await tableNumbers(scene().url), await chunksOf(scene().url)];
      const { outcome } = eventsOf(await resumeAfterKill(scene()), 'finished')[0]!.result;
      expect(outcome).toBe('unchanged');
      expect(await tableNumbers(scene().url)).toEqual(tables);
      expect(await chunksOf(scene().url)).toEqual(chunks);
      await scene().expectWhole();
    },
  );

  it('while tables are built again, because production was changed by hand: the next run builds them with the change', async () => {
    expectEnd(await scene().run(), 0);
    const { proxy, url } = scene();
    const keyPoint = buildPoints.find(({ name }) => name === 'before the primary key is built')!;
    proxy.arm(builtPoint, async () => {
      await ask(url, 'create index by_hand on noaa.daily (day)');
      proxy.arm(keyPoint, killChild(child));
      return 'forward' as const;
    });
    const child = scene().start('--full-refresh');
    expect((await child.ended).end).toBe('SIGKILL');
    await expectNoSessions(url);
    expect(await stateOf(url)).toBe('loaded');
    const [tables, chunks] = [await tableNumbers(url), await chunksOf(url)];
    const next = await scene().run();
    expectEnd(next, 0);
    expect(eventsOf(next, 'resumed')).toEqual([expect.objectContaining({ chunks: chunks.length })]);
    expect(await chunksOf(url)).toEqual(chunks);
    expect(await tableNumbers(url)).not.toEqual(tables);
    expect(await ask(url, `select tablename from pg_indexes where indexname = 'by_hand'`)).toEqual([
      { tablename: 'daily' },
    ]);
    await scene().expectWhole();
  });
});
