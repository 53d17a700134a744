// What a run or a worker waits for, for how long, and what ends at once.

import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import {
  column,
  createWorker,
  csv,
  definePipeline,
  runPipeline,
  type RunEvent,
  type RunOptions,
} from '../../src/index.ts';
import { openEndingProxy, type EndingProxy } from '../helpers/ending-proxy.ts';
import { useFiles } from '../helpers/files.ts';
import { startOwnServer } from '../helpers/own-server.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const files = useFiles();
files.write('a.csv', 'n\n1\n2\n');
files.write('b.csv', 'n\n3\n');

const pipeline = definePipeline({
  name: 'waits',
  schema: 'waits',
  tables: { t: { source: csv('[ab].csv'), columns: { n: column.integer('n') } } },
});

/** A full refresh, so that there is something to load; what it waited for. */
const run = async (given: RunOptions, onWaiting: () => unknown = () => undefined) => {
  const problems: string[] = [];
  const onEvent = (event: RunEvent): void => {
    if (event.type !== 'waiting') return;
    problems.push(event.problem);
    void onWaiting();
  };
  // Less than the files have together: the run needs its queue, and each worker its connection.
  const chunkBytes = 4;
  const options = {
    workers: 2,
    chunkBytes,
    fullRefresh: true,
    workingDirectory: files.directory,
    redis: false,
  } as const;
  const { outcome } = await runPipeline(pipeline, { ...options, onEvent, ...given });
  return { outcome, problems };
};

describe('a role with fewer connections than a run opens', () => {
  const role = `narrow_${process.pid}`;
  afterAll(async () => {
    await database.query(`drop owned by ${role}`);
    await database.query(`drop role ${role}`);
  });

  it('ends within --wait, naming the limit and how many are needed', async () => {
    // The role makes the bookkeeping itself.
    await database.query('drop schema if exists etl, etl_staging, etl_queue, waits cascade');
    const name = new URL(database.url).pathname.slice(1);
    await database.query(`create role ${role} login password 'narrow' connection limit 2`);
    await database.query(`grant create on database ${name} to ${role}`);
    const url = new URL(database.url);
    [url.username, url.password] = [role, 'narrow'];
    await expect(run({ databaseUrl: url.href, waitMs: 2_000 })).rejects.toMatchObject({
      code: 'ETL_CONNECTIONS',
      message: expect.stringContaining(`too many connections for role "${role}"`),
      hint: expect.stringContaining('--workers 2 opens up to 5'),
    });
  });
});

describe('a session that the server ends as soon as it is open', () => {
  let proxy: EndingProxy;
  beforeAll(async () => {
    proxy = await openEndingProxy(Number(new URL(inject('serverUrl')).port));
  });
  afterAll(() => proxy.close());

  // Those of the site and of the queues that it serves.
  it.each([1, 2, 3, 4])('connection %i of a worker that starts is opened again', async (connection) => {
    proxy.end({ connection, sqlstate: '57P03', when: 'at startup' });
    const databaseUrl = proxy.urlOf(database.url);
    const worker = await createWorker({ databaseUrl, redis: false, pipelines: 'pipelines' });
    expect(proxy.connections()).toBeGreaterThan(connection);
    await worker.close();
  });

  it('the first connection of the run is opened again, and its loss reported', async () => {
    proxy.end({ connection: 1, sqlstate: '57P01', when: 'when ready' });
    const { outcome, problems } = await run({ databaseUrl: proxy.urlOf(database.url) });
    expect(outcome).toBe('published');
    expect(problems).toEqual([expect.stringContaining('57P01')]);
  });

  // Whether the run or a loader opens it, and so whether its loss is reported, is a matter of time.
  it.each([2, 4])('connection %i of the run is opened again', async (connection) => {
    proxy.end({ connection, sqlstate: '57P01', when: 'when ready' });
    const { outcome } = await run({ databaseUrl: proxy.urlOf(database.url) });
    expect(outcome).toBe('published');
    expect(proxy.connections()).toBeGreaterThan(connection);
  });

  it('a server that is starting up is waited for without being asked to', async () => {
    proxy.end({ connection: 1, sqlstate: '57P03', when: 'at startup' });
    const { outcome, problems } = await run({ databaseUrl: proxy.urlOf(database.url) });
    expect(outcome).toBe('published');
    expect(problems).toEqual([expect.stringContaining('57P03')]);
  });
});

describe('a server that is started later', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  const startStopped = async () => {
    const server = await startOwnServer();
    closing.push(server.remove);
    await server.stop();
    return { databaseUrl: server.server.url, start: server.start };
  };

  it('a run waits for it when it is asked to, and not otherwise', async () => {
    const { databaseUrl, start } = await startStopped();
    await expect(run({ databaseUrl })).rejects.toMatchObject({ code: 'ETL_CONNECT' });
    await expect(run({ databaseUrl, waitMs: 300 })).rejects.toMatchObject({ code: 'ETL_CONNECT' });
    let starting: Promise<unknown> | undefined;
    const { outcome, problems } = await run({ databaseUrl, waitMs: 60_000 }, () => (starting ??= start()));
    expect(outcome).toBe('published');
    expect(problems[0]).toContain('ECONNREFUSED');
  });

  it('a worker waits for it, until it is asked to stop', async () => {
    const { databaseUrl, start } = await startStopped();
    const stop = new AbortController();
    let act: () => unknown = () => stop.abort();
    const logger = {
      debug: () => undefined,
      info: () => undefined,
      warn: () => void act(),
      error: () => undefined,
    };
    const options = { databaseUrl, redis: false, pipelines: 'pipelines', logger } as const;
    await expect(createWorker({ ...options, signal: stop.signal })).rejects.toThrow();
    expect(stop.signal.aborted).toBe(true);
    act = start;
    const worker = await createWorker(options);
    await worker.close();
  });
});
