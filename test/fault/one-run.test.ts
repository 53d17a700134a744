// Two runs of one pipeline at once: the second is refused, and its error names the first; a dead one blocks nobody.

import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { loadPoints } from '../helpers/fault-points.ts';
import { useScene } from '../helpers/fault-scene.ts';

const scene = useScene();

const midCopy = loadPoints.find(({ name }) => name === 'before a COPY in the middle ends')!;

describe('a second run', () => {
  it('is refused with host, process and start of the first; once that is killed, it continues', async () => {
    let arrive: () => void = () => undefined;
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    let leave: (verdict: 'drop') => void = () => undefined;
    scene().proxy.arm(midCopy, () => {
      arrive();
      return new Promise((resolve) => (leave = resolve));
    });
    const first = scene().start();
    await arrived;
    const refused = await scene().run();
    const [run] = await ask<{ started: string }>(
      scene().url,
      `select to_char(started_at, 'YYYY-MM-DD HH24:MI:SS TZ') as started from etl.run`,
    );
    expect(refused.end).toBe(1);
    expect(refused.error).toMatchObject({
      code: 'ETL_RUN_LOCKED',
      details: { run: 1, host: hostname(), pid: first.pid, started: run!.started },
    });
    for (const part of [hostname(), String(first.pid), run!.started]) expect(refused.said).toContain(part);
    first.kill('SIGKILL');
    leave('drop');
    await first.ended;
    const next = await scene().run();
    expectEnd(next, 0);
    expect(eventsOf(next, 'resumed')).toHaveLength(1);
    await scene().expectWhole();
  });

  it('started at the same moment: one of the two runs, and it is whole', async () => {
    const both = await Promise.all([scene().run(), scene().run()]);
    expect(both.map(({ error }) => error?.code)).toEqual(
      expect.arrayContaining([undefined, 'ETL_RUN_LOCKED']),
    );
    expect(both.map(({ end }) => end)).toEqual(expect.arrayContaining([0, 1]));
    await scene().expectWhole();
  });
});
