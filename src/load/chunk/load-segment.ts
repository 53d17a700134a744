// Loads one segment, chunk after chunk, over the loader's connection.

import { judgeLoading, selectLoading } from '../../ledger/run/epoch.ts';
import { endFile } from '../../ledger/run/ledger.ts';
import { commit, runTogether, withTransaction, type Client } from '../../db/client.ts';
import { rejectsPerChunkMax } from '../../core/limits.ts';
import type { Counts, Position } from '../../core/model.ts';
import { stopIfAsked, stopSignal, type Stops } from '../../core/stop.ts';
import { addCounts, noCounts } from '../../core/counts.ts';
import { loadedTable, type LoadPlan } from '../load-plan.ts';
import { rejectsAllowed } from '../rejects-allowed.ts';
import type { ChunkLoad } from './chunk.ts';
import { loadChunk } from './load-chunk.ts';
import { openSegment, type BlockSource } from './block-source.ts';
import { createFileReader } from './file-reader.ts';
import type { FileSegment, LoadListener } from './loader.ts';

const isAtEnd = async (source: BlockSource, at: Position): Promise<boolean> => {
  for await (const _ of source.from(at)) return false;
  return true;
};

/** Records the file's end in a transaction of its own, if no chunk's transaction does. */
const recordEnd = ({ client, file, lease }: Omit<ChunkLoad, 'rejectsMax'>, byte: number): Promise<void> =>
  withTransaction(client, ([loading]) => judgeLoading(client, lease, loading!), {
    first: [selectLoading(lease)],
    end: () => runTogether(client, [endFile(file.id, byte), commit]),
  });

export const loadSegment = async (
  client: Client,
  plan: LoadPlan,
  counts: Map<string, Counts>,
  { file, start, byteEnd, piece }: FileSegment,
  listener: LoadListener,
  stops: Stops,
): Promise<void> => {
  const { lease, chunkBytes, streamChunkBytes } = plan;
  const { table, staging, target } = loadedTable(plan, file);
  const breakOff = stopSignal({ abort: stops.abort, leave: stops.leave });
  const reader = createFileReader(file, table, staging, target);
  const access = { declared: table.source, signal: breakOff };
  const { splitter } = reader;
  const source = openSegment({ file, start, byteEnd, piece, access, splitter, chunkBytes, streamChunkBytes });
  const load = { client, lease, file, reader, source, listener, breakOff };
  let at = start;
  let hasEnded = false;
  try {
    while (!hasEnded && (byteEnd === null || at.byte < byteEnd)) {
      stopIfAsked(stops);
      // Each loader checks its own counts: the main thread, which counts for all, may be late.
      const allowed = rejectsAllowed(plan, [table.name], (name) => counts.get(name) ?? noCounts);
      if (byteEnd === null && (await isAtEnd(source, at))) {
        await recordEnd(load, at.byte);
        break;
      }
      const chunk = await loadChunk({ ...load, rejectsMax: Math.min(rejectsPerChunkMax, allowed) }, at);
      counts.set(table.name, addCounts(counts.get(table.name) ?? noCounts, chunk.counts));
      at = chunk.end;
      hasEnded = chunk.isLast;
      const expectedEnd = source.expectedEnd();
      if (expectedEnd !== undefined) listener.fileEnd(expectedEnd);
      // The listener gets no rejects: they are in the ledger, and may have megabytes.
      const { rejects: _, ...loaded } = chunk;
      listener.chunk({ ...loaded, endMs: Date.now() });
    }
    if (byteEnd === null) listener.fileEnd(at.byte);
  } finally {
    await source.close();
  }
};
