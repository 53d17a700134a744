// Prices of a shop, as another system exports them every night.

import { column, csv, definePipeline } from 'sluice';

export default definePipeline({
  name: 'price',
  schema: 'shop',
  tables: {
    price: {
      source: csv('data/prices-*.csv'),
      columns: {
        article: column.text('article'),
        currency: column.varchar('currency', { length: 3 }),
        price: column.numeric('price', { precision: 10, scale: 2 }),
      },
      primaryKey: ['article', 'currency'],
    },
  },
});
