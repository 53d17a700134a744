// Loads what is missing of a run's files into staging: one job a segment on the run's queue, one connection a worker.

import { missingSegments } from '../checkpoint/resume.ts';
import { loadedChunks, type LoadedChunkRow } from '../checkpoint/ledger.ts';
import { closeClient, destroyClient, lossOf, openClient, whenLost, type Client } from '../db/client.ts';
import { EtlError } from '../errors.ts';
import { rejectsCollectedMax } from '../limits.ts';
import type { Position, Segment, SourceFile } from '../model.ts';
import { migrateQueue } from '../queue/backend.ts';
import { workOff, type ServeOptions } from '../queue/load-queue.ts';
import { isOverLimit } from '../reject/store.ts';
import type { FileLoad } from './chunk-source.ts';
import { stopIfAsked, type RunContext } from './context.ts';
import { loadChunk } from './load-chunk.ts';
import type { PlannedTable } from './plan.ts';
import { followTable, type TableProgress } from './progress.ts';
import { createTableLoad, type TableLoad } from './table-load.ts';

/** A run as far as loading it is concerned. */
export interface LoadingRun {
  readonly runId: number;
  readonly epoch: string;
  readonly files: readonly SourceFile[];
  readonly planned: readonly PlannedTable[];
}

/** How one table is loaded, and how far it is. */
interface LoadingTable {
  readonly load: TableLoad;
  readonly progress: TableProgress;
}

/** Connections of the workers: each belongs to one job at a time. */
interface ClientPool {
  readonly use: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
}

const withWorkerClients = async <T>(
  context: RunContext,
  work: (pool: ClientPool) => Promise<T>,
): Promise<T> => {
  const opened: Client[] = [];
  const idle: Client[] = [];
  const take = async (): Promise<Client> => {
    const free = idle.pop();
    if (free !== undefined) return free;
    const client = await openClient(context.address);
    opened.push(client);
    if (context.signal?.aborted) abort();
    return client;
  };
  // A COPY that is broken off waits for the server's answer; stopping at once does not
  // (test/fault/signals.test.ts, "stops at once, with a chunk in flight").
  const abort = (): void => {
    for (const client of opened) destroyClient(client, new Error('aborted'));
  };
  context.signal?.addEventListener('abort', abort);
  try {
    return await work({
      use: async (job) => {
        const client = await take();
        try {
          const result = await job(client);
          // A connection whose job failed is not used again: it may be in the middle of a COPY.
          idle.push(client);
          return result;
        } catch (error) {
          throw lossOf(client, context.address, error);
        }
      },
    });
  } finally {
    context.signal?.removeEventListener('abort', abort);
    await Promise.all(opened.map(closeClient));
  }
};

/** Over a limit given as a count, the run may stop before the end: enough rejects are kept to show what is wrong. */
const stopOverLimit = (runId: number, { load, progress }: LoadingTable): void => {
  const { rejectLimit, name } = load.table;
  const { rejected, records } = progress.counts();
  if (rejectLimit.kind !== 'count' || rejected < rejectsCollectedMax) return;
  if (!isOverLimit(rejectLimit, rejected, records)) return;
  const details = { table: name, rejected, records, limit: rejectLimit.records, run: runId };
  throw new EtlError('ETL_REJECT_LIMIT', { ...details, examples: '' });
};

/** Loads one segment, chunk after chunk; stops between two of them when asked to. */
const loadSegment = async (
  context: RunContext,
  load: FileLoad,
  start: Position,
  afterChunk: () => void,
): Promise<void> => {
  let at = start;
  while (at.byte < load.byteEnd) {
    stopIfAsked(context);
    at = (await loadChunk(load, at)).end;
    afterChunk();
  }
};

const followTables = (
  context: RunContext,
  { planned, files }: LoadingRun,
  chunks: readonly LoadedChunkRow[],
): ReadonlyMap<string, LoadingTable> =>
  new Map(
    planned.map(({ table, staging }) => {
      const own = files.filter((file) => file.table === table.name);
      const progress = followTable(table.name, own, chunks, context.emit);
      return [table.name, { load: createTableLoad(context.spec, table, staging), progress }];
    }),
  );

/** What a process does with a segment of the run, over a connection of the pool. */
const segmentLoader = (
  context: RunContext,
  run: LoadingRun,
  tables: ReadonlyMap<string, LoadingTable>,
  clients: ClientPool,
): ServeOptions['load'] => {
  const filesById = new Map(run.files.map((file) => [file.id, file]));
  return async ({ fileId, start, byteEnd }, leaving) => {
    leaving.throwIfAborted();
    const file = filesById.get(fileId)!;
    const loading = tables.get(file.table)!;
    const { load, progress } = loading;
    const signal = context.signal === undefined ? leaving : AbortSignal.any([leaving, context.signal]);
    await clients.use((client) =>
      loadSegment(
        context,
        {
          client,
          file,
          byteEnd,
          signal,
          epoch: run.epoch,
          chunkBytes: context.chunkBytes,
          copyStatement: load.copyStatement,
          frame: load.frame,
          decode: load.decoderFor(file),
          split: load.splitterFor(file),
          onDecoded: progress.add,
        },
        start,
        () => stopOverLimit(run.runId, loading),
      ),
    );
    progress.segmentDone();
  };
};

/** A process's share in loading a run: what to give to the queue. */
export const withSegmentLoader = <T>(
  context: RunContext,
  run: LoadingRun,
  chunks: readonly LoadedChunkRow[],
  use: (options: ServeOptions, seconds: () => ReadonlyMap<string, number>) => Promise<T>,
): Promise<T> => {
  const tables = followTables(context, run, chunks);
  const seconds = () => new Map([...tables].map(([name, { progress }]) => [name, progress.seconds()]));
  return withWorkerClients(context, (clients) =>
    use(
      {
        address: context.address,
        runId: run.runId,
        workers: context.workers,
        logger: context.logger,
        drain: context.drain,
        outside: whenLost(context.client, context.address),
        load: segmentLoader(context, run, tables, clients),
      },
      seconds,
    ),
  );
};

/**
 * Loads what the ledger does not hold, and returns the seconds each table took.
 * Errors: those of loadChunk; ETL_REJECT_LIMIT when a table is hopelessly over its limit.
 */
export const loadMissing = async (
  context: RunContext,
  run: LoadingRun,
): Promise<ReadonlyMap<string, number>> => {
  const chunks = await loadedChunks(context.client, run.runId);
  const segments: readonly Segment[] = missingSegments(run.files, chunks);
  if (segments.length > 0) await migrateQueue(context.address);
  return withSegmentLoader(context, run, chunks, async (options, seconds) => {
    await workOff(options, segments);
    return seconds();
  });
};
