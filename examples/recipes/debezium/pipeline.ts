// A table that follows Debezium's change events, flattened and written as CSV.

import { column, csv, definePipeline, oneOf } from 'sluice';

const day = (days: string) => new Date(Number(days) * 86_400_000).toISOString().slice(0, 10);
const time = (ms: string) => new Date(Number(ms)).toISOString();

export default definePipeline({
  name: 'debezium',
  schema: 'debezium',
  tables: {
    orders: {
      source: csv('examples/recipes/debezium/orders-*.csv'),
      columns: {
        id: column.bigint('id'),
        customer_id: column.bigint('customer_id'),
        order_date: column.date('order_date').map(day),
        total: column.numeric('total', { precision: 12, scale: 2 }),
        note: column.text('note').nullable(),
        updated_at: column.timestamptz('updated_at').map(time),
        lsn: column.bigint('__lsn'),
      },
      primaryKey: ['id'],
      publish: { mode: 'merge', newer: 'lsn', deleted: oneOf('__deleted', ['true']) },
    },
  },
});
