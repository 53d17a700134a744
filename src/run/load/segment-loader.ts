// Loads segments of a run one after the other over a connection of its own; in a thread or in the main one.

import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceTableSpec } from '../../declaration.ts';
import { closeClient, destroyClient, lossOf, openClient, type Client } from '../../db/client.ts';
import type { ServerAddress } from '../../db/connect/address.ts';
import { closeTimeoutMs, rejectsPerChunkMax } from '../../limits.ts';
import type { Counts, Lease, LoadTimes, Position, SourceFile } from '../../model.ts';
import type { StagingColumn } from '../../copy/staging.ts';
import { rejectsKeptMax, stopIfHopeless } from '../../reject/store.ts';
import type { ChunkNews } from '../../trace/run-trace.ts';
import type { FileLoad } from './chunk-source.ts';
import { stopIfAsked } from '../context.ts';
import { addCounts, noCounts } from './counts.ts';
import { loadChunk } from './load-chunk.ts';
import { createTableLoad } from './table-load.ts';

/** A table as its loader needs it. */
export interface LoaderTable {
  /** Quoted name of the table that COPY fills. */
  readonly target: string;
  readonly table: SourceTableSpec;
  readonly staging: readonly StagingColumn[];
}

/** What all segments of a run have in common. */
export interface LoaderSetup {
  readonly pipeline: string;
  readonly address: ServerAddress;
  readonly lease: Lease;
  readonly chunkBytes: number;
  readonly tables: readonly LoaderTable[];
}

export interface SegmentTask {
  readonly file: SourceFile;
  readonly start: Position;
  readonly byteEnd: number;
}

/** Who is told how a segment comes along, and what may stop it, from gently to at once. */
export interface SegmentWatch {
  /** Bytes and counts as they are decoded; the negative when a chunk is rolled back. */
  readonly onDecoded: (bytes: number, counts: Counts) => void;
  /** Called when a chunk is committed, with where its time went; what it throws ends the segment. */
  readonly afterChunk: (times: LoadTimes, news: ChunkNews) => void;
  /** Ends the segment after the chunk in flight. */
  readonly drain: AbortSignal | undefined;
  /** Breaks the chunk in flight off; the connection stays usable. */
  readonly leave: AbortSignal;
  /** Ends the connection under the chunk in flight. */
  readonly abort: AbortSignal | undefined;
}

export interface SegmentLoader {
  /** Loads a segment, chunk after chunk. Errors: those of loadChunk; the reason of the signal that stopped it. */
  readonly load: (task: SegmentTask, watch: SegmentWatch) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Loads a segment chunk after chunk; `counts` is what this loader has loaded of each table. */
const loadSegment = async (
  load: Omit<FileLoad, 'rejectsMax'>,
  table: SourceTableSpec,
  start: Position,
  watch: SegmentWatch,
  counts: Map<string, Counts>,
): Promise<void> => {
  let at = start;
  while (at.byte < load.byteEnd) {
    stopIfAsked({ abort: load.breakOff, drain: watch.drain });
    const before = counts.get(table.name) ?? noCounts;
    // The main thread counts for all workers, but it hears of a chunk when the next one may be under way.
    stopIfHopeless(load.lease.runId, table, before);
    const rejectsMax = Math.min(rejectsPerChunkMax, rejectsKeptMax(table.rejectLimit) - before.rejected);
    const { end, counts: more, times } = await loadChunk({ ...load, rejectsMax }, at);
    counts.set(table.name, addCounts(before, more));
    const news = { start: at.byte, end: end.byte, counts: more, endMs: Date.now() };
    at = end;
    watch.afterChunk(times, news);
  }
};

/** Makes a loader, which connects while its first segment is on the way: whoever makes one has work for it. */
export const createSegmentLoader = (setup: LoaderSetup): SegmentLoader => {
  const { address, lease, chunkBytes } = setup;
  const loads = new Map(
    setup.tables.map(({ target, table, staging }) => [table.name, createTableLoad(target, table, staging)]),
  );
  const counts = new Map<string, Counts>();
  const first = openClient(address);
  let idle: Promise<Client> | undefined = first;
  // The first segment, which may come much later, tries again.
  first.catch(() => {
    if (idle === first) idle = undefined;
  });
  let busy: Client | undefined;
  const closing: Promise<void>[] = [];

  const loadOver = (client: Client, { file, start, byteEnd }: SegmentTask, watch: SegmentWatch) => {
    const { table, copyStatement, frame, decoderFor, splitterFor } = loads.get(file.table)!;
    const { leave, abort, onDecoded } = watch;
    const breakOff = abort === undefined ? leave : AbortSignal.any([leave, abort]);
    const [decode, split] = [decoderFor(file), splitterFor(file)];
    const bounds = { byteEnd, breakOff, lease, chunkBytes };
    const common = { client, file, ...bounds, copyStatement, frame, decode, split };
    return loadSegment({ ...common, onDecoded }, table, start, watch, counts);
  };

  const load: SegmentLoader['load'] = async (task, watch) => {
    const opening = idle ?? openClient(address);
    idle = undefined;
    const client = await opening;
    busy = client;
    // A COPY that is broken off waits for the server's answer; stopping at once does not
    // (test/fault/signals.test.ts, "stops at once, with a chunk in flight").
    const end = (): void => destroyClient(client, new Error('aborted'));
    watch.abort?.addEventListener('abort', end);
    if (watch.abort?.aborted) end();
    try {
      await loadOver(client, task, watch);
      idle = opening;
    } catch (error) {
      // A connection whose segment failed is not used again: it may be in the middle of a COPY.
      closing.push(closeClient(client));
      throw lossOf(client, address, error);
    } finally {
      busy = undefined;
      watch.abort?.removeEventListener('abort', end);
    }
  };

  return {
    load,
    close: async () => {
      // Nobody waits for a segment in flight any more: its transaction must not outlive the loader.
      if (busy !== undefined) destroyClient(busy, new Error('the loader is closed'));
      if (idle !== undefined) closing.push(idle.then(closeClient, () => undefined));
      idle = undefined;
      // One that is still being opened is closed when it is.
      await Promise.race([Promise.all(closing), sleep(closeTimeoutMs, undefined, { ref: false })]);
    },
  };
};
