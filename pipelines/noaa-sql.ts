// The same observations the classic way: land the files verbatim, clean them in SQL.
//
//   npx etl run pipelines/noaa-sql.ts
//
// Right when the cleaning is easier to say in SQL. Nothing is checked per record on the way in; a value that SQL cannot
// cast stops the run, where pipelines/noaa.ts names the record. test/integration/noaa.test.ts compares the two.

import { csv, definePipeline, index, sqlFile } from 'sluice';

export default definePipeline({
  name: 'noaa_sql',
  schema: 'noaa_sql',
  tables: {
    observation: {
      source: csv('data/noaa/*hourly.txt'),
      staging: 'text',
      transform: sqlFile('noaa/observation.sql'),
      primaryKey: ['wban', 'observed_at'],
      indexes: [index('observed_at', { using: 'brin' })],
    },
  },
});
