// Loads the missing segments of a run: one job per segment, one thread and connection per worker.

import { missingSegments } from '../ledger/run/resume.ts';
import { loadedChunks, loadedTotals, runFiles, type LoadedChunkRow } from '../ledger/run/ledger.ts';
import { whenLost, type Client } from '../db/client.ts';
import { EtlError } from '../core/errors/errors.ts';
import { helpedShare, streamChunkBytesMax } from '../core/limits.ts';
import type { Counts, Segment, SourceFile } from '../core/model.ts';
import { readSegmentJob } from '../pipeline/job-payload.ts';
import type { LoadQueue, SegmentJob, ServeOptions, Work } from '../queue/load-queue.ts';
import { stopIfAsked, stopSignal, type Stops } from '../core/stop.ts';
import { addCounts, noCounts } from '../core/counts.ts';
import { plural } from '../core/wording.ts';
import { busyWorkers, divide, isBrief, isOneJob, isSmall, sharedFiles } from './cut-segments.ts';
import type { FileSegment, Loader, LoadListener } from './chunk/loader.ts';
import { collectBad, type HoldsBack } from './files-held.ts';
import { loadedTable, type LoadPlan, type LoadWork } from './load-plan.ts';
import { followTables, type TableProgress } from './progress.ts';
import { rejectsAllowed } from './rejects-allowed.ts';
import { callsFunctions, openLoaders } from './thread/loader-pool.ts';
import { loadStream } from './thread/load-stream.ts';
import type { Pool } from './thread/pool.ts';
import { createPieceMemory } from './thread/reader.ts';
import { createReadingThreads, type ReadingThreads } from './thread/reading-threads.ts';

/** Pieces read ahead. A piece is read much faster than loaded (docs/benchmarks/findings.md). */
const piecesWaiting = 1;

export const byId = (files: readonly SourceFile[]): ReadonlyMap<number, SourceFile> =>
  new Map(files.map((file) => [file.id, file]));

interface Loading {
  readonly work: LoadWork;
  readonly plan: LoadPlan;
  readonly filesById: ReadonlyMap<number, SourceFile>;
  readonly progress: ReadonlyMap<string, TableProgress>;
  readonly loaders: Pool<Loader>;
  readonly memory: Pool<SharedArrayBuffer>;
  readonly threads: ReadingThreads;
  readonly chunksOf: (fileId: number) => Promise<readonly LoadedChunkRow[]>;
  readonly holdsBack: HoldsBack;
}

/**
 * Queries loaded chunks in turn: jobs share the connection, and node-postgres takes one statement
 * at a time. Proved by test/integration/library.test.ts, "loads many streams at once".
 */
const askInTurn = (client: Client, runId: number): Loading['chunksOf'] => {
  let last: Promise<unknown> = Promise.resolve();
  return (fileId) => {
    const answer = last.then(() => loadedChunks(client, runId, fileId));
    last = answer.catch(() => undefined);
    return answer;
  };
};

const loadSegment = async (
  { plan, progress, loaders }: Loading,
  segment: FileSegment,
  stops: Stops,
  report: ReturnType<LoadWork['report']['segment']>,
  readMs = 0,
): Promise<void> => {
  const { id, table } = segment.file;
  const own = progress.get(table)!;
  let notReported = readMs;
  const loader = await loaders.take();
  try {
    stopIfAsked(stops);
    const listener: LoadListener = {
      decoded: own.add,
      fileEnd: (byte) => own.endAt(id, byte),
      chunk: (chunk) => {
        report.loaded({ ...chunk, times: { ...chunk.times, read: chunk.times.read + notReported } });
        notReported = 0;
        rejectsAllowed(plan, [table], (name) => progress.get(name)!.counts());
      },
    };
    await loader.load(segment, listener, stops);
  } finally {
    loaders.give(loader);
  }
};

const loadFile = async (
  loading: Loading,
  file: SourceFile,
  { segments, pieceBytes, trace }: SegmentJob,
  stops: Stops,
): Promise<void> => {
  const { work, plan, memory, threads, chunksOf } = loading;
  const progress = loading.progress.get(file.table)!;
  const report = work.report.segment({ run: plan.lease.runId, table: file.table, file: file.name }, trace);
  try {
    if (pieceBytes === undefined)
      for (const { start, byteEnd } of segments)
        await loadSegment(loading, { file, start, byteEnd }, stops, report);
    else {
      const { source, format } = loadedTable(plan, file).table;
      await loadStream({
        setup: { file, source, dialect: format.dialect, gaps: segments, pieceBytes },
        memory,
        threads,
        stops,
        // Loaded pieces are skipped: a job that is delivered again has the same pieces as before.
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
    if (!stopSignal(stops).aborted) report.failed(error);
    throw error;
  }
  progress.segmentDone(file.id);
};

const jobWork = (loading: Loading): ServeOptions['load'] => {
  const { filesById } = loading;
  const { abort, drain } = loading.work;
  return async (job, leave) => {
    leave.throwIfAborted();
    // The segments of a job are loaded together only if they are ranges of one stream.
    const groups = job.pieceBytes === undefined ? job.segments.map((one) => [one]) : [job.segments];
    for (const segments of groups) {
      const file = filesById.get(segments[0]!.fileId)!;
      await loadFile(loading, file, { ...job, segments }, { abort, leave, drain }).catch((error: unknown) => {
        if (!(error instanceof EtlError) || !loading.holdsBack(file, error)) throw error;
      });
    }
  };
};

export const withSegmentWork = async <T>(
  work: LoadWork,
  plan: LoadPlan,
  files: readonly SourceFile[],
  chunks: readonly LoadedChunkRow[],
  missing: readonly Segment[],
  use: (options: ServeOptions, seconds: () => ReadonlyMap<string, number>) => Promise<T>,
  over?: Client,
  // A helper must not judge files: it may be the only process that cannot read them.
  holdsBack: HoldsBack = () => false,
): Promise<T> => {
  const { client, queues, drain, report } = work;
  const workers = over === undefined ? work.workers : 1;
  const { address, lease, chunkBytes } = plan;
  const filesById = byId(files);
  const progress = followTables(plan, filesById, chunks, report.emit);
  const seconds = () => new Map([...progress].map(([name, one]) => [name, one.seconds()]));
  const all = { missing, files, workers, workersMax: workers, chunkBytes };
  const memory = createPieceMemory(workers + piecesWaiting, Math.min(chunkBytes, streamChunkBytesMax));
  const threads = createReadingThreads(Math.min(1, sharedFiles(all).size));
  const chunksOf = askInTurn(client, lease.runId);
  const size = { busy: busyWorkers(all), workers, isSmall: isSmall({ missing }), over };
  try {
    const { loaders, close } = await openLoaders(plan, size);
    try {
      const load = jobWork({
        work,
        plan,
        filesById,
        progress,
        loaders,
        memory,
        threads,
        chunksOf,
        holdsBack,
      });
      const outside = whenLost(client, address);
      const trace = report.trace();
      return await use(
        { queues, lease, workers, drain, outside, load, read: readSegmentJob, trace },
        seconds,
      );
    } finally {
      await close();
    }
  } finally {
    await threads.close();
  }
};

/** Reads the files again, because a loader may have found a file's end since the last query. */
const filesNow = async (
  { client }: LoadWork,
  { lease }: LoadPlan,
  files: readonly SourceFile[],
): Promise<readonly SourceFile[]> =>
  files.some(({ dataEnd }) => dataEnd === null) ? runFiles(client, lease.runId) : files;

/** Throws if the ledger has gaps after all jobs: somebody emptied the queue. */
const expectLoaded = async ({ client, queues }: LoadWork, { lease }: LoadPlan): Promise<void> => {
  const totals = await loadedTotals(client, lease.runId);
  const left = totals.reduce((sum, { uncovered }) => sum + uncovered, 0);
  if (left === 0) return;
  const problem = `it is empty, and ${plural(left, 'file')} ${left === 1 ? 'is' : 'are'} not loaded to the end`;
  throw new EtlError('ETL_QUEUE_LOST', { queue: queues.backend.label, problem });
};

const countsOf = (
  files: readonly SourceFile[],
  chunks: readonly LoadedChunkRow[],
): ReadonlyMap<string, Counts> => {
  const tables = new Map(files.map(({ id, table }) => [id, table]));
  const counts = new Map<string, Counts>();
  for (const chunk of chunks) {
    const table = tables.get(chunk.fileId)!;
    counts.set(table, addCounts(counts.get(table) ?? noCounts, chunk));
  }
  return counts;
};

const workersMaxOf = ({ workers, jobId }: Pick<LoadWork, 'workers' | 'jobId'>): number =>
  jobId === undefined ? workers : helpedShare * workers;

/** True if everything can be loaded over the coordinator's connection, in milliseconds. */
export const loadsBriefly = (plan: LoadPlan, missing: readonly Segment[]): boolean =>
  isBrief({ missing, chunkBytes: plan.chunkBytes }) && !callsFunctions(plan);

/** True if a new run needs no queue: it has one job, or loading takes less than sharing the work. */
export const loadsAlone = (
  work: Pick<LoadWork, 'workers' | 'jobId'>,
  plan: LoadPlan,
  files: readonly SourceFile[],
): boolean => {
  const { workers } = work;
  const missing = missingSegments(files, []);
  const all = { missing, files, workers, workersMax: workersMaxOf(work), chunkBytes: plan.chunkBytes };
  return isOneJob(all) || loadsBriefly(plan, missing);
};

/** Loads jobs without a queue, one after the other. */
const loadInTurn = async (
  { lease: { generation }, load, outside, trace }: ServeOptions,
  batches: AsyncGenerator<readonly Work[], void>,
): Promise<void> => {
  const leaving = new AbortController();
  const loading = (async () => {
    for await (const batch of batches)
      for (const work of batch) await load({ ...work, generation, ...(trace && { trace }) }, leaving.signal);
  })();
  try {
    await Promise.race([loading, outside]);
  } catch (error) {
    leaving.abort();
    await loading.catch(() => undefined);
    throw error;
  }
};

/**
 * Loads all missing segments. A run without a queue is new, so nothing of it is loaded. Errors:
 * those of loadChunk and of the queue; ETL_REJECT_LIMIT; FilesHeld.
 */
export const loadMissing = async (
  work: LoadWork,
  plan: LoadPlan,
  planned: readonly SourceFile[],
  queue: LoadQueue | undefined,
  holdsBack: HoldsBack,
): Promise<ReadonlyMap<string, number>> => {
  const { client, workers } = work;
  const { lease, chunkBytes } = plan;
  const files = await filesNow(work, plan, planned);
  const chunks = queue === undefined ? [] : await loadedChunks(client, lease.runId);
  const missing = missingSegments(files, chunks);
  if (missing.length === 0) {
    // A process that was killed right after its last commit has left that job in the queue.
    await queue?.emptied;
    followTables(plan, byId(files), chunks, work.report.emit);
    return new Map();
  }
  const tables = plan.tables.map(({ table }) => table);
  const counts = countsOf(files, chunks);
  // A resumed run that is over its reject limit stops here, before it collects more rejects.
  rejectsAllowed(plan, [...counts.keys()], (name) => counts.get(name) ?? noCounts);
  const division = { missing, files, tables, workers, workersMax: workersMaxOf(work), chunkBytes };
  const over = queue === undefined && loadsBriefly(plan, missing) ? client : undefined;
  const { hold, judge, judgeError } = collectBad(files, holdsBack);
  const load = async (options: ServeOptions, secondsOf: () => ReadonlyMap<string, number>) => {
    const batches = divide(division);
    await (queue === undefined ? loadInTurn(options, batches) : queue.workOff(options, batches));
    judge();
    if (queue === undefined) return { seconds: secondsOf() };
    // The query runs while the loading threads end.
    const proof = expectLoaded(work, plan);
    proof.catch(() => undefined);
    return { seconds: secondsOf(), proof };
  };
  const loading = withSegmentWork(work, plan, files, chunks, missing, load, over, hold);
  const { seconds, proof } = await loading.catch(judgeError);
  await proof;
  return seconds;
};
