// Counts each table's totals while it loads, and reports them at most ten times a second.

import type { LoadedChunkRow } from '../ledger/run/ledger.ts';
import { progressIntervalMs } from '../core/limits.ts';
import type { Counts, SourceFile } from '../core/model.ts';
import type { RunEvent } from '../core/run-event.ts';
import { secondsSince } from '../core/amounts.ts';
import { addCounts, noCounts } from '../core/counts.ts';
import type { LoadPlan } from './load-plan.ts';

export interface TableProgress {
  /** Adds decoded bytes and records; negative numbers when a chunk was rolled back. */
  readonly add: (bytes: number, counts: Counts) => void;
  /** Sets the byte at which the file's data ends, or probably ends. */
  readonly endAt: (fileId: number, byte: number) => void;
  readonly segmentDone: (fileId: number) => void;
  readonly counts: () => Counts;
  readonly seconds: () => number;
}

/** If a file's end is unknown, its stored size is used. It may be less than the decoded header. */
const sizeOf = ({ dataByte, dataEnd, bytes: stored }: SourceFile): number =>
  Math.max(0, (dataEnd ?? stored) - dataByte);

export const followTable = (
  table: string,
  filesById: ReadonlyMap<number, SourceFile>,
  chunks: readonly LoadedChunkRow[],
  emit: (event: RunEvent) => void,
): TableProgress => {
  const loaded = chunks.filter(({ fileId }) => filesById.get(fileId)!.table === table);
  // Sizes that became known while loading. A run may have 100,000 files, so the others are computed.
  const sizes = new Map<number, number>();
  const endUnknown = new Set<number>();
  let bytesTotal = 0;
  for (const file of filesById.values()) {
    if (file.table !== table) continue;
    bytesTotal += sizeOf(file);
    if (file.dataEnd === null) endUnknown.add(file.id);
  }
  let bytes = loaded.reduce((sum, { start, end }) => sum + end.byte - start, 0);
  let counts = loaded.reduce<Counts>(addCounts, noCounts);
  let reportedAt = -Infinity;
  let startedAt: number | undefined;
  let seconds = 0;
  let isLoaded = false;
  const report = (): void => {
    reportedAt = performance.now();
    emit({ type: 'progress', table, bytes, bytesTotal: Math.max(bytes, bytesTotal), ...counts });
  };
  const reportWhenLoaded = (): void => {
    if (bytes < bytesTotal || endUnknown.size > 0 || isLoaded) return;
    isLoaded = true;
    report();
    emit({ type: 'loaded', table, seconds });
  };
  // Listeners compute this process's speed from here, without the progress of earlier processes.
  report();
  reportWhenLoaded();
  return {
    add: (moreBytes, more) => {
      startedAt ??= performance.now();
      bytes += moreBytes;
      counts = addCounts(counts, more);
      if (performance.now() - reportedAt >= progressIntervalMs) report();
    },
    endAt: (fileId, byte) => {
      const file = filesById.get(fileId)!;
      const size = byte - file.dataByte;
      bytesTotal += size - (sizes.get(fileId) ?? sizeOf(file));
      sizes.set(fileId, size);
    },
    segmentDone: (fileId) => {
      endUnknown.delete(fileId);
      seconds = startedAt === undefined ? 0 : secondsSince(startedAt);
      reportWhenLoaded();
    },
    counts: () => counts,
    seconds: () => seconds,
  };
};

export const followTables = (
  { tables }: LoadPlan,
  filesById: ReadonlyMap<number, SourceFile>,
  chunks: readonly LoadedChunkRow[],
  emit: (event: RunEvent) => void,
): ReadonlyMap<string, TableProgress> =>
  new Map(tables.map(({ table: { name } }) => [name, followTable(name, filesById, chunks, emit)]));
