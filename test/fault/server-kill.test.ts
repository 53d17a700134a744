// The server is killed under a run, at named points: what was in staging is loaded again, what is published stays.

import { describe, expect, it } from 'vitest';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { chunksOf, expectNoSessions, tableNumbers } from '../helpers/fault-outcome.ts';
import { byName, loadPoints, publishedPoint, tidyPoint, unpublishedPoints } from '../helpers/fault-points.ts';
import { expectRecovered, expectReplaced, recordsOf, runThrough } from '../helpers/fault-recovery.ts';
import { useScene } from '../helpers/fault-scene.ts';
import { restarts } from '../helpers/fault-server.ts';

// What is left out differs from a neighbour only for a process that is killed (process-kill.test.ts).
const points = unpublishedPoints([
  'before the run is written',
  'after the run is committed',
  'before the jobs are added',
  'before a COPY in the middle ends',
  'after a chunk in the middle is committed',
  'after a late chunk is committed',
  'before the last job is completed',
  'before the run is said to be loaded',
  'before the primary key is built',
  'before statistics are gathered',
  'before publishing begins',
  'before the publication is committed',
]);

/** One point of each state of a run: a process that is killed, too, leaves only what is in the ledger. */
const states = unpublishedPoints([
  'before the run is written',
  'after the run is committed',
  'after a chunk in the middle is committed',
  'after a late chunk is committed',
  'before the primary key is built',
  'before the publication is committed',
]);

/** Two workers load one file: chunks are committed in any order. */
describe.each([
  { stream: 'a file in gzip over HTTP', data: 'httpData', at: /COPY in the middle|after a late chunk/ },
  { stream: 'an object of S3', data: 'bucketData', at: /after a chunk in the middle/ },
] as const)('the server crashes under one stream, $stream', ({ data, at }) => {
  const streamed = useScene(data);

  it.each(byName(loadPoints.filter(({ name }) => at.test(name))))(
    '%s: its chunks are loaded again',
    async (_, point) => {
      const { ended, chunks: lost } = await runThrough(streamed(), point);
      expectRecovered(ended, true, lost);
      expect(lost.length).toBeGreaterThan(5);
      await expectReplaced(streamed(), lost);
      await streamed().expectWhole();
    },
  );
});

describe('the server crashes and comes back', () => {
  const scene = useScene();

  it.each(points)('%s: etl waits, loads the lost chunks again and finishes', async (_, point) => {
    const { ended, chunks: lost } = await runThrough(scene(), point);
    expectRecovered(ended, true, lost);
    expect(eventsOf(ended, 'finished')[0]!.result.outcome).toBe('published');
    await expectReplaced(scene(), lost);
    await scene().expectWhole();
  });

  it.each(states)('%s, and etl is killed with it: the next run finishes', async (_, point) => {
    const { chunks: lost } = await runThrough(scene(), point, { isKilled: true });
    await expectNoSessions(scene().url);
    const ended = await scene().run();
    expectEnd(ended, 0);
    const isKnown = eventsOf(ended, 'resumed').length > 0;
    const recovered = { type: 'recovered', crashed: true, chunks: lost.length, records: recordsOf(lost) };
    expect(eventsOf(ended, 'recovered')).toMatchObject(isKnown ? [recovered] : []);
    await expectReplaced(scene(), lost);
    await scene().expectWhole();
  });

  it.each(byName([publishedPoint, tidyPoint]))(
    '%s: nothing is loaded or published again',
    async (_, point) => {
      let tables: readonly number[] = [];
      const blow = async (): Promise<void> => {
        await restarts.crash();
        tables = await tableNumbers(scene().url);
      };
      const { ended, chunks } = await runThrough(scene(), point, { blow });
      expectRecovered(ended, true, []);
      expect(eventsOf(ended, 'finished')[0]!.result.outcome).toBe('published');
      expect(tables).toHaveLength(3);
      expect(await tableNumbers(scene().url)).toEqual(tables);
      expect(await chunksOf(scene().url)).toEqual(chunks);
      await scene().expectWhole();
    },
  );

  it('after everything: what is published stays, and there is nothing to do', async () => {
    await scene().run();
    const tables = await tableNumbers(scene().url);
    await restarts.crash();
    const ended = await scene().run();
    expect(eventsOf(ended, 'finished')[0]!.result.outcome).toBe('unchanged');
    expect(await tableNumbers(scene().url)).toEqual(tables);
    await scene().expectWhole();
  });
});
