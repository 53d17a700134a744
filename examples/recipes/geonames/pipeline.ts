// GeoNames' places: tab-separated, without a header, so columns name positions.

import { column, csv, definePipeline, index } from 'sluice';

const dialect = { delimiter: '\t', quote: null, header: false } as const;
const list = (names: string) => `{${JSON.stringify(names.split(',')).slice(1, -1)}}`;

export default definePipeline({
  name: 'geonames',
  schema: 'geonames',
  tables: {
    place: {
      source: csv('examples/recipes/geonames/cities15000.txt', dialect),
      columns: {
        id: column.integer(1),
        name: column.text(2),
        other_names: column.of('text[]', 4).map(list).nullable(),
        location: column.of('point', [6, 5], { separator: ',' }),
        feature: column.text([7, 8], { separator: '.' }),
        country: column.varchar(9, { length: 2 }).nullable(),
        population: column.bigint(15),
        elevation_m: column.integer(16).nullable(),
        timezone: column.text(18).nullable(),
        changed: column.date(19),
      },
      primaryKey: ['id'],
      indexes: [index('location', { using: 'gist' })],
    },
  },
});
