// Broken records in a real file: each is found, named, and decides with the limit whether the rest is published.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const files = useFiles();
const database = useDatabase();

const lines = readFileSync('data/noaa/201101hourly.txt', 'latin1').trimEnd().split('\n');
const records = lines.length - 1;

/** Replaces one field (by header) of a line. */
const withField = (line: string, header: string, value: string): string => {
  const fields = line.split(',');
  fields[lines[0]!.split(',').indexOf(header)] = value;
  return fields.join(',');
};

/** Line number in the file -> how it is broken. */
const breaks: Readonly<Record<number, (line: string) => string>> = {
  11: (line) => withField(line, 'DryBulbCelsius', '1x.6'),
  101: (line) => withField(line, 'Date', '20110230'),
  201: (line) => line.split(',').slice(0, 42).join(','),
  301: (line) => `${line},extra`,
  401: (line) => withField(line, 'SkyCondition', 'CLR\xff\xfe'),
  501: (line) => withField(line, 'WeatherType', 'R\0A'),
};

const broken = lines.map((line, index) => breaks[index + 1]?.(line) ?? line);
const path = files.write('broken_hourly.txt', Buffer.from(`${broken.join('\n')}\n`, 'latin1'));

const pipeline = (rejectLimit: number | `${number}%`): Pipeline =>
  definePipeline({
    name: 'broken',
    schema: 'broken',
    tables: {
      observation: {
        source: csv(path, { trim: true, nulls: ['', 'M', 'null'] }),
        columns: {
          wban: column.text('WBAN'),
          observed_at: column.timestamp(['Date', 'Time'], { format: 'YYYYMMDDHHmm' }),
          sky_condition: column.text('SkyCondition').nullable(),
          weather: column.text('WeatherType').nullable(),
          dry_bulb_c: column.real('DryBulbCelsius').nullable(),
        },
        primaryKey: ['wban', 'observed_at'],
        rejectLimit,
      },
    },
  });

const offsetOfLine = (line: number): number => broken.slice(0, line - 1).join('\n').length + 1;

const expectedRejects = [
  { line: 11, column_name: 'dry_bulb_c', code: 'type' },
  { line: 101, column_name: 'observed_at', code: 'range' },
  { line: 201, column_name: null, code: 'field_count' },
  { line: 301, column_name: null, code: 'field_count' },
  { line: 401, column_name: 'sky_condition', code: 'invalid_utf8' },
  { line: 501, column_name: 'weather', code: 'nul_byte' },
].map((reject) => ({ ...reject, byte: offsetOfLine(reject.line), record: reject.line - 1, name: path }));

const rejectsOf = async (run: unknown): Promise<unknown[]> =>
  (
    await database.query(
      `select r.line::int, r.column_name, r.code, r.byte::int, r.record::int, f.name
        from etl.reject r join etl.source_file f on f.id = r.file_id where r.run_id = $1 order by r.byte`,
      [run],
    )
  ).rows;

describe('six broken records', () => {
  it('with rejectLimit 0: nothing is published, exit 3, all six are named', async () => {
    const error = await failureOf(runPipeline(pipeline(0), { databaseUrl: database.url }));
    expect(error).toMatchObject({
      code: 'ETL_REJECT_LIMIT',
      exit: 3,
      details: { rejected: 6, records, limit: '0' },
    });
    expect(error.message).toContain(`${path}:11 dry_bulb_c: "1x.6" is not a real`);
    expect(error.message).toContain('2011-02-30');
    expect(await rejectsOf(error.details['run'])).toEqual(expectedRejects);
    const { rows } = await database.query(`select to_regclass('broken.observation') as table`);
    expect(rows).toEqual([{ table: null }]);
    const runs = await database.query(`select state, error_code from etl.run`);
    expect(runs.rows).toEqual([{ state: 'failed', error_code: 'ETL_REJECT_LIMIT' }]);
  });

  it('with rejectLimit 10: the rest is published and the six are kept', async () => {
    const result = await runPipeline(pipeline(10), { databaseUrl: database.url });
    expect(result.tables[0]).toMatchObject({ records, copied: records - 6, rejected: 6, rows: records - 6 });
    expect(await rejectsOf(result.runId)).toEqual(expectedRejects);
    const { rows } = await database.query(`select count(*)::int as n from broken.observation`);
    expect(rows).toEqual([{ n: records - 6 }]);
  });

  it.each([
    { limit: '0.5%' as const, published: false },
    { limit: '1%' as const, published: true },
  ])('with rejectLimit $limit of $limit: published is $published', async ({ limit, published }) => {
    const attempt = runPipeline(pipeline(limit), { databaseUrl: database.url });
    if (published) expect(await attempt).toMatchObject({ outcome: 'published' });
    else expect(await failureOf(attempt)).toMatchObject({ code: 'ETL_REJECT_LIMIT' });
  });

  it('keeps the raw text, with what cannot be stored written out', async () => {
    const { rows } = await database.query(
      `select distinct on (line) raw from etl.reject where line in (11, 401, 501) order by line`,
    );
    expect(rows.map(({ raw }) => raw)).toEqual([
      broken[10],
      expect.stringContaining(String.raw`,CLR\xff\xfe,`),
      expect.stringContaining(String.raw`,R\x00A,`),
    ]);
  });
});
