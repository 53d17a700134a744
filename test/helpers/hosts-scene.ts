// A server, a store of files and workers, each on a host of its own, and a pipeline that they load together.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { ask, createDatabase } from './fault-database.ts';
import { openNetwork, type Host, type Network } from './hosts.ts';
import { askUntil, withPg } from './own-server.ts';
import { typeScriptArgs } from './run-typescript.ts';
import { startS3, type S3Server } from './s3.ts';

/** Files of each of the two tables. */
const filesEach = 12;

const columns = `{
    id: column.integer('id'),
    amount: column.numeric('amount', { precision: 12, scale: 2 }),
    label: column.text('label'),
  }`;

const pipelineText = (endpoint: string): string => `
import { column, csv, definePipeline } from 'sluice';

const columns = ${columns};
const files = Array.from({ length: ${filesEach} }, (_, n) => \`${endpoint}/public/sale-\${n}.csv\`);
export default definePipeline({
  name: 'hosts',
  schema: 'hosts',
  tables: {
    event: { source: csv('s3://public/event-*.csv'), columns, primaryKey: ['id'] },
    sale: { source: csv(files, { allowPrivate: true }), columns, primaryKey: ['id'] },
  },
});
`;

export interface Sums {
  readonly name: string;
  readonly rows: number;
  readonly sum: string;
}

/** Puts a new version of all files into the store; returns what production must hold of them. */
const putFiles = (store: S3Server, version: number, records: number): readonly Sums[] =>
  ['event', 'sale'].map((name) => {
    let cents = 0;
    for (let file = 0; file < filesEach; file += 1) {
      const lines = ['id,amount,label'];
      for (let n = 0; n < records; n += 1) {
        const own = ((file * records + n) * 7 + version) % 100_000;
        cents += own;
        lines.push(`${file * records + n},${(own / 100).toFixed(2)},"${name} ${n}\nof ${version}"`);
      }
      store.put('public', `${name}-${file}.csv`, `${lines.join('\n')}\n`);
    }
    return { name, rows: filesEach * records, sum: (cents / 100).toFixed(2) };
  });

const sumsSql = ['event', 'sale']
  .map(
    (name) => `select '${name}' as name, count(*)::int as rows, sum(amount)::text as sum from hosts.${name}`,
  )
  .join(' union all ');

interface Line {
  readonly msg: string;
  readonly code?: string;
  readonly error?: string;
  readonly hint?: string;
}

export interface HostWorker {
  readonly host: Host;
  /** What it has logged. */
  readonly lines: readonly Line[];
  /** Waits until it has logged this message. */
  readonly untilSaid: (message: string) => Promise<Line>;
  readonly isAlive: () => boolean;
}

export interface HostsRun {
  readonly id: number;
  readonly state: string;
  readonly host: string;
  readonly generation: number;
}

/** Starts the server; returns its URL as another host sees it, and through its socket, which no fault reaches. */
const startDatabase = async (host: Host, sockets: string) => {
  const program = typeScriptArgs(join(import.meta.dirname, 'hosts-server.ts'), [sockets]);
  const child = host.start([process.execPath, ...program]);
  const [line] = (await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')])) as [unknown];
  const server = new URL(String(line).trim());
  const at = (name: string, database: string): string =>
    `postgres://${server.username}:${server.password}@${name}:${server.port}/${database}`;
  const inside = (database: string): string => at(encodeURIComponent(sockets), database);
  const database = await createDatabase(inside('postgres'));
  return { url: inside(database), urlOutside: at(host.address, database) };
};

const startWorker = (host: Host, env: NodeJS.ProcessEnv): HostWorker => {
  const args = ['worker', '--pipelines', 'pipelines', '--workers', '2', '--chunk-bytes', '60000'];
  const child = host.start([process.execPath, inject('soakProgram'), ...args], env);
  const lines: Line[] = [];
  createInterface(child.stdout!).on('line', (line) => {
    // A killed process may leave half a line.
    if (line.startsWith('{') && line.endsWith('}')) lines.push(JSON.parse(line) as Line);
  });
  return {
    host,
    lines,
    untilSaid: async (message) => {
      for (;;) {
        const said = lines.find(({ msg }) => msg === message);
        if (said !== undefined) return said;
        await sleep(50);
      }
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
  };
};

export interface EndedEtl {
  readonly code: number | null;
  readonly said: string;
}

export interface HostsScene {
  readonly network: Network;
  readonly store: S3Server;
  readonly storeHost: Host;
  readonly databaseHost: Host;
  /** undefined: the queue is in the database. */
  readonly queueHost: Host | undefined;
  /** Of the database, for this test. */
  readonly url: string;
  /** Makes a host with these files beside the pipeline, and starts a worker on it. */
  readonly boot: (name: string, files?: Readonly<Record<string, string>>) => Promise<HostWorker>;
  /** Makes a host with the pipeline behind a cable. */
  readonly addFar: Network['addFar'];
  /** Starts another worker on a host. */
  readonly start: (host: Host) => HostWorker;
  /** Runs `etl` to its end. */
  readonly etl: (host: Host, ...args: readonly string[]) => Promise<EndedEtl>;
  readonly enqueue: (host: Host, pipeline: string) => Promise<void>;
  /** Replaces all files of the pipeline by others of so many records. */
  readonly change: (version: number, records?: number) => readonly Sums[];
  /** What production holds. */
  readonly sums: () => Promise<readonly Sums[]>;
  /** Waits until the newest run is as wanted. */
  readonly untilRun: (isIt: (run: HostsRun) => boolean) => Promise<HostsRun>;
  /**
   * Lets the COPYs into so many tables wait during a function that may wait until so many hosts are at one; afterwards each COPY takes
   * `slowMs` longer.
   */
  readonly withCopiesHeld: <T>(
    tables: number,
    use: (untilHosts: (hosts: number) => Promise<unknown>) => Promise<T>,
    slowMs?: number,
  ) => Promise<T>;
  readonly close: () => Promise<void>;
}

const waitingHosts = `select count(distinct a.client_addr)::int as n from pg_locks l join pg_stat_activity a using (pid)
  where not l.granted and l.relation in (select oid from pg_class where relnamespace = 'etl_staging'::regnamespace)`;

const slowly = (tables: readonly string[], ms: number): string =>
  [
    `create or replace function slow() returns trigger language plpgsql as
      $$ begin perform pg_sleep(${ms / 1_000}); return null; end $$`,
    ...tables.map((table) => `create trigger slow before insert on ${table} execute function slow()`),
  ].join(';');

const holdCopies =
  (url: string): HostsScene['withCopiesHeld'] =>
  async (tables, use, slowMs = 0) => {
    const { names } = await askUntil<{ names: readonly string[] }>(
      url,
      `select array_agg(oid::regclass::text) as names from pg_class
        where relnamespace = to_regnamespace('etl_staging') and relkind = 'r'`,
      (staging) => staging.names?.length === tables,
    );
    return withPg(url, async (holder) => {
      await holder.query(`begin; lock table ${names.join(', ')} in share mode`);
      const used = await use((hosts) => askUntil<{ n: number }>(url, waitingHosts, ({ n }) => n >= hosts));
      await holder.query(`${slowMs > 0 ? slowly(names, slowMs) : ''}; commit`);
      return used;
    });
  };

const written = new Date('2026-01-01T00:00:00Z');

const writeFiles = (host: Host, files: Readonly<Record<string, string>>): void => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(host.files, path)), { recursive: true });
    writeFileSync(join(host.files, path), content);
    // As copies have that keep the times.
    utimesSync(join(host.files, path), written, written);
  }
};

const redisPort = 6379;

const startRedis = async (host: Host): Promise<string> => {
  const settings = {
    bind: host.address,
    port: String(redisPort),
    'protected-mode': 'no',
    save: '',
    appendonly: 'no',
  };
  host.start(['redis-server', ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])]);
  await host.run(`until redis-cli -h ${host.address} ping | grep -q PONG; do sleep 0.1; done`);
  return `redis://${host.address}:${redisPort}`;
};

export const openHostsScene = async (queue: 'database' | 'Redis' = 'database'): Promise<HostsScene> => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-hosts-'));
  // The server, which is another user, makes its socket here.
  chmodSync(directory, 0o777);
  const network = await openNetwork();
  const databaseHost = await network.add('database');
  const { url, urlOutside } = await startDatabase(databaseHost, directory);
  const storeHost = await network.add('store');
  const store = await startS3(storeHost);
  const queueHost = queue === 'Redis' ? await network.add('queue') : undefined;
  const redisUrl = queueHost === undefined ? '' : await startRedis(queueHost);
  const pipelines = { 'pipelines/hosts.ts': pipelineText(store.endpoint) };
  writeFiles(databaseHost, pipelines);
  const env = { DATABASE_URL: urlOutside, REDIS_URL: redisUrl, ETL_WAIT: '5m', ...store.env };
  const etl: HostsScene['etl'] = async (host, ...args) => {
    const command = `exec ${process.execPath} ${inject('soakProgram')} "$@" 2>&1`;
    const child = host.start(['sh', '-c', command, 'sh', ...args], env);
    const said = text(child.stdout!);
    const [code] = (await once(child, 'exit')) as [number | null];
    return { code, said: await said };
  };
  return {
    network,
    store,
    storeHost,
    databaseHost,
    queueHost,
    url,
    boot: async (name, files = {}) => {
      const host = await network.add(name);
      writeFiles(host, { ...pipelines, ...files });
      return startWorker(host, env);
    },
    addFar: async (name) => {
      const far = await network.addFar(name);
      writeFiles(far[0], pipelines);
      return far;
    },
    start: (host) => startWorker(host, env),
    etl,
    enqueue: async (host, pipeline) => {
      const { code, said } = await etl(host, 'enqueue', `pipelines/${pipeline}.ts`);
      if (code !== 0) throw new Error(`etl enqueue ended with ${code}: ${said}`);
    },
    change: (version, records = 3_000) => putFiles(store, version, records),
    sums: () => ask<Sums & Record<string, unknown>>(url, sumsSql),
    untilRun: (isIt) =>
      askUntil<HostsRun & Record<string, unknown>>(
        url,
        'select id::int, state, host, generation from etl.run order by id desc limit 1',
        isIt,
      ),
    withCopiesHeld: holdCopies(url),
    close: async () => {
      await store.stop();
      await network.close();
      rmSync(directory, { recursive: true });
    },
  };
};
