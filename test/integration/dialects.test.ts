// Files that are written unlike others, loaded whole: stray quotes, carriage returns, headers with a name twice, paths that
// a parameter leads elsewhere.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { column, csv, definePipeline, runPipeline } from '../../src/index.ts';
import type { CsvOptions } from '../../src/pipeline/declare/csv.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();

const load = (name: string, path: string, options: CsvOptions, rejectLimit = 0, chunkBytes = 1_000) => {
  const pipeline = definePipeline({
    name,
    schema: name,
    tables: {
      t: {
        source: csv(path, options),
        columns: { id: column.integer('id'), word: column.text('word') },
        rejectLimit,
      },
    },
  });
  return runPipeline(pipeline, { databaseUrl: database.url, workers: 2, chunkBytes });
};

const rowsOf = async (name: string) =>
  (await database.query(`select id, word from ${name}.t order by id`)).rows.map(({ id, word }) => [id, word]);

describe('a stray quote', () => {
  const lines = Array.from({ length: 200 }, (_, index) => `${index + 1},word`);
  lines[33] = '34,"word';
  lines[102] = '103,"a"';
  lines[150] = '151,"two\nlines"';
  lines[160] = '1"61,"two\nlines"';
  const path = files.write('stray.csv', `id,word\n${lines.join('\n')}\n`);

  it('that a later one seems to close costs its line, and rejects name all of theirs', async () => {
    const { runId, tables } = await load('stray', path, {}, 2);
    expect(tables[0]).toMatchObject({ records: 200, rejected: 2, rows: 198 });
    const { rows } = await database.query(
      'select line::int, last_line::int, code from etl.reject where run_id = $1 order by line',
      [runId],
    );
    expect(rows).toEqual([
      { line: 35, last_line: 35, code: 'quote' },
      { line: 163, last_line: 164, code: 'quote' },
    ]);
  });

  it('is data when reading is lenient', async () => {
    const lenient = files.write('lenient.csv', 'id,word\n1,5" pipe\n2,"a"b\n3,"c"\n');
    await load('lenient', lenient, { quotes: 'lenient' });
    expect(await rowsOf('lenient')).toEqual([
      [1, '5" pipe'],
      [2, 'ab'],
      [3, 'c'],
    ]);
  });
});

describe('line ends', () => {
  const records = (end: string) =>
    `id,word${end}${Array.from({ length: 500 }, (_, n) => `${n},a${end}`).join('')}`;

  it.each([
    { name: 'cr', end: '\r' },
    { name: 'crlf', end: '\r\n' },
    { name: 'twice', end: '\r\r\n' },
  ])('are those of the first line in every chunk of a file: $name', async ({ name, end }) => {
    const { runId, tables } = await load(name, files.write(`${name}.csv`, records(end)), { ragged: 'pad' });
    expect(tables[0]).toMatchObject({ records: 500, rows: 500 });
    const { rows } = await database.query('select line_end from etl.source_file where run_id = $1', [runId]);
    expect(rows).toEqual([{ line_end: name === 'cr' ? 'cr' : 'lf' }]);
  });

  it('of another kind make no record that nobody wrote', async () => {
    const path = files.write('mixed.csv', 'id,word\n1,a\r2\n3,b\n');
    const { tables } = await load('mixed', path, { ragged: 'pad' }, 1);
    expect(tables[0]).toMatchObject({ records: 2, rejected: 1, rows: 1 });
    await load('mixed', path, { lineEnd: 'lf' });
    expect(await rowsOf('mixed')).toEqual([
      [1, 'a\r2'],
      [3, 'b'],
    ]);
  });
});

it('the hint for a header with a name twice holds, taken literally', async () => {
  const path = files.write('twice-named.csv', '# made today\nid,word,id\n1,a,2\n3,b,4\n');
  const error = await failureOf(load('named', path, { comment: '#' }));
  expect(error.code).toBe('ETL_HEADER_DUPLICATE');
  const skipLines = Number(/csv\(…, \{ header: \[…\], skipLines: (\d+) \}\)/.exec(error.hint)?.[1]);
  await load('named', path, { comment: '#', header: ['id', 'word', 'id_2'], skipLines });
  expect(await rowsOf('named')).toEqual([
    [1, 'a'],
    [3, 'b'],
  ]);
});

describe('a parameter', () => {
  const directory = join(files.directory, 'project');
  mkdirSync(join(directory, 'exports'), { recursive: true });
  const secret = files.write('shadow', 'root:$6$secret:1\n');
  writeFileSync(join(directory, 'shadow'), 'root:$6$secret:1\n');

  const run = (file: string, path: (file: string) => string, options: CsvOptions = {}) => {
    const pipeline = definePipeline({
      name: 'led',
      schema: 'led',
      params: z.object({ file: z.string() }),
      tables: (params) => ({
        t: { source: csv(path(params.file), options), columns: { word: column.text('word') } },
      }),
    });
    return failureOf(
      runPipeline(pipeline, { databaseUrl: database.url, params: { file }, workingDirectory: directory }),
    );
  };

  it.each([
    { file: '../shadow', path: (file: string) => file },
    { file: secret, path: (file: string) => file },
    { file: '../../shadow', path: (file: string) => `exports/${file}` },
    { file: '../shadow', path: (file: string) => `exports/${file}` },
    { file: '{..,x}/shadow', path: (file: string) => `exports/${file}` },
    { file: '.{.,x}/shadow', path: (file: string) => `exports/${file}` },
    { file: `{${secret},x}`, path: (file: string) => file },
    { file: '..%2Fshadow', path: (file: string) => `exports/${decodeURIComponent(file)}` },
    { file: '../no-such-file', path: (file: string) => file },
  ])('does not lead out of what a path names: $file', async ({ file, path }) => {
    const error = await run(file, path);
    // Globs make no `..` and no root out of braces.
    const code = file.includes('{') ? 'ETL_SOURCE_NOT_FOUND' : 'ETL_SOURCE_OUTSIDE';
    expect(error).toMatchObject({ code, exit: 1 });
    expect(error.message + error.hint).not.toContain('secret');
  });

  it('leads anywhere where that is declared', async () => {
    const error = await run('../shadow', (file) => file, { anywhere: true });
    expect(error.code).toBe('ETL_HEADER_MISSING');
  });

  it('leads below what a path names, and a path without it leads where it says', async () => {
    writeFileSync(join(directory, 'exports/a..b.csv'), 'no\n');
    expect(await run('a..b.csv', (file) => `exports/${file}`)).toMatchObject({ code: 'ETL_HEADER_MISSING' });
    expect(await run('2024', () => '../shadow')).toMatchObject({ code: 'ETL_HEADER_MISSING' });
  });
});
