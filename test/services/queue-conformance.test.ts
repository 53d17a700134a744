// The contract of queue backends, tested with PostgreSQL and a real Redis.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { EtlError } from '../../src/core/errors/errors.ts';
import { loadPipelineFile } from '../../src/pipeline/load-file.ts';
import { withQueue } from '../../src/queue/job-queue.ts';
import { addRun, runQueueDepth } from '../../src/queue/run-queue.ts';
import { serveRuns, type RunService } from '../../src/queue/serve-runs.ts';
import { openLoadQueue, removeQueue, serveQueue, type ServeOptions } from '../../src/queue/load-queue.ts';
import { runPipeline } from '../../src/run/run-pipeline.ts';
import { batches, segment, useQueues, workOff } from '../helpers/queue-work.ts';
import { queueKinds, until } from '../helpers/workers.ts';

const noaaFile = 'pipelines/noaa.ts';
describe.each(queueKinds)('queues in $kind', ({ kind }) => {
  const { database, redis, redisOption, place, servingRun } = useQueues(kind);
  // Larger than the ids of runs in the ledger.
  let runId = 1_000;
  const serving = (load: ServeOptions['load'], given: Partial<ServeOptions> = {}): ServeOptions =>
    servingRun(runId, load, given);

  /** Counts the jobs left on a run's queue. */
  const keptOf = (run: number) => async (): Promise<number> => {
    const name = `etl-load-${run}`;
    if (redis()) return ((await redis()!.command('keys', `{etl-one}:${name}:*`)) as string[]).length;
    const { rows } = await database.query<{ n: number }>(
      `select (select count(*) from etl_queue.job where queue = $1)::int + (select count(*) from etl_queue.meta where queue = $1)::int as n`,
      [name],
    );
    return rows[0]!.n;
  };

  it('a whole run publishes every record of the example, and leaves no job', async () => {
    const keys = async (): Promise<readonly string[]> =>
      redis()
        ? ((await redis()!.command('keys', '*')) as string[])
        : (await database.query<{ id: string }>('select id from etl_queue.job')).rows.map(({ id }) => id);
    const before = await keys();
    const { pipeline, directory, file } = await loadPipelineFile(noaaFile);
    const result = await runPipeline(pipeline, {
      databaseUrl: database.url,
      redis: redisOption(),
      directory,
      pipelineFile: file,
      workers: 2,
      // Less than the files have together: the run needs its queue.
      chunkBytes: 64 * 1024,
    });
    const { rows } = await database.query(
      `select count(*)::int as rows, count(dry_bulb_c)::int as temperatures, sum(dry_bulb_c::numeric)::text as sum
        from noaa.observation`,
    );
    expect(rows).toEqual([{ rows: 5276, temperatures: 5265, sum: '100878.8' }]);
    expect(result.outcome).toBe('published');
    const left = (await keys()).filter((key) => !before.includes(key));
    // The mark of the database stays.
    expect(left.map((key) => key.replace(/^\{etl-\d+-\d+\}/, 'prefix'))).toEqual(
      redis() ? ['prefix:owner'] : [],
    );
  });

  it('a helper leaves no trace on the queue, which may be removed before it comes', async () => {
    runId += 1;
    const name = `etl-load-${runId}`;
    const trace = async (): Promise<unknown> =>
      redis()
        ? redis()!.command('exists', `{etl-one}:${name}:stalled-check`)
        : (
            await database.query(
              `select count(*)::int as n from etl_queue.meta where field = 'stalled-check' and queue = $1`,
              [name],
            )
          ).rows[0]?.['n'];
    let isLoaded: () => void;
    const loaded = new Promise<void>((resolve) => (isLoaded = resolve));
    const helper = await serveQueue(serving(async () => isLoaded()));
    await withQueue(place(), name, async ({ ask }) => {
      await ask((bull) => bull.add('segments', { segments: [segment(1)], generation: 1 }));
    });
    await loaded;
    await helper.close();
    expect(await trace()).toBe(0);
  });

  it('every job is worked off once, however many there are', async () => {
    runId += 1;
    const loaded: number[] = [];
    const fileIds = Array.from({ length: 200 }, (_, index) => index);
    await workOff(
      serving(async ({ segments: [one] }) => void loaded.push(one!.fileId)),
      batches(...fileIds),
    );
    expect(loaded.toSorted((one, other) => one - other)).toEqual(fileIds);
  });

  it('a permanent error of one helper does not stop the others', async () => {
    runId += 1;
    const unreadable = new EtlError('ETL_SOURCE_UNREADABLE', {
      table: 't',
      file: 'f',
      problem: 'not mounted',
    });
    const helper = await serveQueue(serving(() => Promise.reject(unreadable)));
    const leaving = helper.failed.catch(() => helper.close());
    const loaded: number[] = [];
    // The coordinator is slow, so that the helper gets a job.
    await workOff(
      serving(async ({ segments: [one] }) => {
        await leaving;
        loaded.push(one!.fileId);
      }),
      batches(1, 2, 3, 4, 5, 6),
    );
    expect(loaded.toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('a job that fails for good fails the run with its own error', async () => {
    runId += 1;
    const refused = new Error('never');
    await expect(
      workOff(
        serving(() => Promise.reject(refused)),
        batches(1),
      ),
    ).rejects.toBe(refused);
  });

  it('a job whose process lost its server is tried again by the next worker', async () => {
    runId += 1;
    let tries = 0;
    const lost = Object.assign(new Error('gone'), { code: '57P01' });
    const losing = workOff(
      serving(() => Promise.reject(lost)),
      batches(1),
    );
    await expect(losing).rejects.toBe(lost);
    await workOff(
      serving(async () => void (tries += 1)),
      batches(1),
    );
    expect(tries).toBe(1);
  });

  it('databases that share the server do not see each other’s jobs', async () => {
    runId += 1;
    const others: number[] = [];
    const other = redis()
      ? await serveQueue(
          serving(async ({ segments: [one] }) => void others.push(one!.fileId), { queues: place('other') }),
        )
      : undefined;
    const loaded: number[] = [];
    await workOff(
      serving(async ({ segments: [one] }) => void loaded.push(one!.fileId)),
      batches(1, 2, 3),
    );
    await other?.close();
    expect({ others, loaded: loaded.length }).toEqual({ others: [], loaded: 3 });
  });

  it('a worker of several queues runs one job at a time, and leaves the others to idle workers', async () => {
    const add = (queue: string): Promise<unknown> =>
      addRun(place(), {}, { queueName: queue, delayMs: 0, priority: undefined, dedupe: undefined });
    const begun: string[] = [];
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    const serve = (name: string): Promise<RunService> =>
      serveRuns(place(), ['a', 'b', 'c'], async ({ queueName: queue }) => {
        begun.push(`${name} ${queue}`);
        await held;
        return 'done';
      });
    const first = await serve('first');
    for (const queue of ['a', 'b', 'c']) await add(queue);
    await until(() => begun.length === 1);
    const second = await serve('second');
    await until(() => begun.length === 2);
    const depths = await Promise.all(['a', 'b', 'c'].map((queue) => runQueueDepth(place(), queue)));
    expect(depths.reduce((sum, { waiting, delayed, active }) => sum + waiting + delayed + active, 0)).toBe(3);
    expect(begun.map((each) => each.split(' ')[0])).toEqual(['first', 'second']);
    letGo();
    // The remaining job goes to the first worker that is done.
    await until(() => begun.length === 3);
    expect(new Set(begun.map((each) => each.split(' ')[1]))).toEqual(new Set(['a', 'b', 'c']));
    await Promise.all([first.drain(), second.drain()]);
    await Promise.all([first.close(), second.close()]);
  });

  it('a queue that is never empty does not keep the others of its process waiting', async () => {
    const add = (queue: string): Promise<unknown> =>
      addRun(place(), {}, { queueName: queue, delayMs: 0, priority: undefined, dedupe: undefined });
    const order: string[] = [];
    let [busy, busyMost] = [0, 0];
    for (let count = 0; count < 8; count += 1) await add('full');
    await add('rare');
    const service = await serveRuns(place(), ['full', 'rare'], async ({ queueName: queue }) => {
      busy += 1;
      busyMost = Math.max(busy, busyMost);
      await sleep(20);
      order.push(queue);
      busy -= 1;
      return 'done';
    });
    await until(() => order.length >= 9);
    await service.drain();
    await service.close();
    expect(busyMost).toBe(1);
    expect(order.indexOf('rare')).toBeLessThan(8);
  });

  it('nothing of an earlier process is on the queue of a run before it is worked off, nor when it is closed', async () => {
    runId += 1;
    const kept = keptOf(runId);
    const failing = workOff(
      serving(() => Promise.reject(new Error('never'))),
      batches(1, 2, 3),
    );
    await failing.catch(() => undefined);
    const before = await kept();
    const queue = openLoadQueue(place(), runId, 2);
    await queue.emptied;
    const emptied = await kept();
    const loaded: number[] = [];
    await queue.workOff(
      serving(async ({ segments: [one] }) => void loaded.push(one!.fileId)),
      batches(4, 5),
    );
    await queue.close();
    expect(before).toBeGreaterThan(0);
    expect({ emptied, loaded: new Set(loaded), closed: await kept() }).toEqual({
      emptied: 0,
      loaded: new Set([4, 5]),
      closed: 0,
    });
  });

  it('the queue of a run that nobody continues is removed', async () => {
    runId += 1;
    const failing = workOff(
      serving(() => Promise.reject(new Error('never'))),
      batches(1, 2, 3),
    );
    await failing.catch(() => undefined);
    const kept = keptOf(runId);
    expect(await kept()).toBeGreaterThan(0);
    await removeQueue(place(), runId);
    expect(await kept()).toBe(0);
  });
});
