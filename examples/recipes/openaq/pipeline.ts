// OpenAQ's measurements: a compressed file for each station and day.

import { column, csv, definePipeline } from 'sluice';

export default definePipeline({
  name: 'openaq',
  schema: 'openaq',
  tables: {
    measurement: {
      source: csv('examples/recipes/openaq/records/csv.gz/locationid=*/year=2024/**/*.csv.gz'),
      columns: {
        location_id: column.integer('location_id'),
        sensor_id: column.integer('sensors_id'),
        location: column.text('location'),
        measured_at: column.timestamptz('datetime'),
        latitude: column.double('lat'),
        longitude: column.double('lon'),
        parameter: column.text('parameter'),
        unit: column.text('units'),
        value: column.double('value').nulls(['-999.0']).nullable(),
      },
      primaryKey: ['sensor_id', 'measured_at'],
      publish: { mode: 'append', changed: 'reload' },
    },
  },
});
