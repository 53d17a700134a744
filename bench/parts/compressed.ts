// One big file that is compressed, against the file that it holds, with two workers each.

import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import type { Dataset } from '../generate.ts';
import { etlSide } from '../sides.ts';

/** Programs that compress a file to standard output, by what its name would end with. */
const programs: Readonly<Record<string, readonly string[]>> = {
  '.csv.gz': ['gzip', '-c'],
  '.csv.zst': ['zstd', '-qc'],
};

/** Those that are installed. */
export const compressionNames: readonly string[] = Object.keys(programs).filter(
  (name) => spawnSync(programs[name]![0]!, ['--version']).status === 0,
);

export const plainSide = 'the plain file, 2 workers';
export const compressedSide = (compression: string): string => `${compression}, 2 workers`;

/** Fewer records than this are too few for two workers. */
const recordsMin = 200_000;

/** The same files compressed, under their own names: their first bytes say how. */
const compressed = (dataset: Dataset, compression: string): Dataset => {
  const directory = `${dataset.directory}${compression}`;
  mkdirSync(directory, { recursive: true });
  const [program, ...args] = programs[compression]!;
  for (const { path } of dataset.files) {
    const made = join(directory, basename(path));
    if (existsSync(made)) continue;
    const out = openSync(made, 'wx');
    execFileSync(program!, [...args, path], { stdio: ['ignore', out, 'inherit'] });
    closeSync(out);
  }
  return { ...dataset, directory };
};

export const measureCompressed = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(Math.max(bench.records, recordsMin), 1);
  const sides = [etlSide(bench, plainSide, dataset, 'load', 2)];
  for (const name of compressionNames)
    sides.push(etlSide(bench, compressedSide(name), compressed(dataset, name), 'load', 2));
  return {
    part: 'compressed',
    title: 'Load stage, one file, plain and compressed',
    sides: await compare(bench.server, sides, bench.rounds),
  };
};
