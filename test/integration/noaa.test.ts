// The example on the real data: every column against sums made by an independent parser.

import { readFileSync, statSync } from 'node:fs';
import { describe, expect, it, beforeAll } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { findRun, listRuns } from '../../src/ledger/history/history.ts';
import { EtlError, runPipeline, type RunResult } from '../../src/index.ts';
import noaa from '../../pipelines/noaa.ts';
import noaaSql from '../../pipelines/noaa-sql.ts';
import { useDatabase } from '../helpers/server.ts';

interface ColumnTruth {
  readonly col: number;
  readonly name: string;
  readonly numeric: number;
  readonly numeric_sum: string | null;
  readonly empty: number;
  readonly blank_only: number;
  readonly other_text: number;
  readonly tokens: Readonly<Record<string, number>>;
}

const fixture = (name: string): never =>
  JSON.parse(readFileSync(new URL(`../fixtures/expected/${name}`, import.meta.url), 'utf8')) as never;

const hourly = 'noaa/201101..201106hourly.txt';
const stations = 'noaa/201505station.txt';
const truth: Record<string, readonly ColumnTruth[]> = fixture('typed_expected.json');
const files: Record<string, { rows: number; row_md5_sum8: number; header_names: string[] }> =
  fixture('expected.json');

const truthOf = (file: string, header: string): ColumnTruth =>
  truth[file]!.find(({ name }) => name === header)!;

const hourlyBytes = [1, 2, 3, 4, 5, 6]
  .map((month) => statSync(`data/noaa/20110${month}hourly.txt`).size)
  .reduce((sum, bytes) => sum + bytes, 0);

const database = useDatabase();
const run = { directory: 'pipelines', keepStaging: true };
let result: RunResult;

beforeAll(async () => {
  result = await runPipeline(noaa, { ...run, databaseUrl: database.url });
  await runPipeline(noaaSql, { ...run, databaseUrl: database.url });
});

const one = async (sql: string): Promise<Record<string, unknown>> => (await database.query(sql)).rows[0]!;

describe('the run', () => {
  it('reports what it read, rejected, filtered and published', () => {
    expect(result.tables.map((table) => ({ ...table, seconds: 0 }))).toEqual([
      {
        table: 'station',
        schema: 'noaa',
        kind: 'source',
        files: 1,
        bytes: 222_698,
        records: 2553,
        copied: 2546,
        rejected: 0,
        filtered: 7,
        rowsBefore: null,
        rows: 2546,
        strategy: 'swap',
        seconds: 0,
      },
      {
        table: 'observation',
        schema: 'noaa',
        kind: 'source',
        files: 6,
        bytes: hourlyBytes,
        records: 5276,
        copied: 5276,
        rejected: 0,
        filtered: 0,
        rowsBefore: null,
        rows: 5276,
        strategy: 'swap',
        seconds: 0,
      },
      {
        table: 'daily',
        schema: 'noaa',
        kind: 'derived',
        files: 0,
        bytes: 0,
        records: 0,
        copied: 0,
        rejected: 0,
        filtered: 0,
        rowsBefore: null,
        rows: 181,
        strategy: 'swap',
        seconds: 0,
      },
    ]);
  });

  it('keeps the sums that its chunks have, in the order of its tables', async () => {
    const look = () =>
      withClient(addressFromUrl(database.url), async (client) => ({
        run: await findRun(client, result.runId),
        runs: await listRuns(client, { limit: 10 }),
      }));
    const kept = await look();
    expect(kept.run.tables.map(({ table, records }) => [table, records])).toEqual(
      result.tables.map(({ table, records }) => [table, records]),
    );
    await database.query(
      'create temp table had as select id, totals from etl.run; update etl.run set totals = null',
    );
    expect(await look()).toEqual(kept);
    const { rowCount } = await database.query(
      'update etl.run r set totals = h.totals from had h where h.id = r.id and h.totals is not null',
    );
    expect(rowCount).toBe(2);
  });

  it('gives the counts and the sum that the README names', async () => {
    expect(
      await one('select count(*), count(dry_bulb_c) as c, sum(dry_bulb_c::numeric) from noaa.observation'),
    ).toEqual({
      count: '5276',
      c: '5265',
      sum: '100878.8',
    });
    expect(await one('select count(*) from noaa.station')).toEqual({ count: '2546' });
  });

  it('builds primary keys and indexes', async () => {
    const { rows } = await database.query(
      `select indexdef from pg_indexes where schemaname = 'noaa' order by tablename, indexname`,
    );
    expect(rows.map(({ indexdef }) => indexdef)).toEqual([
      'CREATE UNIQUE INDEX daily_pkey ON noaa.daily USING btree (wban, day)',
      'CREATE INDEX observation_observed_at_idx ON noaa.observation USING brin (observed_at)',
      'CREATE UNIQUE INDEX observation_pkey ON noaa.observation USING btree (wban, observed_at)',
      'CREATE UNIQUE INDEX station_pkey ON noaa.station USING btree (wban)',
    ]);
  });

  it('keeps production logged and staging unlogged', async () => {
    const { rows } = await database.query(
      `select n.nspname, array_agg(distinct relpersistence) as persistence
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where nspname in ('noaa', 'etl_staging') and relkind = 'r' group by 1 order by 1`,
    );
    expect(rows).toEqual([
      { nspname: 'etl_staging', persistence: '{u}' },
      { nspname: 'noaa', persistence: '{p}' },
    ]);
  });
});

const typedColumns: readonly [column: string, header: string][] = [
  ['station_type', 'StationType'],
  ['visibility_mi', 'Visibility'],
  ['dry_bulb_f', 'DryBulbFarenheit'],
  ['dry_bulb_c', 'DryBulbCelsius'],
  ['wet_bulb_f', 'WetBulbFarenheit'],
  ['wet_bulb_c', 'WetBulbCelsius'],
  ['dew_point_f', 'DewPointFarenheit'],
  ['dew_point_c', 'DewPointCelsius'],
  ['relative_humidity', 'RelativeHumidity'],
  ['wind_speed_mph', 'WindSpeed'],
  ['wind_direction', 'WindDirection'],
  ['wind_gust_mph', 'ValueForWindCharacter'],
  ['station_pressure_inhg', 'StationPressure'],
  ['pressure_tendency', 'PressureTendency'],
  ['pressure_change_dhpa', 'PressureChange'],
  ['sea_level_pressure_inhg', 'SeaLevelPressure'],
  ['altimeter_inhg', 'Altimeter'],
  ['wban', 'WBAN'],
];

const sumIs = (column: string, expected: string): string =>
  `select count(${column})::int as count, sum(${column}::text::numeric) = ${expected}::numeric as same from`;

describe('noaa.observation', () => {
  it.each(typedColumns)('%s has the count and sum of %s', async (column, header) => {
    const { numeric, numeric_sum } = truthOf(hourly, header);
    expect(await one(`${sumIs(column, numeric_sum!)} noaa.observation`)).toEqual({
      count: numeric,
      same: true,
    });
  });

  it('reads a trace of rain as nought with a flag', async () => {
    const { numeric, numeric_sum, tokens } = truthOf(hourly, 'HourlyPrecip');
    expect(
      await one(
        'select count(rain_in)::int as n, sum(rain_in)::text as sum, sum(rain_is_trace::int)::int as traces from noaa.observation',
      ),
    ).toEqual({ n: numeric + tokens['  T']!, sum: numeric_sum, traces: tokens['  T'] });
  });

  it('reads VR as a variable direction, which is not a missing one', async () => {
    const { tokens } = truthOf(hourly, 'WindDirection');
    expect(await one('select sum(wind_is_variable::int)::int as n from noaa.observation')).toEqual({
      n: tokens['VR '],
    });
  });

  it('glues date and time', async () => {
    expect(
      await one(`select sum(to_char(observed_at, 'YYYYMMDD')::bigint)::text as dates,
        sum(to_char(observed_at, 'HH24MI')::int)::text as times from noaa.observation`),
    ).toEqual({ dates: truthOf(hourly, 'Date').numeric_sum, times: truthOf(hourly, 'Time').numeric_sum });
  });

  it.each([
    ['sky_condition_suspect', 'SkyConditionFlag'],
    ['visibility_suspect', 'VisibilityFlag'],
    ['weather_suspect', 'WeatherTypeFlag'],
    ['dry_bulb_suspect', 'DryBulbCelsiusFlag'],
    ['dew_point_suspect', 'DewPointCelsiusFlag'],
    ['sea_level_pressure_suspect', 'SeaLevelPressureFlag'],
    ['rain_suspect', 'HourlyPrecipFlag'],
  ])('%s counts the s of %s', async (column, header) => {
    expect(await one(`select sum(${column}::int)::int as n from noaa.observation`)).toEqual({
      n: truthOf(hourly, header).tokens['s'],
    });
  });

  it.each([
    ['sky_condition', 'SkyCondition'],
    ['weather', 'WeatherType'],
    ['record_type', 'RecordType'],
  ])('%s holds every text of %s that is not missing', async (column, header) => {
    const { other_text, tokens } = truthOf(hourly, header);
    expect(await one(`select count(${column})::int as n from noaa.observation`)).toEqual({
      n: other_text - (tokens['M'] ?? 0),
    });
  });
});

describe('noaa.station', () => {
  // Seven stations have no WBAN and are filtered; all seven have the other columns, so staging cannot show their share.
  it.each([
    ['wban', 'WBAN'],
    ['climate_division', 'ClimateDivisionCode'],
    ['station_height_ft', 'StationHeight'],
    ['barometer_ft', 'Barometer'],
  ])('%s has the count and sum of %s', async (column, header) => {
    const lost = stationsWithoutWban(header);
    const { numeric, numeric_sum } = truthOf(stations, header);
    const sum = `(${numeric_sum} - (${lost.sum}))`;
    expect(await one(`${sumIs(column, sum)} noaa.station`)).toEqual({
      count: numeric - lost.count,
      same: true,
    });
  });

  it.each([
    ['latitude', 'Latitude'],
    ['longitude', 'Longitude'],
    ['ground_height_ft', 'GroundHeight'],
    ['utc_offset_h', 'TimeZone'],
  ])('%s has the exact sum of %s', async (column, header) => {
    const lost = stationsWithoutWban(header);
    const { numeric, numeric_sum } = truthOf(stations, header);
    expect(await one(`${sumIs(column, `(${numeric_sum} - (${lost.sum}))`)} noaa.station`)).toEqual({
      count: numeric - lost.count,
      same: true,
    });
  });
});

/** Count and sum of the numbers in records without WBAN, read from the file itself. */
const stationsWithoutWban = (header: string): { count: number; sum: string } => {
  const lines = readFileSync('data/noaa/201505station.txt', 'utf8').split('\n');
  const field = lines[0]!.split('|').indexOf(header);
  const values = lines
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|')[field]!)
    .filter((value) => value !== '');
  return {
    count: values.length,
    sum: values.length === 0 ? '0' : values.map((value) => `(${value})`).join(' + '),
  };
};

describe('noaa.daily', () => {
  it('has one row per station and day, and adds up to the observations', async () => {
    expect(
      await one(`select count(*)::int as days, sum(observations)::int as observations, sum(rain_in)::text as rain,
        min(min_dry_bulb_c)::text as coldest, max(peak_wind_mph) as wind from noaa.daily`),
    ).toEqual(
      await one(`select count(distinct observed_at::date)::int as days, count(*)::int as observations,
        sum(rain_in)::text as rain, min(dry_bulb_c)::text as coldest,
        max(greatest(wind_speed_mph, wind_gust_mph)) as wind from noaa.observation`),
    );
  });
});

describe('the same files landed verbatim', () => {
  const { header_names: headers, rows, row_md5_sum8 } = files[hourly]!;
  const staging = 'etl_staging.noaa_sql__observation';

  it('holds every byte: the checksum of all 44 columns', async () => {
    const columns = headers.map((name) => `coalesce("${name}", '')`).join(', ');
    expect(
      await one(`select count(*)::int as rows,
        sum(('x' || left(md5(array_to_string(array[${columns}], chr(31), '')), 8))::bit(32)::bigint)::float8 as sum from ${staging}`),
    ).toEqual({ rows, sum: row_md5_sum8 });
  });

  it.each(headers)('%s has the count and sum', async (header) => {
    const { numeric, numeric_sum, empty, blank_only, other_text } = truthOf(hourly, header);
    const number = String.raw`"${header}" ~ '^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$'`;
    expect(
      await one(`select count(*) filter (where ${number})::int as numeric,
        coalesce(sum(case when ${number} then "${header}"::numeric end) = ${numeric_sum ?? 'null'}::numeric, ${numeric_sum === null}) as same,
        count(*) filter (where "${header}" is null or "${header}" = '')::int as empty,
        count(*) filter (where "${header}" ~ '^ +$')::int as blank_only,
        count(*) filter (where not ${number} and "${header}" !~ '^ *$')::int as other_text from ${staging}`),
    ).toEqual({ numeric, same: true, empty, blank_only, other_text });
  });

  it('gives the very same table when SQL cleans it', async () => {
    const difference = (a: string, b: string): string =>
      `select count(*)::int from (select * from ${a} except all select * from ${b}) d`;
    expect(await one(difference('noaa.observation', 'noaa_sql.observation'))).toEqual({ count: 0 });
    expect(await one(difference('noaa_sql.observation', 'noaa.observation'))).toEqual({ count: 0 });
  });
});

describe('a second run', () => {
  it('does nothing when files and definition are the same, names the run that published them, and loads a dropped table again', async () => {
    const second = await runPipeline(noaa, { ...run, databaseUrl: database.url });
    expect(second).toMatchObject({ outcome: 'unchanged', runId: result.runId, tables: result.tables });
    await database.query('drop table noaa.daily');
    const again = await runPipeline(noaa, { ...run, databaseUrl: database.url });
    expect(again.outcome).toBe('published');
    expect(await one('select count(*)::int as n from noaa.daily')).toEqual({ n: 181 });
  });

  it('is an EtlError that names the holder while another run goes on', async () => {
    const { query } = database;
    await query(`select pg_advisory_lock(hashtextextended('sluice pipeline noaa', 1936483173))`);
    try {
      const error = await runPipeline(noaa, { ...run, databaseUrl: database.url }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(EtlError);
      expect(error).toMatchObject({ code: 'ETL_RUN_LOCKED', exit: 1 });
    } finally {
      await query('select pg_advisory_unlock_all()');
    }
  });
});
