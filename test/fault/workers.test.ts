// One enqueued run over three `etl worker` processes: the same production as by one process, whichever of them is killed.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { ask } from '../helpers/fault-database.ts';
import { fillBucket, serveFiles, writeFaultFiles } from '../helpers/fault-files.ts';
import { useFiles } from '../helpers/files.ts';
import { startHttpFiles } from '../helpers/http-files.ts';
import { writeNoaaFiles } from '../helpers/noaa-files.ts';
import { hasRedis, startRedis, type RedisServer } from '../helpers/redis-server.ts';
import { startS3, type S3Server } from '../helpers/s3.ts';
import { createDatabase, type CreatedDatabase } from '../helpers/server.ts';

const records = 800_000;
const { directory } = useFiles();
const children: ChildProcess[] = [];
const said = new Map<ChildProcess, () => string>();
let database: CreatedDatabase;
let redis: RedisServer | undefined;
let undisturbed: unknown;

/** Where the pipeline is. */
let home = directory;

const etl = (...args: readonly string[]): ChildProcess => {
  const env = { ...process.env, DATABASE_URL: database.url, REDIS_URL: redis?.url ?? '' };
  const child = spawn(process.execPath, [inject('faultProgram'), ...args], {
    cwd: home,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => lines.push(bytes));
  said.set(child, () => Buffer.concat(lines).toString());
  children.push(child);
  return child;
};

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;

const ended = async (child: ChildProcess): Promise<number | null> => {
  if (isAlive(child)) await once(child, 'exit');
  return child.exitCode;
};

const startWorkers = (): readonly ChildProcess[] =>
  Array.from({ length: 3 }, () =>
    etl('worker', '--pipelines', 'pipelines', '--workers', '1', '--chunk-bytes', '2000000'),
  );

const enqueue = async (): Promise<void> => {
  if ((await ended(etl('enqueue', 'pipelines/noaa.ts'))) !== 0) throw new Error('not enqueued');
};

interface Run {
  readonly id: number;
  readonly state: string;
  readonly pid: number;
  readonly generation: number;
}

/** Waits until the run, if any, is as wanted; every process that worked for it is known by its session's name. */
const untilRun = async (isIt: (run: Run, copying: number) => boolean): Promise<Run> => {
  for (;;) {
    const [run] = await ask<Run & { copying: number }>(
      database.url,
      `select id::int, state, pid, generation, (select count(distinct application_name)::int from pg_stat_activity
          where datname = current_database() and state = 'active' and query like 'copy %') as copying
        from etl.run order by id desc limit 1`,
    ).catch(() => []);
    if (run !== undefined && isIt(run, run.copying)) return run;
    await sleep(20);
  }
};

const outcome = async (): Promise<unknown> => {
  const [sums] = await ask(
    database.url,
    `select count(*)::int as rows, sum(('x' || left(md5(t::text), 8))::bit(32)::bigint)::text as sum
      from noaa.observation t`,
  );
  const [ledger] = await ask(
    database.url,
    `select sum(c.copied)::int as copied, count(distinct r.id)::int as runs
      from etl.chunk c join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id
      where f.table_name = 'observation' and c.epoch = r.epoch`,
  );
  return { ...sums, ...ledger };
};

const undisturbedRun = async (): Promise<void> => {
  if ((await ended(etl('run', 'pipelines/noaa.ts', '--quiet'))) !== 0) throw new Error('the run failed');
};

beforeAll(async () => {
  // One file, so that what the others load are pieces of it.
  writeNoaaFiles(directory, records, 1);
  cpSync('pipelines', join(directory, 'pipelines'), { recursive: true });
  database = await createDatabase();
  try {
    await undisturbedRun();
    undisturbed = await outcome();
  } finally {
    await database.drop();
  }
});

const queues = [{ queue: 'PostgreSQL' }, ...(hasRedis ? [{ queue: 'Redis' }] : [])];

beforeEach(async () => {
  database = await createDatabase();
  redis = undefined;
});
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (isAlive(child)) child.kill('SIGKILL');
    await ended(child);
  }
  await redis?.stop();
  await database.drop();
  home = directory;
});

describe('one file that all loaders of a process load', () => {
  let server: Awaited<ReturnType<typeof startHttpFiles>>;
  let bucket: S3Server;
  beforeAll(async () => {
    server = await startHttpFiles();
    bucket = await startS3();
  });
  afterAll(async () => {
    await server.close();
    await bucket.stop();
  });

  it.each([
    { source: 'in gzip over HTTP that is cut off', put: () => serveFiles(server, '', 1_000_000) },
    { source: 'in a bucket', put: () => fillBucket(bucket, 'workers') },
  ])('$source: every worker is killed in turn, and the next ones go on within the file', async ({ put }) => {
    home = mkdtempSync(join(directory, 'stream-'));
    writeFaultFiles(home, 200_000, 1);
    await undisturbedRun();
    const plain = await outcome();
    await database.drop();
    database = await createDatabase();
    put()(home);
    const start = (): ChildProcess =>
      etl('worker', '--pipelines', 'pipelines', '--workers', '2', '--chunk-bytes', '500000');
    const workers = [start(), start()];
    await enqueue();
    let kills = 0;
    for (; kills < 3; kills += 1) {
      const { state } = await untilRun((run, copying) => copying > 0 || /published|failed/.test(run.state));
      if (state !== 'loading') break;
      const worker = workers.shift()!;
      worker.kill('SIGKILL');
      await ended(worker);
      workers.push(start());
    }
    expect(await untilRun(({ state }) => /published|failed/.test(state))).toMatchObject({
      id: 1,
      state: 'published',
    });
    expect(kills).toBeGreaterThan(1);
    expect(await outcome()).toEqual(plain);
  });
});

it('of three workers the coordinator and a helper are stopped for good: the third one ends their sessions', async () => {
  const workers = startWorkers();
  await enqueue();
  const { id, pid } = await untilRun((_, copying) => copying === 3);
  const helper = workers.find((worker) => worker.pid !== pid)!;
  for (const worker of workers) if (worker === helper || worker.pid === pid) worker.kill('SIGSTOP');
  const left = workers.find((worker) => worker !== helper && worker.pid !== pid)!;
  expect(await untilRun(({ state }) => state === 'published')).toMatchObject({ id, pid: left.pid });
  expect(await outcome()).toEqual(undisturbed);
});

describe.each(queues)('three worker processes, queues in $queue', ({ queue }) => {
  beforeEach(async () => {
    if (queue === 'Redis') redis = await startRedis();
  });

  it('load one run together, and stop when they are asked to', async () => {
    const workers = startWorkers();
    await enqueue();
    await untilRun((_, copying) => copying === 3);
    await untilRun(({ state }) => state === 'published');
    expect(await outcome()).toEqual(undisturbed);
    for (const worker of workers) worker.kill('SIGTERM');
    expect(await Promise.all(workers.map(ended))).toEqual([0, 0, 0]);
    const logged = workers
      .flatMap((worker) => said.get(worker)!().trim().split('\n'))
      .map((line) => JSON.parse(line));
    expect(logged).toContainEqual(
      expect.objectContaining({ msg: 'run ended', run: 1, pipeline: 'noaa', outcome: 'published' }),
    );
    expect(logged).toContainEqual(expect.objectContaining({ msg: 'helping a run', run: 1 }));
  });

  it('a helper is killed in mid-COPY', async () => {
    const workers = startWorkers();
    await enqueue();
    const { pid } = await untilRun((_, copying) => copying === 3);
    workers.find((worker) => worker.pid !== pid)!.kill('SIGKILL');
    await untilRun(({ state }) => state === 'published');
    expect(await outcome()).toEqual(undisturbed);
  });

  it('the coordinator is killed in mid-COPY: another worker goes on with its run', async () => {
    const workers = startWorkers();
    await enqueue();
    const { id, pid } = await untilRun((_, copying) => copying === 3);
    workers.find((worker) => worker.pid === pid)!.kill('SIGKILL');
    const published = await untilRun(({ state }) => state === 'published');
    expect({ ...published, isAnother: published.pid !== pid }).toMatchObject({ id, isAnother: true });
    expect(published.generation).toBeGreaterThan(1);
    expect(await outcome()).toEqual(undisturbed);
  });

  it('the queue is emptied and the coordinator killed: the job is put back, and another worker goes on', async () => {
    const workers = startWorkers();
    await enqueue();
    const { id, pid } = await untilRun((_, copying) => copying >= 2);
    const coordinator = workers.find((worker) => worker.pid === pid)!;
    coordinator.kill('SIGSTOP');
    await (redis ? redis.command('flushall') : ask(database.url, 'delete from etl_queue.job'));
    coordinator.kill('SIGKILL');
    expect(await untilRun(({ state }) => state === 'published')).toMatchObject({ id });
    expect(await outcome()).toEqual(undisturbed);
  });

  const paused = [
    { name: 'a helper', isIt: (worker: ChildProcess, pid: number) => worker.pid !== pid },
    { name: 'the coordinator', isIt: (worker: ChildProcess, pid: number) => worker.pid === pid },
  ];
  it.each(paused)(
    '$name is paused until others have done its jobs; when it wakes up, nothing changes',
    async ({ isIt }) => {
      const workers = startWorkers();
      await enqueue();
      const { id, pid } = await untilRun((_, copying) => copying >= 2);
      const worker = workers.find((each) => isIt(each, pid))!;
      worker.kill('SIGSTOP');
      expect(await untilRun(({ state }) => state === 'published')).toMatchObject({ id });
      worker.kill('SIGCONT');
      for (const each of workers) each.kill('SIGTERM');
      expect(await Promise.all(workers.map(ended))).toEqual([0, 0, 0]);
      expect(await outcome()).toEqual(undisturbed);
    },
  );

  it('all are killed in mid-load and the file changes: the next worker goes on by itself, with the file as it is', async () => {
    const workers = startWorkers();
    await enqueue();
    const { id } = await untilRun((_, copying) => copying === 3);
    for (const worker of workers) worker.kill('SIGKILL');
    await Promise.all(workers.map(ended));
    const now = new Date();
    utimesSync(join(directory, 'data/noaa/001hourly.txt'), now, now);
    const worker = etl('worker', '--pipelines', 'pipelines', '--workers', '2');
    expect(await untilRun(({ state }) => state === 'published')).toMatchObject({ id });
    expect(await outcome()).toEqual(undisturbed);
    expect(said.get(worker)!()).toContain('run 1 continues, but loads table observation again, because');
  });

  it('each is killed in turn, and started again', async () => {
    const workers = [...startWorkers()];
    await enqueue();
    for (let turn = 0; turn < 3; turn += 1) {
      const { state } = await untilRun((run, copying) => copying >= 2 || run.state !== 'loading');
      if (state !== 'loading') break;
      const [worker] = workers.splice(0, 1);
      worker!.kill('SIGKILL');
      await ended(worker!);
      workers.push(etl('worker', '--pipelines', 'pipelines', '--workers', '1', '--chunk-bytes', '2000000'));
    }
    await untilRun(({ state }) => state === 'published');
    expect(await outcome()).toEqual(undisturbed);
  });
});
