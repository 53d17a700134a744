// The same faults for tables that are loaded without staging: nothing that was committed is ever lost.

import { describe, expect, inject, it } from 'vitest';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { expectNoSessions, stateOf } from '../helpers/fault-outcome.ts';
import { publishedPoint, unpublishedPoints } from '../helpers/fault-points.ts';
import { expectKept, expectRecovered, runThrough } from '../helpers/fault-recovery.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { killChild, useScene } from '../helpers/fault-scene.ts';

const scene = useScene('directData');

// From plan to publication the steps are those of server-kill.test.ts and process-kill.test.ts: these points
// are before, between and after the chunks, which go into the built tables themselves.
const points = unpublishedPoints([
  'after the run is committed',
  'before the first COPY data',
  'before a COPY in the middle ends',
  'before a chunk in the middle is committed',
  'after a chunk in the middle is committed',
  'after a late chunk is committed',
  'before the primary key is built',
  'before the derived table is built',
  'before the publication is committed',
]);

it('comes to what loading through staging comes to', () => {
  expect(inject('directData').outcome).toEqual(inject('smallData').outcome);
});

describe('etl is killed', () => {
  it.each(points)('%s: the next run loads what is missing and publishes', async (_, point) => {
    expect((await scene().runStruck(point, killChild)).end).toBe('SIGKILL');
    const { outcome } = eventsOf(await resumeAfterKill(scene()), 'finished')[0]!.result;
    expect(outcome).toBe('published');
    await scene().expectWhole();
  });

  it('after the publication is committed: the next run has nothing to do', async () => {
    await scene().runStruck(publishedPoint, killChild);
    await expectNoSessions(scene().url);
    expect(await stateOf(scene().url)).toBe('published');
    const { outcome } = eventsOf(await resumeAfterKill(scene()), 'finished')[0]!.result;
    expect(outcome).toBe('unchanged');
    await scene().expectWhole();
  });
});

describe('the server crashes and comes back', () => {
  it.each(points)('%s: nothing is loaded again, and etl finishes', async (_, point) => {
    const { ended, chunks: before } = await runThrough(scene(), point);
    expectRecovered(ended, true, []);
    expect(eventsOf(ended, 'finished')[0]!.result.outcome).toBe('published');
    await expectKept(scene(), before);
    await scene().expectWhole();
  });

  it('and etl is killed with it: the next run goes on with everything that was committed', async () => {
    const [, point] = points.find(([name]) => name === 'after a late chunk is committed')!;
    const { chunks: before } = await runThrough(scene(), point, { isKilled: true });
    await expectNoSessions(scene().url);
    const ended = await scene().run();
    expectEnd(ended, 0);
    expect(before.length).toBeGreaterThan(10);
    expect(eventsOf(ended, 'resumed')).toEqual([expect.objectContaining({ chunks: before.length })]);
    await expectKept(scene(), before);
    await scene().expectWhole();
  });
});
