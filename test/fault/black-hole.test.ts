// Connections that stay open and lead nowhere: noticed in bounded time, and the run goes on.

import { afterEach, expect, inject, it } from 'vitest';
import { eventsOf, killRest } from '../helpers/fault-child.ts';
import { expectCalm } from '../helpers/fault-recovery.ts';
import { openScene, type Scene } from '../helpers/fault-scene.ts';
import { midCopyPoint, setUpPoint } from '../helpers/fault-points.ts';
import type { Point } from '../helpers/fault-proxy.ts';

// Far more than detection takes; far less than TCP's quarter of an hour.
const timeout = 120_000;

let scene: Scene;
afterEach(async () => {
  killRest();
  await scene.close();
});

// One chunk a file, so that more bytes are due than the system's buffers take.
const chunkBytes = 64 * 1024 * 1024;

const cases: [string, Point, 'open' | 'silent'][] = [
  ['in mid-COPY', midCopyPoint(3), 'open'],
  ['in mid-COPY, and new ones too for a while', midCopyPoint(3), 'silent'],
  ['before the first statement', setUpPoint, 'open'],
];

it.each(cases)(
  'all connections fall silent %s: etl connects again and finishes',
  async (_, point, mode) => {
    const data = inject('largeData');
    scene = await openScene({ ...data, chunkBytes });
    const ended = await scene.runStruck(point, (child) => () => {
      scene.proxy.silenceAll();
      scene.proxy.setMode(mode);
      void child.untilSaid('waiting up to').then(() => scene.proxy.setMode('open'));
      return 'forward';
    });
    expect(ended, ended.said).toMatchObject({ end: 0, error: undefined });
    expect(eventsOf(ended, 'recovered')).toEqual([
      { type: 'recovered', crashed: false, chunks: 0, records: 0 },
    ]);
    expectCalm(ended);
    scene.proxy.endSilent();
    await scene.expectWhole();
  },
  timeout,
);
