// Loads the missing segments of a run into staging: one job per segment on the run's queue, and one thread per worker with
// its own connection.

import { missingSegments } from '../ledger/run/resume.ts';
import { loadedChunks, runFiles, type LoadedChunkRow } from '../ledger/run/ledger.ts';
import { whenLost, type Client } from '../db/client.ts';
import { tableOfFile, type SourceTableSpec } from '../core/declaration/declaration.ts';
import { EtlError } from '../core/errors/errors.ts';
import { helpedShare } from '../core/limits.ts';
import type { Counts, SourceFile } from '../core/model.ts';
import { readSegmentJob } from '../pipeline/job-payload.ts';
import type { LoadQueue, SegmentJob, ServeOptions } from '../queue/load-queue.ts';
import { stopIfHopeless } from '../ledger/rejects/store.ts';
import { stopIfAsked } from '../core/stop.ts';
import { addCounts, noCounts } from '../core/counts.ts';
import { busyWorkers, divide, isSmall, sharedFiles } from './cut-segments.ts';
import { landingTable } from '../db/landing.ts';
import { withLoaders, type LoaderPool } from './thread/loader-pool.ts';
import type { LoadingRun, LoadWork } from './loading-run.ts';
import { streamChunkBytesOf } from './chunk/segment-blocks.ts';
import { followTable, type TableProgress } from './progress.ts';
import { loadStream } from './thread/load-stream.ts';
import type { SegmentTask } from './chunk/load-segment.ts';
import type { LoaderSetup } from './thread/segment-loader.ts';
import { createPieceMemory, type PieceMemory } from './thread/reader.ts';
import { createReadingThreads, type ReadingThreads } from './thread/reading-threads.ts';

/**
 * Pieces of streams in memory beside those that are being loaded: reading one takes much less time than loading one
 * (docs/benchmarks/findings.md).
 */
const piecesWaiting = 1;

/** A table that is being loaded, and its progress. */
interface LoadingTable {
  readonly table: SourceTableSpec;
  readonly progress: TableProgress;
}

const followTables = (
  context: LoadWork,
  { planned, files }: LoadingRun,
  chunks: readonly LoadedChunkRow[],
): ReadonlyMap<string, LoadingTable> =>
  new Map(
    planned.map(({ table }) => {
      const own = files.filter((file) => file.table === table.name);
      const progress = followTable(table.name, own, chunks, context.report.emit);
      return [table.name, { table, progress }];
    }),
  );

/** Stops the run when all of its tables together are certainly over the limit of the run. Errors: ETL_REJECT_LIMIT. */
const stopRun = ({ spec }: LoadWork, { lease }: LoadingRun, counts: readonly Counts[]): void => {
  const { rejectLimit } = spec;
  if (rejectLimit !== undefined)
    stopIfHopeless(lease.runId, { rejectLimit }, counts.reduce(addCounts, noCounts));
};

/** What the process needs to load jobs of the run. */
interface Loading {
  readonly context: LoadWork;
  readonly run: LoadingRun;
  readonly tables: ReadonlyMap<string, LoadingTable>;
  readonly loaders: LoaderPool;
  readonly memory: PieceMemory;
  readonly threads: ReadingThreads;
  /** Chunks of one file that are loaded by now. */
  readonly chunksOf: (fileId: number) => Promise<readonly LoadedChunkRow[]>;
}

/**
 * Queries one after the other: the jobs share a connection, and node-postgres takes one statement at a time. Proved by
 * test/integration/library.test.ts, "loads many streams at once".
 */
const askInTurn = (client: Client, runId: number): Loading['chunksOf'] => {
  let last: Promise<unknown> = Promise.resolve();
  return (fileId) => {
    const answer = last.then(() => loadedChunks(client, runId, fileId));
    last = answer.catch(() => undefined);
    return answer;
  };
};

/** Loads the segments of a file: each with one loader, or, for a stream, the pieces of all of them with all loaders. */
const loadFile = async (
  { context, run, tables, loaders, memory, threads, chunksOf }: Loading,
  file: SourceFile,
  { segments, pieceBytes, trace }: SegmentJob,
  leave: AbortSignal,
): Promise<void> => {
  const { drain, abort } = context;
  const { table, progress } = tables.get(file.table)!;
  const report = context.report.segment({ run: run.lease.runId, table: table.name, file: file.name }, trace);
  const load = (task: Omit<SegmentTask, 'file'>, leaveNow: AbortSignal, readMs = 0): Promise<void> => {
    let notReported = readMs;
    return loaders.use(async (loader) => {
      stopIfAsked({ abort, drain });
      leaveNow.throwIfAborted();
      await loader.load(
        { ...task, file },
        {
          onDecoded: progress.add,
          onFileEnd: (byte) => progress.endAt(file.id, byte),
          afterChunk: (times, news) => {
            report.loaded({ ...times, read: times.read + notReported }, news);
            notReported = 0;
            const all = [...tables.values()].map((each) => each.progress.counts());
            stopRun(context, run, all);
            stopIfHopeless(run.lease.runId, table, progress.counts());
          },
          drain,
          leave: leaveNow,
          abort,
        },
      );
    });
  };
  try {
    if (pieceBytes === undefined) for (const segment of segments) await load(segment, leave);
    else {
      const { source, format } = tableOfFile(table, file);
      await loadStream({
        setup: { file, source, dialect: format.dialect, gaps: segments, pieceBytes },
        memory,
        threads,
        stops: { drain, leave, abort },
        // A job that is delivered again has the same pieces as the first time.
        known: await chunksOf(file.id),
        onKnown: progress.add,
        load: ({ piece, expectedEnd, readMs }, breakOff) => {
          if (expectedEnd !== undefined) progress.endAt(file.id, expectedEnd);
          return load({ start: piece.start, byteEnd: piece.byteEnd, piece }, breakOff, readMs);
        },
      });
    }
  } catch (error) {
    // A segment that is aborted because of another one's error is not reported as failed.
    if (!leave.aborted && !abort?.aborted && !drain?.aborted) report.failed(error);
    throw error;
  }
  progress.segmentDone(file.id);
};

/** How a process loads a job of the run. */
const jobWork = (loading: Loading): ServeOptions['load'] => {
  const filesById = new Map(loading.run.files.map((file) => [file.id, file]));
  return async (job, leave) => {
    leave.throwIfAborted();
    if (job.pieceBytes !== undefined)
      return loadFile(loading, filesById.get(job.segments[0]!.fileId)!, job, leave);
    for (const segment of job.segments)
      await loadFile(loading, filesById.get(segment.fileId)!, { ...job, segments: [segment] }, leave);
  };
};

/** Sets up a process to load a run, and passes `use` the options for serving its queue. */
export const withSegmentWork = async <T>(
  context: LoadWork,
  run: LoadingRun,
  chunks: readonly LoadedChunkRow[],
  use: (options: ServeOptions, seconds: () => ReadonlyMap<string, number>) => Promise<T>,
): Promise<T> => {
  const { spec, address, chunkBytes, workers, queues, drain } = context;
  const { config, label, sessionName } = address;
  const setup: LoaderSetup = {
    pipeline: spec.name,
    address: { config, label, sessionName },
    lease: run.lease,
    chunkBytes,
    streamChunkBytes: streamChunkBytesOf(workers),
    rejectLimit: spec.rejectLimit,
    tables: run.planned.map(({ table, staging }) => ({
      target: landingTable(spec, table),
      table,
      staging,
    })),
  };
  const tables = followTables(context, run, chunks);
  const seconds = () => new Map([...tables].map(([name, { progress }]) => [name, progress.seconds()]));
  const missing = missingSegments(run.files, chunks);
  const all = { missing, files: run.files, workers, workersMax: workers, chunkBytes };
  const busy = busyWorkers(all);
  const memory = createPieceMemory(workers + piecesWaiting);
  // The reading thread starts with the loading threads, while the queue is prepared.
  const threads = createReadingThreads(Math.min(1, sharedFiles(all).size));
  const chunksOf = askInTurn(context.client, run.lease.runId);
  const size = { busy, workers, isSmall: isSmall({ missing }) };
  const serving = (loaders: LoaderPool): ServeOptions => ({
    queues,
    lease: run.lease,
    workers,
    drain,
    outside: whenLost(context.client, address),
    load: jobWork({ context, run, tables, loaders, memory, threads, chunksOf }),
    read: readSegmentJob,
    trace: context.report.trace(),
  });
  try {
    return await withLoaders(setup, context.file, size, (loaders) => use(serving(loaders), seconds));
  } finally {
    await threads.close();
  }
};

/** The run's files, read again if the end of one was unknown: a loader may have found it since. */
const filesNow = async ({ client }: LoadWork, { lease, files }: LoadingRun): Promise<readonly SourceFile[]> =>
  files.some(({ dataEnd }) => dataEnd === null) ? runFiles(client, lease.runId) : files;

/** If all jobs are done and the ledger has gaps, the queue was emptied. The run then starts over from the ledger. */
const expectLoaded = async (context: LoadWork, run: LoadingRun): Promise<void> => {
  const { client, queues } = context;
  const chunks = await loadedChunks(client, run.lease.runId);
  const left = missingSegments(await filesNow(context, run), chunks).length;
  if (left === 0) return;
  const problem = `it is empty, and ${left} ${left === 1 ? 'range' : 'ranges'} of files are not loaded`;
  throw new EtlError('ETL_QUEUE_LOST', { queue: queues.backend.label, problem });
};

/** Sums of the chunks of a table. */
const countsOf = ({ files }: LoadingRun, table: string, chunks: readonly LoadedChunkRow[]): Counts => {
  const own = new Set(files.filter((file) => file.table === table).map(({ id }) => id));
  return chunks.filter(({ fileId }) => own.has(fileId)).reduce<Counts>(addCounts, noCounts);
};

/**
 * Loads the segments that the ledger lacks, and returns the seconds of each table. A run without a queue has no files.
 * Errors: those of loadChunk and of the queue; ETL_REJECT_LIMIT when a table is certainly over its limit.
 */
export const loadMissing = async (
  context: LoadWork,
  planned: LoadingRun,
  queue: LoadQueue | undefined,
): Promise<ReadonlyMap<string, number>> => {
  const { runId } = planned.lease;
  const run = { ...planned, files: await filesNow(context, planned) };
  const chunks = await loadedChunks(context.client, runId);
  const missing = missingSegments(run.files, chunks);
  if (missing.length === 0) {
    // A process killed right after its last commit leaves that job queued.
    await queue?.emptied;
    followTables(context, run, chunks);
    return new Map();
  }
  // A run that stopped because of its rejects need not collect more of them while its files are unchanged.
  for (const { table } of run.planned) stopIfHopeless(runId, table, countsOf(run, table.name, chunks));
  stopRun(context, run, chunks);
  const { chunkBytes, jobId, workers } = context;
  // A run from the queue is also cut for workers that may help.
  const workersMax = jobId === undefined ? workers : helpedShare * workers;
  const tables = run.planned.map(({ table }) => table);
  const { seconds, proof } = await withSegmentWork(context, run, chunks, async (options, secondsOf) => {
    const work = divide({ missing, files: run.files, tables, workers, workersMax, chunkBytes });
    // Meanwhile the loading threads start.
    await queue!.workOff(options, work);
    // Asked while the loading threads end.
    const proving = expectLoaded(context, run);
    proving.catch(() => undefined);
    return { seconds: secondsOf(), proof: proving };
  });
  await proof;
  return seconds;
};
