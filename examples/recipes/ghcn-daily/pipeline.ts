// NOAA's daily weather: one partition for each year, and each year's file replaces its own.

import { column, csv, definePipeline, range } from 'sluice';

const header = ['id', 'date', 'element', 'value', 'm_flag', 'q_flag', 's_flag', 'obs_time'];

export default definePipeline({
  name: 'ghcn',
  schema: 'ghcn',
  tables: {
    observation: {
      source: csv('examples/recipes/ghcn-daily/*.csv', { header }),
      columns: {
        station: column.text('id'),
        day: column.date('date', { format: 'YYYYMMDD' }),
        element: column.text('element'),
        raw: column.integer('value'),
        quality_flag: column.text('q_flag').nullable(),
        observed_at: column.of('time', 'obs_time').nullable(),
        value: column.generated('numeric(7,1)', "case when element like 'SN%' then raw else raw / 10.0 end"),
      },
      primaryKey: ['station', 'day', 'element'],
      partitionBy: range('day', 'year'),
      publish: { mode: 'replace', only: 'touched' },
    },
  },
});
