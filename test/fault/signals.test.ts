// SIGINT and SIGTERM to the process itself: it stops after the chunks in flight, or at once; the next run continues.

import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { describe, expect, it } from 'vitest';
import { expectEnd } from '../helpers/fault-child.ts';
import { chunksOf, expectNoSessions, stateOf, tableNumbers } from '../helpers/fault-outcome.ts';
import { buildPoints, loadPoints, smallChunks } from '../helpers/fault-points.ts';
import { withPg } from '../helpers/own-server.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { useScene } from '../helpers/fault-scene.ts';

const scene = useScene();

const midCopy = loadPoints.find(({ name }) => name === 'before a COPY in the middle ends')!;
const midBuild = buildPoints.find(({ name }) => name === 'before an index is built')!;

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const;

/** Returns when another session waits for a table that this one has locked. Short statements: publishing waits for older snapshots first. */
const untilPublisherWaits = async (reader: pg.Client): Promise<void> => {
  const waiting = `select from pg_locks where relation = 'noaa.observation'::regclass and not granted`;
  while ((await reader.query(waiting)).rowCount === 0) await sleep(20);
};

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

  it('while an index is built: the build is cancelled, and nothing is published', async () => {
    const ended = await scene().runStruck(midBuild, (child) => async () => {
      child.kill('SIGINT');
      // The statement is held back: it cannot be finished.
      await child.ended;
      return 'drop' as const;
    });
    expectEnd(ended, 130, 'ETL_INTERRUPTED');
    expect(ended.said).toContain('a second signal stops at once');
    await expectStopped();
  });

  it('while publishing waits for a reader: nothing is published', async () => {
    await scene().run();
    const before = await tableNumbers(scene().url);
    await withPg(scene().url, async (reader) => {
      await reader.query('begin; lock table noaa.observation in access share mode');
      const child = scene().start('--full-refresh');
      await untilPublisherWaits(reader);
      child.kill('SIGINT');
      expectEnd(await child.ended, 130, 'ETL_INTERRUPTED');
      await reader.query('rollback');
    });
    expect(await stateOf(scene().url)).toBe('cancelled');
    expect(await tableNumbers(scene().url)).toEqual(before);
    await scene().run();
    await scene().expectWhole();
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
