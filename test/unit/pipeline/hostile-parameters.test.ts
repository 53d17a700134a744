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

/** A path as the author writes it, values, and what makes the path if it is not only put together. */
type Case = [written: string, values: Partial<Values>, path?: Path];
type FoundCase = [written: string, values: Partial<Values>, found: string[], path?: Path];

const asWritten =
  (written: string): Path =>
  (values) =>
    written.replace(/\$\{([abc])\}/g, (_, name: 'a' | 'b' | 'c') => values[name]);

describe('a path', () => {
  it.each<Case>([
    ['${a}${b}/${c}', { c: outside.slice(1) }],
    ['${a}/${c}', { c: 'etc/passwd' }],
    ['in/${a}${b}/${c}', { a: '.', b: '.', c: 'd.csv' }],
    ['in/.${a}/d.csv', { a: '.' }],
    ['in/${a}/${b}/d.csv', { a: '2024', b: '../..' }],
    ['in/${a}', { a: '../d.csv' }],
    ['in/${a} trimmed', { a: ' ../d.csv ' }, ({ a }) => `in/${a.trim()}`],
    ['in/${a} with slashes for dashes', { a: '..-d.csv' }, ({ a }) => `in/${a.replaceAll('-', '/')}`],
    ['in/${a} decoded', { a: '%2e%2e%2fd.csv' }, ({ a }) => `in/${decodeURIComponent(a)}`],
    ['${a} of a list', { b: 'etc/passwd' }, ({ list }) => list.join('/')],
    ['in/**/${a}', { a: '../../d.csv' }],
    ['!${a}', { a: '/etc/*' }],
    ['the last letters of ${a}', { a: 'a:/../d.csv' }, ({ a }) => `in/${a.slice(-8)}`],
    [
      '${a}, which is checked by the author',
      { a: outside },
      ({ a }) => {
        if (!a.startsWith('/')) throw new Error('no');
        return a;
      },
    ],
    ['${a}.csv', { a: 'https://attacker.example/x' }],
    ['${a}.csv', { a: 's3://other/x' }],
  ])(
    '%s does not lead out of what is written before it: %j',
    async (written, values, path = asWritten(written)) => {
      expect(await failureOf(find(path, values))).toMatchObject({ code: 'ETL_SOURCE_OUTSIDE' });
    },
  );

  it.each<FoundCase>([
    ['${a}/${b}', { a: 'in', b: 'a.csv' }, ['in/a.csv']],
    ['in/${a}', { a: '2024/../a.csv' }, ['in/a.csv']],
    ['in/${a}${b}', { b: 'a.csv' }, ['in/a.csv']],
    ['in/data (1)/${a}', { a: 'c.csv' }, ['in/data (1)/c.csv']],
    ['in/${a}', { a: '{a,*/b}.csv' }, ['in/2024/b.csv', 'in/a.csv']],
    ['in/20${a}/*.csv', { a: '2024-01-02' }, ['in/2024/b.csv'], ({ a }) => `in/20${a.slice(2, 4)}/*.csv`],
    ['./../project/${a}', { a: 'd.csv' }, ['d.csv']],
    [
      'a name that the author looks up',
      { a: 'new' },
      [outside],
      ({ a }) => ({ new: '../secret.csv' })[a] ?? 'none',
    ],
    [
      'what an absolute path excludes',
      { a: 'no-such-' },
      ['in/a.csv'],
      ({ a }) => [`${directory}/in/*.csv`, `!${directory}/in/${a}*`],
    ],
    ['an absolute path', { a: 'secret.csv' }, [outside], ({ a }) => join(files.directory, a)],
  ])('%s leads below it: %j', async (written, values, found, path = asWritten(written)) => {
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
    ['https://${a}/x.csv', { a: 'attacker.example' }],
    ['https://${a}.data.example/x.csv', { a: 'attacker.example/?' }],
    ['https://data.example${a}/x.csv', { a: ':81' }],
    ['https://data.example/in/${a}/x.csv', { a: '..' }],
    ['https://data.example/in/${a}/x.csv', { a: '%2E%2e' }],
    ['https://data.example/in/${a}/x.csv', { a: '..%2f..%5c' }],
    ['https://data.example/in/${a}/x.csv', { a: '\\..\\..\\' }],
    ['https://data.example/in/${a}${b}/x.csv', { a: '.', b: '.' }],
    ['https://data.example/in/${a}/x.csv', { a: 'secret?' }],
    ['https://data.example/in/${a}/x.csv', { a: 'secret#' }],
    ['https://data.example/in/x.csv?day=${a}', { a: '1&admin=1' }],
    ['https://data.example/in/${a}.csv', { a: '{1,../x}' }],
  ])('keeps what the author wrote: %s, %j', async (written, values, path = asWritten(written)) => {
    expect(await failureOf(find(path, values))).toMatchObject({ code: 'ETL_SOURCE_OUTSIDE' });
  });

  it.each<FoundCase>([
    ['https://data.example/in/${a}.csv', { a: '2024/b' }, [`${base}/2024/b.csv`]],
    ['https://data.example/in/${a}.csv', { a: '{1,2}' }, [`${base}/1.csv`, `${base}/2.csv`]],
    ['https://data.example/in/x.csv?day=${a}&n=1', { a: '2024-01-02' }, [`${base}/x.csv?day=2024-01-02&n=1`]],
    ['a year', { a: 'y2024' }, [`${base}/2024.csv`], ({ a }) => `${base}/${a.slice(1, 5)}.csv`],
  ])('takes %s: %j', async (written, values, found, path = asWritten(written)) => {
    expect(await find(path, values)).toEqual(found);
  });
});

it.each<Case>([
  ['s3://${a}/x.csv', { a: 'other' }],
  ['s3://${a}-data/x.csv', { a: 'other/' }],
  ['s3://data${a}/x.csv', { a: '-other' }],
  ['${a}/x.csv', { a: 's3://other' }],
  ['s3://${a}/${b}', { a: 'other', b: 'x.csv' }],
])('an object %s keeps its bucket: %j', async (written, values, path = asWritten(written)) => {
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
