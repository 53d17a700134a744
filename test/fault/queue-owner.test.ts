// A database and a copy of it on one Redis: the second is refused, and takes no job of the first.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { createWorker, enqueue, loadPipelineFile, runPipeline } from '../../src/index.ts';
import { ask } from '../helpers/own-server.ts';
import { hasRedis, startRedis, type RedisServer } from '../helpers/redis-server.ts';
import { createDatabase, type CreatedDatabase } from '../helpers/server.ts';
import { until, useWorkers } from '../helpers/workers.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const noaa = 'pipelines/noaa.ts';
const prefix = 'same';
const shared = { code: 'ETL_QUEUE_SHARED' };

describe.runIf(hasRedis)('a database and its copy on one Redis', () => {
  let redis: RedisServer;
  let original: CreatedDatabase;
  const copies: string[] = [];
  beforeAll(async () => {
    redis = await startRedis();
    original = await createDatabase();
    await run(original.url);
  });
  afterAll(async () => {
    for (const name of copies) await ask(inject('serverUrl'), `drop database ${name} with (force)`);
    await original.drop();
    await redis.stop();
  });

  const placeOf = (databaseUrl: string, own = prefix) => ({
    databaseUrl,
    redis: { url: redis.url, prefix: own },
    pipelines: 'pipelines',
    workers: 1,
  });
  const workers = useWorkers(() => placeOf(original.url));
  const run = async (url: string, own = prefix): Promise<string> => {
    const { pipeline, directory, file } = await loadPipelineFile(noaa);
    // Chunks of this size need the queue.
    const chunkBytes = 64 * 1024;
    const options = { ...placeOf(url, own), directory, pipelineFile: file, chunkBytes, fullRefresh: true };
    const { pipelines: _, ...given } = options;
    return (await runPipeline(pipeline, given)).outcome;
  };
  /** As a restored snapshot or a branch: everything in it is the same. */
  const copy = async (): Promise<string> => {
    const name = `copy_${randomUUID().replaceAll('-', '')}`;
    const from = new URL(original.url).pathname.slice(1);
    await ask(inject('serverUrl'), `create database ${name} template ${from}`);
    copies.push(name);
    const url = new URL(original.url);
    url.pathname = name;
    return url.href;
  };
  /** Time passes: a mark is replaced by the next process that uses the queue. */
  const age = (url: string) => ask(url, `update etl.queue_owner set at = at - interval '1 hour'`);
  const put = async (url: string) => {
    const { pipeline, directory } = await loadPipelineFile(noaa);
    const { databaseUrl, redis: where } = placeOf(url);
    return (await enqueue(pipeline, { databaseUrl, redis: where, directory, fullRefresh: true })).job;
  };

  it('the original goes on, and the copy is refused until it has a prefix of its own', async () => {
    const other = await copy();
    await age(original.url);
    expect(await run(original.url)).toBe('published');
    await expect(run(other)).rejects.toMatchObject({
      ...shared,
      message: expect.stringContaining('another database uses the jobs under the prefix same'),
      hint: expect.stringContaining('delete the key {etl-same}:owner'),
    });
    await expect(put(other)).rejects.toMatchObject(shared);
    await expect(createWorker(placeOf(other))).rejects.toMatchObject(shared);
    expect(await run(other, 'own')).toBe('published');
    expect(await run(original.url)).toBe('published');
  });

  it('the copy came first: a worker of the original hands its jobs back', async () => {
    const other = await copy();
    await workers.start();
    await age(other);
    // As a copy that was made just now, which knows the mark that the worker has set.
    const mark = String(await redis.command('get', '{etl-same}:owner'));
    await ask(
      other,
      `insert into etl.queue_owner values ('same', '${mark}', now() - interval '1 hour') on conflict do nothing`,
    );
    const job = await put(other);
    await until(() => workers.lines.some((line) => line.job === job && line.code === shared.code));
    expect(await ask(original.url, `select from etl.run where job = '${job}'`)).toEqual([]);
    await workers.start(placeOf(other), 'the copy');
    const ofJob = `select state from etl.run where job = '${job}'`;
    await until(async () => (await ask(other, ofJob))[0]?.['state'] === 'published');
    // The person who has decided that the copy goes away.
    await redis.command('del', '{etl-same}:owner');
  });

  it('a Redis that comes back empty, or with an older mark, is taken', async () => {
    const marks = [];
    for (let again = 0; again < 3; again += 1) {
      await age(original.url);
      await put(original.url);
      marks.push(String(await redis.command('get', '{etl-same}:owner')));
    }
    expect(new Set(marks).size).toBe(3);
    await redis.command('set', '{etl-same}:owner', marks[0]!);
    await put(original.url);
    await redis.command('flushall');
    await put(original.url);
  });

  it('--redis-prefix and ETL_REDIS_PREFIX name the prefix', async () => {
    const io = (env: object) => fakeIo({ env: { DATABASE_URL: original.url, REDIS_URL: redis.url, ...env } });
    const args = ['enqueue', noaa];
    expect(await main([...args, '--redis-prefix', 'flag'], io({ ETL_REDIS_PREFIX: 'variable' }))).toBe(0);
    expect(await main(args, io({ ETL_REDIS_PREFIX: 'variable' }))).toBe(0);
    expect(await redis.command('exists', '{etl-flag}:owner', '{etl-variable}:owner')).toBe(2);
    const refused = io({});
    expect(await main([...args, '--redis-prefix', 'a{b}'], refused)).toBe(2);
    expect(refused.stderr.text).toContain("ETL_USAGE: the Redis prefix 'a{b}' is not valid");
    const none = io({ REDIS_URL: undefined });
    expect(await main([...args, '--redis-prefix', 'a'], none)).toBe(2);
    expect(none.stderr.text).toContain('--redis-prefix is given, but REDIS_URL is not set');
  });
});
