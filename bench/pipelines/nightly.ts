// Orders of a shop that come every night: those of one night are put to the ones that are there.

import { column, csv, definePipeline } from 'sluice';
import { z } from 'zod';

export default definePipeline({
  name: 'bench_nightly',
  schema: 'bench_nightly',
  params: z.object({ files: z.string().default('*orders.csv') }),
  tables: ({ files }) => ({
    orders: {
      source: csv(files),
      columns: {
        id: column.uuid('id'),
        created_at: column.timestamptz('created_at'),
        updated_at: column.timestamp('updated_at'),
        customer: column.integer('customer'),
        amount: column.numeric('amount'),
        paid: column.boolean('paid'),
        country: column.varchar('country', { length: 2 }),
        note: column.text('note').nullable(),
      },
      primaryKey: ['id'],
      publish: 'append',
    },
  }),
});
