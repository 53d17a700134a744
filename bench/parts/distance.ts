// What it costs that the server is not next door: round trips in which a worker has nothing to send.

import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import { openDistance } from '../distance.ts';
import { etlSide } from '../sides.ts';

const farMs = 20;

export const distanceSides = {
  near: 'etl typed, 0 ms away',
  far: `etl typed, ${farMs} ms away`,
} as const;

/** Both sides go through the proxy, which takes processor time of its own. */
export const measureDistance = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(bench.records, 2);
  const ways = [
    { name: distanceSides.near, way: await openDistance(bench.server.url, 0) },
    { name: distanceSides.far, way: await openDistance(bench.server.url, farMs) },
  ];
  try {
    const sides = ways.map(({ name, way }) =>
      etlSide({ ...bench, server: { ...bench.server, url: way.url } }, name, dataset, 'load', 2),
    );
    return {
      part: 'distance',
      title: 'Load stage, two files, 2 workers, through a proxy',
      sides: await compare(bench.server, sides, bench.rounds),
    };
  } finally {
    for (const { way } of ways) way.close();
  }
};
