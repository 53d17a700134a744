// Connections that stay open and lead nowhere: noticed in bounded time, and the run goes on.

import { afterAll, expect, inject, it } from 'vitest';
import { eventsOf, expectEnd, killRest } from '../helpers/fault-child.ts';
import { expectCalm } from '../helpers/fault-recovery.ts';
import { openScene } from '../helpers/fault-scene.ts';
import { midCopyPoint, setUpPoint } from '../helpers/fault-points.ts';
import type { Outcome } from '../helpers/fault-outcome.ts';
import type { Point } from '../helpers/fault-proxy.ts';

// Far more than detection takes; far less than TCP's quarter of an hour.
const timeout = 120_000;

afterAll(() => void killRest());

// One chunk a file, so that more bytes are due than the system's buffers take.
const chunkBytes = 64 * 1024 * 1024;

const cases: [string, Point, 'open' | 'silent'][] = [
  ['in mid-COPY', midCopyPoint(3), 'open'],
  ['in mid-COPY, and new ones too for a while', midCopyPoint(3), 'silent'],
  ['while a loader opens its session', setUpPoint(2), 'open'],
];

/** Four files and the stations, a chunk each. */
const inLargeChunks = ({ counts, ...rest }: Outcome): Outcome => ({
  ...rest,
  counts: { ...counts, chunks: 5 },
});

// At once, because all that they do is wait.
it.concurrent.for(cases)(
  'all connections fall silent %s: etl connects again and finishes',
  { timeout },
  async ([, point, mode], { onTestFinished }) => {
    const data = inject('largeData');
    const scene = await openScene({ ...data, chunkBytes, outcome: inLargeChunks(data.outcome) });
    onTestFinished(scene.close);
    const ended = await scene.runStruck(point, (child) => () => {
      scene.proxy.silenceAll();
      scene.proxy.setMode(mode);
      void child.untilSaid('waiting up to').then(() => scene.proxy.setMode('open'));
      return 'forward';
    });
    expectEnd(ended, 0);
    expect(eventsOf(ended, 'recovered')).toMatchObject([
      { type: 'recovered', crashed: false, chunks: 0, records: 0 },
    ]);
    expectCalm(ended);
    scene.proxy.endSilent();
    await scene.expectWhole();
  },
);
