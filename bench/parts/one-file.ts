// One big file: what a second worker gives, against one `\copy`.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import { copySide, etlSide } from '../sides.ts';

export const oneFileSides = {
  copy: '\\copy, unlogged',
  oneWorker: 'etl typed, 1 worker',
  twoWorkers: 'etl typed, 2 workers',
} as const;

export const measureOneFile = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(bench.records, 1);
  const sides = [
    copySide(bench, oneFileSides.copy, dataset, 'unlogged table', 'one', 'observations'),
    etlSide(bench, oneFileSides.oneWorker, dataset, 'load', 1),
    etlSide(bench, oneFileSides.twoWorkers, dataset, 'load', 2),
  ];
  return {
    part: 'one-file',
    title: 'Load stage, one file',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
