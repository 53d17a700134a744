// Divides the missing ranges among the workers: whole files if their sizes divide evenly, small ones together, otherwise segments
// that a scan cuts ahead of the loaders.

import { createSplitter } from '../../format/split/splitter.ts';
import { segmentCuts } from '../../format/split/segment-cuts.ts';
import {
  segmentBytesMin,
  segmentChunks,
  segmentsPerJobMax,
  segmentsPerWorker,
  unevenMax,
} from '../../limits.ts';
import type { Segment, SourceFile } from '../../model.ts';
import type { SourceTableSpec } from '../../declaration.ts';
import { isSeekable, openInput } from '../input.ts';

/** A segment that may be cut, because its end is known and its file can be opened anywhere. */
type Gap = Segment & { readonly byteEnd: number };

/** Bytes of a segment; if its end is unknown, the stored size of its file. */
const sizesOf = (files: readonly SourceFile[]): ((segment: Segment) => number) => {
  const stored = new Map(files.map(({ id, bytes }) => [id, bytes]));
  return ({ fileId, start, byteEnd }) =>
    byteEnd === null ? Math.max(1, stored.get(fileId)!) : byteEnd - start.byte;
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
  readonly workers: number;
  readonly chunkBytes: number;
}

/** The same, and how records are found. */
export interface Division extends Missing {
  readonly tables: readonly SourceTableSpec[];
}

/** The gaps that stay whole, those that are cut, and the bytes of a segment. A gap that is hardly larger than its share is not worth a scan. */
const sorted = ({ missing, files, workers, chunkBytes }: Missing) => {
  const sizeOf = sizesOf(files);
  const bytes = pieceBytes(missing.map(sizeOf), workers, chunkBytes);
  const seekable = new Set(files.filter(isSeekable).map(({ id }) => id));
  const isCut = (gap: Segment): gap is Gap =>
    gap.byteEnd !== null && seekable.has(gap.fileId) && sizeOf(gap) > 1.5 * bytes;
  return { whole: missing.filter((gap) => !isCut(gap)), cut: missing.filter(isCut), bytes, sizeOf };
};

/** Loaded in a tenth of the processor time that a thread takes to start (docs/decisions/workers.md). */
const smallBytes = 1024 * 1024;

/** Whether so little is missing that starting threads would take longer than loading it. Nobody knows the size of a stream. */
export const isSmall = ({ missing }: Pick<Missing, 'missing'>): boolean =>
  total(missing.map(({ start, byteEnd }) => (byteEnd ?? Infinity) - start.byte)) <= smallBytes;

/** Workers that certainly have work. */
export const busyWorkers = (missing: Missing): number => {
  const { whole, cut } = sorted(missing);
  return cut.length > 0 ? missing.workers : Math.min(missing.workers, whole.length);
};

/** Segments of one gap, found one after the other. Reads the file once, from the gap's first byte. */
async function* piecesOf(
  gap: Gap,
  { files, tables }: Division,
  bytes: number,
): AsyncGenerator<Segment, void> {
  const file = files.find(({ id }) => id === gap.fileId)!;
  const { source, format } = tables.find(({ name }) => name === file.table)!;
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

/** Yields the jobs of a load: first the gaps that stay whole, then the segments of the others as they are found. */
export async function* divide(division: Division): AsyncGenerator<readonly (readonly Segment[])[], void> {
  const { whole, cut, bytes, sizeOf } = sorted(division);
  if (whole.length > 0) yield jobsOf(whole, division.workers, sizeOf);
  for (const gap of cut) for await (const piece of piecesOf(gap, division, bytes)) yield [[piece]];
}
