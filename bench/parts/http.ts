// One big file from a web server of this machine, against the same file on its disk, with one and with two workers.

import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import type { Bench } from '../bench-context.ts';
import { compare, type PartReport } from '../compare.ts';
import type { Dataset } from '../generate.ts';
import { etlSide } from '../sides.ts';

export const fileSide = (workers: number): string => `file, workers: ${workers}`;
export const httpSide = (workers: number): string => `HTTP, workers: ${workers}`;

/** Fewer records than this are too few for two workers. */
const recordsMin = 200_000;

/**
 * Serves the files of a dataset by their names while `use` runs. They are in memory, because the server runs on the processors that
 * are measured: one that sends files by `sendfile` takes about as little, and one on another machine nothing.
 */
const withServer = async <T>({ files }: Dataset, use: (url: string) => Promise<T>): Promise<T> => {
  const contents = new Map(files.map(({ path }) => [`/${basename(path)}`, readFileSync(path)]));
  const { mtimeMs } = statSync(files[0]!.path);
  const server = createServer((request, response) => {
    const bytes = contents.get(request.url!)!;
    const size = bytes.length;
    const [, first, last] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    const start = Number(first ?? 0);
    const end = last === undefined || last === '' ? size - 1 : Math.min(size - 1, Number(last));
    response.writeHead(first === undefined ? 200 : 206, {
      etag: `"${size}-${mtimeMs}"`,
      'content-length': end - start + 1,
      ...(first !== undefined && { 'content-range': `bytes ${start}-${end}/${size}` }),
    });
    response.end(bytes.subarray(start, end + 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

export const measureHttp = async (bench: Bench): Promise<PartReport> => {
  const dataset = await bench.dataset(Math.max(bench.records, recordsMin), 1);
  return withServer(dataset, async (url) => {
    const files = `${url}/${basename(dataset.files[0]!.path)}`;
    const sides = [1, 2].flatMap((workers) => [
      etlSide(bench, fileSide(workers), dataset, 'load', workers),
      etlSide(bench, httpSide(workers), dataset, 'load', workers, { files }),
    ]);
    return {
      part: 'http',
      title: 'Load stage, one file, from disk and over HTTP',
      sides: await compare(bench.server, sides, bench.rounds),
    };
  });
};
