// Loads one stream with all loaders of the process: a thread reads it, and each of its pieces goes to a loader.

import type { LoadedChunkRow } from '../../ledger/run/ledger.ts';
import type { Counts } from '../../core/model.ts';
import { readStream, type PieceMemory, type ReadPiece, type ReadSetup } from './reader.ts';
import type { SegmentWatch } from '../chunk/load-segment.ts';
import type { ReadingThreads } from './reading-threads.ts';

export interface StreamLoad {
  readonly setup: ReadSetup;
  readonly memory: PieceMemory;
  readonly threads: ReadingThreads;
  readonly stops: Pick<SegmentWatch, 'drain' | 'leave' | 'abort'>;
  /** Chunks of the file that are loaded already: a piece that is one of them needs no loader. */
  readonly known: readonly LoadedChunkRow[];
  readonly onKnown: (bytes: number, counts: Counts) => void;
  /** Loads a piece once there is a loader for it; a chunk is aborted by the signal. */
  readonly load: (read: ReadPiece, leave: AbortSignal) => Promise<void>;
}

/**
 * Loads what was read before an error of reading, and then throws that error; the first error of a loader aborts the other chunks in
 * flight, unless they are to be finished. Errors: those of readStream and of loadSegment; the reason of the signal that stopped it.
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
  const { drain, leave, abort } = stops;
  const broken = new AbortController();
  const breakOff = AbortSignal.any([leave, broken.signal]);
  const stopReading = AbortSignal.any([breakOff, ...[drain, abort].filter((signal) => signal !== undefined)]);
  let failure: { readonly error: unknown } | undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
  };
  const loading = new Set<Promise<void>>();
  const loaded = new Map(known.map((chunk) => [chunk.start, chunk]));
  try {
    for await (const read of readStream(setup, memory, threads, stopReading)) {
      const { start, byteEnd, memory: taken } = read.piece;
      const before = loaded.get(start.byte);
      if (before !== undefined && before.end.byte === byteEnd) {
        onKnown(byteEnd - start.byte, before);
        memory.give(taken);
        continue;
      }
      const one = load(read, breakOff)
        .catch((error: unknown) => {
          fail(error);
          if (!drain?.aborted) broken.abort(error);
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
