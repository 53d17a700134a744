// Every night the hourly files that are new, appended to a table with one partition for each month.
//
//   npx etl run pipelines/noaa-nightly.ts
//
// Run it again, and it does nothing; put another month beside the others, and only that one is loaded. A file that NOAA corrects takes
// the place of its rows. docs/guide/nightly-loads.md and docs/guide/partitions.md explain both.

import { column, csv, definePipeline, index, range } from 'sluice';

export default definePipeline({
  name: 'noaa_nightly',
  schema: 'noaa_nightly',
  tables: {
    observation: {
      source: csv('data/noaa/*hourly.txt', { trim: true, nulls: ['', 'M', 'null'] }),
      columns: {
        wban: column.text('WBAN'),
        observed_at: column.timestamp(['Date', 'Time'], { format: 'YYYYMMDDHHmm' }),
        record_type: column.text('RecordType'),
        dry_bulb_f: column.smallint('DryBulbFarenheit').nullable(),
        relative_humidity: column.smallint('RelativeHumidity').nullable(),
        wind_speed_mph: column.smallint('WindSpeed').nullable(),
        rain_in: column.numeric('HourlyPrecip', { precision: 5, scale: 2, tokens: { T: '0' } }).nullable(),
      },
      primaryKey: ['wban', 'observed_at'],
      indexes: [index('observed_at', { using: 'brin' })],
      partitionBy: range('observed_at', 'month'),
      publish: { mode: 'append', changed: 'reload', gone: 'keep' },
      // A table that only grows loses nothing.
      guard: { shrinkMax: '0%' },
    },
  },
});
