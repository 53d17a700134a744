// A streaming standby: it refuses unlogged tables and runs, its promotion empties what a crash would, and several hosts in an
// address find the primary.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { currentEpoch } from '../../src/ledger/run/epoch.ts';
import { main } from '../../src/cli/main.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { column, csv, definePipeline, runPipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { ask, askUntil, startOwnServer, type OwnServer } from '../helpers/own-server.ts';
import { primarySettings, startStandby } from '../helpers/standby.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const { write, directory } = useFiles();

let primary: OwnServer;
let standby: OwnServer;
beforeAll(async () => {
  primary = await startOwnServer(primarySettings);
  standby = await startStandby(primary);
});
afterAll(async () => {
  await standby?.remove();
  await primary?.remove();
});

const epochOf = (server: OwnServer): Promise<string> =>
  withClient(addressFromUrl(server.server.url), async (client) => {
    await migrate(client);
    return currentEpoch(client);
  });

/** Waits until a standby has everything that the primary has. */
const catchUp = async (follower = standby): Promise<void> => {
  const [{ lsn } = { lsn: '' }] = await ask<{ lsn: string }>(
    primary.server.url,
    'select pg_current_wal_flush_lsn() as lsn',
  );
  const select = `select pg_last_wal_replay_lsn() >= '${lsn}' as done`;
  await askUntil<{ done: boolean }>(follower.server.url, select, ({ done }) => done);
};

const doctor = async (): Promise<{ exit: number; out: string; err: string }> => {
  const io = fakeIo({ workingDirectory: directory });
  const exit = await main(['doctor', '--database-url', standby.server.url], io);
  return { exit, out: io.stdout.text, err: io.stderr.text };
};

const pipeline = definePipeline({
  name: 'small',
  schema: 'small',
  tables: { t: { source: csv('small.csv'), columns: { id: column.integer('id') } } },
});
const runOn = (server: OwnServer) =>
  runPipeline(pipeline, {
    databaseUrl: server.server.url,
    workingDirectory: directory,
    workers: 1,
    allowShrink: ['t'],
  });

const portOf = ({ server }: OwnServer): string => new URL(server.url).port;
/** A URL of several servers, in this order; a number is a port on which nothing listens. */
const urlOf = (servers: readonly (OwnServer | number)[], query: string): string => {
  const ports = servers.map((server) => (typeof server === 'number' ? server : portOf(server)));
  const { username, password, pathname } = new URL(primary.server.url);
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return `postgres://${username}:${password}@${hosts}${pathname}?${query}`;
};

describe('before its promotion', () => {
  it('a run is refused and nothing is made, there or on the primary', async () => {
    write('small.csv', 'id\n1\n');
    const select = `select nspname from pg_namespace where nspname like 'etl%' or nspname = 'small' order by 1`;
    const before = await ask(primary.server.url, select);
    const error = await failureOf(runOn(standby));
    expect(error).toMatchObject({ code: 'ETL_STANDBY', exit: 1 });
    expect(error.message).toContain(`127.0.0.1:${new URL(standby.server.url).port}`);
    expect(await ask(primary.server.url, select)).toEqual(before);
  });

  it('etl doctor names it a standby and says where to go', async () => {
    await epochOf(primary);
    await catchUp();
    const { exit, out, err } = await doctor();
    expect(exit).toBe(1);
    expect(out).toMatch(/^problem {2}role +standby\n {9}connect to the primary/m);
    expect(out).toMatch(/crash epoch +unknown: a standby does not show it/);
    expect(err).toMatch(/^error ETL_SERVER_UNFIT: .*: role$/m);
  });

  it('an unlogged table cannot be read', async () => {
    await ask(primary.server.url, 'create unlogged table staged (n integer)');
    await catchUp();
    const reading = ask(standby.server.url, 'select * from staged');
    await expect(reading).rejects.toMatchObject({
      code: '0A000',
      message: 'cannot access temporary or unlogged relations during recovery',
    });
  });
});

describe('several hosts', () => {
  const reached = (url: string): Promise<string> =>
    withClient(addressFromUrl(url, {}), async (client) => {
      const { rows } = await client.query(
        'select inet_server_port()::text as port, pg_is_in_recovery() as standby',
      );
      return rows[0].port === portOf(primary) && !rows[0].standby ? 'primary' : 'standby';
    });

  it.each([
    { query: '', is: 'standby' },
    { query: 'target_session_attrs=any', is: 'standby' },
    { query: 'target_session_attrs=read-write', is: 'primary' },
    { query: 'target_session_attrs=primary', is: 'primary' },
    { query: 'target_session_attrs=read-only', is: 'standby' },
    { query: 'target_session_attrs=standby', is: 'standby' },
    { query: 'target_session_attrs=prefer-standby', is: 'standby' },
    {
      query: 'target_session_attrs=read-only&options=-c%20default_transaction_read_only%3Don',
      is: 'standby',
    },
  ])('nothing, standby, primary: $query reaches the $is', async ({ query, is }) => {
    expect(await reached(urlOf([1, standby, primary], query))).toBe(is);
  });

  it.each([
    { query: 'target_session_attrs=standby', is: 'standby' },
    { query: 'target_session_attrs=prefer-standby', is: 'standby' },
    { query: 'target_session_attrs=any', is: 'primary' },
    {
      query: 'target_session_attrs=read-only&options=-c%20default_transaction_read_only%3Don',
      is: 'primary',
    },
  ])('primary, standby: $query reaches the $is', async ({ query, is }) => {
    expect(await reached(urlOf([primary, standby], query))).toBe(is);
  });

  it('without a standby, prefer-standby takes the primary', async () => {
    expect(await reached(urlOf([1, primary], 'target_session_attrs=prefer-standby'))).toBe('primary');
  });

  it('with none that will do, the error says what is wrong with each', async () => {
    const url = urlOf([1, standby], 'target_session_attrs=read-write');
    const error = await failureOf(withClient(addressFromUrl(url, {}), () => Promise.resolve()));
    expect(error).toMatchObject({ code: 'ETL_CONNECT', hint: expect.stringMatching(/every host/) });
    expect(error.message).toMatch(
      /127\.0\.0\.1:1: nothing listens there \(ECONNREFUSED\); 127\.0\.0\.1:\d+: it is a standby, and target_session_attrs is read-write/,
    );
    expect(error.message).not.toContain(new URL(primary.server.url).password);
  });

  it('one that refuses the password ends the search, as in libpq', async () => {
    const url = urlOf([standby, primary], 'target_session_attrs=primary').replace(/:[^:@]*@/, ':guess@');
    const error = await failureOf(withClient(addressFromUrl(url, {}), () => Promise.resolve()));
    expect(error).toMatchObject({
      code: 'ETL_CONNECT_AUTH',
      details: { server: expect.stringContaining(portOf(standby)) },
    });
  });

  it('a run, its threads and its queue go to the primary, and without target_session_attrs the standby refuses it', async () => {
    // Too much for the main thread alone, and two files for the queue.
    for (const half of [1, 2]) write(`half-${half}.csv`, `id\n${`${half}234567\n`.repeat(300_000)}`);
    const halves = definePipeline({
      name: 'halves',
      schema: 'small',
      tables: { half: { source: csv('half-*.csv'), columns: { id: column.integer('id') } } },
    });
    const run = (query: string) =>
      runPipeline(halves, {
        databaseUrl: urlOf([standby, primary], query),
        workingDirectory: directory,
        workers: 2,
        fullRefresh: true,
      });
    expect(await run('target_session_attrs=primary')).toMatchObject({ tables: [{ rows: 600_000 }] });
    expect(await failureOf(run(''))).toMatchObject({
      code: 'ETL_STANDBY',
      hint: expect.stringContaining('target_session_attrs=primary'),
    });
  });
});

describe('after its promotion', () => {
  // Another one: that of the cases above stays what it is.
  let promoted: OwnServer;
  let before: string;
  beforeAll(async () => {
    promoted = await startStandby(primary);
    write('small.csv', 'id\n1\n');
    before = await epochOf(primary);
    await runOn(primary);
    await ask(primary.server.url, 'create unlogged table lost as select generate_series(1, 100) as n');
    await catchUp(promoted);
    await ask(promoted.server.url, 'select pg_promote(true, 60)');
  });
  afterAll(() => promoted?.remove());

  it('logged rows are there, unlogged ones are not; the epoch is another, over a restart, too; it takes runs', async () => {
    const { url } = promoted.server;
    expect(await ask(url, 'select id from small.t')).toEqual([{ id: 1 }]);
    expect(await ask(url, 'select count(*)::int as n from lost')).toEqual([{ n: 0 }]);
    expect(await ask(url, 'select count(*)::int as n from etl.canary')).toEqual([{ n: 0 }]);
    const after = await epochOf(promoted);
    expect(after).not.toBe(before);
    expect(await epochOf(primary)).toBe(before);
    await promoted.stop();
    await promoted.start();
    expect(await epochOf(promoted)).toBe(after);
    write('small.csv', 'id\n1\n2\n');
    expect(await runOn(promoted)).toMatchObject({ outcome: 'published', tables: [{ rows: 2 }] });
  });
});

it('the primary is killed under a run and its standby promoted: the run goes on there, and loads what was lost', async () => {
  const next = await startStandby(primary);
  try {
    const records = 200_000;
    write('small.csv', `id\n${Array.from({ length: records }, (_, index) => index).join('\n')}\n`);
    let failover: Promise<unknown> | undefined;
    const recovered: unknown[] = [];
    const failOver = async (): Promise<void> => {
      await catchUp(next);
      await primary.end('SIGKILL');
      await ask(next.server.url, 'select pg_promote(true, 60)');
    };
    const result = await runPipeline(pipeline, {
      databaseUrl: urlOf([primary, next], 'target_session_attrs=read-write'),
      workingDirectory: directory,
      workers: 2,
      chunkBytes: 50_000,
      onEvent: (event) => {
        if (event.type === 'progress') failover ??= failOver();
        if (event.type === 'recovered') recovered.push(event);
      },
    });
    await failover;
    expect(result).toMatchObject({ outcome: 'published', tables: [{ rows: records }] });
    expect(recovered).toMatchObject([{ crashed: true }]);
    const select = 'select count(*)::int as n, count(distinct id)::int as ids from small.t';
    expect(await ask(next.server.url, select)).toEqual([{ n: records, ids: records }]);
    // Exactly those chunks were loaded twice, on the same system in another timeline.
    const [{ again } = { again: 0 }] = await ask<{ again: number }>(
      next.server.url,
      `select count(*)::int as again from etl.chunk c join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id
        where r.id = ${result.runId} and (c.lost_at is not null or c.epoch <> r.epoch)`,
    );
    expect(recovered).toMatchObject([{ chunks: again }]);
    const timeline = 'select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline';
    expect(await ask(next.server.url, timeline)).toEqual([{ timeline: '00000002' }]);
  } finally {
    await next.remove();
  }
});
