// What fails before there was a run is kept, and shown by `etl status` and `etl queue` by name and reason.

import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, enqueue, queueState, runPipeline, schedule } from '../../src/index.ts';
import { main } from '../../src/cli/main.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { forgetRuns } from '../helpers/server.ts';
import { until, useWorkers } from '../helpers/workers.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

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
  it('that does not find its file is listed by status, with the reason, each attempt by itself', async () => {
    const lost = file('lost', 'nowhere.csv');
    for (const _ of ['night', 'morning']) expect((await etl('run', lost, '--quiet')).exit).toBe(1);
    await etl('run', file('good', 'here.csv'), '--quiet');
    const { out } = await etl('status');
    expect(out).toMatch(/^1 pipeline failed at the newest attempt: lost \(ETL_SOURCE_NOT_FOUND\)\n/);
    expect(out).toMatch(/good +published/);
    expect(out).toMatch(
      /Failures before a run began, newest first:\n[-\d]+ [:\d]+ lost on .+\n {2}ETL_SOURCE_NOT_FOUND: .*nowhere\.csv/,
    );
    const listed = JSON.parse((await etl('status', '--json')).out);
    const failure = expect.objectContaining({
      id: null,
      pipeline: 'lost',
      state: 'failed',
      errorCode: 'ETL_SOURCE_NOT_FOUND',
      error: expect.stringContaining('nowhere.csv'),
      job: null,
    });
    const good = expect.objectContaining({ id: 1, pipeline: 'good', state: 'published' });
    expect(listed).toEqual([good, failure, failure]);
  });

  const early = [
    { name: 'a definition', code: 'ETL_DEFINITION', text: 'export default definePipeline({ name: 1 });' },
    { name: 'its file', code: 'ETL_PIPELINE_FILE', text: "throw new Error('half edited');" },
    { name: 'a parameter', code: 'ETL_PARAM', args: ['--param', 'year=2011'] },
    { name: 'its name', code: 'ETL_PIPELINE_UNKNOWN', run: 'gone' },
  ];
  it.each(early)(
    'that fails by $name is recorded, until it succeeds',
    async ({ code, text, args = [], run }) => {
      const path = file('early', 'here.csv');
      if (text !== undefined)
        files.write('pipelines/early.ts', `import { definePipeline } from 'sluice'; ${text}`);
      expect((await etl('run', run ?? path, ...args)).exit).not.toBe(0);
      const pipeline = run ?? 'early';
      expect(await kept()).toEqual([{ pipeline, code }]);
      expect((await etl('status')).out).toContain(`newest attempt: ${pipeline} (${code})`);
      if (run !== undefined) return;
      await runPipeline(define('early', 'here.csv'), place());
      expect((await etl('status')).out).not.toContain(code);
      expect((await etl('runs')).out).toContain(code);
    },
  );

  it.each(['gone', 'pipelines/gone.ts', 'folder/gone.ts', 'pipelines'])(
    'of %s, mistyped on a terminal, is not recorded, and of a scheduler it is',
    async (typed) => {
      file('good', 'here.csv');
      await runPipeline(define('good', 'here.csv'), place());
      const env = { ETL_PIPELINES: `${files.directory}/pipelines`, DATABASE_URL: database.url };
      const args = ['run', typed.includes('pipelines') ? `${files.directory}/${typed}` : typed];
      for (const [isTTY, failures] of [
        [true, 0],
        [false, 1],
      ] as const) {
        expect(await main(args, fakeIo({ stderr: { isTTY }, env }))).not.toBe(0);
        expect(await kept()).toHaveLength(failures);
      }
    },
  );

  it('of a file with another name than its pipeline ends the failures of the file', async () => {
    const path = `${files.directory}/elsewhere/other-name.ts`;
    files.write('elsewhere/other-name.ts', "throw new Error('half edited');");
    await runPipeline(define('good', 'here.csv'), place());
    expect((await etl('run', path)).exit).not.toBe(0);
    expect((await etl('status')).out).toContain('newest attempt: other-name (ETL_PIPELINE_FILE)');
    files.write('elsewhere/other-name.ts', readFileSync(file('good', 'here.csv'), 'utf8'));
    expect((await etl('run', path, '--quiet')).exit).toBe(0);
    expect((await etl('status')).out).not.toContain('other-name');
  });

  it('of the library that is refused before it connects is recorded', async () => {
    await runPipeline(define('good', 'here.csv'), place());
    const asked = { ...place(), params: { year: 2011 } };
    await failureOf(runPipeline(define('good', 'here.csv'), asked));
    expect(await kept()).toEqual([{ pipeline: 'good', code: 'ETL_PARAM' }]);
  });

  it('that finds nothing to do ends the failures before it', async () => {
    await runPipeline(define('good', 'here.csv'), place());
    await failureOf(runPipeline(define('good', 'nowhere.csv'), place()));
    const failing = async () => (await etl('status')).out.match(/^1 pipeline failed .*/)?.[0];
    expect(await failing()).toContain('good (ETL_SOURCE_NOT_FOUND)');
    expect((await runPipeline(define('good', 'here.csv'), place())).outcome).toBe('unchanged');
    expect(await failing()).toBeUndefined();
    await failureOf(runPipeline(define('good', 'nowhere.csv'), place()));
    expect(await failing()).toContain('good (ETL_SOURCE_NOT_FOUND)');
  });

  it('that failed is not hidden by newer runs of others', async () => {
    files.write('bad.csv', 'id\nnone\n');
    await failureOf(runPipeline(define('bad', 'bad.csv'), place()));
    await runPipeline(define('good', 'here.csv'), place());
    await database.query(`insert into etl.run (pipeline, state, definition_hash, table_hashes, host, pid, workers, epoch,
      started_at, finished_at) select 'other', 'published', '', '{}', 'h', 1, 1, gen_random_uuid(), now(), now()
      from generate_series(1, 100)`);
    const { out } = await etl('status');
    expect(out).toMatch(/^1 pipeline failed at the newest attempt: bad \(ETL_REJECT_LIMIT\)\n/);
    expect(out).toMatch(/1 +bad +failed/);
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

  it('is not forgotten when another one fails all the time', async () => {
    await failureOf(runPipeline(define('lost', 'nowhere.csv'), place()));
    await database.query(`insert into etl.failure (pipeline, queue, host, pid, error_code, error)
      select 'often', 'default', 'h', 1, 'ETL_PARAM', n::text from generate_series(1, 100) as n`);
    await failureOf(runPipeline(define('often', 'nowhere.csv'), place()));
    const counts = `select pipeline, count(*)::int as n from etl.failure group by 1 order by 1`;
    expect((await database.query(counts)).rows).toEqual([
      { pipeline: 'lost', n: 1 },
      { pipeline: 'often', n: 50 },
    ]);
    await database.query(`insert into etl.failure (pipeline, queue, host, pid, error_code, error)
      select 'p' || n, 'default', 'h', 1, 'ETL_PARAM', '' from generate_series(1, 5000) as n`);
    await failureOf(runPipeline(define('often', 'nowhere.csv'), place()));
    expect((await database.query(`select count(*)::int as n from etl.failure`)).rows).toEqual([{ n: 5_000 }]);
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
