// Divides the missing ranges among the workers: whole files if their sizes divide evenly, small ones together, otherwise segments
// that a scan cuts ahead of the loaders, and streams that all loaders of a process load.

import { createSplitter } from '../format/split/splitter.ts';
import { segmentCuts } from '../format/split/segment-cuts.ts';
import {
  segmentBytesMin,
  segmentChunks,
  segmentsPerJobMax,
  segmentsPerWorker,
  streamChunkBytesMax,
  unevenMax,
} from '../core/limits.ts';
import type { Segment, SourceFile } from '../core/model.ts';
import { tableOfFile, type SourceTableSpec } from '../core/declaration/declaration.ts';
import type { Work } from '../queue/load-queue.ts';
import { isSeekable, openInput } from '../input/input.ts';

/** A segment that may be cut, because its end is known and its file can be opened anywhere. */
type Gap = Segment & { readonly byteEnd: number };

/** The assumed ratio of decoded to stored bytes of a compressed file whose end is unknown; CSV has 4 to 10. */
const decodedTimes = 5;

/** The assumed size of a stream whose source does not report it. */
const unknownBytes = 64 * 1024 * 1024;

/** Bytes of a segment; if its end is unknown, an estimate for its whole file. */
const sizesOf = (files: readonly SourceFile[]): ((segment: Segment) => number) => {
  const sizes = new Map(
    files.map(({ id, bytes, decoding }) => [
      id,
      (bytes || unknownBytes) * (decoding === null ? 1 : decodedTimes),
    ]),
  );
  return ({ fileId, start, byteEnd }) => (byteEnd === null ? sizes.get(fileId)! : byteEnd - start.byte);
};

const total = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);

/** Bytes of the busiest worker, when each takes the largest that is left: close to the best that can be done. */
const longestShare = (sizes: readonly number[], workers: number): number => {
  const shares = Array.from({ length: workers }, () => 0);
  for (const size of sizes.toSorted((one, other) => other - one)) {
    const least = shares.indexOf(Math.min(...shares));
    shares[least]! += size;
  }
  return Math.max(...shares);
};

/** Bytes of the segments that these gaps are cut into; Infinity if they should stay whole. Pure. */
export const pieceBytes = (sizes: readonly number[], workers: number, chunkBytes: number): number => {
  const even = total(sizes) / workers;
  if (longestShare(sizes, workers) <= unevenMax * even) return Infinity;
  return Math.max(segmentBytesMin, Math.min(segmentChunks * chunkBytes, even / segmentsPerWorker));
};

/** The missing ranges of a run, and the number of workers. */
interface Missing {
  readonly missing: readonly Segment[];
  readonly files: readonly SourceFile[];
  /** Of this process. */
  readonly workers: number;
  /** The number of workers that files are cut for: other processes may help. */
  readonly workersMax: number;
  readonly chunkBytes: number;
}

/** The same, and how records are found. */
export interface Division extends Missing {
  readonly tables: readonly SourceTableSpec[];
}

/** The gaps of each stream together, as many as a job may have. */
const gapsOfStreams = ({ missing, files }: Missing): readonly (readonly Segment[])[] => {
  const streams = new Set(files.filter((file) => !isSeekable(file)).map(({ id }) => id));
  const groups: Segment[][] = [];
  for (const gap of missing) {
    if (!streams.has(gap.fileId)) continue;
    const last = groups.at(-1);
    if (last?.[0]!.fileId === gap.fileId && last.length < segmentsPerJobMax) last.push(gap);
    else groups.push([gap]);
  }
  return groups;
};

/**
 * Streams that all loaders of one process load: those with several gaps, which are read once for all of them, and those that would
 * leave workers of this process idle.
 */
const sharedStreams = (all: Missing, sizeOf: (gap: Segment) => number): readonly Work[] => {
  const { missing, workers, chunkBytes } = all;
  const isUneven = pieceBytes(missing.map(sizeOf), workers, chunkBytes) !== Infinity;
  const bytes = Math.min(chunkBytes, streamChunkBytesMax);
  return gapsOfStreams(all)
    .filter((gaps) => gaps.length > 1 || (isUneven && sizeOf(gaps[0]!) > bytes))
    .map((segments) => ({ segments, pieceBytes: bytes }));
};

/** Numbers of the files that all workers of a process load together. */
export const sharedFiles = (all: Missing): ReadonlySet<number> =>
  new Set(sharedStreams(all, sizesOf(all.files)).map(({ segments }) => segments[0]!.fileId));

/** The gaps that stay whole, those that are cut, and the bytes of a segment. A gap that is hardly larger than its share is not worth a scan. */
const sorted = (all: Missing) => {
  const { missing, files, workersMax, chunkBytes } = all;
  const sizeOf = sizesOf(files);
  const shared = sharedStreams(all, sizeOf);
  const isShared = new Set(shared.flatMap(({ segments }) => segments));
  const bytes = pieceBytes(missing.map(sizeOf), workersMax, chunkBytes);
  const seekable = new Set(files.filter(isSeekable).map(({ id }) => id));
  const isCut = (gap: Segment): gap is Gap =>
    gap.byteEnd !== null && seekable.has(gap.fileId) && sizeOf(gap) > 1.5 * bytes;
  const whole = missing.filter((gap) => !isCut(gap) && !isShared.has(gap));
  return { shared, whole, cut: missing.filter(isCut), bytes, sizeOf };
};

/** Loaded in a tenth of the processor time that a thread takes to start (docs/decisions/workers.md). */
const smallBytes = 1024 * 1024;

/** Whether so little is missing that starting threads would take longer than loading it. A stream, whose size is unknown, never is. */
export const isSmall = ({ missing }: Pick<Missing, 'missing'>): boolean =>
  total(missing.map(({ start, byteEnd }) => (byteEnd ?? Infinity) - start.byte)) <= smallBytes;

/** Workers that certainly have work. */
export const busyWorkers = (missing: Missing): number => {
  const { shared, whole, cut } = sorted(missing);
  return shared.length + cut.length > 0 ? missing.workers : Math.min(missing.workers, whole.length);
};

/** Segments of one gap, found one after the other. Reads the file once, from the gap's first byte. */
async function* piecesOf(
  gap: Gap,
  { files, tables }: Division,
  bytes: number,
): AsyncGenerator<Segment, void> {
  const file = files.find(({ id }) => id === gap.fileId)!;
  const table = tables.find(({ name }) => name === file.table)!;
  const { source, format } = tableOfFile(table, file);
  const reads = openInput(file, { declared: source }, gap.start.byte, gap.byteEnd);
  let start = gap.start;
  const splitter = createSplitter(format.dialect, file.header.length, file.lineEnd);
  for await (const cut of segmentCuts(reads, start, splitter, bytes)) {
    yield { fileId: file.id, start, byteEnd: cut.byte };
    start = cut;
  }
  yield { fileId: file.id, start, byteEnd: gap.byteEnd };
}

/**
 * Small gaps together, so that each does not cost the queue a job: so many that every worker still gets several. Pure.
 */
export const jobsOf = (
  gaps: readonly Segment[],
  workers: number,
  sizeOf: (gap: Segment) => number,
): readonly (readonly Segment[])[] => {
  const share = total(gaps.map(sizeOf)) / (segmentsPerWorker * workers);
  const jobBytesMax = Math.min(segmentBytesMin, share);
  const jobs: Segment[][] = [];
  let bytes = 0;
  for (const gap of gaps) {
    bytes += sizeOf(gap);
    const last = jobs.at(-1);
    if (last !== undefined && bytes <= jobBytesMax && last.length < segmentsPerJobMax) last.push(gap);
    else {
      jobs.push([gap]);
      bytes = sizeOf(gap);
    }
  }
  return jobs;
};

/** Yields the jobs of a load: first the streams that are shared, and the gaps that stay whole; then the segments of the others as they are found. */
export async function* divide(division: Division): AsyncGenerator<readonly Work[], void> {
  const { shared, whole, cut, bytes, sizeOf } = sorted(division);
  const jobs = jobsOf(whole, division.workersMax, sizeOf).map((segments) => ({ segments }));
  if (shared.length + jobs.length > 0) yield [...shared, ...jobs];
  for (const gap of cut)
    for await (const piece of piecesOf(gap, division, bytes)) yield [{ segments: [piece] }];
}
