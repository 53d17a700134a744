// A sheet that a German Excel saved as "Unicode Text".

import { column, csv, definePipeline } from 'sluice';

export default definePipeline({
  name: 'excel',
  schema: 'excel',
  tables: {
    orders: {
      source: csv('examples/recipes/excel-unicode-text/orders.txt', {
        encoding: 'utf-16le',
        delimiter: '\t',
        quotes: 'lenient',
        nulls: ['', '#NV', '#DIV/0!'],
      }),
      columns: {
        id: column.text('Auftrag'),
        day: column.date('Datum', { format: 'DD.MM.YYYY' }),
        customer: column.text('Kunde'),
        note: column.text('Bemerkung').nullable(),
        pieces: column.integer('Menge', { thousands: '.' }),
        amount: column.numeric('Betrag', { decimal: ',', thousands: '.' }),
        discount: column.numeric('Rabatt', { decimal: ',', percent: 'share' }).nullable(),
        paid: column.boolean('Bezahlt', { true: ['WAHR'], false: ['FALSCH'] }),
      },
      primaryKey: ['id'],
    },
  },
});
