// Schedules that look at files: a run for what is new, none for what is not, whichever worker dies.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadPipelineFile, queueState, schedule, type Pipeline, type Schedule } from '../../src/index.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { withClient } from '../../src/db/client.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useHttpFiles } from '../helpers/http-files.ts';
import { etlArgs } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';
import { queueKinds, until, usePlace, useWorkers } from '../helpers/workers.ts';

const http = useHttpFiles();

/** Pipelines, by name, with the location of their files. */
const sources = (): Readonly<Record<string, string>> => ({
  inbox: `csv('inbox/*.csv')`,
  marked: `csv('marked/*.csv', { ready: '.done' })`,
  web: `csv('${http.url('/a.csv')}', { allowPrivate: true })`,
  held: `csv('held/*.csv')`,
  keyed: `csv('keyed/*.csv', { onBadFile: 'stop' })`,
});

const pipelineText = (name: string, source: string): string => `
  import { column, csv, definePipeline } from 'sluice';
  export default definePipeline({
    name: '${name}',
    schema: '${name}',
    tables: { t: { source: ${source}, columns: { n: column.integer('n') }, primaryKey: ['n'], publish: '${name === 'web' ? 'replace' : 'append'}' } },
  });`;

describe.each(queueKinds)('a schedule that looks at files, with its queue in $kind', ({ kind }) => {
  const database = useDatabase();
  const files = useFiles();
  const { directory } = files;
  const folder = join(directory, 'pipelines');
  const pipelines = new Map<string, Pipeline>();
  const { place, loseJobs } = usePlace(kind, database);
  const children: ChildProcess[] = [];
  const workers = useWorkers(() => ({
    ...place(),
    pipelines: folder,
    workingDirectory: directory,
    workers: 1,
  }));

  beforeAll(async () => {
    mkdirSync(folder);
    for (const [name, source] of Object.entries(sources())) {
      writeFileSync(join(folder, `${name}.ts`), pipelineText(name, source));
      pipelines.set(name, (await loadPipelineFile(join(folder, `${name}.ts`))).pipeline);
    }
  });
  beforeEach(async () => {
    await withClient(addressFromUrl(database.url), migrate);
    for (const name of ['inbox', 'marked', 'held', 'keyed']) {
      rmSync(join(directory, name), { recursive: true, force: true });
      mkdirSync(join(directory, name));
    }
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await database.query('delete from etl.schedule; delete from etl.schedule_slot; delete from etl.failure');
    for (const name of pipelines.keys()) await database.query(`drop schema if exists ${name} cascade`);
    await loseJobs();
  });

  const set = (name: string, options = {}): Promise<Schedule> =>
    schedule.set(name, pipelines.get(name)!, {
      ...place(),
      on: 'files',
      everyMs: 1_000,
      directory: folder,
      ...options,
    });
  const found = async (name: string): Promise<Schedule> =>
    (await schedule.list(place())).find((each) => each.name === name)!;
  const slots = (name: string) => schedule.history(name, place());
  const states = async (name: string): Promise<readonly (string | null)[]> =>
    (await slots(name)).map(({ state }) => state);
  const rows = async (name: string): Promise<number> =>
    (await database.query(`select count(*)::int as n from ${name}.t`)).rows[0]!.n;
  /** Waits until workers have looked a few times more. */
  const looks = async (name: string, times = 3): Promise<void> => {
    const next = async (): Promise<number> =>
      Number(
        (await database.query(`select next_slot from etl.schedule where name = '${name}' and looker is null`))
          .rows[0]?.['next_slot'] ?? 0,
      );
    let last = await next();
    for (let seen = 0; seen < times;) {
      await until(async () => ![0, last].includes(await next()));
      last = await next();
      seen += 1;
    }
  };
  const ended = (name: string, ...expected: string[]): Promise<void> =>
    until(async () => JSON.stringify(await states(name)) === JSON.stringify(expected.toReversed()));

  it('enqueues one run for each arrival, and none for files that are loaded', async () => {
    await set('inbox');
    await workers.start();
    await looks('inbox');
    expect(await slots('inbox')).toEqual([]);
    files.write('inbox/a.csv', 'n\n1\n');
    await ended('inbox', 'published');
    files.write('inbox/b.csv', 'n\n2\n');
    await ended('inbox', 'published', 'published');
    rmSync(join(directory, 'inbox/a.csv'));
    await looks('inbox');
    expect(await states('inbox')).toEqual(['published', 'published']);
    expect(await rows('inbox')).toBe(2);
    expect(await found('inbox')).toMatchObject({ cron: null, everyMs: 1_000, next: [], lookError: null });
    expect(await queueState(place())).toMatchObject({ failed: 0, failures: [] });
  });

  it('of two workers, one looks at a time, and one run is enqueued', async () => {
    await Promise.all([workers.start({}, 'first'), workers.start({}, 'second')]);
    await set('inbox');
    files.write('inbox/a.csv', 'n\n1\n');
    await ended('inbox', 'published');
    await looks('inbox');
    expect(await slots('inbox')).toHaveLength(1);
    expect(workers.lines.filter(({ message }) => message === 'files have arrived')).toHaveLength(1);
  });

  it('waits for the marker of a file', async () => {
    await set('marked');
    await workers.start();
    files.write('marked/a.csv', 'n\n1\n');
    await looks('marked');
    expect(await slots('marked')).toEqual([]);
    files.write('marked/a.csv.done', '');
    await ended('marked', 'published');
    expect(await rows('marked')).toBe(1);
  });

  it('a file that a run holds back causes another run only when it changes', async () => {
    await set('held');
    await workers.start();
    files.write('held/a.csv', 'n\n1\n');
    files.write('held/bad.csv', 'other\n1\n');
    await ended('held', 'published');
    await looks('held');
    files.write('held/worse.csv', 'other\n1\n');
    await ended('held', 'published', 'unchanged');
    await looks('held');
    expect(await states('held')).toEqual(['unchanged', 'published']);
    files.write('held/bad.csv', 'n\n3\n');
    await ended('held', 'published', 'unchanged', 'published');
    expect(await rows('held')).toBe(2);
  });

  it('a run that fails is not enqueued again before a file changes', async () => {
    await set('keyed');
    await workers.start();
    files.write('keyed/a.csv', 'n\n1\n1\n');
    await ended('keyed', 'ETL_DUPLICATE_KEY');
    await looks('keyed');
    expect(await states('keyed')).toEqual(['ETL_DUPLICATE_KEY']);
    files.write('keyed/a.csv', 'n\n1\n2\n');
    await ended('keyed', 'ETL_DUPLICATE_KEY', 'published');
    expect(await rows('keyed')).toBe(2);
  });

  it('a folder that is gone is one failed attempt, not one for each look', async () => {
    files.write('inbox/a.csv', 'n\n1\n');
    renameSync(join(directory, 'inbox'), join(directory, 'away'));
    await set('inbox');
    await workers.start();
    await looks('inbox');
    const kept = async () =>
      (await database.query('select pipeline, job, error_code as code from etl.failure')).rows;
    expect(await kept()).toEqual([{ pipeline: 'inbox', job: null, code: 'ETL_SOURCE_NOT_FOUND' }]);
    expect(await found('inbox')).toMatchObject({ lookError: 'ETL_SOURCE_NOT_FOUND' });
    expect(await slots('inbox')).toEqual([]);
    renameSync(join(directory, 'away'), join(directory, 'inbox'));
    await ended('inbox', 'published');
    expect(await found('inbox')).toMatchObject({ lookError: null });
    expect(await kept()).toHaveLength(1);
  });

  it('sees a file on a web server change', async () => {
    http.put('/a.csv', 'n\n1\n');
    await set('web');
    await workers.start();
    await ended('web', 'published');
    http.put('/a.csv', 'n\n1\n2\n');
    await ended('web', 'published', 'published');
    await looks('web');
    expect(await states('web')).toHaveLength(2);
    expect(await rows('web')).toBe(2);
  });

  it('does nothing while it is paused, and then sees what has arrived', async () => {
    await set('inbox');
    await schedule.pause('inbox', place());
    await workers.start();
    files.write('inbox/a.csv', 'n\n1\n');
    await set('held');
    await looks('held');
    expect(await slots('inbox')).toEqual([]);
    await schedule.resume('inbox', place());
    await ended('inbox', 'published');
  });

  it('looks again after the clock of the server was set back', async () => {
    await set('inbox');
    await workers.start();
    await looks('inbox', 1);
    await database.query(`update etl.schedule set next_slot = next_slot + interval '1 day'`);
    files.write('inbox/a.csv', 'n\n1\n');
    await ended('inbox', 'published');
    expect(await rows('inbox')).toBe(1);
  });

  it('a worker that is killed while it looks is replaced', async () => {
    http.put('/a.csv', 'n\n1\n');
    let isAsked = false;
    http.trouble = () => (isAsked = true);
    await set('web');
    const env = {
      ...process.env,
      DATABASE_URL: database.url,
      ETL_REDIS_URL: undefined,
      REDIS_URL: undefined,
    };
    const { redis } = place();
    const child = spawn(process.execPath, etlArgs(['worker', '--pipelines', folder]), {
      cwd: directory,
      env: redis === false ? env : { ...env, REDIS_URL: redis.url },
      stdio: 'ignore',
    });
    children.push(child);
    await until(() => isAsked);
    child.kill('SIGKILL');
    await once(child, 'exit');
    http.trouble = undefined;
    await workers.start();
    await ended('web', 'published');
    expect(await slots('web')).toHaveLength(1);
  });
});

it.each([
  { given: {}, problem: /needs cron/ },
  { given: { on: 'files', cron: '0 0 1 1 *' }, problem: /do not go with on/ },
  { given: { on: 'files', catchUp: true }, problem: /do not go with on/ },
  { given: { on: 'files', everyMs: 10 }, problem: /1000 at least/ },
  { given: { cron: '0 0 1 1 *', everyMs: 10_000 }, problem: /goes with on/ },
  { given: { on: 'sometimes' }, problem: /must be 'files'/ },
])('$given is refused', async ({ given, problem }) => {
  const { definePipeline, csv, column } = await import('../../src/index.ts');
  const pipeline = definePipeline({
    name: 'p',
    schema: 'p',
    tables: { t: { source: csv('a.csv'), columns: { n: column.integer('n') } } },
  });
  const error = await failureOf(schedule.set('p', pipeline, given as never));
  expect(error).toMatchObject({ code: 'ETL_SCHEDULE_INVALID', message: expect.stringMatching(problem) });
});
