// SIGINT and SIGTERM to the process itself: it stops after the chunks in flight, or at once; the next run continues.

import { describe, expect, it } from 'vitest';
import { expectEnd } from '../helpers/fault-child.ts';
import { chunksOf, expectNoSessions, stateOf, tableNumbers } from '../helpers/fault-outcome.ts';
import { buildPoints, loadPoints, smallChunks } from '../helpers/fault-points.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { useScene } from '../helpers/fault-scene.ts';

const scene = useScene();

const midCopy = loadPoints.find(({ name }) => name === 'before a COPY in the middle ends')!;
const midBuild = buildPoints.find(({ name }) => name === 'before an index is built')!;

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

const expectStopped = async (): Promise<void> => {
  await expectNoSessions(scene().url);
  expect(await stateOf(scene().url)).toBe('cancelled');
  expect(await tableNumbers(scene().url)).toEqual([]);
  await resumeAfterKill(scene());
  await scene().expectWhole();
};

describe('one signal', () => {
  it.each(signals)('%s while loading: the chunks in flight are finished', async (signal, exit) => {
    const ended = await scene().runStruck(midCopy, (child) => async () => {
      child.kill(signal);
      await child.untilSaid('stopping after the chunks in flight');
      return 'forward' as const;
    });
    expectEnd(ended, exit, 'ETL_INTERRUPTED');
    await expectNoSessions(scene().url);
    // The point is the end of a COPY: that chunk was in flight.
    expect((await chunksOf(scene().url)).length).toBeGreaterThanOrEqual(smallChunks / 2);
    await expectStopped();
  });

  it('while an index is built: nothing is published', async () => {
    const ended = await scene().runStruck(midBuild, (child) => async () => {
      child.kill('SIGINT');
      await child.untilSaid('stopping after the chunks in flight');
      return 'forward' as const;
    });
    expectEnd(ended, 130, 'ETL_INTERRUPTED');
    expect(ended.said).toContain('once more stops at once');
    await expectStopped();
  });
});

describe('two signals', () => {
  it.each(signals)('%s twice: stops at once, with a chunk in flight', async (signal, exit) => {
    const ended = await scene().runStruck(midCopy, (child) => async () => {
      child.kill(signal);
      await child.untilSaid('stopping after the chunks in flight');
      child.kill(signal);
      // The COPY is held back: it cannot be finished.
      await child.ended;
      return 'drop' as const;
    });
    expectEnd(ended, exit, 'ETL_INTERRUPTED');
    expect(ended.said).toContain('stopping at once');
    await expectStopped();
  });
});
