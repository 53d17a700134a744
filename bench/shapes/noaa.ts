// Hourly weather with every column of pipelines/noaa.ts, the example of the README: numbers padded with blanks, tokens for what is
// missing, nine flags.

import { csv, definePipeline } from 'sluice';
import noaa from '../../pipelines/noaa.ts';
import { hourlyFiles, hourlyHeader } from '../hourly-files.ts';
import type { TypedTable } from '../../src/pipeline/declare/table.ts';
import { params, type Shape } from './contract.ts';

const { observation } = noaa.tables as { readonly observation: TypedTable<object> };

const pipeline = definePipeline({
  name: 'bench_noaa',
  schema: 'bench_noaa',
  params,
  tables: ({ staging }) => ({
    noaa: { ...observation, source: csv('*hourly.txt', { trim: true, nulls: ['', 'M', 'null'] }), staging },
  }),
});

const number = (header: string, type: string, name: string): string =>
  `nullif("${header}", 'M')::${type} as ${name}`;
/** Mostly missing, which these files write as a blank. */
const rare = (header: string, type: string, name: string): string =>
  `case when "${header}" not in (' ', 'M') then "${header}"::${type} end as ${name}`;
const suspect = (header: string, name: string): string => `"${header}" = 's' as ${name}`;

export default pipeline;

export const shape: Shape = {
  name: 'noaa',
  title: '31 columns: padded numbers, tokens for missing values, nine booleans, date and time glued',
  pipeline,
  files: hourlyFiles,
  script: {
    copy: 'format csv, header',
    loaded: hourlyHeader.map((name) => `"${name.toLowerCase()}" text`).join(', '),
    casts: [
      `"wban" as wban`,
      `"date"::date + make_time(left("time", 2)::int, right("time", 2)::int, 0) as observed_at`,
      `"stationtype"::smallint as station_type`,
      `"recordtype" as record_type`,
      `nullif(nullif(btrim("skycondition"), ''), 'M') as sky_condition`,
      suspect('skyconditionflag', 'sky_condition_suspect'),
      `case when "visibility" not in ('null', 'M') then "visibility"::real end as visibility_mi`,
      suspect('visibilityflag', 'visibility_suspect'),
      `case when "weathertype" <> ' ' then nullif(btrim("weathertype"), 'M') end as weather`,
      suspect('weathertypeflag', 'weather_suspect'),
      number('drybulbfarenheit', 'smallint', 'dry_bulb_f'),
      number('drybulbcelsius', 'real', 'dry_bulb_c'),
      suspect('drybulbcelsiusflag', 'dry_bulb_suspect'),
      number('wetbulbfarenheit', 'smallint', 'wet_bulb_f'),
      number('wetbulbcelsius', 'real', 'wet_bulb_c'),
      number('dewpointfarenheit', 'smallint', 'dew_point_f'),
      number('dewpointcelsius', 'real', 'dew_point_c'),
      suspect('dewpointcelsiusflag', 'dew_point_suspect'),
      number('relativehumidity', 'smallint', 'relative_humidity'),
      number('windspeed', 'smallint', 'wind_speed_mph'),
      `case when "winddirection" not in ('M', 'VR ') then "winddirection"::smallint end as wind_direction`,
      `"winddirection" = 'VR ' as wind_is_variable`,
      rare('valueforwindcharacter', 'smallint', 'wind_gust_mph'),
      number('stationpressure', 'real', 'station_pressure_inhg'),
      rare('pressuretendency', 'smallint', 'pressure_tendency'),
      rare('pressurechange', 'smallint', 'pressure_change_dhpa'),
      number('sealevelpressure', 'real', 'sea_level_pressure_inhg'),
      suspect('sealevelpressureflag', 'sea_level_pressure_suspect'),
      `case when "hourlyprecip" in (' ', 'M') then null when "hourlyprecip" = '  T' then 0.00
        else "hourlyprecip"::numeric(5,2) end::numeric(5,2) as rain_in`,
      `"hourlyprecip" = '  T' as rain_is_trace`,
      suspect('hourlyprecipflag', 'rain_suspect'),
      number('altimeter', 'real', 'altimeter_inhg'),
    ].join(',\n  '),
    finish: [
      'alter table $ add primary key (wban, observed_at)',
      'create index on $ using brin (observed_at)',
    ],
  },
};
