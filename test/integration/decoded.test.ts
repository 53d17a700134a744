// Files that are decoded while they are read come to what the same files come to as they are.

import { readFileSync, utimesSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline, type RunOptions } from '../../src/index.ts';
import type { Pipeline } from '../../src/pipeline/define-pipeline.ts';
import { loadPipelineFile } from '../../src/pipeline/load-file.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { zipFile } from '../helpers/zip-file.ts';
import { zstdFixture } from '../helpers/zstd.ts';
import noaa from '../../pipelines/noaa.ts';

const files = useFiles();
const database = useDatabase();

const ask = async (sql: string): Promise<unknown[]> => (await database.query(sql)).rows;

/** Nothing but good records, which are loaded in a fraction of the time. */
const goodText = `id,n,words\r\n${Array.from({ length: 20_000 }, (_, n) => `${n},2,word ${n}\r\n`).join('')}`;

const load = async (name: string, path: string) => {
  const columns = { id: column.integer('id'), n: column.integer('n'), words: column.text('words') };
  const pipeline = definePipeline({
    name,
    schema: name,
    tables: { t: { source: csv(path), columns, rejectLimit: 1_000 } },
  });
  const { tables } = await runPipeline(pipeline, {
    databaseUrl: database.url,
    workers: 1,
    chunkBytes: 100_000,
  });
  return [tables[0]!.records, tables[0]!.copied, tables[0]!.rejected, tables[0]!.rows];
};

describe('a file in gzip', () => {
  it('may be one of several, and hold a header alone', async () => {
    files.write('mixed/1.csv', gzipSync('id,n,words\n1,2,a\n'));
    files.write('mixed/2.csv', 'id,n,words\n2,4,b\n');
    files.write('mixed/3.csv', gzipSync('id,n,words\n'));
    expect(await load('mixed', `${files.directory}/mixed/*.csv`)).toEqual([2, 2, 0, 2]);
  });

  it.each([
    { name: 'is cut off', bytes: gzipSync(goodText).subarray(0, 60_000), problem: /ends in the middle/ },
    {
      name: 'is followed by something',
      bytes: Buffer.concat([gzipSync(goodText), Buffer.from('x')]),
      problem: /after the end|broken|in the middle/,
    },
    {
      name: 'is damaged in its header',
      bytes: Buffer.concat([gzipSync('id,n').subarray(0, 9), Buffer.alloc(50, 0xff)]),
      problem: /broken/,
    },
  ])('that $name stops the run, with the byte, and publishes nothing', async ({ name, bytes, problem }) => {
    const pipeline = `bad_${name.replaceAll(' ', '_')}`.slice(0, 30).replace(/_$/, '');
    const error = await failureOf(load(pipeline, files.write(`${pipeline}.csv`, bytes)));
    expect(error).toMatchObject({ code: 'ETL_SOURCE_CORRUPT', details: { table: 't' } });
    expect(error.message).toMatch(problem);
    expect(await ask(`select to_regclass('${pipeline}.t') as made`)).toEqual([{ made: null }]);
  });
});

it.each([
  { name: 'is empty', bytes: gzipSync(''), code: 'ETL_SOURCE_EMPTY', says: 'is empty' },
  {
    name: 'holds a file in gzip',
    bytes: gzipSync(gzipSync('1\n')),
    code: 'ETL_SOURCE_FORMAT',
    says: 'is compressed twice (gzip)',
  },
])(
  'a file in gzip that $name is refused, also where the declaration names its fields',
  async ({ bytes, code, says }) => {
    const source = csv(files.write(`${code}.csv`, bytes), { header: ['id'] });
    const tables = { t: { source, columns: { id: column.integer('id') } } };
    const run = runPipeline(definePipeline({ name: 'refused', schema: 'refused', tables }), {
      databaseUrl: database.url,
    });
    const error = await failureOf(run);
    expect(error.code).toBe(code);
    expect(error.message).toContain(says);
  },
);

it('what was read of a damaged file is loaded again, also when the good one has its size, time and ends', async () => {
  const good = Buffer.from(
    `id,n,words\n${Array.from({ length: 20_000 }, (_, n) => `${n},2,a word or two\n`).join('')}`,
  );
  const damaged = gzipSync(good, { level: 0 });
  const place = damaged.indexOf('\n9999,2,a') + '\n9999,'.length;
  const put = (digit: string): string => {
    damaged.write(digit, place);
    const path = files.write('repaired.csv', damaged);
    utimesSync(path, 1_000, 1_000);
    return path;
  };
  expect(await failureOf(load('repaired', put('4')))).toMatchObject({ code: 'ETL_SOURCE_CORRUPT' });
  expect(await load('repaired', put('2'))).toEqual([20_000, 20_000, 0, 20_000]);
  expect(await ask('select sum(n) from repaired.t')).toEqual([{ sum: '40000' }]);
});

describe('the files of the example give the same tables', () => {
  const names = [1, 2, 3, 4, 5, 6].map((month) => `20110${month}hourly.txt`).concat('201505station.txt');
  const madeBy = async (pipeline: Pipeline, options: RunOptions) => {
    const { tables, outcome } = await runPipeline(pipeline, {
      databaseUrl: database.url,
      directory: 'pipelines',
      workers: 1,
      ...options,
    });
    const counts = tables.map(({ table, records, copied, rejected, filtered, rows }) => [
      table,
      records,
      copied,
      rejected,
      filtered,
      rows,
    ]);
    const sums = [];
    for (const table of ['station', 'observation', 'daily'])
      sums.push(
        ...(await ask(`select count(*), sum(hashtextextended(t::text, 0)::numeric) from noaa.${table} t`)),
      );
    return { outcome, counts, sums };
  };
  let plain: Awaited<ReturnType<typeof madeBy>>;
  beforeAll(async () => {
    plain = await madeBy(noaa, {});
  });

  const utf16 = (bytes: Buffer): Buffer => Buffer.from(bytes.toString(), 'utf16le').swap16();
  type Encode = (bytes: Buffer, name: string) => Buffer;
  const forms: readonly { name: string; encodes: readonly Encode[]; encoding?: string }[] = [
    {
      name: 'gzip, zstd and zip',
      encodes: [
        (bytes) => gzipSync(bytes),
        (_, name) => zstdFixture(name),
        (bytes, name) => zipFile([{ name: 'dir/' }, { name, content: bytes }]),
      ],
    },
    {
      name: 'UTF-16, also in gzip',
      encodes: [utf16, (bytes) => gzipSync(utf16(bytes))],
      encoding: 'utf-16be',
    },
  ];

  it.each(forms)('by turns in $name', async ({ encodes, encoding }) => {
    for (const [place, name] of names.entries()) {
      const bytes = readFileSync(`data/noaa/${name}`);
      files.write(`data/noaa/${name}`, encodes[place % encodes.length]!(bytes, name));
    }
    let pipeline = noaa as Pipeline;
    if (encoding !== undefined) {
      const written = readFileSync('pipelines/noaa.ts', 'utf8');
      const declared = written.replaceAll(".txt', {", `.txt', { encoding: '${encoding}',`);
      pipeline = (await loadPipelineFile(files.write(`${encoding}.ts`, declared))).pipeline;
    }
    const made = await madeBy(pipeline, { workingDirectory: files.directory });
    expect(made).toEqual(plain);
    expect(made.outcome).toBe('published');
  });
});
