// A streaming standby: it refuses unlogged tables and runs, and its promotion empties what a crash would.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { currentEpoch } from '../../src/checkpoint/epoch.ts';
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
  runPipeline(pipeline, { databaseUrl: server.server.url, workingDirectory: directory, workers: 1 });

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
