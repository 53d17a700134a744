// The process is killed while partitions are built and exchanged: the next run comes to what an undisturbed run makes, and readers
// have seen one night or the other, also through a view, and never without the policy and constraints of the table. So it is when only the partitions that a night touches are exchanged.
//
// By default some of the effects are sampled; FAULT_EVERY=1 takes all.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectEnd, killRest, runArgs, startEtl, type Etl } from '../helpers/fault-child.ts';
import { ask, copyDatabase, createDatabase, databaseUrlOf, dropDatabase } from '../helpers/fault-database.ts';
import { expectNoSessions } from '../helpers/fault-outcome.ts';
import { effectPoint } from '../helpers/fault-points.ts';
import { openProxy, type FaultProxy, type Point } from '../helpers/fault-proxy.ts';
import { killChild } from '../helpers/fault-scene.ts';
import { startServer } from '../helpers/fault-server.ts';

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

let server: Awaited<ReturnType<typeof startServer>>;
let proxy: FaultProxy;
beforeAll(async () => {
  server = await startServer();
  proxy = await openProxy(Number(new URL(server.url).port));
});
afterAll(async () => {
  killRest();
  await proxy.close();
});

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
  const directory = mkdtempSync(join(tmpdir(), 'sluice-partitions-'));

  /** Sales of one month, in a file of that name. */
  const write = (month: number, from: number, to: number, name = `${month}`): void => {
    const rows = Array.from(
      { length: to - from },
      (_, place) => `${from + place},2026-0${month}-${10 + (place % 9)}`,
    );
    writeFileSync(join(directory, 'in', `${name}.csv`), ['id,day', ...rows, ''].join('\n'));
  };

  /** The database after the first night; each kill begins with a copy of it. */
  let firstNight = '';
  const made: string[] = [];

  const etl = (database: string, args = runArgs(4_000)): Etl => {
    const url = new URL(databaseUrlOf(server.url, database));
    url.port = String(proxy.port);
    return startEtl({ directory, url: url.href, args });
  };

  const copy = async (): Promise<string> => {
    await expectNoSessions(databaseUrlOf(server.url, firstNight));
    const name = `${firstNight}_${made.length}`;
    await copyDatabase(server.url, firstNight, name);
    made.push(name);
    return name;
  };

  beforeAll(async () => {
    mkdirSync(join(directory, 'in'));
    mkdirSync(join(directory, 'pipelines'));
    writeFileSync(join(directory, 'pipelines', 'noaa.ts'), definition(publish));
    writeFileSync(
      join(directory, 'total.sql'),
      'select count(*)::int as sales, sum(id)::int as ids from sale',
    );
    firstNight = await createDatabase(server.url);
    write(1, 0, 1_000);
    write(2, 1_000, 2_000);
    write(2, 10_000, 10_100, 'stays');
    expectEnd(await etl(firstNight).ended, 0);
    await ask(
      databaseUrlOf(server.url, firstNight),
      `create view shop.seen as select * from shop.sale; grant select on shop.seen to pg_monitor;
       create policy p on shop.sale using (id >= 0); alter table shop.sale enable row level security;
       create table shop.calendar as select day::date from generate_series('2026-01-01'::date, '2026-12-31', '1 day') day;
       alter table shop.calendar add primary key (day);
       alter table shop.sale add constraint known foreign key (day) references shop.calendar on delete cascade,
         add constraint positive check (id >= 0), add constraint once unique (day, id) deferrable`,
    );
    // Of the second night: a month is gone, one has changed, one is new.
    rmSync(join(directory, 'in', '1.csv'));
    write(2, 1_500, 3_000);
    write(3, 3_000, 4_000);
  });
  afterAll(async () => {
    for (const name of [...made, firstNight]) await dropDatabase(server.url, name);
    rmSync(directory, { recursive: true, force: true });
  });

  /** What readers see of both tables, and of the partitions. */
  const seen = async (database: string): Promise<string> => {
    const [row] = await ask<{ all: string }>(
      databaseUrlOf(server.url, database),
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
      await ask(
        databaseUrlOf(server.url, database),
        `select count(*) filter (where n.nspname = 'etl_staging')::int as staging,
          count(*) filter (where n.nspname like 'etl\\_build%')::int as builds,
          count(*) filter (where n.nspname = 'shop' and relname ~ 'etl_')::int as left
        from pg_class c join pg_namespace n on n.oid = c.relnamespace and c.relkind in ('r', 'p', 'i')`,
      ),
    ).toEqual([{ staging: 0, builds: 0, left: 0 }]);
  };

  /** Kills the run there, looks at what it has left, and runs again. Returns whether it was killed. */
  const killAndRunAgain = async (point: Point, args = runArgs(4_000), after = second): Promise<boolean> => {
    const database = await copy();
    proxy.arm(point, (effect, clientPort) => killChild(child)(effect, clientPort));
    const child = etl(database, args);
    const { end } = await child.ended;
    proxy.disarm();
    await expectNoSessions(databaseUrlOf(server.url, database));
    expect([first, after]).toContain(await seen(database));
    expectEnd(await etl(database, args).ended, 0);
    await expectAfter(database, after);
    return end === 'SIGKILL';
  };

  it.each([{ args: runArgs(4_000), after: second }, ...alone])(
    'etl $args.0, killed at every effect, and again: it comes to what it makes undisturbed',
    async ({ args, after }) => {
      const undisturbed = await copy();
      const from = proxy.effects();
      expectEnd(await etl(undisturbed, args).ended, 0);
      await expectAfter(undisturbed, after);
      const effects = proxy.effects() - from;
      const every = Number(process.env['FAULT_EVERY']) || Math.ceil(effects / samples);
      let kills = 0;
      for (let n = 1; n <= effects; n += every)
        kills += Number(await killAndRunAgain(effectPoint(n), args, after));
      expect(kills).toBeGreaterThan(1);
    },
  );

  it.each([
    ['while a partition is built', /^create table "etl_build_shop"\."sale_2026_03" as/],
    ['before they are attached aside', new RegExp(`alter table "etl_build_shop"."${built}" attach`)],
    ['when they have been moved beside the old ones', moved],
    ['when they have the foreign key', /^(set local lock_timeout|alter table).* add constraint "known" /],
  ] as const)('killed %s, the next run comes to the same', async (name, sql) => {
    const point: Point = {
      name,
      when: 'after',
      nth: 1,
      matches: (effect) => 'sql' in effect && sql.test(effect.sql),
    };
    expect(await killAndRunAgain(point)).toBe(true);
  });

  it.each(['before', 'after'] as const)(
    'killed %s the message that exchanges them: one night or the other',
    async (when) => {
      const point: Point = {
        name: `${when} the last message`,
        when,
        nth: 1,
        matches: (effect) => 'sql' in effect && last.test(effect.sql),
      };
      expect(await killAndRunAgain(point)).toBe(true);
    },
  );
});
