// Proves the embedded server with real ones: started, reused, stopped, killed, and out of reach of
// strangers.

import { once } from 'node:events';
import {
  access,
  chmod,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { main } from '../../src/cli/main.ts';
import { identityOf } from '../../src/db/embedded/process.ts';
import {
  type EmbeddedServer,
  findEmbedded,
  startEmbedded,
  stopDeleted,
  stopEmbedded,
} from '../../src/db/embedded/server.ts';
import { column, csv, definePipeline, enqueue, planPipeline, runPipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const isRoot = process.geteuid?.() === 0;
const isLinux = process.platform === 'linux';

let base: string;
let etl: string;
const makeDirectory = async (): Promise<void> => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'sluice-embedded-')));
  await chmod(base, 0o755);
  etl = join(base, '.etl');
};
const removeDirectory = async (): Promise<void> => {
  const running = await findEmbedded(etl);
  await stopEmbedded(etl);
  // If we are root and the server's user cannot enter the directory, the data is elsewhere.
  if (running && !running.directory.startsWith(base))
    await rm(dirname(running.directory), { recursive: true });
  await rm(base, { recursive: true, force: true });
};
/** Each case has an empty directory. */
const useDirectories = (): void => {
  beforeEach(makeDirectory);
  afterEach(removeDirectory);
};
/** The tests share one directory and cluster: creating one takes a second. */
const useOneDirectory = (): void => {
  beforeAll(makeDirectory);
  afterAll(removeDirectory);
};

const withClient = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

const queryOne = async (url: string, sql: string): Promise<unknown[]> =>
  withClient(
    url,
    async (client) => (await client.query({ text: sql, rowMode: 'array' })).rows[0] as unknown[],
  );

const kill = async ({ pid }: EmbeddedServer): Promise<void> => {
  process.kill(pid, 'SIGKILL');
  while (await findEmbedded(etl)) await sleep(5);
};

describe('a first start gives a server that', () => {
  useOneDirectory();
  let server: EmbeddedServer;
  beforeAll(async () => {
    server = await startEmbedded(etl, { settings: { max_connections: '50' } });
  });

  it('accepts queries, and is set up for bulk loading', async () => {
    expect(server.startedNow).toBe(true);
    const shown = ['wal_level', 'fsync', 'jit', 'max_connections', 'server_encoding', 'listen_addresses'];
    const settings = shown.map((name) => `current_setting('${name}')`).join(', ');
    expect(await queryOne(server.url, `select current_user, current_database(), ${settings}`)).toEqual([
      'etl',
      'etl',
      'minimal',
      'on',
      'off',
      '50',
      'UTF8',
      '127.0.0.1',
    ]);
  });

  it('keeps the password from others, and the directory out of repositories', async () => {
    expect((await stat(join(etl, 'server.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(server.directory)).mode & 0o777).toBe(0o700);
    expect(await readFile(join(etl, '.gitignore'), 'utf8')).toBe('*\n');
    expect(await readFile(server.logFile, 'utf8')).toContain('ready to accept connections');
  });

  it('refuses a wrong password', async () => {
    const url = new URL(server.url);
    url.password = 'guess';
    await expect(queryOne(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it.runIf(isLinux)(
    'listens on the loopback address only, in a session of its own, not as root',
    async () => {
      const { pid, url } = server;
      const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
      const sockets = (await readFile('/proc/net/tcp', 'utf8')) + (await readFile('/proc/net/tcp6', 'utf8'));
      // Fields: number, own address, the peer's, state (0A: listening); addresses are little-endian
      // hexadecimal.
      const listening = sockets
        .split('\n')
        .map((line) => line.trim().split(/\s+/))
        .filter(([, own, , state]) => own?.endsWith(`:${port}`) && state === '0A');
      expect(listening.map(([, own]) => own)).toEqual([`0100007F:${port}`]);
      const state = await readFile(`/proc/${pid}/stat`, 'utf8');
      expect(Number(state.slice(state.lastIndexOf(')') + 2).split(' ')[3])).toBe(pid);
      const uids = /^Uid:\s+(.*)$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]?.split('\t');
      expect(uids).toHaveLength(4);
      expect(uids).not.toContain('0');
    },
  );
});

describe('a server that somebody may not have meant', () => {
  useOneDirectory();
  const pipeline = `import { column, csv, definePipeline } from 'sluice';
export default definePipeline({
  name: 'small',
  schema: 'small',
  tables: { t: { source: csv('small.csv'), columns: { id: column.integer('id') } } },
});
`;
  const etlWith = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const io = fakeIo({ workingDirectory: base, env });
    const exit = await main(args, io);
    return { exit, out: io.stdout.text, err: io.stderr.text };
  };
  beforeAll(async () => {
    await mkdir(join(base, 'pipelines'));
    await writeFile(join(base, 'pipelines', 'small.ts'), pipeline);
    await writeFile(join(base, 'small.csv'), 'id\n1\n');
  });

  const commands = [
    ['run', 'small'],
    ['plan', 'small'],
    ['enqueue', 'small'],
    ['worker'],
    ['ui'],
    ['status'],
    ['runs'],
    ['rejects', 'list'],
    ['rollback', 'small'],
    ['verify', 'small'],
    ['files', 'small'],
    ['schedule', 'list'],
    ['queue'],
    ['doctor'],
    ['prune'],
    ['db', 'url'],
  ];
  const expectRefused = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> => {
    const { exit, err } = await etlWith(args, env);
    expect({ exit, err }).toEqual({ exit: 2, err: expect.stringMatching(/^error ETL_EMBEDDED_REFUSED: /m) });
  };

  it.each(commands)('etl %s is refused in production, and makes nothing', async (...args) => {
    await expectRefused(args, { NODE_ENV: 'production' });
    await expectRefused(args, { ETL_EMBEDDED: 'never' });
    await expect(access(etl)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('the library refuses it, too', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    vi.stubEnv('DATABASE_URL', undefined);
    const small = definePipeline({
      name: 'small',
      schema: 'small',
      tables: { t: { source: csv('small.csv'), columns: { id: column.integer('id') } } },
    });
    const refused = [() => runPipeline(small), () => enqueue(small)];
    for (const work of refused)
      expect(await failureOf(work())).toMatchObject({ code: 'ETL_EMBEDDED_REFUSED', exit: 2 });
    expect(await planPipeline(small)).toMatchObject({ refusal: { code: 'ETL_EMBEDDED_REFUSED' } });
    vi.unstubAllEnvs();
  });

  it('every summary says that it is embedded, and it is refused where it is already there', async () => {
    const { exit, out } = await etlWith(['run', 'small', '--json']);
    expect(exit).toBe(0);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string; server?: string; result?: object });
    expect(events.find(({ type }) => type === 'started')).toMatchObject({
      server: expect.stringMatching(/ \(embedded\)$/),
    });
    expect(events.at(-1)).toMatchObject({
      type: 'finished',
      result: { outcome: 'published', embedded: true },
    });
    expect((await etlWith(['run', 'small'])).out).toMatch(
      /Nothing to do[^]*The embedded PostgreSQL keeps running/,
    );
    expect((await etlWith(['doctor'])).out).toMatch(/^etl@127\.0\.0\.1:\d+\/etl \(embedded\)$/m);
    for (const args of commands) await expectRefused(args, { NODE_ENV: 'production' });
    expect(await etlWith(['db', 'status'], { NODE_ENV: 'production' })).toMatchObject({ exit: 0, err: '' });
  });

  it('what its user makes through `etl db url` is in public, not in the bookkeeping; also in a directory from before', async () => {
    const file = join((await startEmbedded(etl)).directory, 'sluice.conf');
    await stopEmbedded(etl);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace(/^search_path.*\n/m, ''));
    const url = (await etlWith(['db', 'url'])).out.trim();
    const where = `select (select nspname from pg_extension join pg_namespace n on n.oid = extnamespace where extname = 'citext'),
      to_regclass('public.made') is not null, to_regclass('etl.run') is not null`;
    await withClient(url, (client) =>
      client.query('create extension citext; create table made (word citext)'),
    );
    expect(await queryOne(url, where)).toEqual(['public', true, true]);
  });
});

describe('a first start', () => {
  useDirectories();

  it('works under a umask that closes everything to others', async () => {
    const umask = process.umask(0o077);
    try {
      const { url } = await startEmbedded(etl);
      expect(await queryOne(url, `select current_setting('wal_level'), current_setting('port')`)).toEqual([
        'minimal',
        new URL(url).port,
      ]);
    } finally {
      process.umask(umask);
    }
  });

  it('where a file is in its place names no log that was never written', async () => {
    await writeFile(etl, '');
    await expect(startEmbedded(etl)).rejects.toMatchObject({
      code: 'ETL_EMBEDDED_START',
      hint: expect.stringMatching(/^The directory must be writable/),
    });
    await rm(etl);
  });

  it('that PostgreSQL refuses reports the reason', async () => {
    await expect(startEmbedded(etl, { settings: { shared_buffers: 'plenty' } })).rejects.toMatchObject({
      code: 'ETL_EMBEDDED_START',
      message: expect.stringContaining('invalid value for parameter "shared_buffers": "plenty"'),
      details: { log: join(etl, 'postgres.log') },
      hint: expect.stringMatching(/^Its log is .*postgres\.log\. /),
    });
    expect((await startEmbedded(etl)).startedNow).toBe(true);
  });
});

describe('a server that exists', () => {
  useOneDirectory();
  /** Creates the table `kept` with this number in it. */
  const keep = (url: string, number: number): Promise<unknown> =>
    withClient(url, (client) =>
      client.query(`drop table if exists kept; create table kept as select ${number} as n`),
    );

  it('is used again while it runs', async () => {
    const first = await startEmbedded(etl);
    expect(await startEmbedded(etl)).toEqual({ ...first, startedNow: false });
    expect(await findEmbedded(etl)).toEqual({ ...first, startedNow: false });
  });

  it('keeps data and address over a stop and a start', async () => {
    const first = await startEmbedded(etl);
    await keep(first.url, 42);
    expect(await stopEmbedded(etl)).toBe(true);
    expect(await findEmbedded(etl)).toBeUndefined();
    expect(await stopEmbedded(etl)).toBe(false);
    const second = await startEmbedded(etl);
    expect(second.url).toBe(first.url);
    expect(second.startedNow).toBe(true);
    expect(await queryOne(second.url, 'select n from kept')).toEqual([42]);
  });

  it('starts after SIGKILL, with the data', async () => {
    const first = await startEmbedded(etl);
    await keep(first.url, 43);
    await kill(first);
    await access(join(first.directory, 'postmaster.pid'));
    const second = await startEmbedded(etl);
    expect(second.pid).not.toBe(first.pid);
    expect(await queryOne(second.url, 'select n from kept')).toEqual([43]);
  });

  it.runIf(isLinux)('starts after SIGKILL while an orphaned session still computes', async () => {
    const first = await startEmbedded(etl);
    await withClient(first.url, async (client) => {
      const [computed] = await Promise.all([
        client
          .query('select count(*) from generate_series(1, 100000000000)')
          .catch((error: unknown) => error),
        // Kills the server while the query runs.
        withClient(first.url, async (watcher) => {
          const running = `select 1 from pg_stat_activity
            where query like '%generate_series(1,%' and pid <> pg_backend_pid()`;
          while ((await watcher.query(running)).rowCount === 0) await sleep(5);
        })
          .then(() => kill(first))
          .then(() => startEmbedded(etl)),
      ]);
      expect(computed).toBeInstanceOf(Error);
    });
    expect((await findEmbedded(etl))?.pid).not.toBe(first.pid);
  });

  it.runIf(isLinux)('starts when its stale postmaster.pid names an unrelated process', async () => {
    const first = await startEmbedded(etl);
    await kill(first);
    const file = join(first.directory, 'postmaster.pid');
    await writeFile(file, (await readFile(file, 'utf8')).replace(String(first.pid), String(process.pid)));
    expect((await startEmbedded(etl)).startedNow).toBe(true);
  });

  it('whose password is gone is refused and left alone, and starts when that is back', async () => {
    await startEmbedded(etl);
    await stopEmbedded(etl);
    const [pointer, aside] = [join(etl, 'server.json'), join(etl, 'aside.json')];
    await rename(pointer, aside);
    expect((await failureOf(startEmbedded(etl))).message).toContain(
      'server.json, which holds the password of',
    );
    await expect(access(pointer)).rejects.toMatchObject({ code: 'ENOENT' });
    await rename(aside, pointer);
    expect(await queryOne((await startEmbedded(etl)).url, 'select 1')).toEqual([1]);
  });

  it('takes another port for good when its own is taken', async () => {
    const first = await startEmbedded(etl);
    await stopEmbedded(etl);
    const squatter = createServer().listen(Number(new URL(first.url).port), '127.0.0.1');
    await once(squatter, 'listening');
    const second = await startEmbedded(etl);
    expect(second.url).not.toBe(first.url);
    expect(await queryOne(second.url, 'select 1')).toEqual([1]);
    squatter.close();
    await stopEmbedded(etl);
    expect((await startEmbedded(etl)).url).toBe(second.url);
  });

  // Last: the next test would have to create the cluster again.
  it.runIf(isLinux)('is ended by `etl db stop` after its directory was deleted, and says so', async () => {
    const { pid, url } = await startEmbedded(etl);
    // A server that is still starting, or still writes its log, would fail by itself.
    const settled = `select count(*) = 3 and pg_current_wal_flush_lsn() = pg_current_wal_insert_lsn() from pg_stat_activity
      where backend_type in ('checkpointer', 'walwriter', 'autovacuum launcher')`;
    while ((await queryOne(url, settled))[0] !== true) await sleep(20);
    await rm(etl, { recursive: true, maxRetries: 10 });
    const io = fakeIo({ workingDirectory: base });
    expect([await main(['db', 'stop'], io), io.stdout.text]).toEqual([
      0,
      'stopped; its data directory had been deleted\n',
    ]);
    expect(identityOf(pid)).toBeUndefined();
    expect(await stopDeleted(etl)).toBe(false);
  });
});

describe('a directory that the server’s user cannot enter', () => {
  useDirectories();

  it.runIf(isRoot)('keeps its mode; the data is put where the user can, and found again', async () => {
    await chmod(base, 0o700);
    const first = await startEmbedded(etl);
    expect(first.directory.startsWith(base)).toBe(false);
    expect(await readFile(join(dirname(first.directory), 'origin'), 'utf8')).toBe(`${etl}\n`);
    await queryOne(first.url, 'create table kept as select 42 as n');
    await stopEmbedded(etl);
    const second = await startEmbedded(etl);
    expect(second.url).toBe(first.url);
    expect(await queryOne(second.url, 'select n from kept')).toEqual([42]);
    expect((await stat(base)).mode & 0o777).toBe(0o700);
  });
});
