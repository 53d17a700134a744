// The library as a guest in somebody else's process: it prints nothing, listens to nothing, leaves nothing open.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../src/db/bookkeeping/migrate.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { column, csv, definePipeline, runPipeline, type RunOptions } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { runTypeScript } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';

const host = fileURLToPath(new URL('../helpers/library-host.ts', import.meta.url));
const files = useFiles();
const database = useDatabase();
files.write('words.csv', 'n,word\n1,a\n2,b\n');
files.write('bad.csv', 'n,word\nx,a\n2,b\n');
for (const n of [1, 2, 3, 4, 5, 6])
  files.write(`packed/${n}.csv.gz`, gzipSync(`n,word\n${`${n},a\n`.repeat(5_000)}`, { level: 0 }));

beforeAll(() => withClient(addressFromUrl(database.url), migrate));

const scenes = [
  { scene: 'publishes', outcome: 'published' },
  { scene: 'has nothing to do', outcome: ['published', 'unchanged'] },
  { scene: 'gathers a profile', outcome: 'published' },
  { scene: 'is over its reject limit', outcome: 'ETL_REJECT_LIMIT' },
  { scene: 'is aborted', outcome: 'ETL_INTERRUPTED' },
  { scene: 'is drained', outcome: 'ETL_INTERRUPTED' },
  { scene: 'has a listener that throws', outcome: 'ETL_LISTENER' },
  { scene: 'has a listener that fails later', outcome: 'ETL_LISTENER' },
  { scene: 'finds no server', outcome: 'ETL_CONNECT' },
  { scene: 'is refused by the server', outcome: 'ETL_CONNECT_AUTH' },
  { scene: 'is given a wrong option', outcome: 'ETL_USAGE' },
  // node-postgres warns of a statement that waits for another one to end.
  { scene: 'loads many streams at once', outcome: 'published' },
  { scene: 'runs beside two others', outcome: ['published', 'published', 'published'] },
  { scene: 'joins a run that is not there', outcome: 'ETL_JOIN_REFUSED' },
];

it('a process with the library says nothing, ends by itself, and finds everything as it was after each run', async () => {
  const reportFile = join(files.directory, 'report.json');
  const args = [reportFile, ...scenes.map(({ scene }) => scene)];
  const env = { DATABASE_URL: database.url };
  const ended = await runTypeScript(host, args, { cwd: files.directory, env });
  expect(ended).toEqual({ exit: 0, out: '', err: '' });
  const reports = JSON.parse(readFileSync(reportFile, 'utf8')) as { readonly before: object }[];
  expect(reports).toEqual(
    scenes.map((scene, place) => {
      const { before } = reports[place]!;
      return { ...scene, before, after: before };
    }),
  );
});

const pipelineOf = (name: string) =>
  definePipeline({
    name,
    schema: name,
    tables: {
      words: { source: csv('words.csv'), columns: { n: column.integer('n'), word: column.text('word') } },
    },
  });

const settings = () => {
  const { hostname, port, pathname, username, password } = new URL(database.url);
  return { host: hostname, port: Number(port), database: pathname.slice(1), user: username, password };
};

const countWords = async (schema: string): Promise<unknown> =>
  (await database.query(`select count(*)::int as n from ${schema}.words`)).rows[0]!.n;

describe('connection settings', () => {
  const run = (name: string, connection: RunOptions['connection']) =>
    runPipeline(pipelineOf(name), { connection, workingDirectory: files.directory, workers: 1 });

  it('of node-postgres do as a URL does', async () => {
    await run('settings', settings());
    expect(await countWords('settings')).toBe(2);
  });

  it('may ask for the password whenever a connection is opened', async () => {
    let asked = 0;
    const password = async (): Promise<string> => {
      asked += 1;
      return settings().password;
    };
    await run('asked', { ...settings(), password });
    expect({ asked: asked > 1, words: await countWords('asked') }).toEqual({ asked: true, words: 2 });
  });

  it('made for short queries do not end a load', async () => {
    const short = { ...settings(), query_timeout: 1, statement_timeout: 1, application_name: 'host', max: 1 };
    await run('short', short);
    expect(await countWords('short')).toBe(2);
  });
});

describe('an option', () => {
  const run = (options: object) =>
    failureOf(runPipeline(pipelineOf('options'), { databaseUrl: database.url, ...options }));

  it.each([
    {
      name: 'that is misspelt is named with the one that was meant',
      options: { databaseURL: 'postgres://me:sesame@db/x' },
      message: 'unknown option `databaseURL`; did you mean `databaseUrl`?',
    },
    {
      name: 'workers: 0',
      options: { workers: 0 },
      message: 'option `workers` must be a whole number from 1 to 100',
    },
    {
      name: 'signal: a text',
      options: { signal: 'stop' },
      message: 'option `signal` must be an AbortSignal',
    },
    {
      name: 'logger: without a method',
      options: { logger: { info: () => undefined } },
      message: 'option `logger` must be an object with the methods debug, info, warn, error',
    },
    {
      name: 'databaseUrl: no text',
      options: { databaseUrl: 5 },
      message: 'option `databaseUrl` must be a text',
    },
    {
      name: 'connection: beside databaseUrl',
      options: { connection: {} },
      message: 'databaseUrl and connection exclude each other',
    },
  ])('$name', async ({ options, message }) => {
    expect(await run(options)).toMatchObject({ code: 'ETL_USAGE', message });
  });

  it('connection: with a URL that is none is refused without its password', async () => {
    const connection = { connectionString: 'postgres://me:sesame@[bad/x' };
    const error = await run({ databaseUrl: undefined, connection });
    expect({ code: error.code, text: JSON.stringify(error) + error.stack }).toEqual({
      code: 'ETL_USAGE',
      text: expect.not.stringContaining('sesame'),
    });
  });
});

it('a pipeline that definePipeline has not made is refused', async () => {
  const likeOne = JSON.parse(JSON.stringify(pipelineOf('copy')));
  expect(await failureOf(runPipeline(likeOne, { databaseUrl: database.url }))).toMatchObject({
    code: 'ETL_USAGE',
    message: 'the pipeline was not made by definePipeline',
  });
});
