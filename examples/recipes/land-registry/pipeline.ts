// House prices of England and Wales: a year's sales, then each month's additions, changes and deletions.

import { column, csv, definePipeline, oneOf } from 'sluice';

const folder = 'examples/recipes/land-registry';

export default definePipeline({
  name: 'price_paid',
  schema: 'price_paid',
  tables: {
    sale: {
      source: csv([`${folder}/pp-2*.csv`, `${folder}/pp-monthly-*.csv`], { header: false }),
      columns: {
        id: column.uuid(1),
        price: column.integer(2),
        day: column.date(3, { format: 'YYYY-MM-DD HH:mm' }),
        postcode: column.text(4).nullable(),
        type: column.text(5).oneOf(['D', 'S', 'T', 'F', 'O']),
        is_new: column.boolean(6, { true: ['Y'], false: ['N'] }),
        house: column.text(8).nullable(),
        street: column.text(10).nullable(),
        town: column.text(12),
      },
      primaryKey: ['id'],
      publish: { mode: 'merge', changed: 'reload', deleted: oneOf(16, ['D']) },
    },
  },
});
