// What keeps publishing from its end: a reader that does not go away, and a process that is frozen. Readers wait for a bounded time.
//
// All at once, because all that they do is wait.

import { afterAll, describe, expect, inject, it, type TestContext } from 'vitest';
import { eventsOf, expectEnd, killRest } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { expectNoSessions, tableNumbers } from '../helpers/fault-outcome.ts';
import type { Point } from '../helpers/fault-proxy.ts';
import { openScene, type Scene } from '../helpers/fault-scene.ts';
import { askUntil, withPg } from '../helpers/own-server.ts';

afterAll(() => void killRest());

/** A scene in which the tables are published. */
const open = async ({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Scene> => {
  const scene = await openScene(inject('smallData'));
  onTestFinished(scene.close);
  expectEnd(await scene.run(), 0);
  return scene;
};

const beforeSql = (pattern: RegExp): Point => ({
  name: String(pattern),
  when: 'before',
  nth: 1,
  matches: ({ sql }) => pattern.test(sql),
});

const openTransactions = `select count(*)::int as n from pg_stat_activity
  where application_name like 'sluice%' and datname = current_database() and xact_start is not null`;
const published = 'select count(*)::int as n from etl.published_table';

describe.concurrent('publishing', () => {
  it('a table is locked for good: ETL_PUBLISH_LOCKED names the process; without it the next run publishes', async (context) => {
    const scene = await open(context);
    const tables = await tableNumbers(scene.url);
    await withPg(scene.url, async (reader) => {
      const { pid } = (await reader.query('select pg_backend_pid() as pid')).rows[0];
      await reader.query('begin; lock table noaa.daily in access share mode');
      const ended = await scene.run('--full-refresh');
      expectEnd(ended, 1, 'ETL_PUBLISH_LOCKED');
      expect(ended.error!.details).toMatchObject({ table: 'noaa.daily', pids: String(pid) });
      expect(eventsOf(ended, 'notice').map(({ message }) => message)).toEqual([
        `publishing waits for noaa.daily, which is locked by process ${pid}`,
      ]);
      await reader.query('rollback');
    });
    expect(await tableNumbers(scene.url)).toEqual(tables);
    const next = await scene.run();
    expectEnd(next, 0);
    expect(eventsOf(next, 'resumed')).toHaveLength(1);
    await scene.expectWhole();
    expect(await ask(scene.url, 'select state from etl.run order by id')).toEqual([
      { state: 'published' },
      { state: 'published' },
    ]);
  });

  it.for([
    // The key of a table that stays is made again: readers are locked out while its rows are replaced.
    {
      where: 'with a table locked against readers',
      pattern: /^insert into "noaa"."daily"/,
      ddl: `create view noaa.seen as select * from noaa.daily; alter table noaa.daily drop constraint daily_pkey`,
    },
    {
      where: 'before the message that swaps',
      pattern: / in access exclusive mode.*commit$/,
      ddl: 'select',
    },
  ])(
    'stopped $where: readers wait until the server ends its session, and no longer',
    async ({ pattern, ddl }, context) => {
      const scene = await open(context);
      await ask(scene.url, ddl);
      const [before] = await ask<{ n: number }>(scene.url, published);
      let stopped!: () => void;
      const isStopped = new Promise<void>((resolve) => (stopped = resolve));
      scene.proxy.arm(beforeSql(pattern), () => {
        child.kill('SIGSTOP');
        stopped();
        return 'forward';
      });
      const child = scene.start('--full-refresh');
      await isStopped;
      // None of them has a bound of its own: a reader that waits for good is a test that does not end.
      for (const table of ['station', 'observation', 'daily'])
        expect((await ask(scene.url, `select from noaa.${table} limit 1`)).length).toBe(1);
      await askUntil<{ n: number }>(scene.url, openTransactions, ({ n }) => n === 0);
      child.kill('SIGCONT');
      const ended = await child.ended;
      expectEnd(ended, 0);
      await ask(scene.url, 'drop view if exists noaa.seen');
      await expectNoSessions(scene.url);
      await scene.expectWhole();
      const [after] = await ask<{ n: number }>(scene.url, published);
      expect(after!.n).toBe(before!.n + 3);
      expect(eventsOf(ended, 'waiting').length).toBeLessThanOrEqual(1);
    },
  );
});
