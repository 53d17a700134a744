// Files of several suppliers for one table: each location with a dialect, an encoding and a compression of its own.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, planPipeline, sqlFile, verifyPipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { zipFile } from '../helpers/zip-file.ts';

const { files, database, rowsOf, run, settings, etl } = usePipelineRuns();

const b = (more = ''): Buffer =>
  Buffer.from(
    `Export vom 1.2.\nid;product;price;day\n;name;;\n3;"Käse; alt";2,5;2024-02-01\r\n${more}Summe;;1;\n`,
    'latin1',
  );

beforeAll(() => {
  files.write('a/1.csv', 'id,name,price,day\n1,"Ä, B",1.5,2024-01-31\n2,,NA,2024-02-01\n');
  files.write('b/1.csv', b());
  files.write('c/1.csv.gz', gzipSync('4\t"x"\t2\t2024-03-01\n5\t\\N\t\\N\t2024-03-02\n'));
  files.write(
    'd.zip',
    zipFile([{ name: 'x/1.csv', content: "id|name|price|day\n# none\n6|'o\\'clock | x'|3|2024-04-01\n" }]),
  );
  files.write('e.csv', Buffer.from('\ufeffid,name,price,day\n7, padded ,4\n', 'utf16le'));
});

/** What the options of `csv()` say, a location takes from there: null tokens, and dates in ISO 8601. */
const suppliers = (ofB: object = {}) =>
  csv(
    [
      { path: 'a/*.csv', constants: { supplier: 'a' } },
      {
        path: 'b/*.csv',
        constants: { supplier: 'b' },
        delimiter: ';',
        encoding: 'windows-1252',
        skipLines: 1,
        headerLines: 2,
        skipEnd: 1,
        ...ofB,
      },
      {
        path: 'c/*.csv.gz',
        constants: { supplier: 'c' },
        delimiter: '\t',
        quote: null,
        header: ['id', 'name', 'price', 'day'],
        nulls: ['\\N'],
      },
      {
        path: 'd.zip!/**/*.csv',
        constants: { supplier: 'd' },
        delimiter: '|',
        quote: "'",
        escape: '\\',
        comment: '#',
      },
      { path: 'e.csv', constants: { supplier: 'e' }, encoding: 'utf-16le', ragged: 'pad', trim: true },
      '!**/draft-*.csv',
    ],
    { nulls: ['', 'NA'] },
  );

const columns = {
  id: column.integer('id'),
  supplier: column.text('supplier'),
  name: column.text({ from: ['name', 'product name'] }).nullable(),
  price: column
    .numeric('price')
    .map((text) => text.replace(',', '.'))
    .nullable(),
  day: column.date('day').nullable(),
};

const pipelineOf = (name: string, table: object, ofB: object = {}) =>
  definePipeline({
    name,
    schema: name,
    tables: { t: { source: suppliers(ofB), columns, lineage: ['_line'], ...table } },
  } as never);

const rows = [
  [1, 'a', 'Ä, B', '1.5', '2024-01-31', 2],
  [2, 'a', null, null, '2024-02-01', 3],
  [3, 'b', 'Käse; alt', '2.5', '2024-02-01', 4],
  [4, 'c', '"x"', '2', '2024-03-01', 1],
  [5, 'c', null, null, '2024-03-02', 2],
  [6, 'd', "o'clock | x", '3', '2024-04-01', 3],
  [7, 'e', 'padded', '4', null, 2],
];

const loaded = async (name: string) =>
  (
    await rowsOf(
      `select id::text::int, supplier, name, price::text, day::text, _line::int as line from ${name}.t order by 1`,
    )
  ).map((row) => Object.values(row));

const printed = async (...args: string[]): Promise<string> => {
  const { exit, out, err } = await etl(...args);
  expect(exit, err).toBe(0);
  return out;
};

describe('one table of five suppliers', () => {
  it.each([
    ['typed', { lineage: ['_file', '_line'] }],
    ['straight', { staging: 'none' }],
    ['read_by_server', { columns: { ...columns, id: column.of('xid8', 'id') } }],
  ])('%s: every value is as its supplier wrote it', async (name, table) => {
    const pipeline = pipelineOf(name, table);
    const { tables } = await run(pipeline);
    expect(tables).toMatchObject([{ files: 5, records: 7, copied: 7 }]);
    expect(await loaded(name)).toEqual(rows);
    expect(await run(pipeline)).toMatchObject({ outcome: 'unchanged' });
  });

  it('verifies, by csv-parse in each dialect that it reads', async () => {
    const pipeline = pipelineOf('typed', { lineage: ['_file', '_line'] });
    const { outcome, tables } = await verifyPipeline(pipeline, settings());
    const reason = 'csv-parse reads `escape: "\\\\"` differently from the dialect';
    expect(tables[0]!.notCompared[0]).toEqual({ file: 'd.zip!/x/1.csv', column: null, reason });
    expect([outcome, tables[0]!.files.map(({ file, records }) => [file, records])]).toEqual([
      'same',
      [
        ['a/1.csv', 2],
        ['b/1.csv', 1],
        ['c/1.csv.gz', 2],
        ['e.csv', 1],
      ],
    ]);
  });

  it('the plan says how each location is written, and decoded; so do the run and its page', async () => {
    const { tables } = await planPipeline(pipelineOf('planned', {}), {
      databaseUrl: database.url,
      workingDirectory: files.directory,
    });
    const steps = tables[0]!.steps.filter(({ step }) => ['dialect', 'decoder'].includes(step));
    const slow =
      'records with the escape \\ are read one by one and records with quotes are found byte by byte';
    expect(steps.map(({ text }) => text)).toEqual([
      "b/*.csv: delimiter: ';', skipLines: 1, headerLines: 2, encoding: 'windows-1252', skipEnd: 1",
      "c/*.csv.gz: delimiter: '\\t', quote: null, escape: null, header: ['id', 'name', 'price', … (4)], nulls: ['\\\\N']",
      "d.zip!/**/*.csv: delimiter: '|', quote: '\\'', escape: '\\\\', comment: '#'",
      "e.csv: trim: true, ragged: 'pad', encoding: 'utf-16le'",
      'a/*.csv, b/*.csv, c/*.csv.gz, … (4): compiled, because it supports the table’s dialect and types',
      `d.zip!/**/*.csv: compiled, because it supports the table’s dialect and types; ${slow}, which is slower`,
    ]);
    const { runId } = await run(pipelineOf('planned', {}));
    const status = await printed('status', String(runId));
    expect(status).toMatch(/b\/1\.csv .*windows-1252, .*delimiter: ';'/);
  });
});

it('rejects of all suppliers are exported together, corrected and replayed, each as its file is written', async () => {
  files.write('b/1.csv', b('8;"x; ""y""";viel;2024-02-03\n'));
  files.write('a/2.csv', 'id,name,price,day\n9,"a; b",none,2024-01-31\n');
  files.write('c/2.csv.gz', gzipSync('10\t\\N\t"3"\t2024-03-03\n'));
  const pipeline = pipelineOf('corrected', { rejectLimit: 3 });
  expect((await run(pipeline)).tables).toMatchObject([{ rejected: 3 }]);
  expect(await printed('rejects', 'show', 'b/1.csv:5')).toContain('product name  x; "y"');
  let exports = 0;
  const correct = async (changes: readonly (readonly [from: string, to: string])[], ...of: string[]) => {
    const written = join(files.directory, `rejects${(exports += 1)}.csv`);
    await printed('rejects', 'export', '--table', 't', ...of, '--output', written);
    let text = readFileSync(written, 'utf8');
    for (const [from, to] of changes) {
      expect(text).toContain(from);
      text = text.replace(from, to);
    }
    writeFileSync(written, text);
    await printed('rejects', 'replay', written);
    return (await run(pipeline)).tables;
  };
  // Its header is another one than that of the others.
  expect(await correct([[',viel,', ',2,']], '--file', 'b/1.csv')).toMatchObject([{ rejected: 2 }]);
  const others = [
    ['a; b,none,', 'a; b,2,'],
    ['"""3"""', '2'],
  ] as const;
  expect(await correct(others)).toMatchObject([{ rejected: 0, copied: 10 }]);
  expect((await loaded('corrected')).slice(7)).toEqual([
    [8, 'b', 'x; "y"', '2', '2024-02-03', 5],
    [9, 'a', 'a; b', '2', '2024-01-31', 2],
    [10, 'c', null, '2', '2024-03-03', 1],
  ]);
});

it('a location that is written otherwise: what is replaced is loaded again, what was appended stays as it was', async () => {
  files.write('change/a.csv', 'id,name\n1,x;y\n');
  files.write('change/b.csv', 'id;name\n2;x,y\n');
  const pipelineWith = (name: string, publish: unknown, nulls: readonly string[]) =>
    definePipeline({
      name,
      schema: name,
      tables: {
        t: {
          lineage: ['_file'],
          source: csv(['change/a.csv', { path: 'change/b.csv', delimiter: ';', nulls }]),
          columns: { id: column.integer('id'), name: column.text('name').nullable() },
          publish,
        },
      },
    } as never);
  const names = async (name: string) =>
    (await rowsOf(`select name from ${name}.t order by id`)).map((row) => row['name']);
  for (const [name, publish, after] of [
    ['replaced', 'replace', null],
    ['appended', 'append', 'x,y'],
  ] as const) {
    await run(pipelineWith(name, publish, []));
    expect(await names(name)).toEqual(['x;y', 'x,y']);
    await run(pipelineWith(name, publish, ['x,y']));
    expect(await names(name)).toEqual(['x;y', after]);
  }
  // The other location is what it was.
  const { tables } = await verifyPipeline(pipelineWith('appended', 'append', ['x,y']), settings());
  expect(tables[0]!.files).toMatchObject([{ file: 'change/a.csv', rows: 1 }]);
  expect(tables[0]!.notCompared[0]).toMatchObject({
    file: 'change/b.csv',
    reason: expect.stringContaining('the definition of the table'),
  });
});

it("staging: 'text' takes the bytes of each location over in its own dialect", async () => {
  files.write('text/a.csv', 'id,name\n1,"x;y"\n');
  files.write('text/b.csv', "id;name\n2;'x,y'\n");
  files.write('text.sql', 'select id::integer as id, name from t_staging');
  const source = csv(['text/a.csv', { path: 'text/b.csv', delimiter: ';', quote: "'" }]);
  const table = { source, staging: 'text', transform: sqlFile('text.sql') };
  await run(definePipeline({ name: 'text', schema: 'text', tables: { t: table } } as never));
  expect(await rowsOf('select * from text.t order by id')).toEqual([
    { id: 1, name: 'x;y' },
    { id: 2, name: 'x,y' },
  ]);
});

it('a file that two locations find, with different options, is refused before anything is loaded', async () => {
  files.write('both/a.csv', 'id\n1\n');
  const source = csv(['both/*.csv', { path: 'both/a.csv', skipEnd: 1 }]);
  const table = { source, columns: { id: column.integer('id') } };
  const failure = await failureOf(
    run(definePipeline({ name: 'both', schema: 'both', tables: { t: table } } as never)),
  );
  expect(failure).toMatchObject({
    code: 'ETL_FILE_OPTIONS',
    details: { file: 'both/a.csv', first: 'both/*.csv', second: 'both/a.csv' },
  });
});
