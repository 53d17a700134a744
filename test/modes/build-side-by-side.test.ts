// Tables are built side by side: as many as there are workers, one failure ends all, and readers feel nothing of it.

import { execFileSync } from 'node:child_process';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { lockSpace } from '../../src/db/connect/advisory-keys.ts';
import {
  column,
  csv,
  definePipeline,
  runPipeline,
  sqlFile,
  type Pipeline,
  type RunEvent,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { askUntil, withPg } from '../helpers/own-server.ts';
import { createDatabase, useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();
const source = files.write('city.csv', 'id,name\n1,Ulm\n2,Trier\n');

/** A source table, and tables that SQL makes from it, by their names. */
const pipeline = (derived: Readonly<Record<string, string>>): Pipeline =>
  definePipeline({
    name: 'pairs',
    schema: 'pairs',
    searchPath: ['public'],
    tables: {
      city: {
        source: csv(source),
        columns: { id: column.integer('id'), name: column.text('name') },
        primaryKey: ['id'],
      },
      ...Object.fromEntries(
        Object.entries(derived).map(([name, sql]) => {
          files.write(`${name}.sql`, sql);
          return [name, { from: ['city'], transform: sqlFile(`${name}.sql`) }];
        }),
      ),
    },
  });

const run = (derived: Readonly<Record<string, string>>, options: object = {}) =>
  runPipeline(pipeline(derived), {
    databaseUrl: database.url,
    directory: files.directory,
    workers: 2,
    fullRefresh: true,
    ...options,
  });

/** What sessions of the database begin with, for the length of a function. */
const withSetting = async (setting: string, work: () => Promise<unknown>): Promise<void> => {
  const name = new URL(database.url).pathname.slice(1);
  await database.query(`alter database ${name} set ${setting}`);
  try {
    await work();
  } finally {
    await database.query(`alter database ${name} reset all`);
  }
};

const rowsOf = async (sql: string): Promise<unknown[]> => (await database.query(sql)).rows;

const forever = 'select 1 as one from pg_sleep(3600)';

const builders = `from pg_stat_activity where datname = current_database() and query like 'create table "etl_build_pairs"%'`;

beforeAll(async () => {
  // In public by name: a schema etl, which is our user's name too, would take what has none. Waits until two sessions have
  // come here; a sequence shows at once what others did to it.
  await database.query(`create sequence public.arrived`);
  await database.query(`create function public.meet() returns integer language plpgsql as $$ begin
    perform nextval('arrived');
    while (select last_value from arrived) < 2 loop perform pg_sleep(0.01); end loop;
    return 2;
  end $$`);
});
beforeEach(async () => {
  await database.query('drop schema if exists pairs cascade; alter sequence public.arrived restart');
});

describe('tables that do not need each other', () => {
  it('are built at the same time', async () => {
    const meeting = 'select meet() as met';
    const { tables } = await run({ a: meeting, b: meeting });
    expect(tables.map(({ table, rows }) => [table, rows])).toEqual([
      ['city', 2],
      ['a', 1],
      ['b', 1],
    ]);
  });

  it('are built by no more sessions than there are workers', async () => {
    const counting = `select (select count(*)::integer ${builders}) as n from pg_sleep(0.2)`;
    await run({ a: counting, b: counting, c: counting }, { workers: 1 });
    expect(await rowsOf('select n from pairs.a union all select n from pairs.c')).toEqual([
      { n: 1 },
      { n: 1 },
    ]);
  });

  it('are built over the sessions that the server has left, when it has not enough for all', async () => {
    const own = await createDatabase();
    const url = new URL(own.url);
    await database.query(`create role few login password 'few'`);
    await database.query(`alter database ${url.pathname.slice(1)} owner to few`);
    [url.username, url.password] = ['few', 'few'];
    // Before the second session is asked for: events are sent synchronously, so this must not wait. A session of
    // the load that is ending may be counted here or not, and counts towards the limit until it is gone. They are fewer than
    // the sessions that are left, and both together are fewer than the sessions that are asked for.
    const [left, sessions] = [8, 16];
    const leaveSome = `const { Client } = require('pg'); const client = new Client(${JSON.stringify(database.url)});
      const limit = "do $$ begin execute format('alter role few connection limit %s', "
        + "(select count(*) + ${left} from pg_stat_activity where usename = 'few')); end $$";
      client.connect().then(() => client.query(limit)).then(() => client.end());`;
    let waits = 0;
    const onEvent = (event: RunEvent): void => {
      if (event.type === 'step' && event.step === 'build') execFileSync(process.execPath, ['-e', leaveSome]);
      if (event.type === 'waiting') waits += 1;
    };
    const slow = 'select 1 as one from pg_sleep(0.3)';
    const derived = Object.fromEntries(Array.from({ length: sessions }, (_, n) => [`slow${n}`, slow]));
    const warnings: string[] = [];
    const note = ({ message }: Error): void => void warnings.push(message);
    process.on('warning', note);
    try {
      const { outcome } = await run(derived, { databaseUrl: url.href, workers: sessions, onEvent });
      expect({ outcome, waits, warnings }).toEqual({ outcome: 'published', waits: 0, warnings: [] });
    } finally {
      process.off('warning', note);
      await own.drop();
      await database.query('drop role few');
    }
  });

  it('one that fails ends the others’ work, and says which', async () => {
    const broken = 'select 1 / (meet() - 2) as none';
    const error = await failureOf(run({ a: 'select 1 as one from pg_sleep(1800 * meet())', b: broken }));
    expect(error).toMatchObject({ code: 'ETL_TRANSFORM', details: { table: 'b', sqlstate: '22012' } });
    const left = `select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and application_name like 'sluice %'`;
    // The server looks every two seconds whether the client of a busy session is still there.
    await askUntil<{ n: number }>(database.url, left, ({ n }) => n === 0);
    expect(await rowsOf(`select to_regclass('pairs.city') as city`)).toEqual([{ city: null }]);
  });

  it('an interrupt ends all of them', async () => {
    const stop = new AbortController();
    const running = failureOf(run({ a: forever, b: forever }, { signal: stop.signal }));
    await askUntil<{ n: number }>(database.url, `select count(*)::int as n ${builders}`, ({ n }) => n === 2);
    stop.abort(new Error('SIGINT'));
    expect(await running).toMatchObject({ code: 'ETL_INTERRUPTED' });
  });

  it('a session of the build that is lost is waited for, and the tables are built again', async () => {
    let recoveries = 0;
    await database.query('create sequence public.visits');
    const running = run(
      {
        a: `select case nextval('visits') when 1 then pg_sleep(3600)::text end as slept`,
        b: 'select 1 as one',
      },
      { onEvent: ({ type }: RunEvent) => (recoveries += type === 'recovered' ? 1 : 0) },
    );
    const ending = `select pg_terminate_backend(pid) as ended ${builders} and query like '%visits%' and wait_event = 'PgSleep'`;
    await askUntil<{ ended: boolean }>(database.url, ending, ({ ended }) => ended);
    expect(await running).toMatchObject({ outcome: 'published' });
    expect(recoveries).toBe(1);
  });

  it('the loss of the session that holds the pipeline’s lock ends the build at once', async () => {
    await database.query('create sequence public.tries');
    const running = run({
      a: `select case nextval('tries') when 1 then pg_sleep(3600)::text end as slept`,
    });
    await askUntil<{ n: number }>(
      database.url,
      `select count(*)::int as n ${builders} and wait_event = 'PgSleep'`,
      ({ n }) => n === 1,
    );
    await database.query(`select pg_terminate_backend(pid) from pg_locks l
      where locktype = 'advisory' and mode = 'ExclusiveLock' and objsubid = 1
        and database = (select oid from pg_database where datname = current_database())
        and ((classid::bigint << 32) | objid::bigint) = hashtextextended('sluice pipeline pairs', ${lockSpace})`);
    expect(await running).toMatchObject({ outcome: 'published' });
  });
});

describe('other sessions', () => {
  it('of an older build are waited for before its tables are dropped', () =>
    withPg(database.url, async (older) => {
      const key = `hashtextextended('sluice build pairs', ${lockSpace})`;
      await older.query(`create schema etl_build_pairs; create table etl_build_pairs.city ()`);
      await older.query(`select pg_advisory_lock_shared(${key})`);
      const running = run({});
      await askUntil<{ n: number }>(
        database.url,
        `select count(*)::int as n from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`,
        ({ n }) => n === 1,
      );
      expect(await rowsOf(`select to_regclass('etl_build_pairs.city') is not null as there`)).toEqual([
        { there: true },
      ]);
      await older.query(`select pg_advisory_unlock_shared(${key})`);
      expect(await running).toMatchObject({ outcome: 'published' });
    }));

  it('that read production all the time are met by the publishing transaction only', async () => {
    const derived = { a: 'select count(*) as n from city' };
    await run(derived);
    await database.query('create index by_hand on pairs.city (name)');
    await withPg(database.url, async (reader) => {
      // Whatever asked for a lock that readers feel would wait for this one, and the run would come to no end.
      await reader.query('begin; lock table pairs.city, pairs.a in access share mode');
      const steps: string[] = [];
      const result = await run(derived, {
        onEvent: (event: RunEvent) => {
          if (event.type === 'step') steps.push(event.step);
          if (event.type === 'step' && event.step === 'publish') void reader.query('commit');
        },
      });
      expect(result.outcome).toBe('published');
      expect(steps).toEqual(['plan', 'load', 'build', 'publish']);
    });
  });
});

describe('settings of the sessions', () => {
  const asked = { asked: `select current_setting('maintenance_work_mem') as sort` };

  it.each([
    // The test server's shared_buffers are 256MB.
    { name: 'memory for sorts is raised to shared_buffers', own: '1MB', workers: 1, sort: '256MB' },
    { name: 'sessions side by side share it', own: '1MB', workers: 2, sort: '128MB' },
    { name: 'a larger setting of the user stays', own: '300MB', workers: 2, sort: '300MB' },
  ])('$name', async ({ own, workers, sort }) => {
    await withSetting(`maintenance_work_mem = '${own}'`, () => run(asked, { workers }));
    expect(await rowsOf('select sort from pairs.asked')).toEqual([{ sort }]);
  });

  it.each([
    { name: 'a commit that is reported before it is safe', own: 'off', at: 'local' },
    { name: 'a commit that standbys have to confirm', own: 'remote_apply', at: 'remote_apply' },
  ])('publication after $name', async ({ own, at }) => {
    await run({});
    await database.query(`create table if not exists public.committed (at text);
      create or replace function public.note() returns trigger language plpgsql as
        'begin insert into public.committed values (current_setting(''synchronous_commit'')); return new; end';
      create or replace trigger note after insert on etl.published_table for each row execute function public.note();
      truncate public.committed`);
    await withSetting(`synchronous_commit = ${own}`, () => run({}));
    await database.query('drop trigger note on etl.published_table');
    expect(await rowsOf('select at from public.committed')).toEqual([{ at }]);
  });
});

describe('statistics of a table that becomes what was staged', () => {
  // As many rows as the server looks at: then its statistics are no sample.
  const lines = Array.from({ length: 30_000 }, (_, row) =>
    [
      row,
      row % 3 === 0 ? '' : `kind ${row % 7}`,
      `${row % 1000}.25`,
      `2026-01-${10 + (row % 20)}T12:00:00Z`,
      'x'.repeat(110),
    ].join(','),
  );
  const large = (): Pipeline =>
    definePipeline({
      name: 'large',
      schema: 'large',
      tables: {
        sale: {
          source: csv(files.write('sale.csv', `id,kind,amount,at,note\n${lines.join('\n')}\n`)),
          columns: {
            id: column.integer('id'),
            kind: column.text('kind').nullable(),
            amount: column.numeric('amount', { precision: 8, scale: 2 }),
            at: column.timestamptz('at'),
            note: column.text('note'),
          },
          primaryKey: ['id'],
        },
      },
    });
  const load = () =>
    runPipeline(large(), {
      databaseUrl: database.url,
      directory: files.directory,
      workers: 2,
      fullRefresh: true,
    });
  const statistics = () =>
    rowsOf(`select attname, null_frac, avg_width, n_distinct, most_common_vals::text, most_common_freqs, histogram_bounds::text,
        correlation, reltuples, relpages
      from pg_stats join pg_class on relname = tablename and relnamespace = schemaname::regnamespace
      where schemaname = 'large' order by attname`);
  const analyzes = `select analyze_count::int as count from pg_stat_all_tables where schemaname = 'large' and relname = 'sale'`;

  it('are gathered beside, and are those of the new table', async () => {
    await load();
    const [server] = await rowsOf(`select current_setting('server_version_num')::int >= 180000 as can`);
    const before = await statistics();
    expect(before).toHaveLength(5);
    expect(await rowsOf(analyzes)).toEqual([{ count: (server as { can: boolean }).can ? 0 : 1 }]);
    await database.query('analyze large.sale');
    expect(await statistics()).toEqual(before);
  });

  it('are gathered of the new table if its columns ask for other ones', async () => {
    await database.query('alter table large.sale alter column amount set statistics 4');
    await load();
    expect(await rowsOf(analyzes)).toEqual([{ count: 1 }]);
    expect(
      await rowsOf(`select array_length(most_common_freqs, 1) as values from pg_stats
        where schemaname = 'large' and attname = 'amount'`),
    ).not.toEqual([{ values: 100 }]);
  });
});
