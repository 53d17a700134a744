// The loading process is killed at named points; the next run loads what is missing and nothing else.

import { describe, expect, it } from 'vitest';
import { eventsOf } from '../helpers/fault-child.ts';
import { chunksOf, expectNoSessions, stateOf, tableNumbers } from '../helpers/fault-outcome.ts';
import {
  buildPoints,
  loadPoints,
  planPoints,
  publishedPoint,
  publishPoints,
  tidyPoint,
} from '../helpers/fault-points.ts';
import { killChild, useScene } from '../helpers/fault-scene.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';

const scene = useScene();
const chunks = 22;

describe('etl is killed', () => {
  it.each([...planPoints, ...loadPoints(chunks), ...buildPoints, ...publishPoints])(
    '$name: the next run finishes',
    async (point) => {
      const { end } = await scene().runStruck(point, killChild);
      expect(end).toBe('SIGKILL');
      await resumeAfterKill(scene());
      await scene().expectWhole();
    },
  );

  it.each(publishPoints)('$name: nothing is published, then everything', async (point) => {
    await scene().runStruck(point, killChild);
    await expectNoSessions(scene().url);
    expect(await tableNumbers(scene().url)).toEqual([]);
    const { outcome } = eventsOf(await scene().run(), 'finished')[0]!.result;
    expect(outcome).toBe('published');
    await scene().expectWhole();
  });

  it.each([publishedPoint, tidyPoint])('$name: it is not published again', async (point) => {
    await scene().runStruck(point, killChild);
    await expectNoSessions(scene().url);
    expect(await stateOf(scene().url)).toBe('published');
    const [before, chunksBefore] = [await tableNumbers(scene().url), await chunksOf(scene().url)];
    const { outcome } = eventsOf(await scene().run(), 'finished')[0]!.result;
    expect(outcome).toBe('unchanged');
    expect(await tableNumbers(scene().url)).toEqual(before);
    expect(await chunksOf(scene().url)).toEqual(chunksBefore);
    await scene().expectWhole();
  });
});
