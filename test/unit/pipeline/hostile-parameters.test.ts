// Parameters that try to reach files, URLs, buckets or SQL files outside those that the author
// named.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { column, csv, definePipeline, sqlFile } from '../../../src/index.ts';
import type { CsvOptions } from '../../../src/pipeline/declare/csv.ts';
import { bindPipeline } from '../../../src/pipeline/bind.ts';
import { foundFiles } from '../../../src/run/files/found-files.ts';
import { useFiles } from '../../helpers/files.ts';
import { failureOf } from '../../helpers/failure.ts';
import { words } from '../../helpers/words.ts';

const files = useFiles();
const directory = join(files.directory, 'project');
const outside = join(files.directory, 'secret.csv');
mkdirSync(join(directory, 'in/2024'), { recursive: true });
mkdirSync(join(directory, 'in/data (1)'), { recursive: true });
for (const path of [
  outside,
  ...['in/a.csv', 'in/2024/b.csv', 'in/data (1)/c.csv', 'd.csv'].map((one) => join(directory, one)),
])
  writeFileSync(path, 'a\n1\n');

type Values = Readonly<Record<'a' | 'b' | 'c', string>>;
type Path = (values: Values & { readonly list: readonly string[] }) => string | readonly string[];

/** Lists the files of a table whose path contains these parameters. */
const find = async (
  path: Path,
  values: Partial<Values>,
  options: CsvOptions = {},
): Promise<readonly string[]> => {
  const params = { a: '', b: '', c: '', ...values };
  const pipeline = definePipeline({
    name: 'led',
    schema: 'led',
    params: z.object({ a: z.string(), b: z.string(), c: z.string() }),
    tables: (given) => ({
      t: {
        source: csv(path({ ...given, list: [given.a, given.b] }), options),
        columns: { a: column.text('a') },
      },
    }),
  });
  const { tables, varied } = bindPipeline(pipeline, { params, directory });
  const [table] = tables;
  const names: string[] = [];
  if (table?.kind === 'source')
    for await (const { file } of foundFiles(table, {
      workingDirectory: directory,
      varied,
      signal: undefined,
    }))
      names.push(file.name);
  return names;
};

interface Case {
  readonly written: string;
  readonly path: Path;
  readonly values: Partial<Values>;
}

describe('a path', () => {
  it.each<Case>([
    { written: '${a}${b}/${c}', path: ({ a, b, c }) => `${a}${b}/${c}`, values: { c: outside.slice(1) } },
    { written: '${a}/${c}', path: ({ a, c }) => `${a}/${c}`, values: { c: 'etc/passwd' } },
    {
      written: 'in/${a}${b}/${c}',
      path: ({ a, b, c }) => `in/${a}${b}/${c}`,
      values: { a: '.', b: '.', c: 'd.csv' },
    },
    { written: 'in/.${a}/d.csv', path: ({ a }) => `in/.${a}/d.csv`, values: { a: '.' } },
    {
      written: 'in/${a}/${b}/d.csv',
      path: ({ a, b }) => `in/${a}/${b}/d.csv`,
      values: { a: '2024', b: '../..' },
    },
    { written: 'in/${a}', path: ({ a }) => `in/${a}`, values: { a: '../d.csv' } },
    { written: 'in/${a} trimmed', path: ({ a }) => `in/${a.trim()}`, values: { a: ' ../d.csv ' } },
    {
      written: 'in/${a} with slashes for dashes',
      path: ({ a }) => `in/${a.replaceAll('-', '/')}`,
      values: { a: '..-d.csv' },
    },
    {
      written: 'in/${a} decoded',
      path: ({ a }) => `in/${decodeURIComponent(a)}`,
      values: { a: '%2e%2e%2fd.csv' },
    },
    { written: '${a} of a list', path: ({ list }) => list.join('/'), values: { b: 'etc/passwd' } },
    { written: 'in/**/${a}', path: ({ a }) => `in/**/${a}`, values: { a: '../../d.csv' } },
    { written: '!${a} beside others', path: ({ a }) => `!${a}`, values: { a: '/etc/*' } },
    {
      written: 'the last letters of ${a}',
      path: ({ a }) => `in/${a.slice(-8)}`,
      values: { a: 'a:/../d.csv' },
    },
    {
      written: '${a}, which is checked by the author',
      path: ({ a }) => {
        if (!a.startsWith('/')) throw new Error('no');
        return a;
      },
      values: { a: outside },
    },
    {
      written: '${a}.csv, where it is a URL',
      path: ({ a }) => `${a}.csv`,
      values: { a: 'https://attacker.example/x' },
    },
    {
      written: '${a}.csv, where it is an object',
      path: ({ a }) => `${a}.csv`,
      values: { a: 's3://other/x' },
    },
  ])('$written does not lead out of what is written before it: $values', async ({ path, values }) => {
    expect(await failureOf(find(path, values))).toMatchObject({ code: 'ETL_SOURCE_OUTSIDE' });
  });

  it.each<Case & { readonly found: readonly string[] }>([
    {
      written: '${a}/${b}',
      path: ({ a, b }) => `${a}/${b}`,
      values: { a: 'in', b: 'a.csv' },
      found: ['in/a.csv'],
    },
    { written: 'in/${a}', path: ({ a }) => `in/${a}`, values: { a: '2024/../a.csv' }, found: ['in/a.csv'] },
    {
      written: 'in/${a}${b}',
      path: ({ a, b }) => `in/${a}${b}`,
      values: { b: 'a.csv' },
      found: ['in/a.csv'],
    },
    {
      written: 'in/data (1)/${a}',
      path: ({ a }) => `in/data (1)/${a}`,
      values: { a: 'c.csv' },
      found: ['in/data (1)/c.csv'],
    },
    {
      written: 'a glob that is the value: in/${a}',
      path: ({ a }) => `in/${a}`,
      values: { a: '{a,*/b}.csv' },
      found: ['in/2024/b.csv', 'in/a.csv'],
    },
    {
      written: 'in/20${a}/*.csv',
      path: ({ a }) => `in/20${a.slice(2, 4)}/*.csv`,
      values: { a: '2024-01-02' },
      found: ['in/2024/b.csv'],
    },
    {
      written: './../project/${a}',
      path: ({ a }) => `./../project/${a}`,
      values: { a: 'd.csv' },
      found: ['d.csv'],
    },
    {
      written: 'a name that the author looks up',
      path: ({ a }) => ({ new: '../secret.csv' })[a] ?? 'none',
      values: { a: 'new' },
      found: [outside],
    },
    {
      written: 'what an absolute path excludes',
      path: ({ a }) => [`${directory}/in/*.csv`, `!${directory}/in/${a}*`],
      values: { a: 'no-such-' },
      found: ['in/a.csv'],
    },
    {
      written: 'an absolute path',
      path: ({ a }) => join(files.directory, a),
      values: { a: 'secret.csv' },
      found: [outside],
    },
  ])('$written leads below it: $values', async ({ path, values, found }) => {
    expect(await find(path, values)).toEqual(found);
  });

  it.each(
    words('../d\0.csv \\.\\./d.csv ..\\d.csv [.][.]/d.csv @(..)/d.csv {..,x}/d.csv +(.)/d.csv ?(.)./d.csv'),
  )('in/${a} finds nothing outside for %j', async (a) => {
    await expect(find((values) => `in/${values.a}`, { a })).rejects.toThrow(
      /outside|null bytes|matches no file|no file/,
    );
  });

  it('leads anywhere where that is declared', async () =>
    expect(await find(({ a }) => a, { a: outside }, { anywhere: true })).toEqual([outside]));
});

describe('a URL', () => {
  const base = 'https://data.example/in';
  it.each<Case>([
    { written: 'its host', path: ({ a }) => `https://${a}/x.csv`, values: { a: 'attacker.example' } },
    {
      written: 'a part of its host',
      path: ({ a }) => `https://${a}.data.example/x.csv`,
      values: { a: 'attacker.example/?' },
    },
    { written: 'its port', path: ({ a }) => `https://data.example${a}/x.csv`, values: { a: ':81' } },
    { written: 'a directory', path: ({ a }) => `${base}/${a}/x.csv`, values: { a: '..' } },
    { written: 'a directory', path: ({ a }) => `${base}/${a}/x.csv`, values: { a: '%2E%2e' } },
    { written: 'a directory', path: ({ a }) => `${base}/${a}/x.csv`, values: { a: '..%2f..%5c' } },
    { written: 'a directory', path: ({ a }) => `${base}/${a}/x.csv`, values: { a: '\\..\\..\\' } },
    { written: 'two directories', path: ({ a, b }) => `${base}/${a}${b}/x.csv`, values: { a: '.', b: '.' } },
    { written: 'the rest of the path', path: ({ a }) => `${base}/${a}/x.csv`, values: { a: 'secret?' } },
    { written: 'the rest of the path', path: ({ a }) => `${base}/${a}/x.csv`, values: { a: 'secret#' } },
    {
      written: 'other parts of the query',
      path: ({ a }) => `${base}/x.csv?day=${a}`,
      values: { a: '1&admin=1' },
    },
    { written: 'braces', path: ({ a }) => `${base}/${a}.csv`, values: { a: '{1,../x}' } },
  ])('keeps what the author wrote: $written, $values', async ({ path, values }) => {
    expect(await failureOf(find(path, values))).toMatchObject({ code: 'ETL_SOURCE_OUTSIDE' });
  });

  it.each<Case & { readonly found: readonly string[] }>([
    {
      written: 'a file',
      path: ({ a }) => `${base}/${a}.csv`,
      values: { a: '2024/b' },
      found: [`${base}/2024/b.csv`],
    },
    {
      written: 'a list',
      path: ({ a }) => `${base}/${a}.csv`,
      values: { a: '{1,2}' },
      found: [`${base}/1.csv`, `${base}/2.csv`],
    },
    {
      written: 'a value',
      path: ({ a }) => `${base}/x.csv?day=${a}&n=1`,
      values: { a: '2024-01-02' },
      found: [`${base}/x.csv?day=2024-01-02&n=1`],
    },
    {
      written: 'a year',
      path: ({ a }) => `${base}/${a.slice(1, 5)}.csv`,
      values: { a: 'y2024' },
      found: [`${base}/2024.csv`],
    },
  ])('takes $written: $values', async ({ path, values, found }) => {
    expect(await find(path, values)).toEqual(found);
  });
});

it.each<Case>([
  { written: 's3://${a}/x.csv', path: ({ a }) => `s3://${a}/x.csv`, values: { a: 'other' } },
  { written: 's3://${a}-data/x.csv', path: ({ a }) => `s3://${a}-data/x.csv`, values: { a: 'other/' } },
  { written: 's3://data${a}/x.csv', path: ({ a }) => `s3://data${a}/x.csv`, values: { a: '-other' } },
  { written: '${a}/x.csv', path: ({ a }) => `${a}/x.csv`, values: { a: 's3://other' } },
  { written: 's3://${a}/${b}', path: ({ a, b }) => `s3://${a}/${b}`, values: { a: 'other', b: 'x.csv' } },
])('an object $written keeps its bucket: $values', async ({ path, values }) => {
  expect(await failureOf(find(path, values))).toMatchObject({ code: 'ETL_SOURCE_OUTSIDE' });
});

describe('a SQL file', () => {
  const bind = (path: (a: string) => string | URL, a: string) =>
    bindPipeline(
      definePipeline({
        name: 'led',
        schema: 'led',
        params: z.object({ a: z.string() }),
        tables: (given) => ({
          t: { source: csv('d.csv'), columns: { a: column.text('a') } },
          made: { from: ['t'] as const, transform: sqlFile(path(given.a)) },
        }),
      }),
      { params: { a }, directory },
    );

  it.each<[string, (a: string) => string | URL, string]>([
    ['sql/${a}.sql', (a) => `sql/${a}.sql`, '../../other'],
    ['${a}/all.sql', (a) => `${a}/all.sql`, ''],
    ['a URL', (a) => new URL(`sql/${a}.sql`, `file://${directory}/`), '../../other'],
  ])('%s is not chosen outside', (_, path, a) => {
    expect(() => bind(path, a)).toThrow('a parameter turns the path into');
  });

  it('is chosen below', () =>
    expect(bind((a) => `sql/${a}.sql`, 'v2/daily').tables[1]).toMatchObject({
      transform: { path: 'sql/v2/daily.sql' },
    }));
});
