// Orders of a shop by month: of sixty months the one that has changed is replaced.

import { csv, definePipeline, range } from 'sluice';
import { columns } from '../shapes/orders.ts';

export const orders = {
  columns,
  primaryKey: ['id', 'created_at'],
  partitionBy: range('created_at', 'month'),
  publish: { mode: 'replace', only: 'touched' },
} as const;

export default definePipeline({
  name: 'bench_months',
  schema: 'bench_months',
  tables: { orders: { source: csv('*months.csv'), ...orders } },
});
