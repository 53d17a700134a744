// One chunk of a file: its blocks, and the outcomes of its records.

import type { Client } from '../../db/client.ts';
import { rejectsPerChunkMax } from '../../core/limits.ts';
import type { Counts, Lease, Position, Reject, SourceFile } from '../../core/model.ts';
import type { Times } from '../../core/profile.ts';
import { decodeUpTo, type DecodedBlock } from '../../format/rows/decoder.ts';
import type { StreamedRows } from '../../format/rows/stream-rows.ts';
import { positionAfter, type RecordBlock } from '../../format/records/record-blocks.ts';
import { piecesOf } from '../../format/records/record-slice.ts';
import { addCounts, noCounts } from '../../core/counts.ts';
import type { BlockSource } from './block-source.ts';
import type { FileReader } from './file-reader.ts';
import type { LoadListener } from './loader.ts';

export interface ChunkLoad {
  readonly client: Client;
  readonly lease: Lease;
  readonly file: SourceFile;
  readonly reader: FileReader;
  readonly source: BlockSource;
  readonly rejectsMax: number;
  readonly listener: Pick<LoadListener, 'decoded'>;
  readonly breakOff: AbortSignal;
}

export interface Chunk {
  readonly start: Position;
  end: Position;
  /** True if the file's end was found after this chunk. */
  isLast: boolean;
  counts: Counts;
  readonly rejects: Reject[];
  readonly times: Times;
}

export const emptyChunk = (start: Position): Chunk => ({
  start,
  end: start,
  isLast: false,
  counts: noCounts,
  rejects: [],
  times: { read: 0, decode: 0, copy: 0, ledger: 0 },
});

/**
 * Yields blocks of about `chunkBytes` together, fewer if many records are rejected. No block has
 * more records than a chunk may have rejects: this bounds the decoded size of a block.
 */
export async function* chunkBlocks(load: ChunkLoad, chunk: Chunk): AsyncGenerator<RecordBlock, void> {
  const { rejectsMax, source, breakOff } = load;
  const { chunkBytes } = source;
  for await (const whole of source.from(chunk.start))
    for (const block of piecesOf(whole, rejectsPerChunkMax, chunkBytes)) {
      breakOff.throwIfAborted();
      yield block;
      // The chunk ends if another block like this would take it further away from `chunkBytes`.
      if (positionAfter(block).byte - chunk.start.byte + block.fileBytes / 2 >= chunkBytes) return;
      if (chunk.rejects.length >= rejectsMax) return;
    }
  chunk.isLast = source.isOpenEnded;
}

export interface Rows extends DecodedBlock {
  readonly block: RecordBlock;
  readonly end: Position;
}

/** Decodes a block, or only its beginning if the chunk has no room for all of its rejects. */
export const decodeRows = ({ reader, rejectsMax }: ChunkLoad, block: RecordBlock, chunk: Chunk): Rows => {
  const rows = decodeUpTo(reader.decode, block, rejectsMax - chunk.rejects.length);
  return { ...rows, end: positionAfter(rows.block) };
};

/** Yields the rows of a chunk: in one pass over its bytes, or block by block. */
export async function* chunkRows(load: ChunkLoad, chunk: Chunk): AsyncGenerator<StreamedRows, void> {
  const { reader, source, rejectsMax, breakOff } = load;
  if (reader.stream === undefined || source.reads === undefined) {
    let began = performance.now();
    for await (const block of chunkBlocks(load, chunk)) {
      const readMs = performance.now() - began;
      yield { ...decodeRows(load, block, chunk), readMs };
      began = performance.now();
    }
    return;
  }
  const last = { bytes: source.chunkBytes, rejects: rejectsMax };
  for await (const rows of reader.stream(source.reads(chunk.start), chunk.start, last)) {
    breakOff.throwIfAborted();
    yield rows;
  }
}

export const addRows = (
  { listener }: ChunkLoad,
  { end, counts, rejects }: Pick<Rows, 'end' | 'counts' | 'rejects'>,
  chunk: Chunk,
): void => {
  // The difference also counts blank lines before the block, which belong to no block.
  listener.decoded(end.byte - chunk.end.byte, counts);
  chunk.end = end;
  chunk.counts = addCounts(chunk.counts, counts);
  for (const reject of rejects) chunk.rejects.push(reject);
};
