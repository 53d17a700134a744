// Loads every file of a run into staging: one job a file on the run's queue, one connection a worker.

import { currentEpoch } from '../checkpoint/epoch.ts';
import { closeClient, openClient, type Client } from '../db/client.ts';
import { EtlError } from '../errors.ts';
import { rejectsCollectedMax } from '../limits.ts';
import type { Position, SourceFile } from '../model.ts';
import { migrateQueue } from '../queue/backend.ts';
import { workOff } from '../queue/load-queue.ts';
import { isOverLimit } from '../reject/store.ts';
import type { RunContext } from './context.ts';
import type { FileLoad } from './chunk-source.ts';
import { loadChunk } from './load-chunk.ts';
import type { PlannedTable } from './plan.ts';
import { followTable, type TableProgress } from './progress.ts';
import { createTableLoad, type TableLoad } from './table-load.ts';

/** A table's files as the ledger knows them, and how they are loaded. */
interface LoadingTable {
  readonly load: TableLoad;
  readonly progress: TableProgress;
}

/** Connections of the workers: each belongs to one job at a time. */
interface ClientPool {
  readonly use: <T>(work: (client: Client) => Promise<T>) => Promise<T>;
}

const withWorkerClients = async <T>(context: RunContext, work: (pool: ClientPool) => Promise<T>): Promise<T> => {
  const opened: Client[] = [];
  const idle: Client[] = [];
  const take = async (): Promise<Client> => {
    const free = idle.pop();
    if (free !== undefined) return free;
    const client = await openClient(context.address);
    opened.push(client);
    return client;
  };
  try {
    return await work({
      use: async (job) => {
        const client = await take();
        const result = await job(client);
        // A connection whose job failed is not used again: it may be in the middle of a COPY.
        idle.push(client);
        return result;
      },
    });
  } finally {
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

/** Loads one file, chunk after chunk. */
const loadFile = async (load: FileLoad, afterChunk: () => void): Promise<void> => {
  const { file } = load;
  let at: Position = { byte: file.dataByte, line: file.dataLine, record: 1 };
  while (at.byte < file.bytes) {
    load.signal.throwIfAborted();
    at = (await loadChunk(load, at)).end;
    afterChunk();
  }
};

const followTables = (
  context: RunContext,
  planned: readonly PlannedTable[],
): ReadonlyMap<string, LoadingTable> =>
  new Map(
    planned.map(({ table, files, staging }) => {
      const bytes = files.reduce((sum, file) => sum + file.bytes - file.dataByte, 0);
      const progress = followTable(table.name, files.length, bytes, context.emit);
      return [table.name, { load: createTableLoad(context.spec, table, staging), progress }];
    }),
  );

/** Loads the files and returns the seconds each table took. */
export const loadFiles = async (
  context: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
  files: readonly SourceFile[],
): Promise<ReadonlyMap<string, number>> => {
  await migrateQueue(context.address);
  const tables = followTables(context, planned);
  const epoch = await currentEpoch(context.client);
  const filesById = new Map(files.map((file) => [file.id, file]));
  await withWorkerClients(context, (clients) =>
    workOff({
      address: context.address,
      runId,
      jobs: files.map(({ id }) => ({ runId, fileId: id })),
      workers: context.workers,
      logger: context.logger,
      signal: context.signal,
      load: async ({ fileId }, signal) => {
        signal.throwIfAborted();
        const file = filesById.get(fileId)!;
        const loading = tables.get(file.table)!;
        const { load, progress } = loading;
        await clients.use((client) =>
          loadFile(
            {
              client,
              file,
              epoch,
              signal,
              chunkBytes: context.chunkBytes,
              copyStatement: load.copyStatement,
              decode: load.decoderFor(file),
              split: load.splitterFor(file),
              onDecoded: progress.add,
            },
            () => stopOverLimit(runId, loading),
          ),
        );
        progress.fileDone();
      },
    }),
  );
  return new Map([...tables].map(([name, { progress }]) => [name, progress.seconds()]));
};
