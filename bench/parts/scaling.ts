// How time and memory grow: with the workers, and with the records. Always eight files, so that eight workers have work.

import type { Bench, BenchOptions } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { etlSide } from '../sides.ts';

const files = 8;

/** Of `--records`: 0.1, 1 and 5 million by default, and 26 million with --large. */
const shares = { small: 0.05, medium: 0.5, big: 2.5, large: 13 } as const;

/** The largest size is loaded with two workers only: with the others it would show nothing new in an hour. */
const workersOf = (size: string): readonly number[] => (size === 'large' ? [2] : [1, 2, 4, 8]);

/** Name of a side by its size and workers. */
export const scalingSide = (size: keyof typeof shares, { records }: BenchOptions, workers: number): string =>
  `${Math.round(records * shares[size]).toLocaleString('en')} records, workers: ${workers}`;

/** What all names of sides with two workers end with. */
export const twoWorkers = 'workers: 2';

export const measureScaling = async (bench: Bench): Promise<PartReport> => {
  const sizes = (['small', 'medium', 'big', 'large'] as const).filter(
    (size) => bench.large || size !== 'large',
  );
  const sides: Side[] = [];
  for (const size of sizes) {
    const dataset = await bench.dataset(Math.round(bench.records * shares[size]), files);
    for (const workers of workersOf(size))
      sides.push(etlSide(bench, scalingSide(size, bench, workers), dataset, 'whole', workers));
  }
  return {
    part: 'scaling',
    title: 'Whole job of etl by records and workers, eight files',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
