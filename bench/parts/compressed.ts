// One big file that is compressed, against the file that it holds, with two workers each.

import { createReadStream, createWriteStream, existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import type { Dataset } from '../generate.ts';
import { etlSide } from '../sides.ts';

/** Compressions of a file, by what its name would end with. */
const compressions: Readonly<Record<string, () => Transform>> = {
  '.csv.gz': () => createGzip(),
};

export const compressionNames: readonly string[] = Object.keys(compressions);

export const plainSide = 'the plain file, 2 workers';
export const compressedSide = (compression: string): string => `${compression}, 2 workers`;

/** Fewer records than this are too few for two workers. */
const recordsMin = 200_000;

/** The same files compressed, under their own names: their first bytes say how. */
const compressed = async (dataset: Dataset, compression: string): Promise<Dataset> => {
  const directory = `${dataset.directory}${compression}`;
  mkdirSync(directory, { recursive: true });
  for (const { path } of dataset.files) {
    const made = join(directory, basename(path));
    if (!existsSync(made))
      await pipeline(createReadStream(path), compressions[compression]!(), createWriteStream(made));
  }
  return { ...dataset, directory };
};

export const measureCompressed = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(Math.max(bench.records, recordsMin), 1);
  const sides = [etlSide(bench, plainSide, dataset, 'load', 2)];
  for (const name of compressionNames)
    sides.push(etlSide(bench, compressedSide(name), await compressed(dataset, name), 'load', 2));
  return {
    part: 'compressed',
    title: 'Load stage, one file, plain and compressed',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
