// What can happen to a Redis: emptied, killed, paused, locked, behind TLS, Sentinels, a Cluster.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/core/logger.ts';
import type { RunResult } from '../../src/core/model.ts';
import type { RunEvent } from '../../src/core/run-event.ts';
import { loadPipelineFile } from '../../src/pipeline/load-file.ts';
import { readRedisAddress, type RedisOptions } from '../../src/queue/redis-address.ts';
import { redisBackend } from '../../src/queue/redis-backend.ts';
import { serveQueue, type ServeOptions } from '../../src/queue/load-queue.ts';
import { readSegmentJob } from '../../src/pipeline/job-payload.ts';
import { runPipeline } from '../../src/run/run-pipeline.ts';
import { useFiles } from '../helpers/files.ts';
import { writeNoaaFiles } from '../helpers/noaa-files.ts';
import { hasRedis, startRedis, type RedisServer } from '../helpers/redis-server.ts';
import { useDatabase } from '../helpers/server.ts';
import { until } from '../helpers/workers.ts';
import { workOff } from '../helpers/queue-work.ts';

const records = 60_000;

const serving = (redis: RedisOptions, load: ServeOptions['load']): ServeOptions => ({
  queues: { backend: redisBackend(readRedisAddress(redis)), namespace: 'one', logger: silentLogger },
  lease: { runId: 1, epoch: '', generation: 1 },
  workers: 1,
  drain: undefined,
  outside: new Promise<never>(() => undefined),
  load,
  read: readSegmentJob,
});

/** Works three jobs off over that Redis. */
const workThree = async (redis: RedisOptions): Promise<number> => {
  let loaded = 0;
  const options = serving(redis, async () => void (loaded += 1));
  await options.queues.backend.prepare();
  async function* batches() {
    yield [1, 2, 3].map((fileId) => ({
      segments: [{ fileId, start: { byte: 0, line: 1, record: 1 }, byteEnd: 1 }],
    }));
  }
  await workOff(options, batches());
  return loaded;
};

describe.runIf(hasRedis)('a run over Redis', () => {
  const database = useDatabase();
  const { directory } = useFiles();
  let redis: RedisServer;

  beforeAll(async () => {
    writeNoaaFiles(directory, records, 4);
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  const run = async (onEvent: (event: RunEvent) => void): Promise<RunResult> => {
    const { pipeline, directory: own, file } = await loadPipelineFile('pipelines/noaa.ts');
    return runPipeline(pipeline, {
      databaseUrl: database.url,
      redis: { url: redis.url },
      directory: own,
      pipelineFile: file,
      workingDirectory: directory,
      workers: 2,
      chunkBytes: 200_000,
      fullRefresh: true,
      onEvent,
    });
  };
  const checksum = async (): Promise<unknown> => {
    const { rows } = await database.query(
      `select count(*)::int as rows, sum(('x' || left(md5(t::text), 8))::bit(32)::bigint)::text as sum
        from noaa.observation t`,
    );
    return rows[0];
  };
  /** Strikes once, when records are on their way. */
  const runStruck = async (strike: () => Promise<unknown>): Promise<void> => {
    events = [];
    let striking: Promise<unknown> | undefined;
    await run((event) => {
      events.push(event);
      if (event.type === 'progress' && event.records > 0) striking ??= strike();
    });
    if (striking === undefined) throw new Error('the run was never struck');
    await striking;
  };
  let events: RunEvent[] = [];
  let undisturbed: unknown;
  beforeAll(async () => {
    await run(() => undefined);
    undisturbed = await checksum();
  });

  const strikes = [
    { name: 'emptied', strike: () => redis.command('flushall') },
    {
      name: 'killed, and started again empty',
      strike: async () => {
        await redis.signal('SIGKILL');
        await redis.start();
      },
    },
    {
      name: 'killed, and back only after the run has begun to wait for it',
      strike: async () => {
        await redis.signal('SIGKILL');
        await until(() => events.some(({ type }) => type === 'waiting'));
        await redis.start();
      },
    },
  ];

  it.each(strikes)(
    '$name in mid-run: the ledger fills the queue again, and nothing is lost',
    async ({ strike }) => {
      await runStruck(strike);
      expect(events).toContainEqual({ type: 'recovered', crashed: false, chunks: 0, records: 0 });
      expect(await checksum()).toEqual(undisturbed);
      const { rows } = await database.query(
        `select sum(c.copied)::int as copied, max(r.generation) as generation
        from etl.chunk c join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id
        where f.table_name = 'observation' and r.id = (select max(id) from etl.run)`,
      );
      expect(rows[0]?.['copied']).toBe(records);
      expect(rows[0]?.['generation']).toBeGreaterThan(1);
    },
  );

  it('nothing listens there: ETL_QUEUE_CONNECT at once, without a password in it', async () => {
    const { pipeline, directory: own } = await loadPipelineFile('pipelines/noaa.ts');
    const redisUrl = 'redis://me:secret@127.0.0.1:1';
    const refused = runPipeline(pipeline, {
      databaseUrl: database.url,
      redis: { url: redisUrl },
      directory: own,
      chunkBytes: 200_000,
      fullRefresh: true,
    });
    await expect(refused).rejects.toMatchObject({
      code: 'ETL_QUEUE_CONNECT',
      message: expect.not.stringContaining('secret'),
    });
  });

  it('a server that says nothing any more is left in bounded time', async () => {
    const service = await serveQueue(serving({ url: redis.url }, async () => undefined));
    await redis.signal('SIGSTOP');
    await service.close();
    await redis.signal('SIGCONT');
    expect(await redis.command('ping')).toBe('PONG');
  });
});

describe.runIf(hasRedis)('a Redis', () => {
  const servers: RedisServer[] = [];
  const start = async (given: Parameters<typeof startRedis>[0]): Promise<RedisServer> => {
    const server = await startRedis(given);
    servers.push(server);
    return server;
  };
  afterAll(async () => {
    for (const server of servers) await server.stop();
  });

  it('with a password: taken with it, ETL_QUEUE_REFUSED with another', async () => {
    const password = 'p@ss/word';
    const { port } = await start({ args: ['--requirepass', password], client: { password } });
    const urlWith = (text: string) => `redis://:${encodeURIComponent(text)}@127.0.0.1:${port}`;
    expect(await workThree({ url: urlWith(password) })).toBe(3);
    await expect(workThree({ url: urlWith('other') })).rejects.toMatchObject({ code: 'ETL_QUEUE_REFUSED' });
  });

  it('behind TLS: taken with its authority, ETL_QUEUE_CONNECT without', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
    const files = ['-keyout', key, '-out', cert];
    execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, ...files], {
      stdio: 'ignore',
    });
    const ca = readFileSync(cert);
    const tls = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert];
    const args = [...tls, '--tls-auth-clients', 'no'];
    const { port } = await start({ args, directory, portFlag: 'tls-port', client: { tls: { ca } } });
    const url = `rediss://localhost:${port}`;
    expect(await workThree({ url, tls: { ca } })).toBe(3);
    await expect(workThree({ url })).rejects.toMatchObject({ code: 'ETL_QUEUE_CONNECT' });
  });

  it('that Sentinels watch is found by its name', async () => {
    const master = await start({});
    const directory = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
    const config = join(directory, 'sentinel.conf');
    writeFileSync(config, `sentinel monitor jobs 127.0.0.1 ${master.port} 1\n`);
    const sentinel = await start({ args: [config, '--sentinel'], directory });
    expect(await workThree({ url: sentinel.url, sentinel: 'jobs' })).toBe(3);
    expect(await master.command('info', 'commandstats')).toContain('cmdstat_lpush');
  });

  it('that is a Cluster', async () => {
    const args = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];
    const node = await start({ args });
    await node.command('cluster', 'addslotsrange', '0', '16383');
    while (!String(await node.command('cluster', 'info')).includes('cluster_state:ok')) await sleep(50);
    expect(await workThree({ url: node.url, cluster: true })).toBe(3);
  });
});
