// Options of csv() for the places of files: each belongs to a source, and secrets are only ever names.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { column, csv, definePipeline, env, runPipeline } from '../../../../src/index.ts';
import { definitionHash } from '../../../../src/pipeline/hash.ts';
import { bindPipeline } from '../../../../src/pipeline/bind.ts';
import { failureOf } from '../../../helpers/failure.ts';

const url = 'https://data.example.com/a.csv';

const pipelineOf = (paths: unknown, options: object) =>
  definePipeline({
    name: 'p',
    schema: 'p',
    tables: { t: { source: csv(paths as string, options), columns: { a: column.text('a') } } },
  });

const problemsOf = async (paths: unknown, options: object): Promise<string> =>
  (await failureOf(Promise.resolve().then(() => pipelineOf(paths, options)))).message;

afterEach(() => vi.unstubAllEnvs());

describe('options of a source', () => {
  it('are in the definition of the table, apart from those of the dialect', () => {
    const options = { bearer: env('TOKEN'), headers: { 'x-key': env('KEY'), accept: 'text/csv' } };
    const { tables } = bindPipeline(pipelineOf(url, { ...options, delimiter: ';' }), { directory: '.' });
    const [table] = tables;
    expect(table).toMatchObject({
      readings: [{ source: { locations: [url], options }, format: { dialect: { delimiter: ';' } } }],
    });
    expect(table?.kind === 'source' && table.readings[0]!.source.options).toEqual(options);
  });

  it.each([
    {
      name: 'of another source',
      paths: 'a.csv',
      options: { bearer: env('TOKEN') },
      problem: 'bearer is only for http, and no location is one',
    },
    {
      name: 'of no source',
      paths: url,
      options: { barer: env('TOKEN') },
      problem: 'unknown key `barer`; did you mean `bearer`?',
    },
    {
      name: 'that is a secret itself',
      paths: url,
      options: { bearer: 'hidden' },
      problem: "bearer must be env('NAME')",
    },
    {
      name: 'whose variable has no name',
      paths: url,
      options: { bearer: env('') },
      problem: "bearer must be env('NAME')",
    },
    {
      name: 'with a secret as a text',
      paths: url,
      options: { headers: { 'X-Api-Key': 'hidden' } },
      problem: "with env('NAME') for secrets",
    },
    {
      name: 'with a header of ours',
      paths: url,
      options: { headers: { Range: 'bytes=1-' } },
      problem: 'without headers for ranges',
    },
    {
      name: 'with a line break',
      paths: url,
      options: { headers: { a: 'b\r\nc: d' } },
      problem: 'headers must be',
    },
    {
      name: 'with a password as a text',
      paths: url,
      options: { basic: { user: 'u', password: 'hidden' } },
      problem: 'basic must be',
    },
    {
      name: 'with a misspelt timeout',
      paths: url,
      options: { timeouts: { idleMS: 1 } },
      problem: 'timeouts must be an object of connectMs',
    },
    {
      name: 'with a password in the URL',
      paths: ['a.csv', 'https://u:hidden@h/a'],
      options: {},
      problem: 'path 2 has a user or password in it',
    },
  ])('$name: an error of the declaration', async ({ paths, options, problem }) => {
    const message = await problemsOf(paths, options);
    expect(message).toContain(problem);
    expect(message).not.toContain('hidden');
  });

  it.each(['ftp://h/a.csv', 'file:///etc/passwd', 'file:a.csv'])(
    '%s is a URL that nobody reads',
    async (path) => expect(await problemsOf(path, {})).toContain('is a URL of an unsupported kind'),
  );

  it('https:/h/a.csv is no URL, and no path either', async () =>
    expect(await problemsOf(['a.csv', 'https:/h/a.csv'], {})).toContain('path 2 is no URL: two slashes'));

  it.each([
    ['gs://sales/2024/*.csv', "endpoint: 'https://storage.googleapis.com'"],
    ['!gs://sales/2024/draft.csv', 'Google Cloud Storage'],
    ['az://container/a.csv', 'blob.core.windows.net'],
    ['abfss://container@account.dfs.core.windows.net/a.csv', 'SAS'],
    ['wasbs://container@account.blob.core.windows.net/a.csv', 'Azure'],
  ])('%s says how such files are named instead', async (path, says) => {
    const message = await problemsOf(path, {});
    expect(message).toContain(says);
    // It may hold a secret.
    expect(message).not.toContain(path);
  });
});

describe('a secret', () => {
  it('that is not set stops a run before it connects anywhere', async () => {
    vi.stubEnv('SOURCE_TOKEN', undefined);
    const pipeline = pipelineOf(url, { bearer: env('SOURCE_TOKEN') });
    // Nothing listens there.
    const failure = await failureOf(runPipeline(pipeline, { databaseUrl: 'postgres://127.0.0.1:1/none' }));
    expect(failure).toMatchObject({
      code: 'ETL_SOURCE_SECRET',
      details: { table: 't', name: 'SOURCE_TOKEN' },
    });
  });

  it('has no part in the hash of the definition', () => {
    const hash = (): string =>
      definitionHash(
        bindPipeline(pipelineOf(url, { bearer: env('SOURCE_TOKEN') }), { directory: '.' }),
        new Map(),
      );
    vi.stubEnv('SOURCE_TOKEN', 'one');
    const before = hash();
    vi.stubEnv('SOURCE_TOKEN', 'other');
    expect(hash()).toBe(before);
  });
});
