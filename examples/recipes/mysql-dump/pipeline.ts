// A table of MySQL, as mysqldump --tab and SELECT … INTO OUTFILE write it.

import { column, csv, definePipeline } from 'sluice';

export default definePipeline({
  name: 'mysql',
  schema: 'mysql',
  tables: {
    customer: {
      source: csv('examples/recipes/mysql-dump/customer.txt', {
        escapes: 'mysql',
        delimiter: '\t',
        quote: null,
        header: ['id', 'name', 'email', 'note', 'created', 'birthday', 'active', 'balance'],
      }),
      columns: {
        id: column.integer('id'),
        name: column.text('name'),
        email: column.text('email').nullable(),
        note: column.text('note').nullable(),
        created: column.timestamp('created', { nulls: ['0000-00-00 00:00:00'] }).nullable(),
        birthday: column.date('birthday', { nulls: ['0000-00-00'] }).nullable(),
        active: column.boolean('active'),
        balance: column.numeric('balance', { precision: 12, scale: 2 }),
      },
      primaryKey: ['id'],
    },
  },
});
