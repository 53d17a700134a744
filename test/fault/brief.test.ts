// A run that loads over its own connection, without queue or threads: whatever is struck, each chunk counts once.

import { describe, expect, it } from 'vitest';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { chunksOf, expectNoSessions, hasQueue, stateOf } from '../helpers/fault-outcome.ts';
import { isChunkCommit, isClaim } from '../helpers/fault-points.ts';
import type { Point } from '../helpers/fault-proxy.ts';
import { expectKept, expectRecovered, expectReplaced, runThrough } from '../helpers/fault-recovery.ts';
import { resumeAfterKill } from '../helpers/fault-resume.ts';
import { killChild, useScene } from '../helpers/fault-scene.ts';
import { terminateBackend } from '../helpers/fault-server.ts';

const scene = useScene('briefData');

const at = (name: string, nth: number, matches: Point['matches'], when: Point['when'] = 'before'): Point => ({
  name: `${when} ${name}`,
  when,
  nth,
  matches,
});
const midCopy = at('the second COPY ends', 2, ({ kind }) => kind === 'copy done');

/** Places, each with the number of chunks that are committed there. */
const points = [
  { loaded: 0, point: at('the first chunk is claimed', 1, isClaim) },
  { loaded: 0, point: at('the first COPY data', 1, ({ kind }) => kind === 'copy data') },
  { loaded: 1, point: midCopy },
  { loaded: 1, point: at('the second chunk is committed', 2, isChunkCommit) },
  { loaded: 2, point: at('the second chunk is committed', 2, isChunkCommit, 'after') },
  { loaded: 4, point: at('the last chunk is committed', 4, isChunkCommit, 'after') },
];

it('opens one connection while it loads, and no queue', async () => {
  const sessions = `select application_name from pg_stat_activity
    where datname = current_database() and application_name like 'sluice%'`;
  let names: readonly unknown[] = [];
  const ended = await scene().runStruck(midCopy, () => async () => {
    names = await ask(scene().url, sessions);
    return 'forward' as const;
  });
  expectEnd(ended, 0);
  expect(names).toHaveLength(1);
  expect(await hasQueue(scene().url)).toBe(false);
  await scene().expectWhole();
});

describe.each(points)('$point.name', ({ loaded, point }) => {
  it('etl is killed: the next run loads what is missing', async () => {
    expect((await scene().runStruck(point, killChild)).end).toBe('SIGKILL');
    expect(await chunksOf(scene().url)).toHaveLength(loaded);
    await resumeAfterKill(scene());
    await scene().expectWhole();
  });

  it('the server crashes: etl waits, and loads everything again', async () => {
    const { ended, chunks: lost } = await runThrough(scene(), point);
    expectRecovered(ended, true, lost);
    expect(lost).toHaveLength(loaded);
    await expectReplaced(scene(), lost);
    await scene().expectWhole();
  });

  it('the session is terminated: nothing is loaded again', async () => {
    const blow = (clientPort: number): Promise<void> => terminateBackend(scene().url, clientPort);
    const { ended, chunks: kept } = await runThrough(scene(), point, { blow, verdict: 'forward' });
    expectRecovered(ended, false, []);
    expect(kept).toHaveLength(loaded);
    await expectKept(scene(), kept);
    await scene().expectWhole();
  });
});

describe('is interrupted in mid-COPY', () => {
  const interrupt = async (times: number): Promise<void> => {
    const ended = await scene().runStruck(midCopy, (child) => async () => {
      child.kill('SIGINT');
      await child.untilSaid('stopping after the chunks in flight');
      if (times === 1) return 'forward';
      child.kill('SIGINT');
      await child.ended;
      return 'drop';
    });
    expectEnd(ended, 130, 'ETL_INTERRUPTED');
    await expectNoSessions(scene().url);
    expect(await stateOf(scene().url)).toBe('cancelled');
  };

  it('once: the chunk in flight is finished', async () => {
    await interrupt(1);
    expect(await chunksOf(scene().url)).toHaveLength(2);
    await resumeAfterKill(scene());
    await scene().expectWhole();
  });

  it('twice: it stops at once', async () => {
    await interrupt(2);
    expect(await chunksOf(scene().url)).toHaveLength(1);
    await resumeAfterKill(scene());
    await scene().expectWhole();
  });
});

it('is cancelled: no other chunk is loaded, and the next run goes on', async () => {
  const cancel = `update etl.run set state = 'cancelled', finished_at = now(), error_code = 'ETL_RUN_CANCELLED', error = 'x'`;
  const ended = await scene().runStruck(
    at('the first chunk is committed', 1, isChunkCommit, 'after'),
    () => async () => {
      await ask(scene().url, cancel);
      return 'forward' as const;
    },
  );
  expectEnd(ended, 1, 'ETL_RUN_CANCELLED');
  expect(await chunksOf(scene().url)).toHaveLength(1);
  const next = await scene().run();
  expectEnd(next, 0);
  expect(eventsOf(next, 'resumed')).toMatchObject([{ chunks: 1 }]);
  await scene().expectWhole();
});
