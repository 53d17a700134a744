// Hooks: what SQL files and functions of a pipeline see at each point of a run, and what their failures mean.

import { beforeEach, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  enqueue,
  loadPipelineFile,
  rollbackPipeline,
  sqlFile,
  type HookContext,
  type Pipeline,
  type RunEvent,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { until, useWorkers } from '../helpers/workers.ts';

const { files, database, notices, one, settings, run: runIt, startOver } = usePipelineRuns();
const workers = useWorkers(() => ({ pipelines: 'pipelines' }));
const write = (content: string): string => files.write('in/a.csv', `id\n${content}\n`);

const pipeline = (hooks: object): Pipeline =>
  definePipeline({
    name: 'sales',
    schema: 'shop',
    tables: {
      sale: { source: csv('in/*.csv'), columns: { id: column.integer('id') }, keep: 1, guard: false },
    },
    hooks,
  });
const options = () => ({
  ...settings(),
  onEvent: (event: RunEvent) => event.type === 'notice' && notices.push(event.message),
});
const run = (hooks: object, more: object = {}) => runIt(pipeline(hooks), more);
/** The log of the hooks, in the order of their commits. */
const log = () => one(`select coalesce(string_agg(what, ' ' order by at), '') from shop.log`);

beforeEach(async () => {
  await startOver('shop');
  await database.query(`create schema shop;
    create table shop.log (what text, at timestamptz default clock_timestamp())`);
  files.write(
    'log.sql',
    `-- two statements\ninsert into log values ('sql'); insert into log select 'rows:' || count(*) from sale;`,
  );
});

it('are called in order: SQL where SQL files of tables find names, functions with what is known', async () => {
  write('1\n2');
  const seen: HookContext[] = [];
  const note = async (context: HookContext) => {
    seen.push(context);
    await context.query('insert into log values ($1)', [context.hook]);
  };
  const hooks = { before: note, after: note, publishing: sqlFile('log.sql'), published: note };
  expect(await run(hooks)).toMatchObject({ runId: 1, outcome: 'published' });
  expect(await log()).toBe('before after sql rows:2 published');
  expect(
    seen.map(({ runId, pipeline: name, tables: [table] }) => [name, runId, table!.copied, table!.rows]),
  ).toEqual([
    ['sales', 1, 0, null],
    ['sales', 1, 2, null],
    ['sales', 1, 2, 2],
  ]);
  // Nothing to do, nothing to call; and what hooks say is not what tables hold.
  expect((await run({ published: sqlFile('log.sql') })).outcome).toBe('unchanged');
  expect(await log()).toBe('before after sql rows:2 published');
  // Going back is a publication as well.
  write('1');
  await run({ publishing: sqlFile('log.sql') });
  await rollbackPipeline(pipeline({ publishing: sqlFile('log.sql'), published: note }), options());
  expect(await log()).toBe('before after sql rows:2 published sql rows:1 sql rows:2 published');
});

it.each([
  { hook: 'before', calls: 2 },
  { hook: 'after', calls: 2 },
  { hook: 'publishing', calls: 1 },
])('an error of $hook publishes nothing, and the next run continues', async ({ hook }) => {
  write('1');
  await run({});
  write('1\n2');
  files.write('bad.sql', `insert into log values ('lost');\nselect 1 / 0 as x;\nselect nothing from nowhere`);
  const error = await failureOf(run({ [hook]: sqlFile('bad.sql') }));
  expect(error.code).toBe('ETL_HOOK');
  expect(error.message).toMatch(
    hook === 'publishing'
      ? /^hook publishing bad\.sql failed: 22012 division by zero/
      : new RegExp(`^hook ${hook} bad\\.sql failed: 22012 division by zero`),
  );
  expect(await one("select string_agg(id::text, ' ') from shop.sale")).toBe('1');
  expect(await log()).toBe('');
  expect(await one('select state from etl.run where id = 2')).toBe('failed');
  expect(await run({ [hook]: sqlFile('log.sql') })).toMatchObject({ runId: 2, outcome: 'published' });
  expect(await log()).toMatch(/^sql rows:/);
});

it('a place in the file is named, the transaction cannot be ended, and files must be there', async () => {
  write('1');
  files.write('typo.sql', 'select 1;\nselect\n  idd from log');
  expect((await failureOf(run({ before: sqlFile('typo.sql') }))).message).toBe(
    'hook before typo.sql:3:3 failed: 42703 column "idd" does not exist',
  );
  files.write('commit.sql', 'commit');
  expect(await failureOf(run({ publishing: sqlFile('commit.sql') }))).toMatchObject({ code: 'ETL_HOOK' });
  expect(await one(`select to_regclass('shop.sale') is null`)).toBe(true);
  expect(await failureOf(run({ published: sqlFile('none.sql') }))).toMatchObject({
    code: 'ETL_TRANSFORM_FILE',
  });
  expect(() => pipeline({ publishing: () => undefined })).toThrow('publishing');
  expect(() => pipeline({ afterwards: sqlFile('log.sql') })).toThrow('unknown key `afterwards`');
});

it('an error after publication leaves the run published, and is not called again', async () => {
  write('1');
  const hooks = {
    published: () => {
      throw new Error('no mail');
    },
  };
  const error = await failureOf(run(hooks));
  expect(error).toMatchObject({ code: 'ETL_HOOK', message: 'hook published failed: no mail' });
  expect(error.hint).toContain('The run is published.');
  expect(await one(`select state || ' ' || error_code || ' ' || hook_pending from etl.run`)).toBe(
    'published ETL_HOOK false',
  );
  expect((await run(hooks)).outcome).toBe('unchanged');
});

it('one that takes too long, or whose run is stopped, ends; what was owed is called by the next run', async () => {
  write('1');
  files.write('sleep.sql', 'select pg_sleep(600)');
  const never = () => new Promise<void>(() => undefined);
  for (const hook of [sqlFile('sleep.sql'), never])
    expect((await failureOf(run({ before: hook, timeoutMs: 100 }))).message).toMatch(
      /^hook before.* failed: /,
    );
  expect(await failureOf(run({ publishing: sqlFile('sleep.sql'), timeoutMs: 100 }))).toMatchObject({
    code: 'ETL_HOOK',
  });
  const stop = new AbortController();
  const hooks = {
    published: async ({ query }: HookContext) => {
      stop.abort(new Error('SIGTERM'));
      await query('select pg_sleep(600)');
    },
  };
  expect(await failureOf(run(hooks, { signal: stop.signal }))).toMatchObject({ code: 'ETL_INTERRUPTED' });
  expect(await one('select id from shop.sale')).toBe(1);
  // One that an earlier run owes is not called after it.
  await database.query(`insert into etl.run (id, pipeline, state, definition_hash, table_hashes, host, pid, workers, epoch, hook_pending)
    overriding system value select 0, pipeline, 'published', '', '{}', host, pid, 1, epoch, true from etl.run`);
  expect((await run({ published: sqlFile('log.sql') })).outcome).toBe('unchanged');
  expect(notices).toContain('the hook published of run 1 was cut off, and is called again');
  expect(await log()).toBe('sql rows:1');
  expect((await run({ published: sqlFile('log.sql') })).outcome).toBe('unchanged');
  expect(await log()).toBe('sql rows:1');
});

it('are called by a worker that does the run, functions and SQL alike', async () => {
  write('1\n2');
  files.write(
    'pipelines/sales.ts',
    `import { column, csv, definePipeline, sqlFile } from 'sluice';
    export default definePipeline({
      name: 'sales', schema: 'shop',
      tables: { sale: { source: csv('in/*.csv'), columns: { id: column.integer('id') } } },
      hooks: {
        before: ({ query, hook }) => query('insert into log values ($1)', [hook]).then(() => undefined),
        publishing: sqlFile('../log.sql'),
      },
    });`,
  );
  const place = { databaseUrl: database.url, redis: false } as const;
  const folder = `${files.directory}/pipelines`;
  await workers.start({ ...place, pipelines: folder, workingDirectory: files.directory, workers: 1 });
  const loaded = await loadPipelineFile(`${folder}/sales.ts`);
  await enqueue(loaded.pipeline, { ...place, directory: loaded.directory });
  await until(async () => (await one(`select count(*)::int from etl.run where state = 'published'`)) === 1);
  expect(await log()).toBe('before sql rows:2');
});
