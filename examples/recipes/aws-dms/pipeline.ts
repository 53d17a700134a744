// A table that follows AWS DMS: a full load, then files of changes with an operation in front.

import { column, csv, definePipeline, oneOf } from 'sluice';

const fields = ['id', 'name', 'email', 'created_at', 'balance'];
const folder = 'examples/recipes/aws-dms/shop/customer';
const load = { path: `${folder}/LOAD*.csv`, header: fields, constants: { Op: 'I' } };
const changes = { path: `${folder}/2*.csv`, header: ['Op', ...fields] };

export default definePipeline({
  name: 'dms',
  schema: 'dms',
  tables: {
    customer: {
      source: csv([load, changes], { nulls: ['NULL'] }),
      columns: {
        id: column.bigint('id'),
        name: column.text('name'),
        email: column.text('email').nullable(),
        created_at: column.timestamp('created_at'),
        balance: column.numeric('balance').nullable(),
      },
      primaryKey: ['id'],
      publish: { mode: 'merge', deleted: oneOf('Op', ['D']) },
    },
  },
});
