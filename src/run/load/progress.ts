// Totals of each table while it loads, reported at most ten times a second.

import type { LoadedChunkRow } from '../../checkpoint/ledger.ts';
import { progressIntervalMs } from '../../limits.ts';
import type { Counts, RunEvent, SourceFile } from '../../model.ts';
import { secondsSince } from '../context.ts';
import { addCounts, noCounts } from './counts.ts';

export interface TableProgress {
  /** Adds what a segment decoded; negative when a chunk was rolled back. */
  readonly add: (bytes: number, counts: Counts) => void;
  /** Sets where the data of a file ends, or may end, if that was unknown before. */
  readonly endAt: (fileId: number, byte: number) => void;
  /** Marks a segment as done; when all bytes are read, the table is done. */
  readonly segmentDone: () => void;
  readonly counts: () => Counts;
  /** Seconds from the first byte to the last. */
  readonly seconds: () => number;
}

/** Follows one table, starting from the chunks in the ledger. */
export const followTable = (
  table: string,
  files: readonly SourceFile[],
  chunks: readonly LoadedChunkRow[],
  emit: (event: RunEvent) => void,
): TableProgress => {
  const ids = new Set(files.map(({ id }) => id));
  const loaded = chunks.filter(({ fileId }) => ids.has(fileId));
  const sizes = new Map(
    files.map(({ id, dataByte, dataEnd, bytes: stored }) => [id, (dataEnd ?? stored) - dataByte]),
  );
  const sumOfSizes = (): number => [...sizes.values()].reduce((sum, size) => sum + size, 0);
  let bytesTotal = sumOfSizes();
  let bytes = loaded.reduce((sum, { start, end }) => sum + end.byte - start, 0);
  let counts = loaded.reduce<Counts>(addCounts, noCounts);
  let toldAt = -Infinity;
  let startedAt: number | undefined;
  let seconds = 0;
  let isLoaded = false;
  const tell = (): void => {
    toldAt = performance.now();
    emit({ type: 'progress', table, bytes, bytesTotal, ...counts });
  };
  const tellWhenLoaded = (): void => {
    if (bytes < bytesTotal || isLoaded) return;
    isLoaded = true;
    tell();
    emit({ type: 'loaded', table, seconds });
  };
  // Where this process begins: without it, its speed could not be separated from an earlier process's progress.
  tell();
  tellWhenLoaded();
  return {
    add: (moreBytes, more) => {
      startedAt ??= performance.now();
      bytes += moreBytes;
      counts = addCounts(counts, more);
      if (performance.now() - toldAt >= progressIntervalMs) tell();
    },
    endAt: (fileId, byte) => {
      sizes.set(fileId, byte - files.find(({ id }) => id === fileId)!.dataByte);
      bytesTotal = sumOfSizes();
    },
    segmentDone: () => {
      seconds = startedAt === undefined ? 0 : secondsSince(startedAt);
      tellWhenLoaded();
    },
    counts: () => counts,
    seconds: () => seconds,
  };
};
