// Loads one segment, chunk after chunk, over the connection of its loader.

import { judgeLoading, selectLoading } from '../../ledger/run/epoch.ts';
import { endFile } from '../../ledger/run/ledger.ts';
import { commit, runTogether, withTransaction, type Client } from '../../db/client.ts';
import type { RejectLimit } from '../../core/declaration/declaration.ts';
import { rejectsPerChunkMax } from '../../core/limits.ts';
import type { Counts, Lease, Position, SourceFile } from '../../core/model.ts';
import type { LoadTimes } from '../../core/profile.ts';
import { rejectsKeptMax, stopIfHopeless } from '../../ledger/rejects/store.ts';
import type { ChunkNews } from '../../report/run-trace.ts';
import { stopIfAsked } from '../../core/stop.ts';
import type { FileLoad } from './chunk-source.ts';
import { addCounts, noCounts } from '../../core/counts.ts';
import { loadChunk } from './load-chunk.ts';
import { openSegment, type SegmentBlocks } from './segment-blocks.ts';
import type { Piece } from './pieces.ts';
import type { TableLoad } from './table-load.ts';

export interface SegmentTask {
  readonly file: SourceFile;
  readonly start: Position;
  /** null: wherever the file ends. */
  readonly byteEnd: number | null;
  /** Its bytes, if they were read already. */
  readonly piece?: Piece | undefined;
}

/** Callbacks for the progress of a segment, and signals that stop it, from gently to at once. */
export interface SegmentWatch {
  /** Bytes and counts as they are decoded; the negative when a chunk is rolled back. */
  readonly onDecoded: (bytes: number, counts: Counts) => void;
  /** Called when a chunk is committed, with where its time went; what it throws ends the segment. */
  readonly afterChunk: (times: LoadTimes, news: ChunkNews) => void;
  /** Called with the byte where the file's data ends, as far as is known, for a file whose end was unknown before. */
  readonly onFileEnd: (byte: number) => void;
  /** Ends the segment after the chunk in flight. */
  readonly drain: AbortSignal | undefined;
  /** Aborts the chunk in flight; the connection stays usable. */
  readonly leave: AbortSignal;
  /** Ends the connection of the chunk in flight. */
  readonly abort: AbortSignal | undefined;
}

/** Who loads a segment, and how. */
interface Loader {
  readonly client: Client;
  readonly lease: Lease;
  readonly chunkBytes: number;
  readonly streamChunkBytes: number;
  readonly how: TableLoad;
  /** Of all tables together. */
  readonly rejectLimit: RejectLimit | undefined;
  /** Counts of this loader for each table. */
  readonly counts: Map<string, Counts>;
}

/** Whether nothing of a stream is left. */
const isAtEnd = async (blocks: SegmentBlocks, at: Position): Promise<boolean> => {
  for await (const _ of blocks.from(at)) return false;
  return true;
};

/** Records where a file ends, if no chunk was left in whose transaction to record it. */
const recordEnd = (
  { client, file, lease }: Pick<FileLoad, 'client' | 'file' | 'lease'>,
  byte: number,
): Promise<void> =>
  withTransaction(client, ([loading]) => judgeLoading(client, lease, loading!), {
    first: [selectLoading(lease)],
    end: () => runTogether(client, [endFile(file.id, byte), commit]),
  });

const loadChunks = async (
  load: Omit<FileLoad, 'rejectsMax'>,
  { how: { table }, counts, rejectLimit }: Loader,
  { start, byteEnd }: SegmentTask,
  watch: SegmentWatch,
): Promise<void> => {
  let at = start;
  const { blocks, lease } = load;
  let hasEnded = false;
  while (!hasEnded && (byteEnd === null || at.byte < byteEnd)) {
    stopIfAsked({ abort: load.breakOff, drain: watch.drain });
    const before = counts.get(table.name) ?? noCounts;
    // The main thread counts for all workers, but it learns of a chunk when the next one may already have begun.
    stopIfHopeless(lease.runId, table, before);
    let mayReject = rejectsKeptMax(table.rejectLimit) - before.rejected;
    if (rejectLimit !== undefined) {
      const all = [...counts.values()].reduce(addCounts, noCounts);
      stopIfHopeless(lease.runId, { rejectLimit }, all);
      mayReject = Math.min(mayReject, rejectsKeptMax(rejectLimit) - all.rejected);
    }
    if (byteEnd === null && (await isAtEnd(blocks, at))) {
      await recordEnd(load, at.byte);
      break;
    }
    const rejectsMax = Math.min(rejectsPerChunkMax, mayReject);
    const { end, counts: more, times, isLast } = await loadChunk({ ...load, rejectsMax }, at);
    counts.set(table.name, addCounts(before, more));
    const news = { start: at.byte, end: end.byte, counts: more, endMs: Date.now() };
    at = end;
    hasEnded = isLast;
    const expectedEnd = blocks.expectedEnd();
    if (expectedEnd !== undefined) watch.onFileEnd(expectedEnd);
    watch.afterChunk(times, news);
  }
  if (byteEnd === null) watch.onFileEnd(at.byte);
};

/** Loads a segment. Errors: those of loadChunk; the reason of the signal that stopped it. */
export const loadSegment = async (loader: Loader, task: SegmentTask, watch: SegmentWatch): Promise<void> => {
  const { client, lease, chunkBytes, streamChunkBytes, how } = loader;
  const { file } = task;
  const { leave, abort, onDecoded } = watch;
  const breakOff = abort === undefined ? leave : AbortSignal.any([leave, abort]);
  const access = { declared: how.table.source, signal: breakOff };
  const split = how.splitterFor(file);
  const blocks = openSegment({ ...task, access, split, chunkBytes, streamChunkBytes });
  const load = {
    client,
    file,
    blocks,
    breakOff,
    lease,
    landing: how.landing,
    decode: how.decoderFor(file),
    servedTexts: how.servedTextsFor(file),
    suspects: how.suspectsFor(file),
    onDecoded,
  };
  try {
    await loadChunks(load, loader, task, watch);
  } finally {
    await blocks.close();
  }
};
