// What /health, /ready and /metrics of a worker, `etl status` and the page say during each outage, and after it
// (docs/operations/failures.md, "What shows an outage").

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { databaseIdentity } from '../../src/queue/queue-owner.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/as-root.ts';
import { openProxy, type FaultProxy } from '../helpers/fault-proxy.ts';
import { useFiles } from '../helpers/files.ts';
import { ask, startOwnServer, type OwnServer } from '../helpers/own-server.ts';
import { serveSite, type ServedPage } from '../helpers/page-site.ts';
import { freePort, hasRedis, startRedis, type RedisServer } from '../helpers/redis-server.ts';
import { etlArgs } from '../helpers/run-typescript.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

/** An answer must be right within this time; it is awaited longer, because a machine may be busy. */
const answerMs = 5_000;

const files = useFiles();
let server: OwnServer;
let redis: RedisServer;
let disk: SmallDisk;
let proxy: FaultProxy;
let worker: ChildProcess;
let page: ServedPage;
let healthPort = 0;
/** Straight to the server, as a superuser; and through the proxy, as everybody else. */
let adminUrl = '';
let url = '';

const admin = (sql: string) => ask(adminUrl, sql);
const endSessions = `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'loader'`;

const pipeline = (name: string, source: string): string =>
  files.write(
    `pipelines/${name}.ts`,
    `import { column, csv, definePipeline } from 'sluice';
    export default definePipeline({ name: '${name}', schema: 'night', tables: {
      ${name}: { source: csv('${join(files.directory, source)}'), columns: { id: column.integer('id') } } } });`,
  );

const etl = async (...args: readonly string[]): Promise<string> => {
  const env = { DATABASE_URL: url };
  const io = fakeIo({ env, workingDirectory: files.directory });
  const exit = await main(args, io);
  return `exit ${exit}\n${io.stdout.text}${io.stderr.text}`;
};

const get = async (address: string, headers: Record<string, string> = {}): Promise<string> => {
  try {
    const response = await fetch(address, { headers, signal: AbortSignal.timeout(answerMs) });
    return `${response.status}\n${await response.text()}`;
  } catch {
    return 'no answer';
  }
};
const ofWorker = (path: string) => get(`http://127.0.0.1:${healthPort}${path}`);

/** Five places that an operator or an orchestrator looks at. */
const places = {
  '/health': () => ofWorker('/health'),
  '/ready': () => ofWorker('/ready'),
  '/metrics': () => ofWorker('/metrics'),
  status: () => etl('status'),
  page: () => get(`${page.origin}/`, { authorization: `Bearer ${page.token}` }),
} as const;
type Place = keyof typeof places;
type Shown = Readonly<Record<Place, RegExp>>;

const up = (database: number, queue: number): RegExp =>
  new RegExp(`^200\\n[^]*server="database"} ${database}\\n.*server="queue"} ${queue}\\n`);

const well: Shown = {
  '/health': /^200\nlive\n$/,
  '/ready': /^200\nready\n$/,
  '/metrics': up(1, 1),
  status: /^exit 0\nrun [^]*fine +published/,
  page: /^200\n[^]*fine/,
};

const everywhere = Object.keys(places) as Place[];

/** Waits until each place shows what it should, and returns those places. */
const placesWith = (shown: Shown): Promise<Place[]> =>
  Promise.all(
    everywhere.map(async (place) => {
      while (!shown[place].test(await places[place]())) await sleep(100);
      return place;
    }),
  );

const noDatabase = (code: string): Shown => ({
  '/health': new RegExp(`^200\\nlive\\nthe database does not answer as it should: ${code}\\n`),
  '/ready': new RegExp(`^503\\nnot ready\\nthe database does not answer as it should: ${code}\\n`),
  '/metrics': up(0, 1),
  status: new RegExp(`^exit 1\\nerror ${code}`),
  page: new RegExp(`^503\\n[^]*${code}`),
});

const noQueue = (problem: string): Shown => ({
  ...well,
  '/health': new RegExp(`^200\\nlive\\nthe queue does not answer as it should: ${problem}\\n$`),
  '/ready': new RegExp(`^503\\nnot ready\\nthe queue does not answer as it should: ${problem}\\n$`),
  '/metrics': up(1, 0),
});

const failing = (name: string, code: string): Shown => ({
  '/health': new RegExp(`^200\\nlive\\n${name} failed: ${code}\\n$`),
  '/ready': well['/ready'],
  '/metrics': new RegExp(`sluice_pipeline_failing{pipeline="${name}",code="${code}"} 1`),
  status: new RegExp(`^exit 0\\n1 pipeline failed at the newest attempt: ${name} \\(${code}\\)\\n`),
  page: new RegExp(`^200\\n[^]*${name}[^]*${code}`),
});

interface Outage {
  readonly name: string;
  readonly cause: () => Promise<unknown>;
  readonly shown: Shown;
  readonly undo: () => Promise<unknown>;
}

const filler = () => join(disk.directory, 'filler');

const outages: readonly Outage[] = [
  {
    name: 'PostgreSQL is down',
    cause: () => server.stop(),
    shown: noDatabase('ETL_CONNECT'),
    undo: () => server.start(),
  },
  {
    name: 'PostgreSQL does not answer',
    cause: async () => {
      proxy.silenceAll();
      proxy.setMode('silent');
    },
    shown: noDatabase('(no answer|ETL_CONNECT|ETL_SERVER_LOST)'),
    undo: async () => {
      proxy.setMode('open');
      proxy.endSilent();
    },
  },
  {
    name: 'PostgreSQL has no connection left',
    cause: () => admin(`alter role loader connection limit 0; ${endSessions}`),
    shown: noDatabase('ETL_CONNECT'),
    undo: () => admin('alter role loader connection limit -1'),
  },
  {
    name: 'the password is another one',
    cause: () => admin(`alter role loader password 'changed'; ${endSessions}`),
    shown: noDatabase('ETL_CONNECT_AUTH'),
    undo: () => admin(`alter role loader password 'secret'`),
  },
  {
    name: 'Redis is down',
    cause: () => redis.signal('SIGKILL'),
    shown: noQueue('no answer'),
    undo: () => redis.start(),
  },
  {
    name: 'Redis is full',
    cause: () => redis.command('config', 'set', 'maxmemory', '1'),
    shown: noQueue('OOM'),
    undo: () => redis.command('config', 'set', 'maxmemory', '0'),
  },
  {
    name: 'Redis is read-only',
    cause: () => redis.command('replicaof', '127.0.0.1', '1'),
    shown: noQueue('READONLY'),
    undo: () => redis.command('replicaof', 'no', 'one'),
  },
  {
    name: 'a pipeline file is broken',
    cause: async () => {
      files.write('pipelines/half.ts', "throw new Error('half edited');");
      await etl('run', 'half');
    },
    shown: failing('half', 'ETL_PIPELINE_FILE'),
    undo: async () => etl('run', pipeline('half', 'fine.csv')),
  },
  {
    name: 'the folder of the files is gone',
    cause: async () => {
      rmSync(join(files.directory, 'night'), { recursive: true });
      await etl('enqueue', 'night');
    },
    shown: failing('night', 'ETL_SOURCE_NOT_FOUND'),
    undo: async () => {
      files.write('night/a.csv', 'id\n1\n');
      await etl('run', 'night');
    },
  },
  {
    name: 'the disk of the server is full',
    cause: async () => {
      for (const size of [1024 * 1024, 8 * 1024])
        for (let n = 0; ; n += 1)
          try {
            writeFileSync(`${filler()}-${size}-${n}`, Buffer.alloc(size));
          } catch {
            break;
          }
      await etl('run', 'fine', '--full-refresh');
    },
    shown: failing('fine', 'ETL_DISK_FULL'),
    undo: async () => {
      for (const name of readdirSync(disk.directory).filter((each) => each.startsWith('filler')))
        rmSync(join(disk.directory, name));
      await etl('run', 'fine');
    },
  },
  {
    name: 'the worker is frozen',
    cause: async () => worker.kill('SIGSTOP'),
    shown: { ...well, '/health': /^no answer$/, '/ready': /^no answer$/, '/metrics': /^no answer$/ },
    undo: async () => worker.kill('SIGCONT'),
  },
  {
    name: 'the queue is paused',
    cause: async () => {
      await withQueue((queue) => queue.pause());
      await etl('enqueue', 'fine');
    },
    shown: {
      ...well,
      '/metrics': /^200\n[^]*sluice_queue_paused{queue="default"} 1\n/,
    },
    undo: () => withQueue((queue) => queue.resume()),
  },
];

const withQueue = async (use: (queue: Queue) => Promise<unknown>): Promise<void> => {
  const namespace = await withClient(addressFromUrl(url), databaseIdentity);
  const queue = new Queue('etl-run', { connection: { url: redis.url }, prefix: `{etl-${namespace}}` });
  try {
    await use(queue);
  } finally {
    await queue.close();
  }
};

describe.runIf(hasRedis)('what is shown of an outage, and after it', () => {
  beforeAll(async () => {
    server = await startOwnServer();
    redis = await startRedis();
    // The queue's address is that of the process.
    process.env['REDIS_URL'] = redis.url;
    disk = await mountSmallDisk('40m', await stat(server.server.directory));
    const owner = server.server.url;
    await ask(owner, `create role loader login password 'secret'`);
    await ask(owner, `create tablespace small location '${disk.directory}'`);
    await ask(owner, 'create database night owner loader tablespace small template template0');
    adminUrl = owner.replace(/\/etl$/, '/night');
    const through = new URL(adminUrl);
    proxy = await openProxy(Number(through.port));
    Object.assign(through, { username: 'loader', password: 'secret', port: String(proxy.port) });
    url = through.href;
    files.write('fine.csv', 'id\n1\n');
    files.write('night/a.csv', 'id\n1\n');
    pipeline('fine', 'fine.csv');
    pipeline('night', 'night/*.csv');
    for (const name of ['night', 'fine']) await etl('run', name);
    page = await serveSite(url, { redis: { url: redis.url } });
    healthPort = await freePort();
    worker = spawn(process.execPath, etlArgs(['worker', '--health-port', String(healthPort)]), {
      cwd: files.directory,
      env: { ...process.env, DATABASE_URL: url, REDIS_URL: redis.url },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  });
  afterAll(async () => {
    delete process.env['REDIS_URL'];
    const gone = worker === undefined ? undefined : once(worker, 'exit');
    worker?.kill('SIGKILL');
    await gone;
    await page?.close();
    await proxy?.close();
    await redis?.stop();
    await server?.remove();
    await disk?.unmount();
  });

  it.each(outages)('$name', async ({ cause, shown, undo }) => {
    expect(await placesWith(well)).toEqual(everywhere);
    try {
      await cause();
      expect(await placesWith(shown)).toEqual(everywhere);
    } finally {
      await undo();
    }
    expect(await placesWith(well)).toEqual(everywhere);
  });
});
