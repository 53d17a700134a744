// The process is killed while partitions are built and exchanged: the next run comes to what an undisturbed run makes, and readers
// have seen one night or the other, also through a view, and never without the policy and constraints of the table. So it is when only the partitions that a night touches are exchanged.
//
// By default some of the effects are sampled; FAULT_EVERY=1 takes all.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectEnd } from '../helpers/fault-child.ts';
import { effectPoint } from '../helpers/fault-points.ts';
import type { Point } from '../helpers/fault-proxy.ts';
import { killChild } from '../helpers/fault-scene.ts';
import { runNoaa, useFirstNight } from '../helpers/fault-night.ts';

const samples = 2;

const definition = (
  publish: string,
): string => `import { column, csv, definePipeline, range, sqlFile } from 'sluice';
export default definePipeline({
  name: 'shop',
  schema: 'shop',
  tables: {
    sale: {
      source: csv('in/*.csv'),
      columns: { id: column.integer('id'), day: column.date('day') },
      primaryKey: ['id', 'day'],
      partitionBy: range('day', 'month'),
      publish: ${publish},
      guard: false,
    },
    total: { from: ['sale'], transform: sqlFile('../total.sql') },
  },
});
`;

const first = 'sale_2026_01 1000, sale_2026_02 1100 | 2100 3003950 | seen 2100 3003950';

describe.each([
  {
    publish: "'replace'",
    second: 'sale_2026_02 1600, sale_2026_03 1000 | 2600 7878700 | seen 2600 7878700',
    built: 'sale',
    alone: [],
    // All partitions, and only a view, a policy and constraints hang on the table: another table takes its place, with them.
    moved: /alter table "etl_build_shop"."sale_2026_02" drop constraint/,
    last: /rename to "sale";.*commit/s,
  },
  {
    publish: "{ mode: 'replace', only: 'touched' }",
    second: 'sale_2026_01 1000, sale_2026_02 1600, sale_2026_03 1000 | 3600 8378200 | seen 3600 8378200',
    built: 'sale__part',
    alone: [
      {
        args: ['unload', 'pipelines/noaa.ts', 'in/stays.csv'],
        after: 'sale_2026_01 1000, sale_2026_02 1500, sale_2026_03 1000 | 3500 7373250 | seen 3500 7373250',
      },
    ],
    moved: /alter table "etl_build_shop"."sale__part" detach/,
    last: /attach partition "shop".*commit/s,
  },
])('publish: $publish', ({ publish, second, alone, built, moved, last }) => {
  /** Sales of one month, in a file of that name. */
  const write = (month: number, from: number, to: number, name = `${month}`): void => {
    const rows = Array.from(
      { length: to - from },
      (_, index) => `${from + index},2026-0${month}-${10 + (index % 9)}`,
    );
    night.write(`in/${name}.csv`, ['id,day', ...rows, ''].join('\n'));
  };

  const night = useFirstNight(async (database) => {
    night.write('pipelines/noaa.ts', definition(publish));
    night.write('total.sql', 'select count(*)::int as sales, sum(id)::int as ids from sale');
    write(1, 0, 1_000);
    write(2, 1_000, 2_000);
    write(2, 10_000, 10_100, 'stays');
    expectEnd(await night.etl(database).ended, 0);
    await night.ask(
      database,
      `create view shop.seen as select * from shop.sale; grant select on shop.seen to pg_monitor;
       create policy p on shop.sale using (id >= 0); alter table shop.sale enable row level security;
       create table shop.calendar as select day::date from generate_series('2026-01-01'::date, '2026-12-31', '1 day') day;
       alter table shop.calendar add primary key (day);
       alter table shop.sale add constraint known foreign key (day) references shop.calendar on delete cascade,
         add constraint positive check (id >= 0), add constraint once unique (day, id) deferrable`,
    );
    // Of the second night: a month is gone, one has changed, one is new.
    rmSync(join(night.directory, 'in/1.csv'));
    write(2, 1_500, 3_000);
    write(3, 3_000, 4_000);
  });
  /** What readers see of both tables, and of the partitions. */
  const seen = async (database: string): Promise<string> => {
    const [row] = await night.ask<{ all: string }>(
      database,
      `select (select string_agg(c.relname || ' ' || (select count(*) from shop.sale s where s.day between d.first and d.first + 27), ', '
          order by c.relname)
        from pg_inherits join pg_class c on c.oid = inhrelid
          cross join lateral (select to_date(right(c.relname, 7), 'YYYY_MM') as first) d
        where inhparent = 'shop.sale'::regclass) || ' | ' || (select sales || ' ' || ids from shop.total)
          || (select format(' | seen %s %s', count(*), sum(id)) from shop.seen where (
            -- Without its policy it would show nobody's rows to everybody; and a table aside must not keep rows of the calendar.
            select c.relrowsecurity and exists (select from pg_policy where polrelid = c.oid)
                and (select count(*) from pg_constraint k where k.conrelid = c.oid and convalidated and conname in ('known', 'positive', 'once')) = 3
                and (select count(*) from pg_constraint where confrelid = 'shop.calendar'::regclass and conparentid = 0) = 1
              from pg_class c where c.oid = 'shop.sale'::regclass)) as all`,
    );
    return row!.all;
  };

  const expectAfter = async (database: string, after: string): Promise<void> => {
    expect(await seen(database)).toBe(after);
    expect(
      await night.ask(
        database,
        `select count(*) filter (where n.nspname = 'etl_staging')::int as staging,
          count(*) filter (where n.nspname like 'etl\\_build%')::int as builds,
          count(*) filter (where n.nspname = 'shop' and relname ~ 'etl_')::int as left
        from pg_class c join pg_namespace n on n.oid = c.relnamespace and c.relkind in ('r', 'p', 'i')`,
      ),
    ).toEqual([{ staging: 0, builds: 0, left: 0 }]);
  };

  /** Kills the run there, looks at what it has left, and runs again. Returns whether it was killed. */
  const killAndRunAgain = async (point: Point, args = runNoaa, after = second): Promise<boolean> => {
    const database = await night.copy();
    const { ended } = await night.runStruck(database, point, killChild, args);
    await night.expectNoSessions(database);
    expect([first, after]).toContain(await seen(database));
    expectEnd(await night.etl(database, args).ended, 0);
    await expectAfter(database, after);
    return ended.end === 'SIGKILL';
  };

  it.each([{ args: runNoaa, after: second }, ...alone])(
    'etl $args.0, killed at every effect, and again: it comes to what it makes undisturbed',
    async ({ args, after }) => {
      const undisturbed = await night.copy();
      const { ended: whole, effects } = await night.countEffects(undisturbed, args);
      expectEnd(whole, 0);
      await expectAfter(undisturbed, after);
      const every = Number(process.env['FAULT_EVERY']) || Math.ceil(effects / samples);
      let kills = 0;
      for (let n = 1; n <= effects; n += every)
        kills += Number(await killAndRunAgain(effectPoint(n), args, after));
      expect(kills).toBeGreaterThan(1);
    },
  );

  it.each([
    ['after', 'a partition is built', /^create table "etl_build_shop"\."sale_2026_03" as/],
    ['after', 'they are to be attached aside', new RegExp(`alter table "etl_build_shop"."${built}" attach`)],
    ['after', 'they have been moved beside the old ones', moved],
    ['after', 'they have the foreign key', /^(set local lock_timeout|alter table).* add constraint "known" /],
    ['before', 'the message that exchanges them', last],
    ['after', 'the message that exchanges them', last],
  ] as const)(
    'killed %s %s: one night or the other, and the next run comes to the same',
    async (when, name, sql) => {
      const matches: Point['matches'] = (effect) => 'sql' in effect && sql.test(effect.sql);
      expect(await killAndRunAgain({ name: `${when} ${name}`, when, nth: 1, matches })).toBe(true);
    },
  );
});
