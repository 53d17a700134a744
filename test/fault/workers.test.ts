// One enqueued run over several `etl worker` processes: the same production as by one process, whichever of them is killed or stopped.
//
// All at once, because most of it is waiting for the server and the queue to give up those that are gone.

import type { ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { fillBucket, serveFiles, writeFaultFiles } from '../helpers/fault-files.ts';
import { useFiles } from '../helpers/files.ts';
import { ended, openFleet, undisturbedOutcome, type Fleet, type FleetRun } from '../helpers/fleet.ts';
import { startHttpFiles } from '../helpers/http-files.ts';
import { writeNoaaFiles } from '../helpers/noaa-files.ts';
import { hasRedis } from '../helpers/redis-server.ts';
import { startS3, type S3Server } from '../helpers/s3.ts';

type Context = Pick<TestContext, 'onTestFinished'>;
type Queue = 'PostgreSQL' | 'Redis';

const queues: readonly Queue[] = hasRedis ? ['PostgreSQL', 'Redis'] : ['PostgreSQL'];
const { directory } = useFiles();
let undisturbed: unknown;
let server: Awaited<ReturnType<typeof startHttpFiles>>;
let bucket: S3Server;

beforeAll(async () => {
  // One file, so that what the others load are pieces of it.
  writeNoaaFiles(directory, 300_000, 1);
  cpSync('pipelines', join(directory, 'pipelines'), { recursive: true });
  undisturbed = await undisturbedOutcome(directory);
  server = await startHttpFiles();
  bucket = await startS3();
});
afterAll(async () => {
  await server.close();
  await bucket.stop();
});

const isOver = ({ state }: FleetRun): boolean => /published|failed/.test(state);

/** Tests that run at once know only by their context whose end is the fleet's. */
const open = async ({ onTestFinished }: Context, home = directory, queue?: Queue): Promise<Fleet> => {
  const fleet = await openFleet(home, queue);
  onTestFinished(fleet.close);
  return fleet;
};

/** A run whose file three workers copy at the same time. They are stopped in mid-chunk. */
const beginRun = async (context: Context, queue?: Queue, home?: string) => {
  const fleet = await open(context, home, queue);
  const workers = fleet.startThree();
  await fleet.enqueue();
  await fleet.stopInChunk(3);
  const run = await fleet.untilRun(() => true);
  const coordinator = workers.find(({ pid }) => pid === run.pid)!;
  const [helper, other] = workers.filter((worker) => worker !== coordinator) as [ChildProcess, ChildProcess];
  return { fleet, workers, run, coordinator, helper, other };
};

/** How the run ends, and what it has made. */
const endOf = async (fleet: Fleet) => ({
  ...(await fleet.untilRun(isOver)),
  outcome: await fleet.outcome(),
});

/** The end of a run that nothing has changed. */
const published = (run: Partial<FleetRun> = {}) => ({ state: 'published', outcome: undisturbed, ...run });

const expectStopped = async (workers: readonly ChildProcess[]): Promise<void> => {
  for (const worker of workers) worker.kill('SIGTERM');
  expect(await Promise.all(workers.map(ended))).toEqual([0, 0, 0]);
};

describe.concurrent('of several worker processes', () => {
  // The longest first: the server ends sessions that are silent for more than a minute.
  it('the coordinator and a helper are stopped for good: the third one ends their sessions', async (context) => {
    const { fleet, run, other } = await beginRun(context);
    other.kill('SIGCONT');
    expect(await endOf(fleet)).toMatchObject(published({ id: run.id, pid: other.pid! }));
  });

  it.for(queues.flatMap((queue) => (['helper', 'coordinator'] as const).map((who) => ({ who, queue }))))(
    'the $who is paused until others have done its jobs, queues in $queue; when it wakes up, nothing changes',
    async ({ who, queue }, context) => {
      const begun = await beginRun(context, queue);
      for (const worker of begun.workers) if (worker !== begun[who]) worker.kill('SIGCONT');
      expect(await endOf(begun.fleet)).toMatchObject(published({ id: begun.run.id }));
      begun[who].kill('SIGCONT');
      await expectStopped(begun.workers);
      expect(await begun.fleet.outcome()).toEqual(undisturbed);
    },
  );

  it.for([
    { source: 'in gzip over HTTP that is cut off', put: () => serveFiles(server, '', 1_000_000) },
    { source: 'in a bucket', put: () => fillBucket(bucket, 'workers') },
  ])(
    'all loaders load one file $source: each process is killed in turn, and the next ones go on within the file',
    async ({ put }, context) => {
      const home = mkdtempSync(join(directory, 'stream-'));
      writeFaultFiles(home, 200_000, 1);
      const plain = await undisturbedOutcome(home);
      put()(home);
      const fleet = await open(context, home);
      const start = () => fleet.start(2, 500_000);
      const workers = [start(), start()];
      await fleet.enqueue();
      // A third death in a row without a loaded chunk would end the run: worker/coordinate.ts.
      for (let kills = 0; kills < 2; kills += 1) {
        await fleet.stopInChunk(1);
        const worker = workers.shift()!;
        worker.kill('SIGKILL');
        await ended(worker);
        workers.push(start());
        fleet.resume();
      }
      expect(await fleet.untilRun(isOver)).toMatchObject({ id: 1, state: 'published' });
      expect(await fleet.outcome()).toEqual(plain);
    },
  );

  it.for(queues)(
    'all load one run, and stop when they are asked to, queues in %s',
    async (queue, context) => {
      const { fleet, workers } = await beginRun(context, queue);
      fleet.resume();
      expect(await endOf(fleet)).toMatchObject(published());
      await expectStopped(workers);
      const logged = workers
        .flatMap((worker) => fleet.said(worker).trim().split('\n'))
        .map((line) => JSON.parse(line));
      expect(logged).toContainEqual(
        expect.objectContaining({ msg: 'run ended', run: 1, pipeline: 'noaa', outcome: 'published' }),
      );
      expect(logged).toContainEqual(expect.objectContaining({ msg: 'helping a run', run: 1 }));
    },
  );

  it.for(queues)('a helper is killed in mid-chunk, queues in %s', async (queue, context) => {
    const { fleet, helper, run } = await beginRun(context, queue);
    helper.kill('SIGKILL');
    fleet.resume();
    expect(await endOf(fleet)).toMatchObject(published({ id: run.id, pid: run.pid }));
  });

  it.for(queues)(
    'the coordinator is killed in mid-chunk: another one goes on with its run, queues in %s',
    async (queue, context) => {
      const { fleet, workers, coordinator, run } = await beginRun(context, queue);
      coordinator.kill('SIGKILL');
      fleet.resume();
      const end = await endOf(fleet);
      expect(end).toMatchObject(published({ id: run.id }));
      const successor = workers.find(({ pid }) => pid === end.pid)!;
      expect(fleet.said(successor)).toContain(`continuing run ${run.id}: `);
      expect(end.pid).not.toBe(run.pid);
      expect(end.generation).toBeGreaterThan(1);
    },
  );

  it.for(queues)(
    'the queue is emptied and the coordinator killed: the job is put back, and another one goes on, queues in %s',
    async (queue, context) => {
      const { fleet, coordinator, run } = await beginRun(context, queue);
      await fleet.emptyQueue();
      coordinator.kill('SIGKILL');
      fleet.resume();
      expect(await endOf(fleet)).toMatchObject(published({ id: run.id }));
    },
  );

  it('all are killed in mid-load and the file changes: the next one goes on by itself, with the file as it is', async (context) => {
    const home = mkdtempSync(join(directory, 'changed-'));
    for (const part of ['data', 'pipelines'])
      cpSync(join(directory, part), join(home, part), { recursive: true });
    const { fleet, workers, run } = await beginRun(context, 'PostgreSQL', home);
    for (const worker of workers) worker.kill('SIGKILL');
    await Promise.all(workers.map(ended));
    const now = new Date();
    utimesSync(join(home, 'data/noaa/001hourly.txt'), now, now);
    const worker = fleet.start(2);
    expect(await endOf(fleet)).toMatchObject(published({ id: run.id }));
    expect(fleet.said(worker)).toContain('run 1 continues, but loads table observation again, because');
  });

  it('each is killed in turn, and started again', async (context) => {
    const { fleet, workers } = await beginRun(context);
    for (const worker of workers) {
      worker.kill('SIGKILL');
      await ended(worker);
      fleet.start();
      fleet.resume();
      if (worker !== workers.at(-1)) await fleet.stopInChunk(1);
    }
    expect(await endOf(fleet)).toMatchObject(published());
  });
});
