// A database that goes back in time: a physical backup that is restored while Redis is newer, and a promoted standby that
// had not got the last of its primary's log.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  enqueue,
  loadPipelineFile,
  runPipeline,
  type RunEvent,
  type RunOptions,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { ask, startOwnServer, type OwnServer } from '../helpers/own-server.ts';
import { hasRedis, startRedis, type RedisServer } from '../helpers/redis-server.ts';
import { primarySettings, startRestored, startStandby } from '../helpers/standby.ts';
import { until, useWorkers } from '../helpers/workers.ts';

const { write, directory } = useFiles();
let primary: OwnServer;
beforeAll(async () => {
  primary = await startOwnServer(primarySettings);
});
afterAll(() => primary?.remove());

const count = async (server: OwnServer, table: string): Promise<number> =>
  (await ask<{ n: number }>(server.server.url, `select count(*)::int as n from ${table}`))[0]!.n;

/** Whether runs end when everything is loaded. */
let stops = false;
const days = definePipeline({
  name: 'days',
  schema: 'days',
  tables: {
    seen: { source: csv('days/*.csv'), columns: { id: column.integer('id') }, publish: 'append' },
    all: { source: csv('all.csv'), columns: { id: column.integer('id') } },
  },
  hooks: {
    after: () => {
      if (stops) throw new Error('stopped');
    },
  },
});
const run = (server: OwnServer, more: RunOptions = {}) =>
  runPipeline(days, {
    databaseUrl: server.server.url,
    redis: false,
    workingDirectory: directory,
    workers: 2,
    chunkBytes: 10_000,
    ...more,
  });
const ids = (from: number, to: number): string =>
  `id\n${Array.from({ length: to - from }, (_, place) => from + place).join('\n')}\n`;

describe('a physical backup of an interrupted load', () => {
  let restored: OwnServer;
  let interrupted: number;
  let loaded: number;
  beforeAll(async () => {
    write('days/1.csv', ids(0, 10));
    write('all.csv', ids(0, 10));
    await run(primary);
    write('days/2.csv', ids(10, 20));
    write('all.csv', ids(0, 20_000));
    stops = true;
    interrupted = (await failureOf(run(primary))).run!;
    stops = false;
    const ofRun = `etl.chunk c join etl.source_file f on f.id = c.file_id where f.run_id = ${interrupted}`;
    loaded = await count(primary, ofRun);
    restored = await startRestored(primary);
    // Time goes on where it came from.
    await run(primary);
  });
  afterAll(() => restored?.remove());

  it('has production and bookkeeping of that time, and empty staging', async () => {
    expect(loaded).toBeGreaterThan(2);
    expect(await count(primary, 'days.seen')).toBe(20);
    expect(await count(restored, 'days.seen')).toBe(10);
    expect(await count(restored, 'etl.chunk')).toBe(2 + loaded);
    expect(await count(restored, 'etl_staging.days__all')).toBe(0);
    expect(await count(restored, 'etl.canary')).toBe(0);
  });

  it('the next run continues: it loads again exactly what was in staging; others load what has come since', async () => {
    const recovered: RunEvent[] = [];
    const onEvent = (event: RunEvent): void => {
      if (event.type === 'recovered') recovered.push(event);
    };
    expect(await run(restored, { onEvent })).toMatchObject({ outcome: 'published', runId: interrupted });
    expect(recovered).toMatchObject([{ crashed: true, chunks: loaded }]);
    write('days/3.csv', ids(20, 30));
    for (const server of [restored, primary]) {
      expect(await run(server)).toMatchObject({ outcome: 'published' });
      expect(await count(server, 'days.seen')).toBe(30);
      expect(await count(server, '(select distinct id from days.seen) as seen')).toBe(30);
      expect(await count(server, 'days.all')).toBe(20_000);
    }
  });
});

describe.runIf(hasRedis)('a Redis that is newer than the restored database', () => {
  let redis: RedisServer;
  let restored: OwnServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await restored?.remove();
    await redis?.stop();
  });
  const place = (server: OwnServer) => ({ databaseUrl: server.server.url, redis: { url: redis.url } });
  const workers = useWorkers(() => ({ ...place(restored), pipelines: 'pipelines', workers: 2 }));
  const runNoaa = async (server: OwnServer) => {
    const { pipeline, directory: own, file } = await loadPipelineFile('pipelines/noaa.ts');
    const given = {
      directory: own,
      pipelineFile: file,
      chunkBytes: 64 * 1024,
      workers: 2,
      fullRefresh: true,
    };
    return (await runPipeline(pipeline, { ...place(server), ...given })).outcome;
  };

  it('its queue is refused until somebody says that this database replaces the other one; then its jobs are done', async () => {
    await runNoaa(primary);
    restored = await startRestored(primary);
    // A mark is replaced when it is not fresh.
    await ask(primary.server.url, `update etl.queue_owner set at = at - interval '1 hour'`);
    await runNoaa(primary);
    const { pipeline, directory: own } = await loadPipelineFile('pipelines/noaa.ts');
    const { job } = await enqueue(pipeline, { ...place(primary), directory: own, fullRefresh: true });
    await primary.stop();
    const error = await failureOf(runNoaa(restored));
    expect(error).toMatchObject({
      code: 'ETL_QUEUE_SHARED',
      hint: expect.stringContaining('delete the key'),
    });
    await redis.command('del', (error.details as { key: string }).key);
    await workers.start();
    await until(() => workers.lines.some((line) => line.message === 'run ended' && line.job === job));
    expect(await ask(restored.server.url, `select state from etl.run where job = '${job}'`)).toEqual([
      { state: 'published' },
    ]);
    expect(await count(restored, 'noaa.observation')).toBe(5_276);
    await primary.start();
  });
});

it('a standby is promoted that had not got the run: it begins again there', async () => {
  const standby = await startStandby(primary);
  try {
    const before = await count(standby, 'etl.run');
    await standby.stop();
    write('all.csv', ids(0, 30_000));
    const { username, password, port, pathname } = new URL(primary.server.url);
    const hosts = `127.0.0.1:${port},127.0.0.1:${new URL(standby.server.url).port}`;
    const databaseUrl = `postgres://${username}:${password}@${hosts}${pathname}?target_session_attrs=primary`;
    const failOver = async (): Promise<void> => {
      await primary.end('SIGKILL');
      await standby.start();
      await ask(standby.server.url, 'select pg_promote(true, 60)');
    };
    let failover: Promise<void> | undefined;
    const onEvent = ({ type }: RunEvent): void => {
      if (type === 'progress') failover ??= failOver();
    };
    expect(await run(primary, { databaseUrl, onEvent })).toMatchObject({ outcome: 'published' });
    await failover;
    expect(await count(standby, 'days.all')).toBe(30_000);
    expect(await count(standby, 'days.seen')).toBe(30);
    expect(await count(standby, 'etl.run')).toBe(before + 1);
  } finally {
    await standby.remove();
  }
});
