// One big file in latin-1, against the same text in UTF-8, with one and with two workers.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import type { Dataset } from '../generate.ts';
import { etlSide } from '../sides.ts';

export const encodedSide = (encoding: 'utf8' | 'latin1', workers: number): string =>
  `${encoding}, workers: ${workers}`;

/** Fewer records than this are too few for two workers. */
const recordsMin = 200_000;

/** The same records with a letter beyond ASCII in every second one, in another directory. */
const accented = (dataset: Dataset, encoding: 'utf8' | 'latin1'): Dataset => {
  const directory = `${dataset.directory}-${encoding}`;
  mkdirSync(directory, { recursive: true });
  for (const { path } of dataset.files) {
    const made = join(directory, basename(path));
    if (existsSync(made)) continue;
    const text = readFileSync(path, 'latin1').replaceAll('CLR', 'CLÉ').replaceAll('OVC', 'ÖVC');
    writeFileSync(made, text, encoding);
  }
  return { ...dataset, directory };
};

export const measureEncoded = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(Math.max(bench.records, recordsMin), 1);
  const sides = [1, 2].flatMap((workers) =>
    (['utf8', 'latin1'] as const).map((encoding) =>
      etlSide(bench, encodedSide(encoding, workers), accented(dataset, encoding), 'load', workers, {
        encoding,
      }),
    ),
  );
  return {
    part: 'encoded',
    title: 'Load stage, one file, in UTF-8 and in latin-1',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
