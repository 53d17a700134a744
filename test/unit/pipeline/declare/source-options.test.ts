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
    [
      'of another source',
      'a.csv',
      { bearer: env('TOKEN') },
      'bearer is only for http, and no location is one',
    ],
    ['of no source', url, { barer: env('TOKEN') }, 'unknown key `barer`; did you mean `bearer`?'],
    ['that is a secret itself', url, { bearer: 'hidden' }, "bearer must be env('NAME')"],
    ['whose variable has no name', url, { bearer: env('') }, "bearer must be env('NAME')"],
    ['with a secret as a text', url, { headers: { 'X-Api-Key': 'hidden' } }, "with env('NAME') for secrets"],
    ['with a header of ours', url, { headers: { Range: 'bytes=1-' } }, 'without headers for ranges'],
    ['with a line break', url, { headers: { a: 'b\r\nc: d' } }, 'headers must be'],
    ['with a password as a text', url, { basic: { user: 'u', password: 'hidden' } }, 'basic must be'],
    ['with a misspelt timeout', url, { timeouts: { idleMS: 1 } }, 'timeouts must be an object of connectMs'],
    [
      'with a password in the URL',
      ['a.csv', 'https://u:hidden@h/a'],
      {},
      'path 2 has a user or password in it',
    ],
  ])('%s: an error of the declaration', async (_, paths, options, problem) => {
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
