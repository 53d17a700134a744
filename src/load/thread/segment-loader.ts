// Loads segments of a run one after the other over a connection of its own; in a thread or in the main one.

import { setTimeout as sleep } from 'node:timers/promises';
import { tableOfFile, type RejectLimit, type SourceTableSpec } from '../../core/declaration/declaration.ts';
import { closeClient, destroyClient, lossOf, openClient, type Client } from '../../db/client.ts';
import type { ServerAddress } from '../../db/connect/address.ts';
import { closeTimeoutMs } from '../../core/limits.ts';
import type { Counts, Lease } from '../../core/model.ts';
import type { StagingColumn } from '../../db/staging.ts';
import { loadSegment, type SegmentTask, type SegmentWatch } from '../chunk/load-segment.ts';
import { createTableLoad } from '../chunk/table-load.ts';

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
  /** Of a stream, at most. */
  readonly streamChunkBytes: number;
  /** Of all tables together. */
  readonly rejectLimit: RejectLimit | undefined;
  readonly tables: readonly LoaderTable[];
}

export interface SegmentLoader {
  /** Loads a segment, chunk after chunk. Errors: those of loadChunk; the reason of the signal that stopped it. */
  readonly load: (task: SegmentTask, watch: SegmentWatch) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Makes a loader, which connects while its first segment is on the way: every caller has work for it. */
export const createSegmentLoader = (setup: LoaderSetup): SegmentLoader => {
  const { address, lease, chunkBytes, streamChunkBytes, rejectLimit } = setup;
  const tables = new Map(setup.tables.map((one) => [one.table.name, one]));
  const counts = new Map<string, Counts>();
  const first = openClient(address);
  let idle: Promise<Client> | undefined = first;
  // The first segment, which may come much later, tries again.
  first.catch(() => {
    if (idle === first) idle = undefined;
  });
  let busy: Client | undefined;
  const closing: Promise<void>[] = [];

  const load: SegmentLoader['load'] = async (task, watch) => {
    const opening = idle ?? openClient(address);
    idle = undefined;
    const client = await opening;
    busy = client;
    // An aborted COPY waits for the server's answer; stopping at once does not
    // (test/fault/signals.test.ts, "stops at once, with a chunk in flight").
    const end = (): void => destroyClient(client, new Error('aborted'));
    watch.abort?.addEventListener('abort', end);
    if (watch.abort?.aborted) end();
    try {
      const { target, table, staging } = tables.get(task.file.table)!;
      const how = createTableLoad(target, tableOfFile(table, task.file), staging);
      const loader = { client, lease, chunkBytes, streamChunkBytes, rejectLimit, how, counts };
      await loadSegment(loader, task, watch);
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
      // No caller waits for a segment in flight any more: its transaction must not outlive the loader.
      if (busy !== undefined) destroyClient(busy, new Error('the loader is closed'));
      if (idle !== undefined) closing.push(idle.then(closeClient, () => undefined));
      idle = undefined;
      // One that is still being opened is closed when it is.
      await Promise.race([Promise.all(closing), sleep(closeTimeoutMs, undefined, { ref: false })]);
    },
  };
};
