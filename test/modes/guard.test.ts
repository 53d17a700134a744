// Tables that have lost too many rows are not published, unless somebody allows it.

import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, enqueue, retry, sqlFile, type Pipeline } from '../../src/index.ts';
import { main } from '../../src/cli/main.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { until, useWorkers } from '../helpers/workers.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const { files, database, rowsOf, one, etl, run: runIt, startOver } = usePipelineRuns();
const write = (name: string, rows: number): string =>
  files.write(name, ['id', ...Array.from({ length: rows }, (_, id) => id)].join('\n') + '\n');
const idsOf = (table: string) => one(`select count(*)::int from ledge.${table}`);
const chunks = () => rowsOf('select file_id, byte_start, committed_at from etl.chunk order by 1, 2');

files.write('half.sql', 'select id from t where id % 2 = 0');

const columns = { id: column.integer('id') };
const pipeline = (change: object = {}, more: object = {}): Pipeline =>
  definePipeline({
    name: 'ledge',
    schema: 'ledge',
    tables: { t: { source: csv(`${files.directory}/t.csv`), columns, ...change }, ...more },
  });
const derived = { half: { from: ['t'], transform: sqlFile('half.sql') } };
const other = { u: { source: csv(`${files.directory}/u.csv`), columns } };

const run = (given: Pipeline = pipeline(), options: object = {}) => runIt(given, options);

beforeEach(async () => {
  await startOver('ledge');
  write('t.csv', 100);
  write('u.csv', 10);
});

describe('a table that lost its rows', () => {
  const withView = 'create view ledge.v as select * from ledge.t';
  it.each([
    { name: 'swapped', change: {}, before: '' },
    { name: 'replaced in place', change: {}, before: withView },
    { name: 'loaded straight into the new table', change: { staging: 'none' }, before: '' },
  ])('is not published: $name; allowed, it is, and nothing is loaded again', async ({ change, before }) => {
    const given = pipeline(change);
    expect((await run(given)).tables[0]).toMatchObject({ rowsBefore: null, rows: 100 });
    if (before !== '') await database.query(before);
    write('t.csv', 49);
    const error = await failureOf(run(given));
    expect(error).toMatchObject({ code: 'ETL_GUARD', exit: 4, details: { tables: 't' } });
    expect(error.message).toContain(
      'ledge.t: 49 rows, its guard requires at most 50% fewer than the 100 in production',
    );
    expect(error.hint).toContain('`--allow-shrink t` (option `allowShrink`)');
    expect(await idsOf('t')).toBe(100);
    expect(await rowsOf('select state, error_code from etl.run order by id desc limit 1')).toEqual([
      { state: 'failed', error_code: 'ETL_GUARD' },
    ]);
    const loaded = await chunks();
    const notices: string[] = [];
    const hear = (event: { type: string; message?: string }) =>
      void (event.type === 'notice' && notices.push(event.message!));
    const { runId, tables } = await run(given, { allowShrink: ['t'], onEvent: hear });
    expect(runId).toBe(2);
    expect(tables[0]).toMatchObject({ rowsBefore: 100, rows: 49 });
    expect(await chunks()).toEqual(loaded);
    expect(notices.join()).toContain('because allowShrink names the table');
    expect((await run(given)).outcome).toBe('unchanged');
  });

  it('may lose half of them, or the share that it declares, and all of them when it has no guard', async () => {
    await run();
    write('t.csv', 50);
    expect((await run()).tables[0]).toMatchObject({ rowsBefore: 100, rows: 50 });
    write('t.csv', 39);
    const strict = pipeline({ guard: { shrinkMax: '20%' } });
    expect((await failureOf(run(strict))).message).toContain('at most 20% fewer than the 50');
    write('t.csv', 0);
    expect((await run(pipeline({ guard: false }))).tables[0]).toMatchObject({ rowsBefore: 50, rows: 0 });
    // Nothing over nothing is no loss.
    expect((await run(pipeline(), { fullRefresh: true })).tables[0]).toMatchObject({
      rowsBefore: 0,
      rows: 0,
    });
  });

  it('must have as many as it declares, from the first run on', async () => {
    const given = pipeline({ guard: { rowsMin: 1_000 } });
    const error = await failureOf(run(given));
    expect(error.message).toContain('ledge.t: 100 rows, its guard requires at least 1,000');
    write('t.csv', 1_000);
    expect((await run(given)).tables[0]).toMatchObject({ rowsBefore: null, rows: 1_000 });
  });

  it('is named with all others that did, derived ones too, and each is allowed by name', async () => {
    const given = pipeline({}, { ...derived, ...other });
    await run(given);
    write('t.csv', 10);
    write('u.csv', 1);
    const error = await failureOf(run(given));
    expect(error.details['tables']).toBe('t,u,half');
    expect(error.message).toContain('ledge.half: 5 rows, its guard requires at most 50% fewer than the 50');
    const io = fakeIo({ env: { DATABASE_URL: database.url } });
    await main(['status', '2'], io);
    const unpublished = /^(\S+) .* not published *$/gm;
    expect([...io.stdout.text.matchAll(unpublished)].map(([, name]) => name)).toEqual(['t', 'u', 'half']);
    expect((await failureOf(run(given, { allowShrink: ['t', 'half'] }))).details['tables']).toBe('u');
    expect([await idsOf('t'), await idsOf('u'), await idsOf('half')]).toEqual([100, 10, 50]);
    const { tables } = await run(given, { allowShrink: ['t', 'half', 'u'] });
    expect(tables.map(({ rowsBefore, rows }) => [rowsBefore, rows])).toEqual([
      [100, 10],
      [50, 5],
      [10, 1],
    ]);
  });

  it('is judged by what is there: rows that people deleted are not lost, those of a table made by hand are', async () => {
    await run();
    await database.query('delete from ledge.t where id >= 10');
    write('t.csv', 10);
    expect((await run()).tables[0]).toMatchObject({ rowsBefore: 10, rows: 10 });
    await database.query('drop table ledge.t');
    await database.query('create table ledge.t as select id::integer from generate_series(1, 30) as id');
    expect((await failureOf(run())).message).toContain('the 30 in production');
  });

  it('is allowed under a name that it has', async () => {
    const error = await failureOf(run(pipeline(), { allowShrink: ['tt'] }));
    expect(error).toMatchObject({ code: 'ETL_USAGE' });
    expect(error.message).toContain('`tt`, which is not a table of the pipeline; known: t');
  });
});

describe('on the command line, and with workers', () => {
  const file = files.write(
    'pipelines/ledge.ts',
    `import { column, csv, definePipeline } from 'sluice';
    export default definePipeline({ name: 'ledge', schema: 'ledge', tables: {
      t: { source: csv('${files.directory}/t.csv'), columns: { id: column.integer('id') } } } });`,
  );
  const workers = useWorkers(() => ({
    databaseUrl: database.url,
    redis: false,
    pipelines: `${files.directory}/pipelines`,
    workers: 1,
  }));

  it('the exit code is 4, and the summary shows rows before and after', async () => {
    expect((await etl('run', file, '--workers', '1')).out).toMatch(/rows before +rows\n.* – +100\n/);
    write('t.csv', 0);
    const { exit, err } = await etl('run', file, '--workers', '1');
    expect(exit).toBe(4);
    expect(err).toContain('--allow-shrink t');
    const allowed = await etl('run', file, '--workers', '1', '--allow-shrink', 't');
    expect(allowed.out).toMatch(/rows before +rows\n.* 100 +0\n/);
    expect((await etl('status', '2')).out).toMatch(/rows before +rows +published by\n.* 100 +0 +swap\n/);
  });

  it('a worker leaves it unpublished, and goes on with it when it is retried and allowed', async () => {
    await workers.start();
    const done = (message: string, code?: string) =>
      until(() => workers.lines.some((line) => line.message === message && line.code === code));
    const place = { databaseUrl: database.url, redis: false } as const;
    await enqueue(pipeline(), place);
    await done('run ended');
    write('t.csv', 1);
    await enqueue(pipeline(), place);
    await done('run failed', 'ETL_GUARD');
    workers.lines = [];
    expect(await failureOf(retry(2, { ...place, allowShrink: ['s'] }))).toMatchObject({ code: 'ETL_USAGE' });
    await retry(2, { ...place, allowShrink: ['t'] });
    await done('run ended');
    expect(await idsOf('t')).toBe(1);
    write('t.csv', 0);
    workers.lines = [];
    await enqueue(pipeline(), { ...place, allowShrink: ['t'] });
    await done('run ended');
    expect(await idsOf('t')).toBe(0);
  });
});
