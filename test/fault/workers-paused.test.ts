// Of several `etl worker` processes some are stopped in mid-load, for good or until others have done their jobs: nothing changes.
//
// All at once, because most of it is waiting for the server and the queue to give up those who are stopped.

import type { ChildProcess } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { ended, openFleet, undisturbedOutcome, type Fleet } from '../helpers/fleet.ts';
import { writeNoaaFiles } from '../helpers/noaa-files.ts';
import { hasRedis } from '../helpers/redis-server.ts';

const { directory } = useFiles();
let undisturbed: unknown;
beforeAll(async () => {
  writeNoaaFiles(directory, 800_000, 1);
  cpSync('pipelines', join(directory, 'pipelines'), { recursive: true });
  undisturbed = await undisturbedOutcome(directory);
});

/** Tests that run at once know only by their context whose end is the fleet's. */
const begin = async (
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  queue: 'PostgreSQL' | 'Redis',
): Promise<Fleet> => {
  const fleet = await openFleet(directory, queue);
  onTestFinished(fleet.close);
  return fleet;
};

const paused = [
  { name: 'a helper', isIt: (worker: ChildProcess, pid: number) => worker.pid !== pid },
  { name: 'the coordinator', isIt: (worker: ChildProcess, pid: number) => worker.pid === pid },
];
const queues = hasRedis ? (['PostgreSQL', 'Redis'] as const) : (['PostgreSQL'] as const);
const cases = queues.flatMap((queue) => paused.map((who) => ({ queue, ...who })));

describe.concurrent('of three workers', () => {
  it('the coordinator and a helper are stopped for good: the third one ends their sessions', async (context) => {
    const fleet = await begin(context, 'PostgreSQL');
    const workers = fleet.startThree();
    await fleet.enqueue();
    const { id, pid } = await fleet.untilRun((_, copying) => copying === 3);
    const helper = workers.find((worker) => worker.pid !== pid)!;
    for (const worker of workers) if (worker === helper || worker.pid === pid) worker.kill('SIGSTOP');
    const left = workers.find((worker) => worker !== helper && worker.pid !== pid)!;
    expect(await fleet.untilRun(({ state }) => state === 'published')).toMatchObject({ id, pid: left.pid });
    expect(await fleet.outcome()).toEqual(undisturbed);
  });

  it.for(cases)(
    '$name is paused until others have done its jobs, queues in $queue; when it wakes up, nothing changes',
    async ({ queue, isIt }, context) => {
      const fleet = await begin(context, queue);
      const workers = fleet.startThree();
      await fleet.enqueue();
      const { id, pid } = await fleet.untilRun((_, copying) => copying >= 2);
      const worker = workers.find((each) => isIt(each, pid))!;
      worker.kill('SIGSTOP');
      expect(await fleet.untilRun(({ state }) => state === 'published')).toMatchObject({ id });
      worker.kill('SIGCONT');
      for (const each of workers) each.kill('SIGTERM');
      expect(await Promise.all(workers.map(ended))).toEqual([0, 0, 0]);
      expect(await fleet.outcome()).toEqual(undisturbed);
    },
  );
});
