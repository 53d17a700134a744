// Orders of a shop that come every night: those of one night are put to the ones that are there, or take their places.

import { csv, definePipeline } from 'sluice';
import { z } from 'zod';
import { columns } from '../shapes/orders.ts';

export default definePipeline({
  name: 'bench_nightly',
  schema: 'bench_nightly',
  params: z.object({
    files: z.string().default('*orders.csv'),
    publish: z.enum(['append', 'merge']).default('append'),
  }),
  tables: ({ files, publish }) => ({
    orders: {
      source: csv(files),
      columns,
      primaryKey: ['id'],
      publish,
    },
  }),
});
