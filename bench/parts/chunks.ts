// What a chunk costs beside its rows: round trips to the server, and bytes sent. The difference between a load in many chunks and
// one in few.

import type { Bench } from '../bench-context.ts';
import { openDistance } from '../distance.ts';
import { runEtlCommand, shapePath } from '../etl.ts';
import { shape } from '../shapes/orders.ts';
import { dropSchemas } from '../sides.ts';

export interface ChunkCost {
  readonly roundTrips: number;
  /** Of the whole load in few chunks, for a byte of the files. */
  readonly sentPerByte: number;
}

const records = 40_000;
const chunkBytes = { few: 1 << 20, many: 1 << 16 } as const;

export const measureChunks = async ({ server, dataset }: Bench): Promise<ChunkCost> => {
  const { directory, files } = await dataset(records, 1, shape.files);
  const load = async (bytes: number) => {
    const proxy = await openDistance(server.url, 0);
    try {
      await server.query(dropSchemas('bench_orders', 'etl', 'etl_staging'));
      const args = [
        'run',
        shapePath(shape.name),
        '--quiet',
        '--workers',
        '1',
        '--chunk-bytes',
        String(bytes),
      ];
      await runEtlCommand(args, { ...server, url: proxy.url }, directory);
      const [found] = await server.query('select count(*)::int as chunks from etl.chunk');
      return {
        chunks: Number(found!['chunks']),
        ...proxy.counts,
      };
    } finally {
      proxy.close();
    }
  };
  // The first run of a server has more to ask.
  await load(chunkBytes.few);
  const few = await load(chunkBytes.few);
  const many = await load(chunkBytes.many);
  const fileBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    roundTrips: (many.roundTrips - few.roundTrips) / (many.chunks - few.chunks),
    sentPerByte: few.sentBytes / fileBytes,
  };
};
