// Loads the missing segments of a run into staging: one job per segment on the run's queue, and one thread per worker with
// its own connection.

import { missingSegments } from '../ledger/run/resume.ts';
import { loadedChunks, runFiles, type LoadedChunkRow } from '../ledger/run/ledger.ts';
import { whenLost, type Client } from '../db/client.ts';
import { tableOfFile, type SourceTableSpec } from '../core/declaration/declaration.ts';
import { EtlError } from '../core/errors/errors.ts';
import { helpedShare, streamChunkBytesMax } from '../core/limits.ts';
import type { Counts, SourceFile } from '../core/model.ts';
import { readSegmentJob } from '../pipeline/job-payload.ts';
import type { LoadQueue, SegmentJob, ServeOptions } from '../queue/load-queue.ts';
import { stopIfHopeless } from '../ledger/rejects/store.ts';
import { stopIfAsked, stopSignal, type Stops } from '../core/stop.ts';
import { addCounts, noCounts } from '../core/counts.ts';
import { busyWorkers, divide, isSmall, sharedFiles } from './cut-segments.ts';
import type { FileSegment, Loader, LoadListener } from './chunk/loader.ts';
import type { LoadPlan, LoadWork } from './load-plan.ts';
import { followTable, type TableProgress } from './progress.ts';
import { withLoaders } from './thread/loader-pool.ts';
import { loadStream } from './thread/load-stream.ts';
import type { Pool } from './thread/pool.ts';
import { createPieceMemory } from './thread/reader.ts';
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
  { report }: LoadWork,
  { tables }: LoadPlan,
  files: readonly SourceFile[],
  chunks: readonly LoadedChunkRow[],
): ReadonlyMap<string, LoadingTable> =>
  new Map(
    tables.map(({ table }) => {
      const own = files.filter((file) => file.table === table.name);
      return [table.name, { table, progress: followTable(table.name, own, chunks, report.emit) }];
    }),
  );

/** Stops the run when all of its tables together are certainly over the limit of the run. Errors: ETL_REJECT_LIMIT. */
const stopRun = ({ lease, rejectLimit }: LoadPlan, counts: readonly Counts[]): void => {
  if (rejectLimit !== undefined)
    stopIfHopeless(lease.runId, { rejectLimit }, counts.reduce(addCounts, noCounts));
};

/** What the process needs to load jobs of the run. */
interface Loading {
  readonly work: LoadWork;
  readonly plan: LoadPlan;
  readonly files: readonly SourceFile[];
  readonly tables: ReadonlyMap<string, LoadingTable>;
  readonly loaders: Pool<Loader>;
  readonly memory: Pool<SharedArrayBuffer>;
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

/** Loads a segment with the next loader that is free. `readMs`: how long its piece was read. */
const loadSegment = async (
  { plan, tables, loaders }: Loading,
  segment: FileSegment,
  stops: Stops,
  report: ReturnType<LoadWork['report']['segment']>,
  readMs = 0,
): Promise<void> => {
  const { id, table: name } = segment.file;
  const { table, progress } = tables.get(name)!;
  let notReported = readMs;
  const loader = await loaders.take();
  try {
    stopIfAsked(stops);
    const listener: LoadListener = {
      decoded: progress.add,
      fileEnd: (byte) => progress.endAt(id, byte),
      chunk: (chunk) => {
        report.loaded({ ...chunk, times: { ...chunk.times, read: chunk.times.read + notReported } });
        notReported = 0;
        stopRun(
          plan,
          [...tables.values()].map((each) => each.progress.counts()),
        );
        stopIfHopeless(plan.lease.runId, table, progress.counts());
      },
    };
    await loader.load(segment, listener, stops);
  } finally {
    loaders.give(loader);
  }
};

/** Loads segments of a file one after the other, or, of a stream, their pieces with all loaders. */
const loadFile = async (
  loading: Loading,
  file: SourceFile,
  { segments, pieceBytes, trace }: SegmentJob,
  stops: Stops,
): Promise<void> => {
  const { work, plan, tables, memory, threads, chunksOf } = loading;
  const { table, progress } = tables.get(file.table)!;
  const report = work.report.segment({ run: plan.lease.runId, table: table.name, file: file.name }, trace);
  try {
    if (pieceBytes === undefined)
      for (const { start, byteEnd } of segments)
        await loadSegment(loading, { file, start, byteEnd }, stops, report);
    else {
      const { source, format } = tableOfFile(table, file);
      await loadStream({
        setup: { file, source, dialect: format.dialect, gaps: segments, pieceBytes },
        memory,
        threads,
        stops,
        // A job that is delivered again has the same pieces as the first time.
        known: await chunksOf(file.id),
        onKnown: progress.add,
        load: ({ piece, expectedEnd, readMs }, own) => {
          if (expectedEnd !== undefined) progress.endAt(file.id, expectedEnd);
          const { start, byteEnd } = piece;
          return loadSegment(loading, { file, start, byteEnd, piece }, own, report, readMs);
        },
      });
    }
  } catch (error) {
    // A segment that is aborted because of another one's error is not reported as failed.
    if (!stopSignal(stops).aborted) report.failed(error);
    throw error;
  }
  progress.segmentDone(file.id);
};

/** How a process loads a job of the run. */
const jobWork = (loading: Loading): ServeOptions['load'] => {
  const filesById = new Map(loading.files.map((file) => [file.id, file]));
  const { abort, drain } = loading.work;
  return async (job, leave) => {
    leave.throwIfAborted();
    // Only the segments of a stream are loaded together, and all are of one file.
    const groups = job.pieceBytes === undefined ? job.segments.map((one) => [one]) : [job.segments];
    for (const segments of groups)
      await loadFile(
        loading,
        filesById.get(segments[0]!.fileId)!,
        { ...job, segments },
        { abort, leave, drain },
      );
  };
};

/** Sets up a process to load a run, and passes `use` the options for serving its queue. */
export const withSegmentWork = async <T>(
  work: LoadWork,
  plan: LoadPlan,
  files: readonly SourceFile[],
  chunks: readonly LoadedChunkRow[],
  use: (options: ServeOptions, seconds: () => ReadonlyMap<string, number>) => Promise<T>,
): Promise<T> => {
  const { client, queues, workers, drain, report } = work;
  const { address, lease, chunkBytes } = plan;
  const tables = followTables(work, plan, files, chunks);
  const seconds = () => new Map([...tables].map(([name, { progress }]) => [name, progress.seconds()]));
  const missing = missingSegments(files, chunks);
  const all = { missing, files, workers, workersMax: workers, chunkBytes };
  const memory = createPieceMemory(workers + piecesWaiting, Math.min(chunkBytes, streamChunkBytesMax));
  // The reading thread starts with the loading threads, while the queue is prepared.
  const threads = createReadingThreads(Math.min(1, sharedFiles(all).size));
  const chunksOf = askInTurn(client, lease.runId);
  const size = { busy: busyWorkers(all), workers, isSmall: isSmall({ missing }) };
  const serving = (loaders: Pool<Loader>): ServeOptions => ({
    queues,
    lease,
    workers,
    drain,
    outside: whenLost(client, address),
    load: jobWork({ work, plan, files, tables, loaders, memory, threads, chunksOf }),
    read: readSegmentJob,
    trace: report.trace(),
  });
  try {
    return await withLoaders(plan, size, (loaders) => use(serving(loaders), seconds));
  } finally {
    await threads.close();
  }
};

/** Reads the run's files again if the end of one was unknown: a loader may have found it since. */
const filesNow = async (
  { client }: LoadWork,
  { lease }: LoadPlan,
  files: readonly SourceFile[],
): Promise<readonly SourceFile[]> =>
  files.some(({ dataEnd }) => dataEnd === null) ? runFiles(client, lease.runId) : files;

/** Checks that the ledger has no gap when all jobs are done: else the queue was emptied, and the run starts over from the ledger. */
const expectLoaded = async (work: LoadWork, plan: LoadPlan, files: readonly SourceFile[]): Promise<void> => {
  const { client, queues } = work;
  const chunks = await loadedChunks(client, plan.lease.runId);
  const left = missingSegments(await filesNow(work, plan, files), chunks).length;
  if (left === 0) return;
  const problem = `it is empty, and ${left} ${left === 1 ? 'range' : 'ranges'} of files are not loaded`;
  throw new EtlError('ETL_QUEUE_LOST', { queue: queues.backend.label, problem });
};

/** Sums of the chunks of a table. */
const countsOf = (files: readonly SourceFile[], table: string, chunks: readonly LoadedChunkRow[]): Counts => {
  const own = new Set(files.filter((file) => file.table === table).map(({ id }) => id));
  return chunks.filter(({ fileId }) => own.has(fileId)).reduce<Counts>(addCounts, noCounts);
};

/**
 * Loads the segments that the ledger lacks, and returns the seconds of each table. A run without a queue has no files.
 * Errors: those of loadChunk and of the queue; ETL_REJECT_LIMIT when a table is certainly over its limit.
 */
export const loadMissing = async (
  work: LoadWork,
  plan: LoadPlan,
  planned: readonly SourceFile[],
  queue: LoadQueue | undefined,
): Promise<ReadonlyMap<string, number>> => {
  const { client, workers, jobId } = work;
  const { lease, chunkBytes } = plan;
  const files = await filesNow(work, plan, planned);
  const chunks = await loadedChunks(client, lease.runId);
  const missing = missingSegments(files, chunks);
  if (missing.length === 0) {
    // A process killed right after its last commit leaves that job queued.
    await queue?.emptied;
    followTables(work, plan, files, chunks);
    return new Map();
  }
  const tables = plan.tables.map(({ table }) => table);
  // A run that stopped because of its rejects need not collect more of them while its files are unchanged.
  for (const table of tables) stopIfHopeless(lease.runId, table, countsOf(files, table.name, chunks));
  stopRun(plan, chunks);
  // A run from the queue is also cut for workers that may help.
  const workersMax = jobId === undefined ? workers : helpedShare * workers;
  const { seconds, proof } = await withSegmentWork(work, plan, files, chunks, async (options, secondsOf) => {
    const division = divide({ missing, files, tables, workers, workersMax, chunkBytes });
    // Meanwhile the loading threads start.
    await queue!.workOff(options, division);
    // Asked while the loading threads end.
    const proving = expectLoaded(work, plan, files);
    proving.catch(() => undefined);
    return { seconds: secondsOf(), proof: proving };
  });
  await proof;
  return seconds;
};
