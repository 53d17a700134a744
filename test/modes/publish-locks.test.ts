// What publishing asks of readers: its locks are taken together, late, and never while somebody else is waited for.

import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { cancel, column, csv, definePipeline, list, runPipeline, type RunEvent } from '../../src/index.ts';
import { codeOf } from '../../src/core/errors/errors.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { boundWaits, createLocksmith, lockTables, TablesLocked } from '../../src/publish/locks.ts';
import { failureOf } from '../helpers/failure.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { openProxy, type FaultProxy, type Point } from '../helpers/fault-proxy.ts';
import { useFiles } from '../helpers/files.ts';
import { ask, makeServerDirectory, openOwnServer, withPg } from '../helpers/own-server.ts';
import { forgetRuns, useDatabase } from '../helpers/server.ts';
import { until } from '../helpers/workers.ts';

const files = useFiles();
const database = useDatabase();
const source = files.write('t.csv', 'id\n1\n2\n');
const query = (sql: string) => database.query(sql);
const rowsOf = async (sql: string) => (await query(sql)).rows;

let proxy: FaultProxy;
beforeAll(async () => {
  proxy = await openProxy(Number(new URL(database.url).port));
});
afterAll(() => proxy.close());
beforeEach(async () => {
  await query('drop schema if exists shown cascade');
});

const tableNames = (count: number): string[] => Array.from({ length: count }, (_, place) => `t${place}`);

const run = (tables: readonly string[], options: object = {}, snapshotWaitMs: number | false = 600_000) => {
  const url = new URL(database.url);
  url.port = String(proxy.port);
  const table = { source: csv(source), columns: { id: column.integer('id') }, primaryKey: ['id'] as const };
  return runPipeline(
    definePipeline({
      name: 'shown',
      schema: 'shown',
      snapshotWaitMs,
      tables: Object.fromEntries(tables.map((name) => [name, table])),
    }),
    { databaseUrl: url.href, directory: files.directory, fullRefresh: true, workers: 1, ...options },
  );
};

const isSwap = ({ sql }: Effect): boolean => sql.includes('in access exclusive mode');
const beforeSwap: Point = { name: 'before the swap', when: 'before', nth: 1, matches: isSwap };

/** What the publishing transaction says, statement by statement, while a run goes on. */
const publishingStatements = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
  const said: string[] = [];
  const matches = ({ sql, previous }: Effect): boolean => {
    const last = said.at(-1);
    if (
      last === undefined
        ? sql.startsWith('begin; set local idle_in_transaction')
        : previous === last && !last.endsWith('commit')
    )
      said.push(sql);
    return false;
  };
  proxy.arm({ name: 'listener', when: 'before', nth: 1, matches }, () => 'forward');
  await work();
  proxy.disarm();
  return said;
};

/** Tables that a message locks, each once, in alphabetical order. */
const lockedBy = (message: string): readonly string[] => {
  const found = [...message.matchAll(/lock table (.*?) in access/g)].flatMap(([, names]) =>
    names!.split(', '),
  );
  return [...new Set(found)].toSorted();
};

it('locks, looks, swaps and commits in one message, and says as much for twenty tables as for one', async () => {
  const counts: number[] = [];
  for (const count of [1, 20]) {
    const tables = tableNames(count);
    await run(tables);
    const oids = await rowsOf(
      `select oid from pg_class where relnamespace = 'shown'::regnamespace and relkind = 'r'`,
    );
    const said = await publishingStatements(() => run(tables));
    const locking = said.filter((sql) => sql.includes('in access exclusive mode'));
    expect(locking).toEqual([said.at(-1)]);
    expect(locking[0]).toMatch(/^select set_config\('statement_timeout', /);
    expect(lockedBy(locking[0]!)).toEqual(tables.map((name) => `only "shown"."${name}"`).toSorted());
    expect(locking[0]).toMatch(/; commit$/);
    expect(
      await rowsOf(`select oid from pg_class where oid = any ('{${oids.map(({ oid }) => oid).join(',')}}')`),
    ).toEqual([]);
    counts.push(said.length);
  }
  expect(counts[1]).toBe(counts[0]);
});

it('locks a table whose key changes and one that is swapped all at once: a reader of both meets no deadlock', async () => {
  const tables = tableNames(2);
  await run(tables);
  await query('create view shown.v as select * from shown.t0; alter table shown.t0 drop constraint t0_pkey');
  // Otherwise no table is swapped beside one whose rows are replaced.
  const said = await publishingStatements(() => run(tables, {}, false));
  const first = said.find((sql) => sql.includes('in access exclusive mode'));
  expect(first).toMatch(/lock table "shown"\."t0", "shown"\."t1" in access/);
  expect(
    await rowsOf(
      `select indexrelid::regclass::text as key from pg_index where indrelid = 'shown.t0'::regclass`,
    ),
  ).toEqual([{ key: 'shown.t0_pkey' }]);
});

it('locks four hundred tables within one bound, and holds none when one of them is not free', async () => {
  const names = tableNames(400).map((name) => `shown.${name}`);
  await query(`create schema shown; ${names.map((name) => `create table ${name} ()`).join(';')}`);
  await withPg(database.url, async (reader) => {
    await reader.query('begin; lock table shown.t399 in access share mode');
    await query('begin; savepoint before');
    await expect(query(lockTables(names, 'access exclusive', 50))).rejects.toMatchObject({ code: '57014' });
    await query('rollback to savepoint before');
    expect(
      await rowsOf(`select mode from pg_locks where pid = pg_backend_pid() and mode like 'AccessEx%'`),
    ).toEqual([]);
    await reader.query('rollback');
    await query(lockTables(names, 'access exclusive', 10_000));
    expect(
      await rowsOf(
        `select count(*)::int as n from pg_locks where pid = pg_backend_pid() and mode like 'AccessEx%'`,
      ),
    ).toEqual([{ n: 400 }]);
    await query('rollback');
  });
});

describe('a reader who has one table, and waits for another that we have, is never the victim of a deadlock', () => {
  const deadlockMs = 1_000;
  const isWaiting = async ({ processID }: pg.Client & { processID?: number }): Promise<boolean> =>
    (await rowsOf(`select from pg_locks where pid = ${processID} and not granted`)).length > 0;

  // Each reader begins to wait before we wait for what he has, so that the server looks on his behalf first.
  it.each([
    {
      name: 'in one statement',
      heldMs: deadlockMs / 4,
      locks: (ms: number) => lockTables(['shown.t0', 'shown.t1'], 'access exclusive', ms, 'only '),
    },
    {
      name: 'in statements that have waited almost until the server looks',
      heldMs: 0.9 * deadlockMs,
      locks: (ms: number) => lockTables(['shown.t0', 'shown.t1'], 'access exclusive', ms, 'only '),
    },
    {
      name: 'in the statement that locks, and then in one that locks by itself',
      heldMs: deadlockMs / 4,
      locks: (ms: number) =>
        [
          lockTables(['shown.t0'], 'access exclusive', ms, 'only '),
          boundWaits(ms, 1),
          'lock table shown.t1 in access exclusive mode; set local lock_timeout = 0;',
        ].join(' '),
    },
  ])('$name', async ({ heldMs, locks }) => {
    await query(`create schema shown; create table shown.t0 (); create table shown.t1 ();
      do $$ begin execute format('alter database %I set deadlock_timeout = ${deadlockMs}', current_database()); end $$`);
    await withPg(database.url, (long) =>
      withPg(database.url, (reader) =>
        withPg(database.url, async (publisher) => {
          await long.query('begin; select from shown.t0');
          await reader.query('begin; select from shown.t1');
          await publisher.query('begin');
          const locking = publisher.query(locks(3 * deadlockMs)).then(
            () => 'locked',
            (error: unknown) => codeOf(error),
          );
          await until(() => isWaiting(publisher));
          const reading = reader.query('select from shown.t0');
          await until(() => isWaiting(reader));
          await sleep(heldMs);
          await long.query('rollback');
          expect((await reading).rowCount).toBe(0);
          expect(['57014', '55P03']).toContain(await locking);
          await reader.query('rollback');
          // With nobody in the way it is what it was.
          await publisher.query('rollback; begin');
          await publisher.query(locks(3 * deadlockMs));
          await publisher.query('rollback');
        }),
      ),
    );
  });
});

it('waits for the one of several tables that is in use, for longer than the server looks for deadlocks', async () => {
  await query(`create schema shown; create table shown.t0 (); create table shown.t1 ();
    do $$ begin execute format('alter database %I set deadlock_timeout = 100', current_database()); end $$`);
  await withPg(database.url, (reader) =>
    withPg(database.url, async (publisher) => {
      await reader.query('begin; select from shown.t1');
      await publisher.query('begin');
      const locking = publisher.query(
        lockTables(['shown.t1', 'shown.t0'], 'access exclusive', 10_000, 'only '),
      );
      await sleep(300);
      await reader.query('rollback');
      await locking;
      const { rows } = await publisher.query(
        `select relation::regclass::text as name from pg_locks where pid = pg_backend_pid() and mode = 'AccessExclusiveLock' order by 1`,
      );
      expect(rows).toEqual([{ name: 'shown.t0' }, { name: 'shown.t1' }]);
      await publisher.query('rollback');
    }),
  );
});

it('the victim of a deadlock waits like one who found the table locked: another try may meet nobody', async () => {
  await query('create schema shown; create table shown.t0 (); create table shown.t1 ()');
  const url = addressFromUrl(database.url);
  await withClient(url, (publisher) =>
    withPg(database.url, async (writer) => {
      await writer.query(`set deadlock_timeout = '1min'; begin; lock table shown.t1 in row exclusive mode`);
      await publisher.query(
        `set deadlock_timeout = '50ms'; begin; lock table shown.t0 in access exclusive mode`,
      );
      let waiting: Promise<unknown> = Promise.resolve();
      const { untilTaken } = createLocksmith(publisher, () => undefined);
      // He asks for what we have once we wait for what he has.
      const take = async ([name]: readonly string[]) => {
        const taking = publisher.query(`lock table ${name!} in access exclusive mode`);
        await until(async () => (await rowsOf(`select from pg_locks where not granted`)).length > 0);
        waiting = writer.query('lock table shown.t0 in row exclusive mode');
        await taking;
      };
      await expect(untilTaken(['shown.t1'], false, take)).rejects.toBeInstanceOf(TablesLocked);
      await publisher.query('rollback');
      await waiting;
      await writer.query('rollback');
    }),
  );
});

/** A night of one table: its file has these ids. */
const night = (publish: unknown, change: object, ids: readonly number[], file = 'a') => {
  files.write(`nights/${file}.csv`, ['id,pieces', ...ids.map((id) => `${id},${ids.length}`), ''].join('\n'));
  const url = new URL(database.url);
  url.port = String(proxy.port);
  const table = {
    source: csv(`${files.directory}/nights/*.csv`),
    columns: { id: column.integer('id'), pieces: column.integer('pieces') },
    primaryKey: ['id'] as const,
    publish: publish as 'append',
    ...change,
  };
  return runPipeline(definePipeline({ name: 'shown', schema: 'shown', tables: { t: table } }), {
    databaseUrl: url.href,
    directory: files.directory,
    workers: 1,
  });
};
const idsTo = (last: number): number[] => Array.from({ length: last }, (_, id) => id + 1);

it.each(['append', 'merge', 'history'])('%s asks for no lock that a reader feels', async (publish) => {
  rmSync(`${files.directory}/nights`, { recursive: true, force: true });
  await query(forgetRuns);
  await night(publish, {}, [1, 2]);
  await withPg(database.url, async (reader) => {
    await reader.query('begin; select from shown.t');
    const said = await publishingStatements(() =>
      night(publish, {}, publish === 'append' ? [3, 4] : [2, 3, 4], 'b'),
    );
    expect(said.length).toBeGreaterThan(3);
    expect(said.filter((sql) => /access exclusive/i.test(sql))).toEqual([]);
    expect((await reader.query('select count(*)::int as n from shown.t')).rows[0]!['n']).toBeGreaterThan(2);
  });
});

it.each([
  // Two names for each partition, and two for the table: nothing that grows with the square of their number.
  {
    name: 'all partitions',
    publish: 'replace',
    ddl: '',
    each: 2,
    isNew: true,
  },
  {
    name: 'all partitions of a table that a view reads',
    publish: 'replace',
    ddl: 'create view shown.seen as select id from shown.t',
    each: 2,
    isNew: true,
  },
  {
    name: 'all partitions of a table with a policy',
    publish: 'replace',
    ddl: 'create policy p on shown.t',
    each: 2,
    isNew: true,
  },
  {
    name: 'all partitions of a table that a materialized view reads',
    publish: 'replace',
    ddl: 'create materialized view shown.stored as select id from shown.t',
    each: 5,
    isNew: false,
  },
  {
    name: 'those that are touched',
    publish: { mode: 'replace', only: 'touched' },
    ddl: '',
    each: 5,
    isNew: false,
  },
])(
  '$name are locked and exchanged in one message, and as much is said for twenty as for two',
  async ({ publish, ddl, each, isNew }) => {
    const counts: number[] = [];
    for (const count of [2, 20]) {
      rmSync(`${files.directory}/nights`, { recursive: true, force: true });
      await query(`drop schema if exists shown cascade; ${forgetRuns}`);
      await night(publish, { partitionBy: list('id') }, idsTo(count));
      await query(ddl);
      const said = await publishingStatements(() =>
        night(publish, { partitionBy: list('id') }, [...idsTo(count), 99]),
      );
      const locking = said.filter((sql) => sql.includes('in access exclusive mode'));
      expect(locking).toEqual([said.at(-1)]);
      // The table, and the partitions that leave: a partition that stays is not closed to its readers.
      const locked = lockedBy(locking[0]!);
      expect(locked.length).toBe(count + 1);
      expect(locked.every((name) => name.startsWith('only '))).toBe(true);
      expect(locking[0]).toMatch(/; commit$|\ncommit$/);
      // Every one that leaves or comes, and the one that is new; beside them the table itself.
      expect(locking[0]!.match(/alter table/g)!.length).toBeLessThanOrEqual(each * (count + 1) + 1);
      expect(/(attach|detach) partition|drop constraint/.test(locking[0]!)).toBe(!isNew);
      counts.push(said.length);
    }
    expect(counts[1]).toBe(counts[0]);
  },
);

it('a run that is cancelled while it waits for a reader publishes nothing', async () => {
  await run(['t0']);
  const made = await rowsOf(`select 'shown.t0'::regclass::oid as oid`);
  await withPg(database.url, async (reader) => {
    await reader.query('begin; select from shown.t0');
    let waits: () => void = () => undefined;
    const waiting = new Promise<void>((resolve) => (waits = resolve));
    const onEvent = ({ type, ...event }: RunEvent) =>
      type === 'notice' && 'message' in event && event.message.includes('publishing waits') && waits();
    const running = failureOf(run(['t0'], { onEvent }));
    await waiting;
    const [newest] = await rowsOf('select max(id)::int as id from etl.run');
    await cancel(Number(newest!['id']), { databaseUrl: database.url });
    await reader.query('rollback');
    expect(await running).toMatchObject({ code: 'ETL_RUN_CANCELLED' });
  });
  expect(await rowsOf(`select 'shown.t0'::regclass::oid as oid`)).toEqual(made);
});

it('a table that a reader holds keeps no reader from it, nor from the other tables', async () => {
  const tables = tableNames(3);
  await run(tables);
  const seen = new Set<string>();
  await withPg(database.url, async (reader) => {
    // The last one: in the order of the declaration, the others would be locked by then.
    await reader.query('begin; select from shown.t2');
    let isTold = false;
    const running = run(tables, {
      onEvent: (event: { type: string }) => (isTold ||= event.type === 'notice'),
    });
    let looksAfter = 0;
    while (looksAfter < 30) {
      const held =
        await rowsOf(`select relation::regclass::text || case when granted then ' held' else ' wanted' end as lock
        from pg_locks where mode = 'AccessExclusiveLock' and locktype = 'relation'
          and relation in (select oid from pg_class where relnamespace = 'shown'::regnamespace)`);
      // A first try asks for the table, for a moment, before anybody knows how long its reader stays.
      for (const { lock } of held) if (isTold || lock !== 'shown.t2 wanted') seen.add(lock);
      if (isTold) looksAfter += 1;
      await sleep(20);
    }
    await reader.query('rollback');
    expect(await running).toMatchObject({ outcome: 'published' });
  });
  expect([...seen]).toEqual([]);
});

it('readers whose transactions overlap all the time do not keep it waiting for ever', async () => {
  const tables = tableNames(3);
  await run(tables);
  let isReading = true;
  const read = (delay: number) =>
    withPg(database.url, async (reader) => {
      await sleep(delay);
      while (isReading) {
        await reader.query('begin; select from shown.t0; select from shown.t1; select from shown.t2');
        await sleep(200);
        await reader.query('commit');
      }
    });
  const reading = Promise.all([0, 70, 140].map(read));
  expect(await run(tables)).toMatchObject({ outcome: 'published' });
  isReading = false;
  await reading;
});

it.each([
  ['a table', undefined, '"etl_build_shown"."t"'],
  ['a partition', list('id'), 'shown."etl_old_'],
])(
  '%s that was replaced and that somebody still reads does not hold up the run, and the next one drops it',
  async (_, partitionBy, name) => {
    rmSync(`${files.directory}/nights`, { recursive: true, force: true });
    await query(`drop schema if exists shown cascade; ${forgetRuns}`);
    const tonight = (ids: readonly number[]) => night('replace', { partitionBy }, ids);
    const left = `select c.oid::regclass::text as name from pg_class c where c.relkind in ('r', 'p')
    and (c.relname like 'etl\\_old%' or c.relnamespace = to_regnamespace('etl_build_shown')) order by 1`;
    await tonight([1, 2]);
    await withPg(database.url, async (reader) => {
      const matches = ({ sql }: Effect): boolean => /drop table .* cascade.*drop schema/.test(sql);
      // The first one empties the schema for the build.
      proxy.arm({ name: 'reader', when: 'before', nth: 2, matches }, async () => {
        const [old] = await rowsOf(`${left} desc limit 1`);
        await reader.query(`begin; select from ${old!['name']}`);
        return 'forward' as const;
      });
      expect(await tonight([1, 2, 3])).toMatchObject({ outcome: 'published' });
      const found = await rowsOf(left);
      expect(found.map((one) => String(one['name'])).join()).toContain(name.replaceAll('"', ''));
      expect(found.length).toBeLessThanOrEqual(2);
      const running = tonight([1, 2, 3, 4]);
      // Nobody queues behind the run while it waits for the reader.
      await until(
        async () =>
          (await rowsOf(`select from pg_locks where mode = 'AccessExclusiveLock' and not granted`)).length >
          0,
      );
      await until(
        async () =>
          (await rowsOf(`select from pg_locks where mode = 'AccessExclusiveLock' and not granted`)).length ===
          0,
      );
      await reader.query('rollback');
      expect(await running).toMatchObject({ outcome: 'published' });
    });
    expect(await rowsOf(left)).toEqual([]);
  },
);

describe('what changes between the plan and the swap', () => {
  const strikeWith = async (tables: readonly string[], sql: string) => {
    proxy.arm(beforeSwap, async () => {
      await withPg(database.url, (somebody) => somebody.query(sql));
      return 'forward' as const;
    });
    return run(tables);
  };

  it('a view and a grant: the plan is made again, and both are there', async () => {
    const tables = tableNames(2);
    await run(tables);
    const result = await strikeWith(
      tables,
      'create view shown.seen as select id from shown.t0; grant select on shown.t1 to public',
    );
    expect(result.tables.map(({ strategy }) => strategy)).toEqual(['in place', 'in place']);
    expect(await rowsOf('select count(*)::int as n from shown.seen')).toEqual([{ n: 2 }]);
    expect(
      await rowsOf(`select relacl::text like '%{=r/%' or relacl::text like '%,=r/%' as kept
      from pg_class where oid = 'shown.t1'::regclass`),
    ).toEqual([{ kept: true }]);
  });

  it('a column: the table is not taken away', async () => {
    await run(tableNames(1));
    const matches = ({ sql }: Effect): boolean => sql.includes('in share update exclusive mode');
    proxy.arm({ ...beforeSwap, matches }, async () => {
      await query('alter table shown.t0 add precious text');
      return 'forward' as const;
    });
    expect(await failureOf(run(tableNames(1)))).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
    expect(await rowsOf('select precious from shown.t0 limit 1')).toEqual([{ precious: null }]);
  });

  it('a table that somebody makes in the place of a new one is not taken away', async () => {
    await run(tableNames(1));
    const struck = strikeWith(tableNames(2), 'create table shown.t1 (precious text)');
    expect(await failureOf(struck)).toMatchObject({ code: 'ETL_PUBLISH_SHAPE', details: { table: 't1' } });
    expect(await rowsOf('select * from shown.t1')).toEqual([]);
    expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl\\_build%'`)).toEqual([]);
  });
});

const partitions = 80;
const divided = (databaseUrl: string, options: object = {}) => {
  const rows = Array.from({ length: partitions }, (_, place) => `${place}\n`);
  return runPipeline(
    definePipeline({
      name: 'parts',
      schema: 'parts',
      tables: {
        one: {
          source: csv(files.write('parts.csv', ['id\n', ...rows].join(''))),
          columns: { id: column.text('id') },
          primaryKey: ['id'],
          partitionBy: list('id'),
        },
      },
    }),
    { databaseUrl, directory: files.directory, workers: 1, ...options },
  );
};
it('a server that has no memory left for locks: the error names the setting, and the tables are what they were', async () => {
  const few = { max_connections: '30', max_locks_per_transaction: '10' };
  const own = await openOwnServer(await makeServerDirectory(), few);
  const ownProxy = await openProxy(Number(new URL(own.server.url).port));
  try {
    const url = new URL(own.server.url);
    url.port = String(ownProxy.port);
    await run(tableNames(2), { databaseUrl: url.href });
    await withPg(own.server.url, async (hoarder) => {
      ownProxy.arm(beforeSwap, async () => {
        await expect(
          hoarder.query('select pg_advisory_lock(n) from generate_series(1, 1000000) n'),
        ).rejects.toMatchObject({ code: '53200' });
        return 'forward' as const;
      });
      expect(await failureOf(run(tableNames(2), { databaseUrl: url.href }))).toMatchObject({
        code: 'ETL_PUBLISH_MEMORY',
        details: { tables: 2, locks: '10' },
      });
    });
    expect(await run(tableNames(2), { databaseUrl: url.href, fullRefresh: false })).toMatchObject({
      outcome: 'published',
    });
    await withPg(own.server.url, async (hoarder) => {
      await hoarder
        .query('select pg_advisory_lock(n) from generate_series(1, 1000000) n')
        .catch(() => undefined);
      // Room for the tables of a rehearsal beside the queue that opens meanwhile, and not for publishing them.
      await hoarder.query('select pg_advisory_unlock(n) from generate_series(1, 180) n');
      expect(await failureOf(divided(url.href))).toMatchObject({
        code: 'ETL_PUBLISH_MEMORY',
        details: { tables: partitions + 1, locks: '10' },
      });
    });
    // Until the sessions have ended, another one may find no memory either.
    const made = () => ask(own.server.url, `select to_regclass('parts.one') as made`).catch(() => undefined);
    await expect.poll(made, { timeout: 20_000 }).toEqual([{ made: null }]);
    expect(await divided(url.href)).toMatchObject({ tables: [{ rows: partitions }] });
    const told: string[] = [];
    const onEvent = ({ type, message }: { type: string; message?: string }) =>
      void (type === 'notice' && told.push(message!));
    // It may have room for more than it promises.
    await divided(url.href, { fullRefresh: true, onEvent }).catch(() => undefined);
    expect(told).toEqual([
      expect.stringMatching(
        /^parts\.one: publishing 80 partitions takes some 480 locks, and the server has room for 300: raise max_locks_per_transaction/,
      ),
    ]);
  } finally {
    await ownProxy.close();
    await own.remove();
  }
});
