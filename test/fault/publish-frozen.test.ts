// A process that is frozen while it publishes: readers go on, and it publishes once when it wakes up.

import { expect, it } from 'vitest';
import { eventsOf, expectEnd } from '../helpers/fault-child.ts';
import { ask } from '../helpers/fault-database.ts';
import { expectNoSessions } from '../helpers/fault-outcome.ts';
import type { Point } from '../helpers/fault-proxy.ts';
import { useScene } from '../helpers/fault-scene.ts';
import { askUntil } from '../helpers/own-server.ts';

const scene = useScene();

const before = (pattern: RegExp): Point => ({
  name: String(pattern),
  when: 'before',
  nth: 1,
  matches: ({ sql }) => pattern.test(sql),
});

const openTransactions = `select count(*)::int as n from pg_stat_activity
  where application_name like 'sluice%' and datname = current_database() and xact_start is not null`;
const published = 'select count(*)::int as n from etl.published_table';

it.each([
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
  async ({ pattern, ddl }) => {
    await scene().run();
    await ask(scene().url, ddl);
    const [before_] = await ask<{ n: number }>(scene().url, published);
    let stopped!: () => void;
    const isStopped = new Promise<void>((resolve) => (stopped = resolve));
    scene().proxy.arm(before(pattern), () => {
      child.kill('SIGSTOP');
      stopped();
      return 'forward';
    });
    const child = scene().start('--full-refresh');
    await isStopped;
    // None of them has a bound of its own: a reader that waits for good is a test that does not end.
    for (const table of ['station', 'observation', 'daily'])
      expect((await ask(scene().url, `select from noaa.${table} limit 1`)).length).toBe(1);
    await askUntil<{ n: number }>(scene().url, openTransactions, ({ n }) => n === 0);
    child.kill('SIGCONT');
    const ended = await child.ended;
    expectEnd(ended, 0);
    await ask(scene().url, 'drop view if exists noaa.seen');
    await expectNoSessions(scene().url);
    await scene().expectWhole();
    const [after] = await ask<{ n: number }>(scene().url, published);
    expect(after!.n).toBe(before_!.n + 3);
    expect(eventsOf(ended, 'waiting').length).toBeLessThanOrEqual(1);
  },
);
