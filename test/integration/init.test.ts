// `etl init --yes` on real files: the pipeline that it writes loads them whole, without a reject, in types that are as narrow as what
// Python read in them (test/fixtures/public/expected.json).

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import {
  column,
  csv,
  definePipeline,
  loadPipelineFile,
  runPipeline,
  verifyPipeline,
  type Pipeline,
  type VerifyReport,
} from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

interface Expected {
  readonly files: readonly string[];
  readonly rows: number;
  /** Of the fields as they are written; the order of the records does not matter. */
  readonly checksum: string;
  readonly columns: readonly {
    readonly numbers: number;
    readonly sum: string;
    readonly isNumeric: boolean;
  }[];
}

const read = Object.values(
  JSON.parse(readFileSync('test/fixtures/public/expected.json', 'utf8')) as Record<string, Expected>,
  // Four records with the header of the hourly files, which would be one table with them.
).filter(({ files }) => !files[0]!.includes('201301hourly_head'));

const database = useDatabase();
const files = useFiles();

/** The tables that come of the files, in their order. */
const tables = [
  'hourly',
  'station',
  'lcd_usw',
  'isd_history',
  'ghcnd_cdo_usw',
  'cities',
  'pp_excerpt',
  'api_sp_pop_totl_ds_en_csv_v',
  'air_quality_uci_semicolon_bom',
];

const numberTypes = new Set(['smallint', 'integer', 'bigint', 'numeric']);

/** Columns of numbers that are something else on purpose, by table and position: dates and times of digits, and codes. */
const others: Readonly<Record<string, readonly number[]>> = {
  hourly: [2, 3, 35],
  station: [1, 2, 4, 5, 6],
  isd_history: [2],
  ghcnd_cdo_usw: [7, 8],
};

/** The same files, as the written pipeline says that they are to be read, with every field as its text. */
const verbatim = (written: Pipeline): Pipeline => {
  const sources = Object.values(written.tables as object) as {
    source: { paths: string[]; options: object };
  }[];
  const found = sources.map(({ source: { paths, options } }, place) => {
    const columns = read[place]!.columns.map((_, at) => [`c${at + 1}`, column.text(at + 1)]);
    const source = csv(paths, { ...options, nulls: [], trim: false });
    return [tables[place]!, { source, columns: Object.fromEntries(columns), staging: 'none' }] as const;
  });
  return definePipeline({ name: 'verbatim', schema: 'verbatim', tables: Object.fromEntries(found) as never });
};

let verified: VerifyReport;

describe('a pipeline that etl init has written', () => {
  beforeAll(async () => {
    const out = `${files.directory}/published.ts`;
    const locations = read.flatMap(({ files: paths }) => paths);
    const io = fakeIo({ workingDirectory: process.cwd() });
    const exit = await main(['init', ...locations, '--yes', '--out', out], io);
    if (exit !== 0) throw new Error(io.stderr.text);
    const { pipeline, directory } = await loadPipelineFile(out);
    await runPipeline(pipeline, { databaseUrl: database.url, directory, workers: 1 });
    verified = await verifyPipeline(pipeline, { databaseUrl: database.url, directory });
    await runPipeline(verbatim(pipeline), { databaseUrl: database.url, directory, workers: 1 });
    // Everything is read four times: by init, by the run, by the recount, and as text.
  }, 180_000);

  it('loads what csv-parse reads in the files, column for column', () => {
    expect(verified.tables.map(({ table, outcome, by }) => [table, outcome, by])).toEqual(
      tables.map((table) => [table, 'same', 'table']),
    );
    expect(verified.tables.flatMap(({ notCompared }) => notCompared)).toEqual([]);
  });

  it.each(read.map((one, place) => [tables[place]!, one] as const))(
    'loads %s: every record, the sum of each column of numbers, and codes as text',
    async (table, { rows, columns }) => {
      const { rows: found } = await database.query<{ name: string; type: string; place: number }>(
        `select attname as name, split_part(format_type(atttypid, atttypmod), '(', 1) as type, attnum::int as place
          from pg_attribute where attrelid = 'published.${table}'::regclass and attnum > 0 order by attnum`,
      );
      const numeric = columns.flatMap(({ isNumeric, numbers }, place) =>
        isNumeric && numbers > 0 ? [place + 1] : [],
      );
      const isNumber = ({ type }: { type: string }): boolean => numberTypes.has(type);
      const texts = numeric.filter((place) => !isNumber(found[place - 1]!));
      expect(texts, table).toEqual(others[table] ?? []);
      const numbers = found.filter(isNumber);
      const sums = numbers.map(
        ({ name }) => `json_build_array(count("${name}"), trim_scale(sum("${name}"::numeric))::text)`,
      );
      const { rows: totals } = await database.query(
        `select count(*)::int as rows, json_build_array(${sums.join(', ')}) as sums from published.${table}`,
      );
      const expected = numbers.map(({ place }) => {
        const { numbers: count, sum } = columns[place - 1]!;
        return [count, sum];
      });
      expect(totals[0]).toEqual({ rows, sums: expected });
    },
  );

  it.each(read.map((one, place) => [tables[place]!, one] as const))(
    'finds the records of %s, field for field',
    async (table, { rows, checksum, columns }) => {
      const fields = columns.map((_, at) => `c${at + 1}`).join(', ');
      const found = await database.query(`select count(*)::int as rows,
          sum(('x' || left(md5(array_to_string(array[${fields}], chr(31), '')), 8))::bit(32)::bigint)::text as checksum
        from verbatim.${table}`);
      expect(found.rows).toEqual([{ rows, checksum }]);
    },
  );

  it('makes one table of files with one header, and keeps what identifies a record', async () => {
    const { rows } = await database.query(
      `select relname as table, array_agg(attname::text order by array_position(conkey, attnum)) as key
        from pg_constraint join pg_class on pg_class.oid = conrelid join pg_attribute on attrelid = conrelid and attnum = any(conkey)
        where contype = 'p' and connamespace = 'published'::regnamespace group by relname order by relname collate "C"`,
    );
    expect(rows).toEqual([
      { table: 'api_sp_pop_totl_ds_en_csv_v', key: ['country_code'] },
      { table: 'cities', key: ['field_1'] },
      { table: 'ghcnd_cdo_usw', key: ['station', 'date'] },
      { table: 'hourly', key: ['wban', 'date', 'time'] },
      { table: 'isd_history', key: ['usaf', 'wban'] },
      { table: 'pp_excerpt', key: ['field_1'] },
    ]);
  });
});
