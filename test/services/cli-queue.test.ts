// `etl enqueue`, `queue`, `cancel`, `retry` and what `worker` refuses, on a real server.

import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { column, csv, definePipeline, enqueue } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { database, etl } = usePipelineRuns();
const noaa = resolve('pipelines/noaa.ts');

// Each case has an empty queue and no runs.
afterEach(() => database.query('drop schema if exists etl, etl_queue cascade'));

describe('an empty queue', () => {
  it('says so', async () => {
    expect(await etl('queue')).toEqual({
      exit: 0,
      err: '',
      out: '0 waiting, 0 delayed, 0 active, 0 failed\n',
    });
  });
});

describe('enqueued runs', () => {
  it('are named by their jobs, and counted', async () => {
    const now = await etl('enqueue', noaa);
    expect(now.out).toMatch(/^Enqueued noaa as run-[\da-f-]{36}\n$/);
    const later = await etl('enqueue', noaa, '--at', '2999-01-01T00:00:00Z', '--dedupe', 'one', '--json');
    expect(JSON.parse(later.out)).toEqual({
      pipeline: 'noaa',
      isNew: true,
      job: expect.stringMatching(/^run-/),
    });
    const again = await etl('enqueue', noaa, '--dedupe', 'one');
    expect(again.out).toBe(
      `A run with the key one is already waiting or running: ${JSON.parse(later.out).job}\n`,
    );
    const counted = JSON.parse((await etl('queue', '--json')).out);
    const depth = {
      waiting: 1,
      delayed: 1,
      active: 0,
      failed: 0,
      isPaused: false,
      oldestAt: expect.stringMatching(/^\d{4}-/),
    };
    expect(counted).toEqual({ ...depth, queues: [{ queue: 'default', ...depth }], failures: [] });
  });

  it('go to the queue that is named, which has a line of its own from then on', async () => {
    await etl('enqueue', noaa, '--queue', 'night', '--at', '2999-01-01T00:00:00Z');
    expect((await etl('queue')).out).toMatch(
      /^default: \d waiting, \d delayed, .*\nnight: 0 waiting, 1 delayed, 0 active, 0 failed\n$/,
    );
    expect((await etl('queue', '--queue', 'night')).out).toBe('0 waiting, 1 delayed, 0 active, 0 failed\n');
    expect(await etl('enqueue', noaa, '--queue', 'no:name')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('ETL_USAGE: the queue `no:name` is not a plain name'),
    });
    expect(await etl('worker', '--pipelines', 'pipelines', '--queues', 'night, Day')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('ETL_USAGE: the queue `Day` is not a plain name'),
    });
    const set = await etl('schedule', 'set', 'nightly', noaa, '--cron', '0 2 * * *', '--queue', 'night');
    expect(set.out).toMatch(/^nightly: noaa at 0 2 \* \* \* UTC, queue night\n/);
    await etl('schedule', 'remove', 'nightly');
  });
});

describe('a secret parameter', () => {
  it('does not go on the queue', async () => {
    const params = z.object({ key: z.string().meta({ secret: true }) });
    const tables = { t: { source: csv('t.csv'), columns: { a: column.text('a') } } };
    const pipeline = definePipeline({ name: 'locked', schema: 'locked', params, tables: () => tables });
    const error = await failureOf(enqueue(pipeline, { databaseUrl: database.url, params: { key: 'k3y' } }));
    expect(error).toMatchObject({ code: 'ETL_USAGE', message: expect.stringContaining('`key` is secret') });
  });
});

describe('a run', () => {
  beforeEach(async () => {
    await withClient(addressFromUrl(database.url), migrate);
    await database.query(
      `insert into etl.run (epoch, table_hashes, pipeline, state, definition_hash, host, pid, workers)
        values (gen_random_uuid(), '{}', 'noaa', 'loading', repeat('0', 64), 'elsewhere', 1, 1)`,
    );
  });

  it('is cancelled once, and enqueued again', async () => {
    expect((await etl('cancel', '1', '--json')).out).toBe('{"run":1,"state":"cancelled"}\n');
    const { rows } = await database.query('select state, error_code from etl.run');
    expect(rows).toEqual([{ state: 'cancelled', error_code: 'ETL_RUN_CANCELLED' }]);
    expect(await etl('cancel', '1')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('error ETL_RUN_OVER: run 1 is cancelled: there is nothing to cancel'),
    });
    expect((await etl('retry', '1')).out).toMatch(/^Enqueued run 1 again as run-/);
  });

  it.each([
    { state: 'failed', code: 'ETL_SERVER_LOST', exit: 0 },
    { state: 'cancelled', code: 'ETL_INTERRUPTED', exit: 0 },
    { state: 'published', code: null, exit: 2 },
  ])('whose job is between two deliveries, $state with $code: exit $exit', async ({ state, code, exit }) => {
    const { rows } = await database.query(
      `insert into etl.run (epoch, table_hashes, pipeline, state, definition_hash, host, pid, workers, job, error_code)
        values (gen_random_uuid(), '{}', 'other', $1, repeat('0', 64), 'elsewhere', 1, 1, 'run-x', $2) returning id::int`,
      [state, code],
    );
    expect(await etl('cancel', String(rows[0]!['id']))).toMatchObject({ exit });
  });

  it('that does not exist is named', async () => {
    expect(await etl('retry', '99')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('ETL_RUN_UNKNOWN'),
    });
  });
});

describe('refused', () => {
  const refusals: readonly { name: string; args: readonly string[]; says: string }[] = [
    {
      name: 'a worker on a folder that is not there',
      args: ['worker', '--pipelines', 'nowhere'],
      says: 'ETL_PIPELINE_FOLDER',
    },
    {
      name: 'a worker on a folder without pipelines',
      args: ['worker', '--pipelines', resolve('docs')],
      says: 'ETL_PIPELINE_FOLDER',
    },
    {
      name: 'a moment that is none',
      args: ['enqueue', noaa, '--at', 'soon'],
      says: "'soon' is not a time such as 2026-05-01T03:00:00Z",
    },
    {
      name: 'an unknown parameter',
      args: ['enqueue', noaa, '--param', 'year=2011'],
      says: 'ETL_PARAM',
    },
  ];
  it.each(refusals)('$name', async ({ args, says }) => {
    expect(await etl(...args)).toMatchObject({ exit: 2, err: expect.stringContaining(says) });
  });
});
