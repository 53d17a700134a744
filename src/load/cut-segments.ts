// Divides the byte ranges that are not loaded yet among the workers. Files stay whole if their
// sizes divide evenly, and small files share a job. Otherwise a scan ahead of the loaders cuts
// files into segments. All loaders of one process load a stream together.

import { createSplitter } from '../format/records/splitter.ts';
import { segmentCuts } from '../format/records/record-blocks.ts';
import {
  segmentBytesMin,
  segmentChunks,
  segmentsPerJobMax,
  segmentsPerWorker,
  streamChunkBytesMax,
  unevenMax,
} from '../core/limits.ts';
import type { Segment, SourceFile } from '../core/model.ts';
import { tableOfFile, type SourceTableSpec } from '../core/declaration.ts';
import type { Work } from '../queue/load-queue.ts';
import { isSeekable, openInput } from '../input/input.ts';

/** A missing range that can be cut: its end is known, and its file can be read from any byte. */
type Gap = Segment & { readonly byteEnd: number };

/** Assumed ratio of decoded to stored bytes of a compressed file; CSV has 4 to 10. */
const decodedTimes = 5;

const unknownBytes = 64 * 1024 * 1024;

/** Keeps nothing of files whose end is known: there may be 100,000. */
const sizesOf = (files: readonly SourceFile[]): ((segment: Segment) => number) => {
  const endless = files.filter(({ dataEnd }) => dataEnd === null);
  const sizes = new Map(
    endless.map(({ id, bytes, decoding }) => [
      id,
      (bytes || unknownBytes) * (decoding === null ? 1 : decodedTimes),
    ]),
  );
  return ({ fileId, start, byteEnd }) => (byteEnd === null ? sizes.get(fileId)! : byteEnd - start.byte);
};

const total = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);

/** Returns the bytes of the busiest worker if each free worker takes the largest file left. */
const longestShare = (sizes: readonly number[], workers: number): number => {
  const shares = Array.from({ length: workers }, () => 0);
  for (const size of sizes.toSorted((one, other) => other - one)) {
    const least = shares.indexOf(Math.min(...shares));
    shares[least]! += size;
  }
  return Math.max(...shares);
};

export const pieceBytes = (sizes: readonly number[], workers: number, chunkBytes: number): number => {
  const even = total(sizes) / workers;
  if (longestShare(sizes, workers) <= unevenMax * even) return Infinity;
  return Math.max(segmentBytesMin, Math.min(segmentChunks * chunkBytes, even / segmentsPerWorker));
};

interface Missing {
  readonly missing: readonly Segment[];
  readonly files: readonly SourceFile[];
  readonly workers: number;
  /** Files are cut for this many workers: more than `workers`, as other processes may help. */
  readonly workersMax: number;
  readonly chunkBytes: number;
}

interface Division extends Missing {
  readonly tables: readonly SourceTableSpec[];
}

const streamsOf = (files: readonly SourceFile[]): ReadonlySet<number> =>
  new Set(files.filter((file) => !isSeekable(file)).map(({ id }) => id));

const gapsOfStreams = ({ missing, files }: Missing): readonly (readonly Segment[])[] => {
  const streams = streamsOf(files);
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
 * Returns streams that all workers load together: those with several gaps, to read them once, and
 * large streams, which would leave the other workers idle.
 */
const sharedStreams = (all: Missing, sizeOf: (gap: Segment) => number): readonly Work[] => {
  const { missing, workers, chunkBytes } = all;
  const isUneven = pieceBytes(missing.map(sizeOf), workers, chunkBytes) !== Infinity;
  const bytes = Math.min(chunkBytes, streamChunkBytesMax);
  return gapsOfStreams(all)
    .filter((gaps) => gaps.length > 1 || (isUneven && sizeOf(gaps[0]!) > bytes))
    .map((segments) => ({ segments, pieceBytes: bytes }));
};

export const sharedFiles = (all: Missing): ReadonlySet<number> =>
  new Set(sharedStreams(all, sizesOf(all.files)).map(({ segments }) => segments[0]!.fileId));

/** Sorts the gaps. A gap hardly larger than a segment stays whole: a scan would cost more. */
const sorted = (all: Missing) => {
  const { missing, files, workersMax, chunkBytes } = all;
  const sizeOf = sizesOf(files);
  const shared = sharedStreams(all, sizeOf);
  const isShared = new Set(shared.flatMap(({ segments }) => segments));
  const bytes = pieceBytes(missing.map(sizeOf), workersMax, chunkBytes);
  const streams = streamsOf(files);
  const isCut = (gap: Segment): gap is Gap =>
    gap.byteEnd !== null && !streams.has(gap.fileId) && sizeOf(gap) > 1.5 * bytes;
  const whole = missing.filter((gap) => !isCut(gap) && !isShared.has(gap));
  return { shared, whole, cut: missing.filter(isCut), bytes, sizeOf };
};

/** Loading this many bytes takes a tenth of the time of a thread's start: decisions/workers.md. */
const smallBytes = 1024 * 1024;

const knownBytes = (missing: readonly Segment[]): number =>
  total(missing.map(({ start, byteEnd }) => (byteEnd ?? Infinity) - start.byte));

/** True if starting threads takes longer than loading; false for streams of unknown size. */
export const isSmall = ({ missing }: Pick<Missing, 'missing'>): boolean => knownBytes(missing) <= smallBytes;

/** One connection loads so much, of so many files, before threads with connections have started. */
const briefBytesMax = 4 * 1024 * 1024;
const briefFilesMax = 8;

/** True if everything is loaded fastest over the connection that is open. */
export const isBrief = ({ missing, chunkBytes }: Pick<Missing, 'missing' | 'chunkBytes'>): boolean =>
  missing.length <= briefFilesMax && knownBytes(missing) <= Math.min(briefBytesMax, chunkBytes);

/** True if other processes could take no job. */
export const isOneJob = (all: Missing): boolean => {
  const { shared, whole, cut, sizeOf } = sorted(all);
  return cut.length === 0 && shared.length + jobsOf(whole, all.workersMax, sizeOf).length === 1;
};

export const busyWorkers = (missing: Missing): number => {
  const { shared, whole, cut } = sorted(missing);
  return shared.length + cut.length > 0 ? missing.workers : Math.min(missing.workers, whole.length);
};

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

/** Groups gaps into few jobs, because each job costs time, but into several for each worker. */
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

/** Jobs that are sent to the queue at once. With as many segments as they may have, they make 1.5 MB. */
const jobsAtOnce = 100;

export async function* divide(division: Division): AsyncGenerator<readonly Work[], void> {
  const { shared, whole, cut, bytes, sizeOf } = sorted(division);
  const jobs = [...shared, ...jobsOf(whole, division.workersMax, sizeOf).map((segments) => ({ segments }))];
  for (let at = 0; at < jobs.length; at += jobsAtOnce) yield jobs.slice(at, at + jobsAtOnce);
  for (const gap of cut)
    for await (const piece of piecesOf(gap, division, bytes)) yield [{ segments: [piece] }];
}
