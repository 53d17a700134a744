// What many small files cost: from disk, and as objects of an S3 server on loopback, which shares the machine.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startS3 } from '../../test/helpers/s3.ts';
import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import { pipelinePath, runEtl } from '../etl.ts';

export const objectsSides = { disk: 'files from disk', s3: 'objects of S3' } as const;

/** A turn is long, and its figure far from the target. */
const roundsMax = 3;

const recordsOf = (file: number): string =>
  `id,words\n${Array.from({ length: 20 }, (_, record) => `${20 * file + record},words of ${file}\n`).join('')}`;

export const measureObjects = async (bench: Bench): Promise<PartReport> => {
  const { server } = bench;
  const count = Math.min(10_000, bench.records);
  const { directory: data } = await bench.dataset(Math.min(bench.records, 10_000), 2);
  const directory = join(data, 'objects');
  mkdirSync(directory, { recursive: true });
  const objects = await startS3();
  const side = (name: string, params: Readonly<Record<string, string>>): Side => ({
    name,
    records: count,
    run: async () =>
      (await runEtl(server, { pipeline: pipelinePath('objects.ts'), params, workers: 2, directory })).whole,
    results: { rows: 'select * from bench_objects.record' },
    reset: 'drop schema if exists bench_objects, etl, etl_staging, etl_queue cascade',
  });
  try {
    for (let file = 0; file < count; file += 1) {
      const name = `${String(file).padStart(5, '0')}.csv`;
      writeFileSync(join(directory, name), recordsOf(file));
      objects.put('public', name, recordsOf(file));
    }
    const sides = [
      side(objectsSides.disk, { files: '*.csv' }),
      side(objectsSides.s3, { files: 's3://public/*.csv', endpoint: objects.endpoint }),
    ];
    return {
      part: 'objects',
      title: `${count} small files`,
      sides: await compare(server, sides, Math.min(bench.rounds, roundsMax)),
    };
  } finally {
    await objects.stop();
  }
};
