// The benchmark's pipeline: fourteen typed columns of NOAA's hourly files and an index, as the psql scripts make them.
//
// `rows=text` names a type as other than built-in, so that rows are sent as text; `staging=none` leaves staging out; `divided=month`, `week` or `day` makes partitions.

import { column, csv, definePipeline, index, range } from 'sluice';
import { z } from 'zod';

export default definePipeline({
  name: 'bench_observation',
  schema: 'bench_observation',
  params: z.object({
    rows: z.enum(['binary', 'text']).default('binary'),
    staging: z.enum(['typed', 'none']).default('typed'),
    divided: z.enum(['no', 'month', 'week', 'day']).default('no'),
    files: z.string().default('*hourly.txt'),
    encoding: z.string().default('utf-8'),
  }),
  tables: ({ rows, staging, divided, files, encoding }) => ({
    observation: {
      source: csv(files, {
        encoding,
        trim: true,
        nulls: ['', 'M', 'null'],
        ...(files.startsWith('http') && { allowPrivate: true }),
      }),
      staging,
      columns: {
        wban: rows === 'text' ? column.of('text', 'WBAN') : column.text('WBAN'),
        observed_at: column.timestamp(['Date', 'Time'], { format: 'YYYYMMDDHHmm' }),
        sky: column.text('SkyCondition').nullable(),
        visibility: column.real('Visibility').nullable(),
        weather: column.text('WeatherType').nullable(),
        dry_bulb: column.real('DryBulbCelsius').nullable(),
        wet_bulb: column.real('WetBulbCelsius').nullable(),
        dew_point: column.real('DewPointCelsius').nullable(),
        humidity: column.smallint('RelativeHumidity').nullable(),
        wind_speed: column.smallint('WindSpeed').nullable(),
        wind_direction: column.smallint('WindDirection', { nulls: ['VR'] }).nullable(),
        pressure: column.real('StationPressure').nullable(),
        rain: column.numeric('HourlyPrecip', { precision: 5, scale: 2, tokens: { T: '0' } }).nullable(),
        altimeter: column.real('Altimeter').nullable(),
      },
      indexes: [index(['wban', 'observed_at'])],
      ...(divided !== 'no' && { partitionBy: range('observed_at', divided) }),
    },
  }),
});
