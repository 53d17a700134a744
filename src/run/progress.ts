// Totals of each table while it loads, told at most ten times a second.

import { progressIntervalMs } from '../limits.ts';
import type { Counts, RunEvent } from '../model.ts';
import { secondsSince } from './context.ts';
import { addCounts, noCounts } from './table-load.ts';

export interface TableProgress {
  /** Adds what a segment decoded; negative when a chunk was rolled back. */
  readonly add: (bytes: number, counts: Counts) => void;
  /** Says that one of the table's files is done; the last one ends the table. */
  readonly fileDone: () => void;
  readonly counts: () => Counts;
  /** Seconds from the first byte to the last file's end. */
  readonly seconds: () => number;
}

/** Follows one table of `files` files and `bytesTotal` bytes. */
export const followTable = (
  table: string,
  files: number,
  bytesTotal: number,
  emit: (event: RunEvent) => void,
): TableProgress => {
  let bytes = 0;
  let counts = noCounts;
  let filesLeft = files;
  let toldAt = -Infinity;
  let startedAt: number | undefined;
  let seconds = 0;
  const tell = (): void => {
    toldAt = performance.now();
    emit({ type: 'progress', table, bytes, bytesTotal, ...counts });
  };
  return {
    add: (moreBytes, more) => {
      startedAt ??= performance.now();
      bytes += moreBytes;
      counts = addCounts(counts, more);
      if (performance.now() - toldAt >= progressIntervalMs) tell();
    },
    fileDone: () => {
      filesLeft -= 1;
      if (filesLeft > 0) return;
      seconds = startedAt === undefined ? 0 : secondsSince(startedAt);
      tell();
      emit({ type: 'loaded', table, seconds });
    },
    counts: () => counts,
    seconds: () => seconds,
  };
};
