// Readers whose snapshot is older than the tables that a run has built see all old or all new rows, in every table of the run.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  hash,
  list,
  planPipeline,
  rollbackPipeline,
  type Pipeline,
  type RunEvent,
  type RunResult,
} from '../../src/index.ts';
import { citiesPipeline, writeCities } from '../helpers/cities.ts';
import { failureOf } from '../helpers/failure.ts';
import { startOwnServer, withPg, type OwnServer } from '../helpers/own-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { forgetRuns, useDatabase } from '../helpers/server.ts';
import { primarySettings, startStandby } from '../helpers/standby.ts';
import { until } from '../helpers/workers.ts';

const { files, database, rowsOf, run } = usePipelineRuns();
writeCities(files);

/** One state of both tables: rows of each. */
const stateSql = `select (select count(*) from geo.city) || '/' || (select count(*) from geo.big) as state`;

/** Reads both tables when the gate opens, with the snapshot of the statement that calls it. */
const lateSql = `create function public.late() returns text stable language plpgsql as $$ declare state text; begin
    perform pg_advisory_lock_shared(1); perform pg_advisory_unlock_shared(1);
    execute $q$ ${stateSql} $q$ into state; return state; end $$`;

/** A session that has a snapshot now, and reads when it is asked to. */
interface Reader {
  readonly read: () => Promise<string>;
  readonly end: () => Promise<void>;
}

const open = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url, application_name: 'old reader' });
  client.on('error', () => undefined);
  await client.connect();
  return client;
};

const readerOf = (client: pg.Client, read: () => Promise<string>): Reader => ({
  read,
  end: () => client.end(),
});

const stateOf = async (client: pg.Client): Promise<string> => (await client.query(stateSql)).rows[0].state;

/** Opens each kind of reader. `blocked`: a table that somebody else has locked. */
const kinds: Readonly<Record<string, (url: string) => Promise<Reader>>> = {
  'REPEATABLE READ, has read the table': async (url) => {
    const client = await open(url);
    await client.query('begin isolation level repeatable read');
    await client.query('select count(*) from geo.city');
    return readerOf(client, () => stateOf(client));
  },
  'REPEATABLE READ': async (url) => {
    const client = await open(url);
    await client.query('begin isolation level repeatable read; select 1');
    return readerOf(client, () => stateOf(client));
  },
  SERIALIZABLE: async (url) => {
    const client = await open(url);
    await client.query('begin isolation level serializable; select 1');
    return readerOf(client, () => stateOf(client));
  },
  'a stable function that reads late': async (url) => {
    const client = await open(url);
    const late = client.query('select public.late() as state');
    late.catch(() => undefined);
    return readerOf(client, async () => (await late).rows[0].state);
  },
  'an open cursor': async (url) => {
    const client = await open(url);
    await client.query('begin; declare c cursor for select public.late() as state');
    return readerOf(client, async () => (await client.query('fetch c')).rows[0].state);
  },
  // What pg_dump does: a snapshot, the catalogue, locks on all tables, of which one is not free, then COPY.
  'a dump that waits for another lock': async (url) => {
    const client = await open(url);
    await client.query('begin isolation level repeatable read read only');
    await client.query('select count(*) from pg_class');
    const locked = client.query('lock table public.blocked in access share mode');
    locked.catch(() => undefined);
    return readerOf(client, async () => {
      await locked;
      return stateOf(client);
    });
  },
};

let gate: pg.Client;
beforeAll(async () => {
  await database.query(`${lateSql}; create table public.blocked ()`);
  gate = await open(database.url);
});
afterAll(() => gate.end());

let readers: [string, Reader][] = [];
const openReaders = async (names: readonly string[], url = database.url): Promise<void> => {
  await gate.query('select pg_advisory_lock(1); begin; lock table public.blocked in access exclusive mode');
  for (const name of names) readers.push([name, await kinds[name]!(url)]);
  // Those that wait for the gate or the lock have their snapshot once they wait.
  const waiting = names.filter((name) => /function|dump/.test(name)).length;
  await until(
    async () =>
      (
        await rowsOf(
          `select from pg_stat_activity where application_name = 'old reader' and wait_event_type = 'Lock'`,
        )
      ).length >= waiting,
  );
};
const openGate = () => gate.query('commit; select pg_advisory_unlock_all()');
const statesSeen = async (): Promise<Record<string, string>> => {
  await openGate();
  const seen: Record<string, string> = {};
  for (const [name, reader] of readers) seen[name] = await reader.read();
  return seen;
};
const endReaders = async (): Promise<void> => {
  await openGate();
  await Promise.all(readers.map(([, reader]) => reader.end()));
  readers = [];
};

beforeEach(async () => {
  files.write('city-1.csv', 'id,name,people\n1,Ulm,120000\n2,Trier,110000\n');
  rmSync(join(files.directory, 'city-2.csv'), { force: true });
  await database.query(`drop schema if exists geo cascade; ${forgetRuns}`);
});
afterEach(endReaders);

const addCity = () => files.write('city-2.csv', 'id,name,people\n3,Jena,120001\n');

const cities = (change: object = {}, snapshotWaitMs: number | false = 300): Pipeline => ({
  ...citiesPipeline('city-*.csv', { guard: false, ...change }),
  snapshotWaitMs,
});

const strategies = ({ tables }: RunResult): Record<string, string | null> =>
  Object.fromEntries(tables.map(({ table, strategy }) => [table, strategy]));

interface Shape {
  readonly name: string;
  readonly change?: object;
  readonly ddl?: string;
  /** How both tables are published when no reader is in the way, and when the time is over. */
  readonly free: readonly [string, string];
  readonly kept: readonly [string, string];
}

const swapped = { free: ['swap', 'swap'], kept: ['in place', 'in place'] } as const;
const shapes: readonly Shape[] = [
  { name: 'replaced', ...swapped },
  { name: 'replaced, an earlier version is kept', change: { keep: 1 }, ...swapped },
  {
    name: 'partitioned',
    change: { partitionBy: hash('id', 2) },
    free: ['partitions', 'swap'],
    kept: ['in place', 'in place'],
  },
  {
    name: 'partitioned, only some replaced',
    change: { partitionBy: list('id'), publish: { mode: 'replace', only: 'touched' } },
    free: ['partitions', 'swap'],
    kept: ['in place', 'in place'],
  },
  {
    name: 'with a view',
    ddl: 'create view geo.seen as select * from geo.city',
    free: ['in place', 'in place'],
    kept: ['in place', 'in place'],
  },
  {
    name: 'referenced by another table',
    ddl: 'drop table if exists public.visit; create table public.visit (city int references geo.city); insert into public.visit values (1)',
    free: ['in place', 'in place'],
    kept: ['in place', 'in place'],
  },
  {
    name: 'appended',
    change: { publish: 'append' },
    free: ['append', 'in place'],
    kept: ['append', 'in place'],
  },
  { name: 'merged', change: { publish: 'merge' }, free: ['merge', 'in place'], kept: ['merge', 'in place'] },
  {
    name: 'merged by building again',
    change: { publish: { mode: 'merge', by: 'rebuild' } },
    free: ['rebuild', 'swap'],
    kept: ['merge', 'in place'],
  },
  {
    name: 'history',
    change: { publish: { mode: 'history' } },
    free: ['history', 'in place'],
    kept: ['history', 'in place'],
  },
  { name: 'loaded without staging', change: { staging: 'none' }, ...swapped },
];

/** The first night, and what somebody makes on the table after it. */
const firstNight = async ({ change, ddl }: Shape): Promise<void> => {
  await run(cities(change));
  if (ddl !== undefined) await database.query(ddl);
};

/** Publishing by new tables, which has to wait. */
const isReplaced = ({ free }: Shape): boolean =>
  free.every((strategy) => ['swap', 'partitions', 'rebuild'].includes(strategy));

describe.each(shapes)('a table that is $name', (shape) => {
  it('shows all old rows to every reader that began before the run, for as long as that reader lasts', async () => {
    await firstNight(shape);
    await openReaders(Object.keys(kinds));
    addCity();
    const [city, big] = shape.kept;
    expect(strategies(await run(cities(shape.change)))).toEqual({ city, big });
    expect(await stateOf(gate)).toBe('3/2');
    expect(await statesSeen()).toEqual(Object.fromEntries(Object.keys(kinds).map((name) => [name, '2/1'])));
  });
});

// `writer`: every snapshot says that its transaction runs, so snapshots cannot be told apart by the oldest one that they see running.
it.each(shapes.filter(isReplaced))(
  'a table that is $name is replaced once older readers are gone, and shows all new rows to those that began meanwhile',
  async (shape) => {
    await firstNight(shape);
    const writer = await open(database.url);
    await writer.query('begin; select pg_current_xact_id()');
    await openReaders(['REPEATABLE READ']);
    addCity();
    const later = Object.keys(kinds).filter((name) => !name.includes('has read'));
    const waits: RunEvent[] = [];
    const onEvent = (event: RunEvent): void => {
      if (event.type !== 'snapshots') return;
      waits.push(event);
      void (async () => {
        await openGate();
        const [[, old]] = readers.splice(0) as [[string, Reader]];
        await openReaders(later);
        await old.end();
      })();
    };
    const [city, big] = shape.free;
    expect(strategies(await run(cities(shape.change, 60_000), { onEvent }))).toEqual({ city, big });
    expect(waits).toMatchObject([
      { holders: [{ user: 'etl', application: 'old reader', isStandby: false }] },
    ]);
    expect(await statesSeen()).toEqual(Object.fromEntries(later.map((name) => [name, '3/2'])));
    await writer.end();
  },
);

it('rolls back without waiting: rows that were in production before are old enough for every reader', async () => {
  await run(cities({ keep: 1 }));
  addCity();
  await run(cities({ keep: 1 }));
  const later = Object.keys(kinds).filter((name) => !name.includes('has read'));
  await openReaders(later);
  const { tables } = await rollbackPipeline(cities({ keep: 1 }, 60_000), {
    databaseUrl: database.url,
    directory: files.directory,
    workingDirectory: files.directory,
    tables: ['city'],
  });
  expect(tables).toMatchObject([{ table: 'city', strategy: 'swap' }]);
  expect(await statesSeen()).toEqual(Object.fromEntries(later.map((name) => [name, '2/2'])));
});

/** A table whose columns are no longer those of production cannot be replaced in place. */
const wider = {
  columns: {
    id: column.integer('id'),
    name: column.text('name'),
    people: column.bigint('people').nullable(),
    again: column.text('name'),
  },
};

it('keeps the built tables when it may not replace rows in place, and the next run publishes them', async () => {
  await run(cities());
  await openReaders(['REPEATABLE READ']);
  addCity();
  const error = await failureOf(run(cities(wider)));
  expect(error).toMatchObject({
    code: 'ETL_PUBLISH_SNAPSHOT',
    message: expect.stringMatching(/process \d+ \(etl, old reader, since .*\) took a snapshot before/),
  });
  expect(await statesSeen()).toEqual({ 'REPEATABLE READ': '2/1' });
  await endReaders();
  const events: string[] = [];
  const result = await run(cities(wider), {
    onEvent: (event: RunEvent) => events.push(event.type === 'notice' ? event.message : event.type),
  });
  expect(strategies(result)).toEqual({ city: 'swap', big: 'swap' });
  expect(events).toContain('the tables that this run built earlier are published; nothing is built again');
  expect(events).not.toContain('building');
  expect(await stateOf(gate)).toBe('3/2');
  expect(await rowsOf('select from etl.run where kept_build is not null')).toEqual([]);
});

it.each([
  ['a file changed', () => files.write('city-2.csv', 'id,name,people\n3,Jena,1\n'), cities(wider), '3/1'],
  ['the definition changed', () => undefined, cities({ ...wider, indexes: [] }), '3/2'],
  [
    'somebody published into the schema',
    () =>
      run({ ...citiesPipeline('city-1.csv', {}, 'others'), snapshotWaitMs: false }).catch(() => undefined),
    cities(wider),
    '3/2',
  ],
])('builds again what was kept when %s', async (_, meanwhile, pipeline, state) => {
  await run(cities());
  await openReaders(['REPEATABLE READ']);
  addCity();
  await failureOf(run(cities(wider)));
  await endReaders();
  await meanwhile();
  const events: string[] = [];
  await run(pipeline, { onEvent: (event: RunEvent) => events.push(event.type) });
  expect(events).toContain('building');
  expect(await stateOf(gate)).toBe(state);
});

it('does not wait where the pipeline says so: a reader with an older snapshot sees empty tables', async () => {
  await run(cities());
  await openReaders(['REPEATABLE READ']);
  addCity();
  expect(strategies(await run(cities({}, false)))).toEqual({ city: 'swap', big: 'swap' });
  expect(await statesSeen()).toEqual({ 'REPEATABLE READ': '0/0' });
});

describe('a role that may not see the snapshots of others', () => {
  const own = useDatabase();
  beforeAll(() =>
    own.query(`create role snapshot_loader login password 'loader';
      do $$ begin execute format('grant create on database %I to snapshot_loader', current_database()); end $$`),
  );
  afterAll(() => own.query('drop owned by snapshot_loader cascade; drop role snapshot_loader'));

  it('waits for every transaction that had begun, and for snapshots alone once it may read statistics', async () => {
    const url = new URL(own.url);
    [url.username, url.password] = ['snapshot_loader', 'loader'];
    const asLoader = () => run(cities(), { databaseUrl: url.href });
    await asLoader();
    await withPg(own.url, async (idle) => {
      await idle.query('begin; select 1');
      addCity();
      expect(strategies(await asLoader())).toEqual({ city: 'in place', big: 'in place' });
      await own.query('grant pg_read_all_stats to snapshot_loader');
      files.write('city-2.csv', 'id,name,people\n3,Jena,1\n');
      expect(strategies(await asLoader())).toEqual({ city: 'swap', big: 'swap' });
    });
  });
});

it('announces in a plan that tables are kept, because rows of another one are written', async () => {
  await run(cities({ publish: 'append' }));
  addCity();
  const plan = await planPipeline(cities({ publish: 'append' }), {
    databaseUrl: database.url,
    directory: files.directory,
    workingDirectory: files.directory,
  });
  expect(plan.tables.map(({ publishing }) => [publishing?.strategy, publishing?.why])).toEqual([
    ['append', 'production has rows of other files, and publish is append'],
    ['in place', 'the table has to be kept because of rows written to geo.city'],
  ]);
});

it('says which tables it cannot keep beside one whose rows are written', async () => {
  const appended = cities({ publish: 'append' });
  await run(appended);
  addCity();
  files.write('big.sql', 'select id, name, people from city where people > 115000');
  const replaced =
    'geo.big will be replaced by new tables while rows are written to geo.city: a transaction with an older ' +
    'snapshot may see new rows of the former and old rows of the latter';
  const plan = await planPipeline(appended, {
    databaseUrl: database.url,
    directory: files.directory,
    workingDirectory: files.directory,
  });
  expect(plan.notices).toContain(replaced);
  const notices: string[] = [];
  const { tables } = await run(appended, {
    onEvent: (event: RunEvent) => event.type === 'notice' && notices.push(event.message),
  });
  files.write('big.sql', 'select id, name from city where people > 115000');
  expect(tables.map(({ strategy }) => strategy)).toEqual(['append', 'swap']);
  expect(notices).toContain(replaced);
});

it('waits before the server writes a table again for a column of another type, which nothing else can make up for', async () => {
  const columns = { id: column.integer('id'), name: column.text('name') };
  const shop = (people: object) =>
    cities({ publish: 'append', evolve: 'retype', columns: { ...columns, people } });
  await run(shop(column.integer('people').nullable()));
  await openReaders(['REPEATABLE READ']);
  addCity();
  const wide = shop(column.bigint('people').nullable());
  expect(await failureOf(run(wide))).toMatchObject({ code: 'ETL_PUBLISH_SNAPSHOT' });
  await endReaders();
  expect(strategies(await run(wide))).toMatchObject({ city: 'append' });
});

describe('on a standby that reports its snapshots', () => {
  let primary: OwnServer;
  let standby: OwnServer;
  beforeAll(async () => {
    primary = await startOwnServer(primarySettings);
    standby = await startStandby(primary);
    await withPg(standby.server.url, async (client) => {
      await client.query(`alter system set hot_standby_feedback = on`);
      await client.query(`alter system set wal_receiver_status_interval = '1s'`);
      await client.query('select pg_reload_conf()');
    });
  });
  afterAll(async () => {
    await standby.remove();
    await primary.remove();
  });
  const onPrimary = (pipeline: Pipeline, more: object = {}) =>
    run(pipeline, { databaseUrl: primary.server.url, ...more });
  const replayed = () =>
    withPg(primary.server.url, (client) =>
      until(
        async () =>
          (await client.query('select from pg_stat_replication where replay_lsn >= pg_current_wal_lsn()'))
            .rowCount === 1,
      ),
    );

  it('a reader sees all old rows, or all new ones', async () => {
    await onPrimary(cities());
    await replayed();
    const old = await kinds['REPEATABLE READ']!(standby.server.url);
    // The standby has reported it.
    await withPg(primary.server.url, (client) =>
      until(
        async () =>
          (await client.query('select from pg_stat_replication where backend_xmin is not null')).rowCount ===
          1,
      ),
    );
    addCity();
    const kept = await onPrimary(cities());
    await replayed();
    expect([strategies(kept), await old.read()]).toEqual([{ city: 'in place', big: 'in place' }, '2/1']);
    await old.end();
    files.write('city-2.csv', 'id,name,people\n3,Jena,120001\n4,Gera,130000\n');
    const replaced = await onPrimary(cities({}, 60_000));
    expect(strategies(replaced)).toEqual({ city: 'swap', big: 'swap' });
    await replayed();
    const later = await open(standby.server.url);
    expect(await stateOf(later)).toBe('4/3');
    await later.end();
  });
});
