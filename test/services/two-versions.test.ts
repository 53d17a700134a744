// Processes of this version beside those of a later one, which is this one with a migration more.

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { enqueue, loadPipelineFile, runPipeline, type Pipeline } from '../../src/index.ts';
import { compileCopy } from '../helpers/compiled-copy.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { until, useWorkers } from '../helpers/workers.ts';

const database = useDatabase();
const { directory, write } = useFiles();
const place = () => ({ databaseUrl: database.url, redis: false as const, workingDirectory: directory });
const workers = useWorkers(() => ({ ...place(), pipelines: join(directory, 'pipelines'), workers: 1 }));

const pipelineText = (name: string): string => `
import { column, csv, definePipeline, sqlFile } from 'sluice';
export default definePipeline({
  name: '${name}',
  schema: '${name}',
  tables: {
    word: { source: csv('words.csv'), columns: { n: column.integer('n') } },
    sum: { from: ['word'], transform: sqlFile('${name}.sql') },
  },
});
`;

let later: string;
const pipelines: Record<string, Pipeline> = {};
const env = () => ({ ...process.env, DATABASE_URL: database.url });
const ofLater = (...args: string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(process.execPath, [later, ...args], { cwd: directory, env: env() }, (error, out) =>
      error === null ? resolve(out) : reject(error),
    );
  });

beforeAll(async () => {
  mkdirSync(join(directory, 'later'));
  later = compileCopy(join(directory, 'later'));
  const migrations = join(directory, 'later/dist/db/bookkeeping/migrations');
  writeFileSync(join(migrations, '0999_later.sql'), 'create table etl.later (id integer primary key);\n');
  write('words.csv', 'n\n1\n2\n');
  write('pipelines/quick.sql', 'select n from word');
  // Waits as long as the test holds the lock, and only if there are rows.
  write('pipelines/slow.sql', 'select n, pg_advisory_xact_lock_shared(4711)::text as held from word');
  for (const name of ['quick', 'slow']) {
    write(`pipelines/${name}.ts`, pipelineText(name));
    pipelines[name] = (await loadPipelineFile(join(directory, `pipelines/${name}.ts`))).pipeline;
  }
}, 300_000);
afterEach(async () => {
  await database.query('drop schema if exists etl, etl_queue, etl_staging cascade');
});

it('an earlier worker hands a run back, and writes nothing any more', async () => {
  await workers.start();
  await ofLater('enqueue', 'pipelines/quick.ts');
  await until(() => workers.lines.some(({ message }) => message === 'the job is handed back'));
  expect(workers.lines.find(({ message }) => message === 'the job is handed back')).toMatchObject({
    level: 'error',
    code: 'ETL_SCHEMA_NEWER',
  });
  const own = { ...place(), directory: join(directory, 'pipelines') };
  for (const ask of [enqueue, runPipeline])
    expect(await failureOf(ask(pipelines['quick']!, own))).toMatchObject({ code: 'ETL_SCHEMA_NEWER' });
});

it('a run that is under way while a later version migrates is finished by the earlier one', async () => {
  await database.query('select pg_advisory_lock(4711)');
  const run = runPipeline(pipelines['slow']!, { ...place(), directory: join(directory, 'pipelines') });
  const waits = `select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted`;
  await until(async () => (await database.query(waits)).rowCount! > 0);
  await ofLater('queue');
  expect((await database.query(`select to_regclass('etl.later')::text as later`)).rows).toEqual([
    { later: 'etl.later' },
  ]);
  await database.query('select pg_advisory_unlock(4711)');
  expect(await run).toMatchObject({ outcome: 'published' });
});
