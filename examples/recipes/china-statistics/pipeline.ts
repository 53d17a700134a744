// China's national statistics: GB18030, lines around the data, and a column for each year.

import { csv, definePipeline, sqlFile } from 'sluice';

const dialect = { encoding: 'gb18030', skipLines: 2, skipEnd: 1 };

export default definePipeline({
  name: 'china',
  schema: 'china',
  tables: {
    indicator: {
      source: csv('examples/recipes/china-statistics/year.csv', dialect),
      staging: 'text',
      transform: sqlFile('indicator.sql'),
      primaryKey: ['indicator', 'year'],
    },
  },
});
