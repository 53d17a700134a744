// The whole job into partitions by month, against the same rows in one table.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import { etlSide } from '../sides.ts';

export const byMonthSides = {
  one: 'etl, 2 workers',
  partitioned: 'etl, 2 workers, partitions by month',
} as const;

export const measureByMonth = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(bench.records, 2);
  const sides = [
    etlSide(bench, byMonthSides.one, dataset, 'whole', 2),
    etlSide(bench, byMonthSides.partitioned, dataset, 'whole', 2, { divided: 'month' }),
  ];
  return {
    part: 'by-month',
    title: 'Whole job, two files, into one table and into partitions by month',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
