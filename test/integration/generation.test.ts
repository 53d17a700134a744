// A second coordinator of a run: a process that still loads for the first one stops, and does no
// harm.

import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { adoptRun, forgetOtherFiles } from '../../src/ledger/run/take-over.ts';
import { cancelRun } from '../../src/ledger/run/run-end.ts';
import { assertPublishing, judgeLoading, selectLoading } from '../../src/ledger/run/epoch.ts';
import { awaitBuildsEnd, lockBuild, tryLockPipeline } from '../../src/db/session/advisory-lock.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { runQuery, withClient, withTransaction, type QueryResult } from '../../src/db/client.ts';
import { silentLogger } from '../../src/core/logger.ts';
import type { Segment } from '../../src/core/model.ts';
import { column } from '../../src/pipeline/declare/column.ts';
import { postgresBackend } from '../../src/queue/postgres-backend.ts';
import { serveQueue, type ServeOptions, type Work } from '../../src/queue/load-queue.ts';
import { readSegmentJob } from '../../src/pipeline/job-payload.ts';
import { loadChunk } from '../../src/load/chunk/load-chunk.ts';
import { useDatabase } from '../helpers/server.ts';
import { workOff } from '../helpers/queue-work.ts';
import { stagingRows, startOf, withChunkFile } from './chunk-loading.ts';

const database = useDatabase();
const content = 'id\n1\n2\n3\n';
const newcomer = { host: 'elsewhere', pid: 1, workers: 1, job: undefined, queue: 'default' };
const columns = { id: column.integer('id') };

describe('a chunk of an earlier generation', () => {
  it('is refused with ETL_RUN_SUPERSEDED, and nothing of it is kept', async () => {
    await withChunkFile(database.url, { content, columns }, async (prepared) => {
      const { client, load, file } = prepared;
      await runQuery(client, adoptRun(file.runId, newcomer));
      await expect(loadChunk(load, startOf(file))).rejects.toMatchObject({ code: 'ETL_RUN_SUPERSEDED' });
      expect((await client.query('select from etl.chunk where file_id = $1', [file.id])).rowCount).toBe(0);
      expect(await stagingRows(prepared)).toEqual([]);
    });
  });

  it('of a file that is forgotten is refused with ETL_RUN_SUPERSEDED, too', async () => {
    await withChunkFile(database.url, { content, columns }, async ({ client, load, file }) => {
      await runQuery(client, adoptRun(file.runId, newcomer));
      await runQuery(client, forgetOtherFiles(file.runId, []));
      await expect(loadChunk(load, startOf(file))).rejects.toMatchObject({ code: 'ETL_RUN_SUPERSEDED' });
    });
  });

  it('whose staging table the newcomer dropped is refused with ETL_RUN_SUPERSEDED, too', async () => {
    await withChunkFile(database.url, { content, columns }, async ({ client, load, file, staging }) => {
      await runQuery(client, adoptRun(file.runId, newcomer));
      await client.query(`drop table ${staging}`);
      await expect(loadChunk(load, startOf(file))).rejects.toMatchObject({ code: 'ETL_RUN_SUPERSEDED' });
    });
  });

  it('in flight is waited for by the coordinator that takes over', async () => {
    await withChunkFile(database.url, { content, columns }, async ({ client, load, file }) => {
      const order: string[] = [];
      await withClient(addressFromUrl(database.url), async (other) => {
        let adopting: Promise<unknown> = Promise.resolve();
        const work = async ([loading]: readonly QueryResult[]): Promise<void> => {
          await judgeLoading(client, load.lease, loading!);
          adopting = runQuery(other, adoptRun(file.runId, newcomer)).then(() => order.push('adopted'));
          const waits = `select exists (select from pg_locks where not granted) as yes`;
          while (!(await client.query(waits)).rows[0].yes) await Promise.resolve();
          order.push('chunk');
        };
        await withTransaction(client, work, { first: [selectLoading(load.lease)] });
        await adopting;
      });
      expect(order).toEqual(['chunk', 'adopted']);
    });
  });
});

it('a build that is under way is waited for by the coordinator that takes over', async () => {
  const address = addressFromUrl(database.url);
  await withClient(address, (builder) =>
    withClient(address, async (coordinator) => {
      const order: string[] = [];
      await lockBuild(builder, 'built');
      const waiting = awaitBuildsEnd(coordinator, 'built').then(() => order.push('taken over'));
      const waits = `select exists (select from pg_locks where pid = $1 and not granted) as yes`;
      while (order.length === 0 && !(await builder.query(waits, [coordinator.serverPid])).rows[0].yes)
        await Promise.resolve();
      order.push('built');
      await builder.query('select pg_advisory_unlock_all()');
      await waiting;
      expect(order).toEqual(['built', 'taken over']);
    }),
  );
});

describe('the lock of a pipeline that its coordinator has lost', () => {
  // `discard all` in a function does this, and so does a pooler that gives the session to others.
  const letGo = 'select pg_advisory_unlock_all()';
  const lost = { code: 'ETL_LOCK_LOST' };

  it('ends the chunks of the run, also when another session holds it by now', async () => {
    await withChunkFile(database.url, { content, columns }, async (prepared) => {
      const { client, load, file, pipeline } = prepared;
      await client.query(letGo);
      await expect(loadChunk(load, startOf(file))).rejects.toMatchObject(lost);
      await withClient(addressFromUrl(database.url), async (other) => {
        expect(await tryLockPipeline(other, pipeline)).toBe(true);
        await expect(loadChunk(load, startOf(file))).rejects.toMatchObject(lost);
      });
      expect(await stagingRows(prepared)).toEqual([]);
    });
  });

  it('and a crash of its server since keep it from publishing', async () => {
    await withChunkFile(database.url, { content, columns }, async ({ client, load, pipeline }) => {
      const publish = (): Promise<void> => assertPublishing(client, pipeline, load.lease.epoch);
      await publish();
      await expect(assertPublishing(client, pipeline, randomUUID())).rejects.toMatchObject({
        code: 'ETL_EPOCH_CHANGED',
      });
      await client.query(letGo);
      await expect(publish()).rejects.toMatchObject(lost);
      await withClient(addressFromUrl(database.url), async (other) => {
        await tryLockPipeline(other, pipeline);
        await expect(publish()).rejects.toMatchObject(lost);
      });
    });
  });
});

describe('a run that was cancelled', () => {
  const cancelled = { code: 'ETL_RUN_CANCELLED', message: 'cancelled' };
  it.each([
    { who: 'the job that it was cancelled for', job: 'run-1', goesOn: false },
    { who: 'a job that asks again', job: 'run-2', goesOn: true },
    { who: 'a person', job: undefined, goesOn: true },
  ])('is gone on with by $who: $goesOn', async ({ job, goesOn }) => {
    await withChunkFile(database.url, { content, columns }, async ({ client, file }) => {
      await runQuery(client, adoptRun(file.runId, { ...newcomer, job: 'run-1' }));
      await runQuery(client, cancelRun(file.runId, cancelled));
      const { rowCount } = await runQuery(client, adoptRun(file.runId, { ...newcomer, job }));
      expect(rowCount).toBe(goesOn ? 1 : 0);
    });
  });
});

describe('a job of another generation', () => {
  const segment = (fileId: number): Segment => ({
    fileId,
    start: { byte: 0, line: 1, record: 1 },
    byteEnd: 10,
  });
  async function* batches(...fileIds: number[]): AsyncGenerator<readonly Work[], void> {
    yield fileIds.map((fileId) => ({ segments: [segment(fileId)] }));
  }
  let runId = 0;
  const serving = (
    generation: number,
    load: ServeOptions['load'],
    outside = new Promise<never>(() => undefined),
  ): ServeOptions => ({
    queues: {
      backend: postgresBackend(addressFromUrl(database.url)),
      namespace: 'test',
      logger: silentLogger,
    },
    lease: { runId, epoch: '', generation },
    workers: 1,
    drain: undefined,
    outside,
    load,
    read: readSegmentJob,
  });
  beforeEach(async () => {
    runId += 1;
    await postgresBackend(addressFromUrl(database.url)).prepare();
  });

  it('an earlier one is dropped unread', async () => {
    let end: (reason: Error) => void = () => undefined;
    const ended = new Promise<never>((_, reject) => (end = reject));
    let hold: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (hold = resolve));
    const holdFirst = (): Promise<never> => {
      hold();
      return ended;
    };
    const first = workOff(serving(1, holdFirst, ended), batches(1, 2, 3));
    await held;
    const loaded: number[] = [];
    const late = await serveQueue(serving(2, async ({ segments: [one] }) => void loaded.push(one!.fileId)));
    // The first coordinator works on one job; the later generation gets the others, and drops them.
    const open = `select count(*)::int as open from etl_queue.job where queue = $1 and state <> 'completed'`;
    const isLeft = async (): Promise<boolean> =>
      (await database.query(open, [`etl-load-${runId}`])).rows[0]?.['open'] !== 1;
    while (await isLeft()) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(loaded).toEqual([]);
    await late.close();
    end(new Error('it ends here'));
    await expect(first).rejects.toThrow('it ends here');
  });

  it('a later one stops the worker, and goes to another: the run does not fail', async () => {
    const stale = await serveQueue(serving(1, () => Promise.reject(new Error('never loaded here'))));
    const staleEnd = stale.failed.catch((error: unknown) => error);
    const loaded: number[] = [];
    const running = workOff(
      serving(2, async ({ segments: [one] }) => {
        await staleEnd;
        loaded.push(one!.fileId);
      }),
      batches(1, 2, 3),
    );
    expect(await staleEnd).toMatchObject({ code: 'ETL_RUN_SUPERSEDED' });
    await stale.close();
    await running;
    expect(new Set(loaded)).toEqual(new Set([1, 2, 3]));
  });
});
