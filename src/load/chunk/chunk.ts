// One chunk of a file: its blocks, and the outcomes of its records.

import type { Client } from '../../db/client.ts';
import { rejectsPerChunkMax } from '../../core/limits.ts';
import type { Counts, Lease, Position, Reject, SourceFile } from '../../core/model.ts';
import type { Times } from '../../core/profile.ts';
import type { DecodedBlock } from '../../format/rows/decoder.ts';
import { positionAfter, type RecordBlock } from '../../format/records/record-blocks.ts';
import { piecesOf, sliceBlock } from '../../format/records/record-slice.ts';
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
}

/**
 * Decodes a block, or only its beginning if the chunk has no room for all of its rejects. Proved by
 * test/integration/reject-bounds.test.ts, "keeps no more than each worker may".
 */
export const decodeRows = ({ reader, rejectsMax }: ChunkLoad, block: RecordBlock, chunk: Chunk): Rows => {
  const rows = reader.decode(block);
  const room = rejectsMax - chunk.rejects.length;
  if (rows.rejects.length <= room) return { ...rows, block };
  const last = rows.rejects[room - 1]!.position.record;
  const part = sliceBlock(block, 0, last + 1 - block.position.record);
  return { ...reader.decode(part), block: part };
};

export const addRows = (
  { listener }: ChunkLoad,
  { block, counts, rejects }: Omit<Rows, 'copyBytes'>,
  chunk: Chunk,
): void => {
  const end = positionAfter(block);
  // The difference also counts blank lines before the block, which belong to no block.
  listener.decoded(end.byte - chunk.end.byte, counts);
  chunk.end = end;
  chunk.counts = addCounts(chunk.counts, counts);
  for (const reject of rejects) chunk.rejects.push(reject);
};
