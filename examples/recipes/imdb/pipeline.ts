// IMDb's titles: tab-separated, and quotes are data.

import { column, csv, definePipeline } from 'sluice';

const dialect = { delimiter: '\t', quote: null, nulls: ['\\N'] };
const list = (names: string) => `{${names}}`;

export default definePipeline({
  name: 'imdb',
  schema: 'imdb',
  tables: {
    title: {
      source: csv('examples/recipes/imdb/title.basics.tsv.gz', dialect),
      columns: {
        id: column.text('tconst'),
        type: column.text('titleType'),
        title: column.text('primaryTitle'),
        is_adult: column.boolean('isAdult'),
        year: column.smallint('startYear').nullable(),
        minutes: column.integer('runtimeMinutes').nullable(),
        genres: column.of('text[]', 'genres').map(list).nullable(),
      },
      primaryKey: ['id'],
      rejectLimit: 100,
    },
  },
});
