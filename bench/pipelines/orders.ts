// The shop's orders with and without staging: `staging=none` leaves it out.

import { csv, definePipeline } from 'sluice';
import { z } from 'zod';
import { columns } from '../shapes/orders.ts';

export default definePipeline({
  name: 'bench_orders_staging',
  schema: 'bench_orders_staging',
  params: z.object({ staging: z.enum(['typed', 'none']).default('typed') }),
  tables: ({ staging }) => ({
    orders: { source: csv('*orders.csv'), staging, columns, primaryKey: ['id'] },
  }),
});
