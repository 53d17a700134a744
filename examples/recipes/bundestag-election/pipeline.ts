// The results of a German federal election, constituency by constituency.

import { column, csv, definePipeline, index, oneOf } from 'sluice';

export default definePipeline({
  name: 'election',
  schema: 'election',
  tables: {
    result: {
      source: csv('examples/recipes/bundestag-election/kerg2.csv', { delimiter: ';', skipLines: 9 }),
      // The file has sums for the states and the country, too.
      filter: oneOf('Gebietsart', ['Wahlkreis']),
      columns: {
        election_day: column.date('Wahltag', { format: 'DD.MM.YYYY' }),
        constituency: column.smallint('Gebietsnummer'),
        constituency_name: column.text('Gebietsname'),
        state: column.smallint('UegGebietsnummer'),
        kind: column.text('Gruppenart'),
        party: column.text('Gruppenname'),
        vote: column.smallint('Stimme').nullable(),
        votes: column.integer('Anzahl').nullable(),
        percent: column.numeric('Prozent', { decimal: ',' }).nullable(),
        winner: column.text('Gewählt').nullable(),
      },
      indexes: [index(['constituency', 'party'])],
    },
  },
});
