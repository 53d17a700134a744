// `etl doctor` on a real server: what it asks is what the server says, and it changes nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { column, csv, definePipeline, runPipeline, type RedisOptions } from '../../src/index.ts';
import type { Finding } from '../../src/tools/doctor.ts';
import { readServerFacts, settingNames, type ServerFacts } from '../../src/db/session/facts.ts';
import { settingRules } from '../../src/tools/setting-rules.ts';
import { useFiles } from '../helpers/files.ts';
import { makeServerDirectory, openOwnServer, type OwnServer } from '../helpers/own-server.ts';
import { hasRedis, startRedis } from '../helpers/redis-server.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const database = useDatabase();
const { write, directory } = useFiles();

const doctor = async (
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = { DATABASE_URL: database.url },
  workingDirectory = directory,
): Promise<{ exit: number; out: string; err: string; findings: readonly Finding[] }> => {
  const io = fakeIo({ env, workingDirectory });
  const exit = await main(['doctor', '--json', ...args], io);
  const lines = io.stdout.text.trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as Finding & { type: string });
  const findings = events.filter(({ type }) => type === 'finding');
  return { exit, out: io.stdout.text, err: io.stderr.text, findings };
};

const finding = (findings: readonly Finding[], name: string): Finding | undefined =>
  findings.find((candidate) => candidate.name === name);

const facts = (): Promise<ServerFacts> => {
  const address = addressFromUrl(database.url);
  return withClient(address, (client) => readServerFacts(client, address, true));
};

const pipeline = definePipeline({
  name: 'small',
  schema: 'small',
  tables: {
    t: { source: csv('small*.csv'), columns: { id: column.integer('id') }, copies: 'load', rejectLimit: 0 },
  },
});
const run = (redis: RedisOptions | false = false) =>
  runPipeline(pipeline, {
    databaseUrl: database.url,
    redis,
    workingDirectory: directory,
    workers: 3,
    // Less than the files have together: the run needs its queue, and each worker its connection.
    chunkBytes: 10_000,
    keepStaging: true,
  });

/** Enough for all workers. */
const writeFiles = (): void => {
  for (let file = 1; file <= 6; file += 1) write(`small${file}.csv`, `id\n${'1\n'.repeat(10_000)}`);
};

// Each case has an empty database.
afterEach(() => database.query('drop schema if exists etl, etl_staging, etl_queue, small cascade'));

describe('an empty database', () => {
  it('is fit; the test server’s own settings are advised against', async () => {
    const { exit, err, findings } = await doctor(['--workers', '2']);
    expect({ exit, err }).toEqual({ exit: 0, err: '' });
    const advised = findings.filter(({ verdict }) => verdict !== 'ok').map(({ name }) => name);
    expect(advised).toEqual(['fsync']);
    expect(finding(findings, 'bookkeeping schema')?.value).toBe('none yet: the first run creates it');
    expect(finding(findings, 'free disk')?.value).toContain('unknown');
  });

  it('is left as it was', async () => {
    await doctor();
    const { rows } = await database.query(`select nspname from pg_namespace where nspname like 'etl%'`);
    expect(rows).toEqual([]);
  });

  it('every setting is judged, and has its number in bytes or seconds', async () => {
    expect(settingRules.map(({ name }) => name).toSorted()).toEqual([...settingNames].toSorted());
    const { settings } = await facts();
    expect(Object.keys(settings).toSorted()).toEqual([...settingNames].toSorted());
    expect(settings).toMatchObject({
      wal_level: { text: 'minimal', number: null },
      max_wal_size: { text: '4GB', number: 4 * 1024 ** 3 },
      shared_buffers: { text: '256MB', number: 256 * 1024 ** 2 },
      checkpoint_timeout: { text: '15min', number: 900 },
    });
  });

  it('settings of the session’s user count', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c max_parallel_maintenance_workers=0');
    const { findings } = await doctor([], { DATABASE_URL: url.href });
    expect(finding(findings, 'max_parallel_maintenance_workers')).toMatchObject({
      value: '0',
      verdict: 'advice',
    });
  });
});

describe('connections', () => {
  it('others’ count, our own does not', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`alter database ${name} connection limit 20`);
    const { connectionLimits } = await facts();
    await database.query(`alter database ${name} connection limit -1`);
    // That of `database.query` is the other.
    const own = connectionLimits.find((limit) => limit.name === `connection limit of database ${name}`);
    expect(own).toEqual({ name: `connection limit of database ${name}`, limit: 20, used: 1 });
    expect(connectionLimits[0]).toMatchObject({ name: 'max_connections', limit: 197 });
  });

  it.runIf(hasRedis)(
    'a Redis that deletes jobs when its memory is full, or that is away, is seen',
    async () => {
      const redis = await startRedis();
      const look = async () => {
        const { exit, findings } = await doctor([], { DATABASE_URL: database.url, REDIS_URL: redis.url });
        return { exit, ...finding(findings, 'queues') };
      };
      const policy = (name: string) => `Redis at 127.0.0.1:${redis.port}, maxmemory-policy ${name}`;
      try {
        expect(await look()).toMatchObject({ exit: 0, verdict: 'ok', value: policy('noeviction') });
        await redis.command('config', 'set', 'maxmemory-policy', 'allkeys-lru');
        expect(await look()).toMatchObject({
          exit: 0,
          verdict: 'advice',
          value: policy('allkeys-lru'),
          advice: expect.stringContaining('set maxmemory-policy noeviction') as string,
        });
        await redis.signal('SIGKILL');
        expect(await look()).toMatchObject({ exit: 1, verdict: 'problem' });
      } finally {
        await redis.stop();
      }
    },
  );

  it.each(hasRedis ? ['PostgreSQL', 'Redis'] : ['PostgreSQL'])(
    'a run with its queue in %s has no more of them than `etl doctor` counts',
    async (where) => {
      const redis = where === 'Redis' ? await startRedis() : undefined;
      const env = { DATABASE_URL: database.url, ...(redis && { REDIS_URL: redis.url }) };
      const { findings } = await doctor(['--workers', '3'], env);
      const [, counted] = /(\d+) needed for/.exec(finding(findings, 'max_connections')!.value)!;
      expect(counted).toBe(redis ? '4' : '6');
      writeFiles();
      let most = 0;
      let isOver = false;
      const running = run(redis && { url: redis.url }).finally(() => (isOver = true));
      while (!isOver) {
        const { rows } = await database.query(
          `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
        );
        most = Math.max(most, rows[0]!.n);
        await sleep(5);
      }
      await running;
      await redis?.stop();
      expect(most).toBeGreaterThan(1);
      expect(most).toBeLessThanOrEqual(Number(counted));
    },
  );

  it('too many workers for the server: exit 1, named on stderr and in JSON', async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`alter database ${name} connection limit 10`);
    const { exit, out, err } = await doctor(['--workers', '9']);
    await database.query(`alter database ${name} connection limit -1`);
    expect(exit).toBe(1);
    expect(err).toContain(`error ETL_SERVER_UNFIT: `);
    expect(err).toContain(`connection limit of database ${name}`);
    expect(JSON.parse(out.trimEnd().split('\n').at(-1)!)).toMatchObject({
      type: 'error',
      code: 'ETL_SERVER_UNFIT',
    });
  });
});

describe('after a run', () => {
  it('names staging, the epoch and the version of the bookkeeping', async () => {
    writeFiles();
    await run();
    const { findings } = await doctor();
    const [canary] = (await database.query<{ epoch: string }>('select epoch from etl.canary')).rows;
    expect(finding(findings, 'crash epoch')).toEqual({
      type: 'finding',
      name: 'crash epoch',
      value: canary!.epoch,
      verdict: 'ok',
    });
    expect(finding(findings, 'crashes seen by runs')?.value).toBe('none');
    expect(finding(findings, 'unlogged staging')?.value).toMatch(/^1 table, \S+MB: small__t \S+MB$/);
    expect(finding(findings, 'bookkeeping schema')?.value).toMatch(/^version \d+$/);
  });

  it('names an unfinished run whose staging a crash has emptied', async () => {
    write('small1.csv', 'id\nx\n');
    await run().catch(() => undefined);
    await database.query('delete from etl.canary');
    const { rows } = await database.query<{ id: string }>('select max(id) as id from etl.run');
    const { findings } = await doctor();
    expect(finding(findings, 'crash epoch')).toMatchObject({
      verdict: 'advice',
      advice: expect.stringContaining(`continue run ${rows[0]!.id} (small)`),
    });
    // Its staging is not to be dropped.
    expect(finding(findings, 'stale staging')).toBeUndefined();
  });

  it('refuses bookkeeping of a newer version', async () => {
    await withClient(addressFromUrl(database.url), migrate);
    await database.query(`insert into etl.migration (version, file) values (999, '0999_future.sql')`);
    const { exit, findings } = await doctor();
    expect(exit).toBe(1);
    expect(finding(findings, 'bookkeeping schema')).toMatchObject({
      value: 'version 999',
      verdict: 'problem',
    });
  });
});

// The embedded server has only its own version.
describe.skipIf(serverMajor < 18)('with no server named', () => {
  let own: OwnServer;
  let place: string;
  beforeAll(async () => {
    place = await makeServerDirectory();
    own = await openOwnServer(place, { reserved_connections: '2' });
  });
  afterAll(() => own?.remove());

  it('looks at the embedded one, knows its disk, and has no advice', async () => {
    const { exit, findings } = await doctor(['--workers', '4'], {}, place);
    expect(exit).toBe(0);
    expect(findings.filter(({ verdict }) => verdict !== 'ok').map(({ name }) => name)).toEqual([]);
    expect(finding(findings, 'max_connections')?.value).toMatch(/^limit 95,/);
    expect(finding(findings, 'free disk')?.value).toMatch(/^\d+(\.\d)?[MGTP]B$/);
  });

  it('starts it if need be, like a run', async () => {
    await own.stop();
    expect((await doctor([], {}, place)).exit).toBe(0);
    expect((await own.start()).startedNow).toBe(false);
  });

  it('aligns what it prints for people', async () => {
    const io = fakeIo({ workingDirectory: place });
    await main(['doctor'], io);
    const [label, ...lines] = io.stdout.text.trimEnd().split('\n');
    expect(label).toMatch(/^etl@127\.0\.0\.1:\d+\/etl \(embedded\)$/);
    expect(lines[0]).toMatch(/^ok {2}server {28}PostgreSQL 18/);
    expect(lines.at(-1)).toBe('0 problems, 0 pieces of advice');
  });
});
