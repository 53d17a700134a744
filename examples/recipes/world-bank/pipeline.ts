// An indicator of the World Bank: lines before the header, and a column for each year.

import { csv, definePipeline, sqlFile } from 'sluice';

export default definePipeline({
  name: 'world_bank',
  schema: 'world_bank',
  tables: {
    indicator: {
      source: csv('examples/recipes/world-bank/API_*.csv', { skipLines: 4 }),
      staging: 'text',
      transform: sqlFile('indicator.sql'),
      primaryKey: ['indicator', 'country', 'year'],
    },
  },
});
