// One of those months alone, into a table that has no other.

import { csv, definePipeline } from 'sluice';
import { orders } from './months.ts';

export default definePipeline({
  name: 'bench_month',
  schema: 'bench_month',
  tables: { orders: { source: csv('last-months.csv'), ...orders } },
});
