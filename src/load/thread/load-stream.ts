// Loads one stream with all loaders of the process: a thread reads it and cuts it into pieces.

import type { LoadedChunkRow } from '../../ledger/run/ledger.ts';
import { stopSignal, type Stops } from '../../core/stop.ts';
import type { LoadListener } from '../chunk/loader.ts';
import type { Pool } from './pool.ts';
import { readStream, type ReadPiece, type ReadSetup } from './reader.ts';
import type { ReadingThreads } from './reading-threads.ts';

interface StreamLoad {
  readonly setup: ReadSetup;
  readonly memory: Pool<SharedArrayBuffer>;
  readonly threads: ReadingThreads;
  readonly stops: Stops;
  /** The file's loaded chunks, whose pieces are skipped. */
  readonly known: readonly LoadedChunkRow[];
  readonly onKnown: LoadListener['decoded'];
  readonly load: (read: ReadPiece, stops: Stops) => Promise<void>;
}

/**
 * Loads a stream. If reading fails, loads the pieces that were read, then throws the error. If a
 * loader fails, stops the other chunks in flight, unless the run was told to finish them.
 */
export const loadStream = async ({
  setup,
  memory,
  threads,
  stops,
  known,
  onKnown,
  load,
}: StreamLoad): Promise<void> => {
  const broken = new AbortController();
  const own = { ...stops, leave: stopSignal({ leave: stops.leave, abort: broken.signal }) };
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
  };
  const loading = new Set<Promise<void>>();
  const loaded = new Map(known.map((chunk) => [chunk.start, chunk]));
  try {
    for await (const read of readStream(setup, memory, threads, stopSignal(own))) {
      const { start, byteEnd, memory: taken } = read.piece;
      const before = loaded.get(start.byte);
      if (before !== undefined && before.end.byte === byteEnd) {
        onKnown(byteEnd - start.byte, before);
        memory.give(taken);
        continue;
      }
      const one = load(read, own)
        .catch((error: unknown) => {
          fail(error);
          if (!stops.drain?.aborted) broken.abort(error);
        })
        .finally(() => {
          memory.give(taken);
          loading.delete(one);
        });
      loading.add(one);
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(loading);
  if (failure !== undefined) throw failure.error;
};
