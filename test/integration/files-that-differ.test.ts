// Files of one table that differ from month to month, loaded whole: names, missing and surplus fields, constants, paths.

import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { describe, expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { findRun } from '../../src/ledger/history/history.ts';
import { column, csv, definePipeline, path, runPipeline } from '../../src/index.ts';
import { differenceLines } from '../../src/cli/text/status-text.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();

const load = (name: string, table: object) =>
  runPipeline(definePipeline({ name, schema: name, tables: { t: table } } as never), {
    databaseUrl: database.url,
    workingDirectory: files.directory,
    workers: 1,
  });

const rowsOf = async (name: string) => (await database.query(`select * from ${name}.t order by id`)).rows;

describe('one table of files that differ', () => {
  files.write('north/2011-01-31.csv', 'ID,Start Time,Note,more\n1,10:00,a,x\n2,11:00,,y\n');
  files.write('north/2011-02-28.csv', 'id,started_at\n3,12:00\n');
  files.write('south/2011-01-31.csv', 'note,other,id,STARTED_AT\nb,z,4,13:00\n');
  files.write('south/skipped.csv', 'nothing\n');
  const table = {
    source: csv(
      [
        { path: 'north/*.csv', constants: { region: 'north', zone: 1 } },
        { path: 'south/*.csv', constants: { region: 'south', zone: -3 } },
        '!**/skipped.csv',
      ],
      { match: 'relaxed' },
    ),
    columns: {
      id: column.integer('id').min(1),
      region: column.text('region'),
      zone: column.smallint('zone'),
      day: column.date(path(/(\d{4}-\d\d-\d\d)\.csv$/)),
      at: column.timestamp([path(/\d{4}-\d\d-\d\d/), { from: ['Start Time', 'Started at'] }], {
        format: 'YYYY-MM-DDHH:mm',
      }),
      note: column.text('Note').nullable(),
    },
    missing: 'null',
  };

  it('is loaded, and the ledger says what each file had', async () => {
    const { runId, tables } = await load('differ', table);
    expect(tables[0]).toMatchObject({ records: 4, rejected: 0, rows: 4 });
    const rows = await rowsOf('differ');
    expect(rows.map(({ id, region, zone, note }) => [id, region, zone, note])).toEqual([
      [1, 'north', 1, 'a'],
      [2, 'north', 1, null],
      [3, 'north', 1, null],
      [4, 'south', -3, 'b'],
    ]);
    const { rows: moments } = await database.query(
      `select day::text || ' ' || at::text as both from differ.t order by id`,
    );
    expect(moments.map(({ both }) => both)).toEqual([
      '2011-01-31 2011-01-31 10:00:00',
      '2011-01-31 2011-01-31 11:00:00',
      '2011-02-28 2011-02-28 12:00:00',
      '2011-01-31 2011-01-31 13:00:00',
    ]);
    const { files: had } = await withClient(addressFromUrl(database.url), (client) => findRun(client, runId));
    expect(differenceLines(had)).toEqual([
      't: 1 of 3 files with ID instead of id: north/2011-01-31.csv',
      't: 1 of 3 files with more, which no column names: north/2011-01-31.csv',
      't: 1 of 3 files without "Note": north/2011-02-28.csv',
      't: 1 of 3 files with started_at instead of Start Time: north/2011-02-28.csv',
      't: 1 of 3 files with STARTED_AT instead of Start Time: south/2011-01-31.csv',
      't: 1 of 3 files with note instead of Note: south/2011-01-31.csv',
      't: 1 of 3 files with other, which no column names: south/2011-01-31.csv',
    ]);
  });
});

describe('a trailer', () => {
  const records = Array.from({ length: 1_000 }, (_, index) => `${index},word\n`).join('');
  const text = `id,word\n${records}TOTAL "1000\nEND`;
  const columns = { id: column.integer('id'), word: column.text('word') };

  it.each([
    { name: 'plain', bytes: Buffer.from(text) },
    { name: 'gzip', bytes: gzipSync(text) },
  ])(
    'is no record, whichever chunk is the last, also of a run that goes on: $name',
    async ({ name, bytes }) => {
      files.write(`${name}.csv`, bytes);
      const declared = definePipeline({
        name: `end_${name}`,
        schema: `end_${name}`,
        tables: { t: { source: csv(`${name}.csv`, { skipEnd: 2 }), columns } },
      });
      const options = { databaseUrl: database.url, workingDirectory: files.directory, chunkBytes: 1_000 };
      const abort = new AbortController();
      const stopped = await failureOf(
        runPipeline(declared, {
          ...options,
          workers: 1,
          signal: abort.signal,
          onEvent: (event) => {
            if (event.type === 'progress' && event.records > 0) abort.abort();
          },
        }),
      );
      expect(stopped.code).toBe('ETL_INTERRUPTED');
      const { tables } = await runPipeline(declared, { ...options, workers: 2 });
      expect(tables[0]).toMatchObject({ records: 1_000, rejected: 0, rows: 1_000 });
    },
  );

  it('that is not there is an error of the file', async () => {
    files.write('short.csv', 'id,word\n1,a\n');
    files.write('short.gz', gzipSync('id,word\n1,a\n'));
    for (const [file, name] of [
      ['short.csv', 'no_end'],
      ['short.gz', 'no_end_gz'],
    ] as const) {
      const error = await failureOf(load(name, { source: csv(file, { skipEnd: 2 }), columns }));
      expect(error.code).toBe('ETL_SOURCE_TRAILER');
      expect(error.message).toContain(
        `skipEnd leaves out the last 2 lines of ${file}, but the file has fewer lines after its header`,
      );
    }
  });
});

describe("escapes: 'postgres'", () => {
  const columns = {
    id: column.integer(1),
    a: column.text(2).nullable(),
    b: column.text(3).nullable(),
    at: column.timestamp(4).nullable(),
  };
  const pieces = [
    '\\\\',
    '\\',
    '\n',
    '\r',
    '\t',
    '\b\f\v',
    '\x01',
    'N',
    '\\N',
    '\\.',
    '"',
    ',',
    'é',
    '𝄞',
    'x',
    '|',
  ];

  it('reads what COPY writes as text: every value is the same', async () => {
    const file = join(files.directory, 'copied.tsv');
    const texts = pieces.flatMap((one) => pieces.map((other) => one + other));
    await database.query(
      'create schema copied; create table copied.t (id integer, a text, b text, at timestamp)',
    );
    await database.query(
      `insert into copied.t select n, a, nullif(reverse(a), 'NN'), case when n % 2 = 0 then timestamp '2011-01-31' end
        from unnest($1::text[]) with ordinality as t (a, n)
        union all select 0, '', null, null`,
      [texts],
    );
    await withClient(addressFromUrl(database.url), (client) =>
      pipeline(
        client.query(copyTo('copy (select * from copied.t order by id) to stdout')),
        createWriteStream(file),
      ),
    );
    const options = { escapes: 'postgres' as const, delimiter: '\t', header: false };
    const { tables } = await load('copy_text', { source: csv(file, options), columns });
    expect(tables[0]).toMatchObject({ records: texts.length + 1, rejected: 0, rows: texts.length + 1 });
    const { rows } = await database.query(
      'select count(*)::int as n from (table copied.t except table copy_text.t) as other',
    );
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('reads as COPY does what other programs write', async () => {
    const odd = [
      '\\x4',
      '\\x41g',
      '\\xzz',
      '\\7',
      '\\101',
      '\\1011',
      '\\e',
      '\\\t',
      '\\\n',
      '\\\\\\\n',
      '\\N\\N',
    ];
    const lines = odd.flatMap((one, index) => [
      `${index}\t${one}\tx\t\\N\n`,
      `${100 + index}\tx${one}y\t\\N\t\\N\n`,
    ]);
    const file = files.write('written.tsv', lines.join(''));
    await database.query(
      'create schema written; create table written.t (id integer, a text, b text, at timestamp)',
    );
    await withClient(addressFromUrl(database.url), (client) =>
      pipeline(createReadStream(file), client.query(copyFrom('copy written.t from stdin'))),
    );
    const options = { escapes: 'postgres' as const, delimiter: '\t', header: false };
    await load('copy_read', { source: csv(file, options), columns });
    expect(await rowsOf('copy_read')).toEqual(
      (await database.query('select * from written.t order by id')).rows,
    );
  });
});

describe('is refused before anything is loaded', () => {
  files.write('one/a.csv', 'id\n1\n');
  const columns = { id: column.integer('id') };
  it.each([
    {
      name: 'a file that two locations with different constants find',
      table: {
        source: csv([{ path: 'one/*.csv', constants: { r: 'a' } }, 'one/a.csv']),
        columns: { ...columns, r: column.text('r') },
      },
      code: 'ETL_FILE_OPTIONS',
      says: 'one/a.csv matches both one/*.csv and one/a.csv',
    },
    {
      name: 'a path without the part',
      table: { source: csv('one/*.csv'), columns: { ...columns, day: column.date(path(/\d{4}/)) } },
      code: 'ETL_PATH_PART',
      says: 'one/a.csv: a column takes its value from the path, but no part of the path matches path(/\\d{4}/)',
    },
    {
      name: 'a constant that is no value of its column',
      table: {
        source: csv([{ path: 'one/*.csv', constants: { zone: 'x' } }]),
        columns: { ...columns, zone: column.integer('zone') },
      },
      code: 'ETL_FILE_VALUE',
      says: 'column zone has one value for the whole file',
    },
    {
      name: 'a surplus field',
      table: { source: csv('one/*.csv'), columns: { n: column.text(path(/one/)) }, extra: 'error' },
      code: 'ETL_HEADER_EXTRA',
      says: 'one/a.csv:1: the header has "id"',
    },
  ])('$name', async ({ table, code, says }) => {
    const error = await failureOf(load('refused', table));
    expect(error.code).toBe(code);
    expect(error.message).toContain(says);
  });
});
