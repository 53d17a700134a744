// Eurostat's consumer prices: a column for each month, turned into a row for each month.

import { csv, definePipeline, sqlFile } from 'sluice';

export default definePipeline({
  name: 'hicp',
  schema: 'hicp',
  tables: {
    price_index: {
      source: csv('examples/recipes/eurostat-hicp/prc_hicp_midx.tsv', { delimiter: '\t', quote: null }),
      staging: 'text',
      transform: sqlFile('price_index.sql'),
      primaryKey: ['geo', 'coicop', 'unit', 'month'],
    },
  },
});
