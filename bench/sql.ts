// The tables of the psql scripts, and the two ways their casts are written: as people write them, and as fast as we know.

import type { BenchServer } from './server.ts';

/** Where the psql scripts and the plain script work; `etl run` has a schema of its own. */
export const scriptSchema = 'bench_script';

/** A header's column in the text table. */
const nameOf = (header: string): string => `"${header.toLowerCase()}"`;

/** Statement that makes a table with a text column for each column of the files, or for some of them. */
export const createTextTable = (
  table: string,
  headers: readonly string[],
  kind: 'table' | 'unlogged table',
): string =>
  `create ${kind} ${scriptSchema}.${table} (${headers.map((name) => `${nameOf(name)} text`).join(', ')})`;

/** The rows that every job makes, with their types. */
const typedColumns = [
  ['wban', 'text'],
  ['observed_at', 'timestamp'],
  ['sky', 'text'],
  ['visibility', 'real'],
  ['weather', 'text'],
  ['dry_bulb', 'real'],
  ['wet_bulb', 'real'],
  ['dew_point', 'real'],
  ['humidity', 'smallint'],
  ['wind_speed', 'smallint'],
  ['wind_direction', 'smallint'],
  ['pressure', 'real'],
  ['rain', 'numeric(5,2)'],
  ['altimeter', 'real'],
] as const;

/** Statement that makes the table of the typed rows. */
export const createTypedTable = (kind: 'table' | 'unlogged table'): string =>
  `create ${kind} ${scriptSchema}.observation (${typedColumns.map((words) => words.join(' ')).join(', ')})`;

/** Columns of the files that the typed rows are made of. */
export const usedHeaders: readonly string[] = [
  'WBAN',
  'Date',
  'Time',
  'SkyCondition',
  'Visibility',
  'WeatherType',
  'DryBulbCelsius',
  'WetBulbCelsius',
  'DewPointCelsius',
  'RelativeHumidity',
  'WindSpeed',
  'WindDirection',
  'StationPressure',
  'HourlyPrecip',
  'Altimeter',
];

const cleaned = (header: string, ...nulls: readonly string[]): string =>
  ['', ...nulls].reduce((inner, token) => `nullif(${inner}, '${token}')`, `trim(${nameOf(header)})`);

/** Select list that makes typed rows of the text table, every column in the way that comes to mind first. */
export const usualCasts = [
  `trim("wban") as wban`,
  `to_timestamp("date" || "time", 'YYYYMMDDHH24MI')::timestamp as observed_at`,
  `${cleaned('SkyCondition', 'M')} as sky`,
  `${cleaned('Visibility', 'M', 'null')}::real as visibility`,
  `${cleaned('WeatherType', 'M')} as weather`,
  `${cleaned('DryBulbCelsius', 'M')}::real as dry_bulb`,
  `${cleaned('WetBulbCelsius', 'M')}::real as wet_bulb`,
  `${cleaned('DewPointCelsius', 'M')}::real as dew_point`,
  `${cleaned('RelativeHumidity', 'M')}::smallint as humidity`,
  `${cleaned('WindSpeed', 'M')}::smallint as wind_speed`,
  `${cleaned('WindDirection', 'M', 'VR')}::smallint as wind_direction`,
  `${cleaned('StationPressure', 'M')}::real as pressure`,
  `case trim("hourlyprecip") when 'T' then 0 else ${cleaned('HourlyPrecip', 'M')}::numeric end::numeric(5,2) as rain`,
  `${cleaned('Altimeter', 'M')}::real as altimeter`,
].join(',\n  ');

/**
 * The same rows at half the cost: input functions of numbers skip blanks themselves, dates and times are put together
 * without a pattern, and what is nearly always missing is looked at once.
 */
export const tunedCasts = [
  `"wban" as wban`,
  `"date"::date + make_time(left("time", 2)::int, right("time", 2)::int, 0) as observed_at`,
  `nullif(nullif(btrim("skycondition"), ''), 'M') as sky`,
  `case when "visibility" not in ('null', 'M') then "visibility"::real end as visibility`,
  `case when "weathertype" <> ' ' then nullif(btrim("weathertype"), 'M') end as weather`,
  `nullif("drybulbcelsius", 'M')::real as dry_bulb`,
  `nullif("wetbulbcelsius", 'M')::real as wet_bulb`,
  `nullif("dewpointcelsius", 'M')::real as dew_point`,
  `nullif("relativehumidity", 'M')::smallint as humidity`,
  `nullif("windspeed", 'M')::smallint as wind_speed`,
  `case when "winddirection" not in ('M', 'VR ') then "winddirection"::smallint end as wind_direction`,
  `nullif("stationpressure", 'M')::real as pressure`,
  `case when "hourlyprecip" in (' ', 'M') then null when "hourlyprecip" = '  T' then 0.00
    else "hourlyprecip"::numeric(5,2) end::numeric(5,2) as rain`,
  `nullif("altimeter", 'M')::real as altimeter`,
].join(',\n  ');

/** Rows and a sum over all their values that does not depend on their order. */
export const digestOf = async ({ query }: BenchServer, rows: string): Promise<string> => {
  const [found] = await query(
    `select count(*) || ' rows, checksum ' || coalesce(sum(hashtextextended(r::text, 0)), 0) as digest from (${rows}) r`,
  );
  return String(found!['digest']);
};

/** Checksum of each column alone, to name those that differ. */
export const columnDigests = async (
  { query }: BenchServer,
  rows: string,
): Promise<Readonly<Record<string, unknown>>> => {
  const [sample = {}] = await query(`select * from (${rows}) r limit 1`);
  const sums = Object.keys(sample).map(
    (name) => `sum(hashtextextended(coalesce("${name}"::text, 'null'), 0))::text as "${name}"`,
  );
  const [found = {}] = await query(`select ${sums.join(', ')} from (${rows}) r`);
  return found;
};
