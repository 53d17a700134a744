// Real files as they are published, in every form and from everywhere: rows, sums and checksums are those that Python's csv module
// computed (test/fixtures/public), also from a web server that cuts each connection three times, and from a bucket.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { encodeTextRow } from '../../src/load/chunk/encode-text.ts';
import { decodingNamed } from '../../src/input/decode/registry.ts';
import { createCompiledDecoder } from '../../src/format/rows/compiled-decoder.ts';
import { column, csv, definePipeline, runPipeline } from '../../src/index.ts';
import { fileForms, plainForm, type FileForm } from '../helpers/file-forms.ts';
import { useFiles } from '../helpers/files.ts';
import { useHttpFiles } from '../helpers/http-files.ts';
import { startS3, type S3Server } from '../helpers/s3.ts';
import { useDatabase } from '../helpers/server.ts';
import { createRecordDecoder } from '../unit/format/records/record-decoder.ts';
import { tableOf } from '../unit/format/records/reading.ts';
import { planFile, segmentBlocks } from '../unit/run/read-table.ts';

type CsvOptions = NonNullable<Parameters<typeof csv>[1]>;

/** What make.py found in the files of a table. */
interface Expected {
  readonly options: CsvOptions;
  readonly files: readonly string[];
  readonly sha256: readonly string[];
  readonly rows: number;
  readonly checksum: string;
  readonly columns: readonly {
    readonly numbers: number;
    readonly sum: string;
    /** Everything else is blank. */
    readonly isNumeric: boolean;
  }[];
}

const expected = Object.values(
  JSON.parse(readFileSync('test/fixtures/public/expected.json', 'utf8')) as Record<string, Expected>,
);

const files = useFiles();
const server = useHttpFiles();
const database = useDatabase();
let bucket: S3Server;
/** By table and file. */
const contents: Buffer[][] = [];

const contentOf = async (path: string): Promise<Buffer> => {
  const stored = readFileSync(path);
  if (!path.endsWith('.zst')) return stored;
  async function* bytes(): AsyncGenerator<Buffer, void> {
    yield stored;
  }
  const blocks: Buffer[] = [];
  for await (const block of decodingNamed('zstd').decode(bytes())) blocks.push(Buffer.from(block));
  return Buffer.concat(blocks);
};

beforeAll(async () => {
  for (const { files: paths } of expected) contents.push(await Promise.all(paths.map(contentOf)));
  bucket = await startS3();
  for (const [name, value] of Object.entries(bucket.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await bucket.stop();
});

/** Where files are. */
const places = {
  'a directory': (path: string, bytes: Buffer) => files.write(path, bytes),
  'a web server that cuts the connection three times': (path: string, bytes: Buffer) =>
    server.put(`/${path}`, { bytes, cutAt: Math.ceil(bytes.length / 4) }),
  'a bucket': (path: string, bytes: Buffer) => {
    bucket.put('public', path, bytes);
    return `s3://public/${path}`;
  },
};
type Place = keyof typeof places;

/** The fields of every file as texts, and `withNumbers` the columns of numbers as numbers, too. */
const tablesOf = (form: FileForm, place: Place, withNumbers: boolean) => {
  const tables = expected.flatMap(({ options, files: paths, columns }, index) => {
    const locations = paths.map((path, file) => {
      const bytes = form.pack(contents[index]![file]!);
      return (
        places[place](`${form.name.replaceAll(' ', '-')}/${path}${form.end}`, bytes) + (form.member ?? '')
      );
    });
    const own: CsvOptions = {
      ...options,
      ...(form.encoding === undefined ? {} : { encoding: form.encoding }),
      ...(locations[0]!.startsWith('http') ? { allowPrivate: true } : {}),
    };
    const texts = columns.map((_, at) => [`c${at + 1}`, column.text(at + 1)] as const);
    const numbers = columns.flatMap(({ isNumeric }, at) =>
      isNumeric ? [[`c${at + 1}`, column.numeric(at + 1).nullable()] as const] : [],
    );
    const both = [
      [
        `texts${index}`,
        { source: csv(locations, { ...own, nulls: [] }), columns: Object.fromEntries(texts) },
      ],
      [
        `numbers${index}`,
        { source: csv(locations, { ...own, trim: true }), columns: Object.fromEntries(numbers) },
      ],
    ] as const;
    return withNumbers ? both : [both[0]];
  });
  return Object.fromEntries(tables);
};

/** Rows and checksum of a table of texts. */
const textsOf = async (table: string, fields: readonly string[]) => {
  const { rows } = await database.query(
    `select count(*)::int as rows,
        sum(('x' || left(md5(array_to_string(array[${fields.join(', ')}], chr(31))), 8))::bit(32)::bigint)::text as checksum
      from ${table}`,
  );
  return rows[0];
};

/** How many numbers each of these columns has, and their sum. */
const sumsOf = async (table: string, fields: readonly string[]) => {
  const sums = fields.map(
    (name) => `json_build_object('numbers', count(${name}), 'sum', trim_scale(sum(${name}))::text)`,
  );
  const { rows } = await database.query(`select json_build_array(${sums.join(', ')}) as sums from ${table}`);
  return rows[0]!['sums'];
};

let runs = 0;

describe('published files come to what Python reads in them', () => {
  const everywhere: readonly (readonly [string, Place])[] = [
    ...fileForms.map(({ name }) => [name, 'a directory'] as const),
    ['plain', 'a web server that cuts the connection three times'],
    ['gzip', 'a web server that cuts the connection three times'],
    ['plain', 'a bucket'],
    ['zstd of many frames', 'a bucket'],
  ];

  it.each(everywhere)('as %s from %s', async (name, place) => {
    const schema = `r${(runs += 1)}`;
    const form = fileForms.find((one) => one.name === name)!;
    // Numbers are read from the same text, in whatever form it came: once is enough.
    const withNumbers = form === plainForm && place === 'a directory';
    const pipeline = definePipeline({ name: schema, schema, tables: tablesOf(form, place, withNumbers) });
    await runPipeline(pipeline, { databaseUrl: database.url, workers: 2, chunkBytes: 500_000 });
    for (const [
      index,
      {
        files: [title],
        rows,
        checksum,
        columns,
      },
    ] of expected.entries()) {
      const names = columns.map((_, at) => `c${at + 1}`);
      expect(await textsOf(`${schema}.texts${index}`, names), title).toEqual({ rows, checksum });
      const isNumeric = (_: unknown, at: number): boolean => withNumbers && columns[at]!.isNumeric;
      const sums = columns.filter(isNumeric).map(({ numbers, sum }) => ({ numbers, sum }));
      const found = withNumbers ? await sumsOf(`${schema}.numbers${index}`, names.filter(isNumeric)) : [];
      expect(found, title).toEqual(sums);
    }
    await database.query(`drop schema ${schema} cascade`);
  });

  it('by the decoder that the compiled one is compared with, too', async () => {
    const tables = tablesOf(plainForm, 'a directory', false);
    for (const [index, { rows, checksum, sha256 }] of expected.entries()) {
      expect(contents[index]!.map((bytes) => createHash('sha256').update(bytes).digest('hex'))).toEqual(
        sha256,
      );
      const { source, columns } = tables[`texts${index}`]!;
      const declared = tableOf(source.options as CsvOptions, { columns });
      let [seen, sum] = [0, 0n];
      for (const location of source.paths as readonly string[]) {
        const planned = await planFile({
          ...declared,
          source: { ...declared.source, locations: [location] },
        });
        const { table, file } = planned;
        const decode = createRecordDecoder(table, file, (row) => {
          sum += BigInt(`0x${createHash('md5').update(row.join('\x1f')).digest('hex').slice(0, 8)}`);
          return encodeTextRow(row);
        });
        const compiled = createCompiledDecoder(table, file, encodeTextRow);
        for await (const block of segmentBlocks(planned)) {
          const { counts, copyBytes, rejects } = decode(block);
          seen += counts.copied;
          expect([compiled(block).copyBytes.equals(copyBytes), rejects]).toEqual([true, []]);
        }
      }
      expect([seen, String(sum)], source.paths as never).toEqual([rows, checksum]);
    }
  });
});
