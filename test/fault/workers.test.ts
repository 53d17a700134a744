// One enqueued run over three `etl worker` processes: the same production as by one process, whichever of them is killed.

import { cpSync, mkdtempSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { fillBucket, serveFiles, writeFaultFiles } from '../helpers/fault-files.ts';
import { useFiles } from '../helpers/files.ts';
import { ended, openFleet, undisturbedOutcome, type Fleet } from '../helpers/fleet.ts';
import { startHttpFiles } from '../helpers/http-files.ts';
import { writeNoaaFiles } from '../helpers/noaa-files.ts';
import { hasRedis } from '../helpers/redis-server.ts';
import { startS3, type S3Server } from '../helpers/s3.ts';

const records = 800_000;
const { directory } = useFiles();
let undisturbed: unknown;
let fleet: Fleet;

beforeAll(async () => {
  // One file, so that what the others load are pieces of it.
  writeNoaaFiles(directory, records, 1);
  cpSync('pipelines', join(directory, 'pipelines'), { recursive: true });
  undisturbed = await undisturbedOutcome(directory);
});
afterEach(() => fleet.close());

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
    const home = mkdtempSync(join(directory, 'stream-'));
    writeFaultFiles(home, 200_000, 1);
    const plain = await undisturbedOutcome(home);
    put()(home);
    fleet = await openFleet(home);
    const start = () => fleet.start(2, 500_000);
    const workers = [start(), start()];
    await fleet.enqueue();
    let kills = 0;
    for (; kills < 3; kills += 1) {
      const { state } = await fleet.untilRun(
        (run, copying) => copying > 0 || /published|failed/.test(run.state),
      );
      if (state !== 'loading') break;
      const worker = workers.shift()!;
      worker.kill('SIGKILL');
      await ended(worker);
      workers.push(start());
    }
    expect(await fleet.untilRun(({ state }) => /published|failed/.test(state))).toMatchObject({
      id: 1,
      state: 'published',
    });
    expect(kills).toBeGreaterThan(1);
    expect(await fleet.outcome()).toEqual(plain);
  });
});

const queues = hasRedis ? (['PostgreSQL', 'Redis'] as const) : (['PostgreSQL'] as const);

describe.each(queues)('three worker processes, queues in %s', (queue) => {
  beforeEach(async () => {
    fleet = await openFleet(directory, queue);
  });

  it('load one run together, and stop when they are asked to', async () => {
    const workers = fleet.startThree();
    await fleet.enqueue();
    await fleet.untilRun((_, copying) => copying === 3);
    await fleet.untilRun(({ state }) => state === 'published');
    expect(await fleet.outcome()).toEqual(undisturbed);
    for (const worker of workers) worker.kill('SIGTERM');
    expect(await Promise.all(workers.map(ended))).toEqual([0, 0, 0]);
    const logged = workers
      .flatMap((worker) => fleet.said(worker).trim().split('\n'))
      .map((line) => JSON.parse(line));
    expect(logged).toContainEqual(
      expect.objectContaining({ msg: 'run ended', run: 1, pipeline: 'noaa', outcome: 'published' }),
    );
    expect(logged).toContainEqual(expect.objectContaining({ msg: 'helping a run', run: 1 }));
  });

  it('a helper is killed in mid-COPY', async () => {
    const workers = fleet.startThree();
    await fleet.enqueue();
    const { pid } = await fleet.untilRun((_, copying) => copying === 3);
    workers.find((worker) => worker.pid !== pid)!.kill('SIGKILL');
    await fleet.untilRun(({ state }) => state === 'published');
    expect(await fleet.outcome()).toEqual(undisturbed);
  });

  it('the coordinator is killed in mid-COPY: another worker goes on with its run', async () => {
    const workers = fleet.startThree();
    await fleet.enqueue();
    const { id, pid } = await fleet.untilRun((_, copying) => copying === 3);
    workers.find((worker) => worker.pid === pid)!.kill('SIGKILL');
    const published = await fleet.untilRun(({ state }) => state === 'published');
    expect({ ...published, isAnother: published.pid !== pid }).toMatchObject({ id, isAnother: true });
    expect(published.generation).toBeGreaterThan(1);
    expect(await fleet.outcome()).toEqual(undisturbed);
  });

  it('the queue is emptied and the coordinator killed: the job is put back, and another worker goes on', async () => {
    const workers = fleet.startThree();
    await fleet.enqueue();
    const { id, pid } = await fleet.untilRun((_, copying) => copying >= 2);
    const coordinator = workers.find((worker) => worker.pid === pid)!;
    coordinator.kill('SIGSTOP');
    await fleet.emptyQueue();
    coordinator.kill('SIGKILL');
    expect(await fleet.untilRun(({ state }) => state === 'published')).toMatchObject({ id });
    expect(await fleet.outcome()).toEqual(undisturbed);
  });
});

describe('three worker processes, whatever their queues are in', () => {
  beforeEach(async () => {
    fleet = await openFleet(directory);
  });

  it('all are killed in mid-load and the file changes: the next worker goes on by itself, with the file as it is', async () => {
    const workers = fleet.startThree();
    await fleet.enqueue();
    const { id } = await fleet.untilRun((_, copying) => copying === 3);
    for (const worker of workers) worker.kill('SIGKILL');
    await Promise.all(workers.map(ended));
    const now = new Date();
    utimesSync(join(directory, 'data/noaa/001hourly.txt'), now, now);
    const worker = fleet.start(2);
    expect(await fleet.untilRun(({ state }) => state === 'published')).toMatchObject({ id });
    expect(await fleet.outcome()).toEqual(undisturbed);
    expect(fleet.said(worker)).toContain('run 1 continues, but loads table observation again, because');
  });

  it('each is killed in turn, and started again', async () => {
    const workers = [...fleet.startThree()];
    await fleet.enqueue();
    for (let turn = 0; turn < 3; turn += 1) {
      const { state } = await fleet.untilRun((run, copying) => copying >= 2 || run.state !== 'loading');
      if (state !== 'loading') break;
      const [worker] = workers.splice(0, 1);
      worker!.kill('SIGKILL');
      await ended(worker!);
      workers.push(fleet.start());
    }
    await fleet.untilRun(({ state }) => state === 'published');
    expect(await fleet.outcome()).toEqual(undisturbed);
  });
});
