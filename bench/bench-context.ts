// What every part of the benchmark works with.

import { join } from 'node:path';
import { generate, type Dataset, type FileKind } from './generate.ts';
import { hourlyFiles } from './hourly-files.ts';
import { openSessions, type SessionRunner } from './psql.ts';
import type { BenchServer } from './server.ts';

/** A table of a pipeline, with files, that --table names. */
export interface OwnTable {
  readonly pipeline: string;
  /** Name of one of its tables; without it, the first that files fill. */
  readonly table: string | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** Paths of the files. */
  readonly data: readonly string[];
}

export interface BenchOptions {
  /** Records of a comparison. */
  readonly records: number;
  readonly rounds: number;
  readonly seed: number;
  /** Also load thirteen times `records`: 26 million by default. */
  readonly large: boolean;
  /** Also measure the least that the server takes, where a part can say it. */
  readonly floors: boolean;
  /** The shape that nights are put to. */
  readonly night: string;
  readonly own?: OwnTable | undefined;
}

export interface Bench extends BenchOptions {
  readonly server: BenchServer;
  readonly sessions: SessionRunner;
  /** Of its own, for files. */
  readonly directory: string;
  /** Hourly files of this size, or files of another kind; written when they are first asked for. */
  readonly dataset: (records: number, files: number, kind?: FileKind) => Promise<Dataset>;
  /** The datasets written so far. */
  readonly datasets: () => readonly Dataset[];
}

export const openBench = async (
  options: BenchOptions,
  server: BenchServer,
  directory: string,
): Promise<Bench> => {
  const written = new Map<string, Dataset>();
  return {
    ...options,
    server,
    directory,
    sessions: await openSessions(server.url),
    dataset: async (records, files, kind = hourlyFiles) => {
      const key = `${records}-${files}-${kind.nameEnd}`;
      const dataset =
        written.get(key) ??
        (await generate(kind, join(directory, 'data', key), records, files, options.seed));
      written.set(key, dataset);
      return dataset;
    },
    datasets: () => [...written.values()],
  };
};
