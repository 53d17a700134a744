// The loading process is killed at named points; the next run loads what is missing and nothing else.

import { describe, expect, it } from 'vitest';
import { eventsOf } from '../helpers/fault-child.ts';
import { chunksOf, expectNoSessions, stateOf, tableNumbers } from '../helpers/fault-outcome.ts';
import { byName, publishedPoint, tidyPoint, unpublishedPoints } from '../helpers/fault-points.ts';
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
});
