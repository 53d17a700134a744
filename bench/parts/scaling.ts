// How time and memory grow: with the workers, and with the records. Always eight files, so that eight workers have work.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import { etlSide } from '../sides.ts';

const files = 8;

export const workerCounts = [1, 2, 4, 8];

/** Of `--rows`: 0.1, 1 and 5 million by default, and 26 million with --large. */
const shares = { small: 0.05, medium: 0.5, big: 2.5, large: 13 };

export const sizesOf = ({ rows, large }: Pick<Bench, 'rows' | 'large'>) => ({
  small: Math.round(rows * shares.small),
  medium: Math.round(rows * shares.medium),
  big: Math.round(rows * shares.big),
  ...(large && { large: Math.round(rows * shares.large) }),
});

/** The biggest files need no median: their runs are long enough to be even. */
const roundsOf = (bench: Bench, records: number): number =>
  records > bench.rows * shares.big ? 1 : bench.rounds;

export const measureWorkers = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(bench.rows, files);
  const sides = workerCounts.map((workers) =>
    etlSide(bench, `etl, ${workers} workers`, dataset, 'whole', workers),
  );
  return {
    part: 'workers',
    title: 'Whole job by workers, eight files',
    records: dataset.records,
    sides: await compare(bench.server, sides, bench.rounds),
    notes: [],
  };
};

/** Name of a size's part; `''`: what all their names begin with. */
export const sizePart = (records: number | ''): string => `size-${records}`;

/** One report a size: sides of one comparison load the same records. */
export const measureSizes = async (bench: Bench): Promise<readonly PartReport[]> => {
  const reports: PartReport[] = [];
  for (const records of Object.values(sizesOf(bench))) {
    const dataset = await bench.dataset(records, files);
    const sides = [etlSide(bench, 'etl, 2 workers', dataset, 'whole', 2)];
    reports.push({
      part: sizePart(records),
      title: 'Whole job by records, eight files',
      records,
      sides: await compare(bench.server, sides, roundsOf(bench, records)),
      notes: [],
    });
  }
  return reports;
};
