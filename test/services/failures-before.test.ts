// What fails before there was a run is kept, and shown by `etl status` and `etl queue` by name and reason.

import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, enqueue, queueState, runPipeline, schedule } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { forgetRuns } from '../helpers/server.ts';
import { until, useWorkers } from '../helpers/workers.ts';

const { files, database, etl } = usePipelineRuns();
const place = () => ({ databaseUrl: database.url, redis: false }) as const;
const file = (name: string, source: string): string =>
  files.write(
    `pipelines/${name}.ts`,
    `import { column, csv, definePipeline } from 'sluice';
    export default definePipeline({ name: '${name}', schema: 'early', tables: {
      t: { source: csv('${files.directory}/${source}'), columns: { id: column.integer('id') } } } });`,
  );
const kept = async () =>
  (await database.query('select pipeline, error_code as code from etl.failure order by id')).rows;
const define = (name: string, source: string, header = 'id') =>
  definePipeline({
    name,
    schema: 'early',
    tables: { t: { source: csv(`${files.directory}/${source}`), columns: { id: column.integer(header) } } },
  });

files.write('here.csv', 'id\n1\n');
files.write('other.csv', 'number\n1\n');

beforeEach(async () => {
  await database.query(`drop schema if exists early cascade; ${forgetRuns}`);
});

describe('a plain run', () => {
  it('that does not find its file is listed by status, with the reason, and once for a while', async () => {
    const lost = file('lost', 'nowhere.csv');
    for (const _ of ['night', 'morning']) expect((await etl('run', lost, '--quiet')).exit).toBe(1);
    await etl('run', file('good', 'here.csv'), '--quiet');
    const { out } = await etl('status');
    expect(out).toMatch(/good +published/);
    expect(out).toMatch(
      /Failures before a run began, newest first:\n[-\d]+ [:\d]+ lost on .+\n {2}ETL_SOURCE_NOT_FOUND: .*nowhere\.csv/,
    );
    const listed = JSON.parse((await etl('status', '--json')).out);
    expect(listed).toEqual([
      expect.objectContaining({ id: 1, pipeline: 'good', state: 'published' }),
      expect.objectContaining({
        id: null,
        pipeline: 'lost',
        state: 'failed',
        errorCode: 'ETL_SOURCE_NOT_FOUND',
        error: expect.stringContaining('nowhere.csv'),
        job: null,
      }),
    ]);
  });

  it('leaves an unfinished run as it is: the failure is none of its own', async () => {
    const stop = new AbortController();
    const stopped = runPipeline(define('good', 'here.csv'), {
      ...place(),
      signal: stop.signal,
      onEvent: ({ type }) => type === 'building' && stop.abort(),
    });
    await failureOf(stopped);
    await failureOf(runPipeline(define('good', 'other.csv'), place()));
    expect(await kept()).toEqual([{ pipeline: 'good', code: 'ETL_HEADER_MISSING' }]);
    expect((await runPipeline(define('good', 'here.csv'), place())).runId).toBe(1);
  });

  it('is forgotten when a thousand others failed after it', async () => {
    await failureOf(runPipeline(define('lost', 'nowhere.csv'), place()));
    await database.query(`insert into etl.failure (pipeline, queue, host, pid, error_code, error)
      select 'often', 'default', 'h', 1, 'ETL_PARAM', n::text from generate_series(1, 1000) as n`);
    await failureOf(runPipeline(define('newest', 'nowhere.csv'), place()));
    const { rows } = await database.query(`select count(*)::int as n, min(error) as first,
      count(*) filter (where pipeline = 'newest')::int as newest from etl.failure`);
    expect(rows).toEqual([{ n: 1_000, first: expect.any(String), newest: 1 }]);
    expect(await kept()).not.toContainEqual({ pipeline: 'lost', code: 'ETL_SOURCE_NOT_FOUND' });
  });
});

describe('a job of the queue', () => {
  const workers = useWorkers(() => ({ ...place(), pipelines: `${files.directory}/pipelines`, workers: 1 }));

  it('that fails before its run is listed by queue and status: by name, job and reason', async () => {
    for (const [name, source] of [
      ['good', 'here.csv'],
      ['lost', 'nowhere.csv'],
      ['headless', 'other.csv'],
    ] as const)
      file(name, source);
    await workers.start();
    const failed = (code: string) =>
      until(() => workers.lines.some((line) => line.code === code && line.message === 'run failed'));
    const { job } = await enqueue(define('nobody', 'here.csv'), place());
    await failed('ETL_PIPELINE_UNKNOWN');
    await enqueue(define('good', 'here.csv', 'ID'), place());
    await failed('ETL_DEFINITION_DIFFERS');
    await enqueue(define('lost', 'nowhere.csv'), place());
    await failed('ETL_SOURCE_NOT_FOUND');
    await enqueue(define('headless', 'other.csv'), place());
    await failed('ETL_HEADER_MISSING');
    expect(await kept()).toEqual([
      { pipeline: 'nobody', code: 'ETL_PIPELINE_UNKNOWN' },
      { pipeline: 'good', code: 'ETL_DEFINITION_DIFFERS' },
      { pipeline: 'lost', code: 'ETL_SOURCE_NOT_FOUND' },
      { pipeline: 'headless', code: 'ETL_HEADER_MISSING' },
    ]);
    const { failures } = await queueState({ ...place(), queue: 'default' });
    expect(failures.at(-1)).toMatchObject({ pipeline: 'nobody', job, errorCode: 'ETL_PIPELINE_UNKNOWN' });
    expect((await queueState({ ...place(), queue: 'elsewhere' })).failures).toEqual([]);
    for (const command of ['queue', 'status'])
      expect((await etl(command)).out).toMatch(
        new RegExp(`nobody on .*, job ${job}\\n  ETL_PIPELINE_UNKNOWN: there is no pipeline nobody`),
      );
  });

  it('that fails with its run is in etl.run alone; a slot that cannot be served is kept', async () => {
    file('good', 'here.csv');
    await workers.start();
    files.write('here.csv', 'id\nnone\n');
    await enqueue(define('good', 'here.csv'), place());
    await until(() => workers.lines.some(({ code }) => code === 'ETL_REJECT_LIMIT'));
    expect(await kept()).toEqual([]);
    files.write('here.csv', 'id\n1\n');
    await schedule.set('broken', define('good', 'here.csv'), { ...place(), cron: '* * * * *' });
    await database.query(`update etl.schedule set cron = 'never', next_slot = now()`);
    await until(async () => (await kept()).length > 0);
    expect(await kept()).toEqual([{ pipeline: 'good', code: 'ETL_SCHEDULE_INVALID' }]);
  });
});
