// Japan's postcodes: Shift_JIS, and long names of towns go over several records.

import { column, csv, definePipeline, index, sqlFile } from 'sluice';

export default definePipeline({
  name: 'postcodes',
  schema: 'postcodes',
  tables: {
    record: {
      source: csv('examples/recipes/japan-postcodes/KEN_ALL.CSV', { encoding: 'shift_jis', header: false }),
      columns: {
        municipality: column.text(1),
        postcode: column.text(3),
        prefecture: column.text(7),
        city: column.text(8),
        town: column.text(9),
        has_chome: column.boolean(12),
      },
      lineage: ['_line'],
    },
    town: {
      from: ['record'],
      transform: sqlFile('town.sql'),
      indexes: [index('postcode')],
    },
  },
});
