// A real PgBouncer before the server: in session mode everything works, in the other modes everything is refused.

import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import {
  createWorker,
  enqueue,
  joinRun,
  loadPipelineFile,
  runPipeline,
  type RunOptions,
} from '../../src/index.ts';
import { hasPgBouncer, startPgBouncer, type PgBouncer, type PoolMode } from '../helpers/pgbouncer.ts';
import { useDatabase } from '../helpers/server.ts';
import { until } from '../helpers/workers.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const noaa = 'pipelines/noaa.ts';
const database = useDatabase();
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const start = async (mode: PoolMode, poolSize: number): Promise<PgBouncer> => {
  const pooler = await startPgBouncer({ mode, poolSize, serverUrl: inject('serverUrl') });
  closing.push(pooler.stop);
  return pooler;
};

const etl = async (url: string, ...args: string[]): Promise<{ exit: number; out: string; err: string }> => {
  const io = fakeIo({ env: { DATABASE_URL: url } });
  const exit = await main(args, io);
  return { exit, out: io.stdout.text, err: io.stderr.text };
};

const run = async (databaseUrl?: string, options: RunOptions = {}) => {
  const { pipeline, directory, file } = await loadPipelineFile(noaa);
  // Chunks of this size need the queue, and a connection for each worker.
  const chunkBytes = 64 * 1024;
  const common = { directory, pipelineFile: file, redis: false, workers: 2, chunkBytes } as const;
  return runPipeline(pipeline, { ...common, ...(databaseUrl !== undefined && { databaseUrl }), ...options });
};

/** Locks that last as long as a session, of any session. */
const sessionLocks = async (): Promise<unknown> =>
  (
    await database.query(
      `select pid, objid from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`,
    )
  ).rows;

/** Clients of the same pool that begin and end transactions all the time, until the test is over. */
const keepBusy = (url: string, clients: number): void => {
  let isOver = false;
  const work = async (): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    while (!isOver) await client.query('select pg_sleep(0.005)');
    await client.end();
  };
  const all = Promise.allSettled(Array.from({ length: clients }, work));
  closing.push(() => {
    isOver = true;
    return all;
  });
};

const isPooledAt = (url: string): Promise<boolean> =>
  withClient(addressFromUrl(url), (client) => Promise.resolve(client.isPooled));

/** What a client of the pool gets, in each of the pool's sessions: it asks several times. */
const sessionOf = async (url: string): Promise<readonly unknown[]> => {
  const clients = Array.from({ length: 4 }, () => new pg.Client({ connectionString: url }));
  for (const client of clients) await client.connect();
  const asked = clients.map((client) =>
    client.query(`select string_agg(name || ' ' || setting, ', ' order by name) as settings, (select count(*) from pg_listening_channels())
      from pg_settings, pg_sleep(0.1) where name in ('search_path', 'statement_timeout', 'lock_timeout', 'tcp_keepalives_idle', 'datestyle')`),
  );
  const rows = (await Promise.all(asked)).map((result) => JSON.stringify(result.rows));
  for (const client of clients) await client.end();
  return [...new Set(rows)];
};

/** Statements over poolers with so many connections left for others, begun before the first test and asked about in the last. */
const connectionsLeft = hasPgBouncer ? [0, 1] : [];
let poolers: readonly PgBouncer[] = [];
let slept: Promise<readonly PromiseSettledResult<unknown>[]>;

beforeAll(async () => {
  const serverUrl = inject('serverUrl');
  poolers = await Promise.all(
    connectionsLeft.map(() => startPgBouncer({ mode: 'session', poolSize: 2, serverUrl })),
  );
  const sleepLong = ({ urlOf }: PgBouncer, index: number): Promise<unknown> => {
    const connectionString = urlOf(database.url);
    return withClient(addressFromUrl(connectionString), async (client) => {
      const holder = new pg.Client({ connectionString });
      holder.on('error', () => undefined);
      if (connectionsLeft[index] === 0) await holder.connect();
      // Longer than the silence after which a connection is asked about.
      const { rowCount } = await client.query('select pg_sleep(18)');
      await holder.end();
      return rowCount;
    });
  };
  slept = Promise.allSettled(poolers.map(sleepLong));
});
afterAll(() => Promise.all(poolers.map(({ stop }) => stop())));

describe.runIf(hasPgBouncer)('PgBouncer in session mode', () => {
  let pooler: PgBouncer;
  let url = '';
  beforeAll(async () => {
    pooler = await startPgBouncer({ mode: 'session', serverUrl: inject('serverUrl') });
    url = pooler.urlOf(database.url);
  });
  afterAll(() => pooler.stop());

  it('a run loads and publishes, the next one has nothing to do, and no lock stays', async () => {
    expect((await run(url, { fullRefresh: true })).outcome).toBe('published');
    const { rows } = await database.query('select count(*)::int as rows from noaa.observation');
    expect(rows).toEqual([{ rows: 5276 }]);
    expect((await run(url)).outcome).toBe('unchanged');
    await until(async () => ((await sessionLocks()) as unknown[]).length === 0);
  });

  it('a run goes on when the server ends its sessions behind the pooler', async () => {
    const ended: unknown[] = [];
    const { outcome } = await run(url, {
      fullRefresh: true,
      onEvent: (event) => {
        if (event.type !== 'step' || event.step !== 'build' || ended.length > 0) return;
        ended.push(
          database.query(
            `select pg_terminate_backend(pid) from pg_stat_activity
              where application_name like 'sluice noaa%' and datname = current_database()`,
          ),
        );
      },
    });
    expect(outcome).toBe('published');
    expect(await Promise.all(ended)).toMatchObject([{ rowCount: expect.any(Number) }]);
  });

  it('a worker does what is enqueued, and a schedule is set', async () => {
    const worker = await createWorker({ databaseUrl: url, redis: false, pipelines: 'pipelines', workers: 1 });
    closing.push(() => worker.close({ deadlineMs: 0 }));
    const { pipeline, directory } = await loadPipelineFile(noaa);
    const { job } = await enqueue(pipeline, { databaseUrl: url, redis: false, directory, fullRefresh: true });
    const ofJob = 'select state from etl.run where job = $1';
    await until(async () => (await database.query(ofJob, [job])).rows[0]?.['state'] === 'published');
    const set = ['schedule', 'set', 'nightly', noaa, '--cron', '0 2 * * *'];
    for (const args of [set, ['schedule', 'list'], ['schedule', 'remove', 'nightly'], ['queue']])
      expect(await etl(url, ...args)).toMatchObject({ exit: 0, err: '' });
  });

  it('status and rejects are shown, and the doctor knows the pooler', async () => {
    await run(url);
    expect((await etl(url, 'status')).out).toContain('published');
    expect(await etl(url, 'rejects', 'list')).toMatchObject({ exit: 0 });
    expect((await etl(url, 'doctor')).out).toMatch(/ok +pooler +in session mode/);
  });

  it('is known as such, with other clients on the pool', async () => {
    keepBusy(url, 8);
    expect(await isPooledAt(url)).toBe(true);
    expect(await isPooledAt(database.url)).toBe(false);
  });
});

describe.runIf(hasPgBouncer)('PgBouncer in session mode with few connections', () => {
  it.each([
    { poolSize: 1, code: 'ETL_CONNECT', message: /a pooler may have no server connection left/ },
    { poolSize: 2, code: 'ETL_SERVER_LOST', message: /./ },
  ])('a run that gets $poolSize ends within --wait', async ({ poolSize, ...refusal }) => {
    const connectionString = (await start('session', poolSize)).urlOf(database.url);
    const connection: object = { connectionString, connectionTimeoutMillis: 500 };
    await expect(run(undefined, { connection, fullRefresh: true, waitMs: 500 })).rejects.toMatchObject({
      code: refusal.code,
      message: expect.stringMatching(refusal.message),
    });
  });
});

const shared = (['transaction', 'statement'] as const).flatMap((mode) =>
  [1, 2, 20].map((poolSize) => ({ mode, poolSize })),
);

describe.runIf(hasPgBouncer).each(shared)(
  'PgBouncer in $mode mode, pool of $poolSize',
  ({ mode, poolSize }) => {
    it('is known as such, also with other clients on the pool', async () => {
      const url = (await start(mode, poolSize)).urlOf(database.url);
      await expect(isPooledAt(url)).rejects.toMatchObject({ code: 'ETL_POOLER' });
      keepBusy(url, 10);
      for (let again = 0; again < 3; again += 1)
        await expect(isPooledAt(url)).rejects.toMatchObject({ code: 'ETL_POOLER' });
    });
  },
);

describe.runIf(hasPgBouncer)('PgBouncer in transaction mode', () => {
  const refused = { code: 'ETL_POOLER' };

  it('three runs of one pipeline at once are refused, and no lock is left on the pool', async () => {
    const url = (await start('transaction', 20)).urlOf(database.url);
    const runs = await Promise.allSettled([1, 2, 3].map(() => run(url, { fullRefresh: true })));
    expect(runs).toEqual(runs.map(() => ({ status: 'rejected', reason: expect.objectContaining(refused) })));
    expect(await sessionLocks()).toEqual([]);
  });

  it('so is every command, and the sessions of other clients are as before', async () => {
    const url = (await start('transaction', 2)).urlOf(database.url);
    const before = await sessionOf(url);
    expect(before).toHaveLength(1);
    for (const args of [['status'], ['schedule', 'list'], ['run', noaa], ['doctor'], ['queue']])
      expect(await etl(url, ...args)).toMatchObject({ exit: 1, err: expect.stringContaining('ETL_POOLER') });
    expect(await sessionOf(url)).toEqual(before);
  });

  it('so is whatever needs a session', async () => {
    const url = (await start('transaction', 20)).urlOf(database.url);
    const place = { databaseUrl: url, redis: false } as const;
    const { pipeline, directory } = await loadPipelineFile(noaa);
    await expect(createWorker({ ...place, pipelines: 'pipelines' })).rejects.toMatchObject(refused);
    await expect(enqueue(pipeline, { ...place, directory })).rejects.toMatchObject(refused);
    await expect(joinRun(pipeline, { ...place, directory })).rejects.toMatchObject(refused);
  });
});

describe.runIf(hasPgBouncer)('PgBouncer in session mode with few connections, for long', () => {
  it('a statement goes on, with and without one for the watchdog that asks about it', async () => {
    expect(await slept).toEqual(connectionsLeft.map(() => ({ status: 'fulfilled', value: 1 })));
  });
});
