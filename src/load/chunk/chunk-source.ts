// One chunk of a file as a stream of decoded blocks, with a tally of its records' outcomes.

import type { Client } from '../../db/client.ts';
import { rejectsPerChunkMax } from '../../core/limits.ts';
import type { Counts, Lease, Position, Reject, SourceFile } from '../../core/model.ts';
import type { Times } from '../../core/profile.ts';
import type { DecodedBlock, Decoder } from '../../format/rows/decoder.ts';
import { positionAfter, type RecordBlock } from '../../format/split/record-blocks.ts';
import { piecesOf, sliceBlock } from '../../format/split/record-slice.ts';
import { addCounts, noCounts } from '../../core/counts.ts';
import type { SegmentBlocks } from './segment-blocks.ts';
import type { ServedReader, SuspectReader } from './served-texts.ts';
import type { Landing } from './table-load.ts';

/** One file on its way into staging, over one connection. */
export interface FileLoad {
  readonly client: Client;
  readonly file: SourceFile;
  /** Of the segment. */
  readonly blocks: SegmentBlocks;
  readonly landing: Landing;
  readonly decode: Decoder;
  readonly servedTexts: ServedReader;
  readonly suspects: SuspectReader;
  readonly lease: Lease;
  /** Rejects that a chunk ends with, from 1 to `rejectsPerChunkMax`. */
  readonly rejectsMax: number;
  /** Aborts the chunk: the segment was left, or the run aborted. */
  readonly breakOff: AbortSignal;
  /** Called with bytes and counts as they are decoded; with the negative when a chunk is rolled back. */
  readonly onDecoded: (bytes: number, counts: Counts) => void;
}

/** Collects the outcomes of a chunk's records while its bytes flow. */
export interface ChunkTally {
  end: Position;
  /** The end of the file was seen after it; false where that was known before. */
  isLast: boolean;
  counts: Counts;
  rejects: Reject[];
  readonly times: Times;
}

/** A tally before the first block. */
export const emptyTally = (from: Position): ChunkTally => ({
  end: from,
  isLast: false,
  counts: noCounts,
  rejects: [],
  times: { read: 0, decode: 0, copy: 0, ledger: 0 },
});

/**
 * Blocks of the chunk that begins at `from`: whole records, about `chunkBytes` of them, fewer when many are rejected. None has
 * more records than a chunk may have rejects: the decoded size of a block is bounded, however short the records are.
 */
export async function* chunkBlocks(
  load: FileLoad,
  from: Position,
  tally: ChunkTally,
): AsyncGenerator<RecordBlock, void> {
  const { rejectsMax, blocks } = load;
  const { chunkBytes } = blocks;
  for await (const whole of blocks.from(from))
    for (const block of piecesOf(whole, rejectsPerChunkMax, chunkBytes)) {
      load.breakOff.throwIfAborted();
      yield block;
      // A chunk is about `chunkBytes`: it ends where the next block would take it further away from that.
      if (positionAfter(block).byte - from.byte + block.fileBytes / 2 >= chunkBytes) return;
      if (tally.rejects.length >= rejectsMax) return;
    }
  tally.isLast = blocks.isOpenEnded;
}

/** A block, or the part that a chunk takes of it, with its records' outcomes. */
export interface TakenBlock {
  readonly block: RecordBlock;
  readonly decoded: DecodedBlock;
}

/**
 * Decodes a block; if the chunk may not have all of its rejects, only up to the last one that it may have. A chunk that is full
 * must not be asked (test/integration/reject-bounds.test.ts, "keeps no more than each worker may").
 */
export const takeBlock = (load: FileLoad, block: RecordBlock, tally: ChunkTally): TakenBlock => {
  const decoded = load.decode(block);
  const room = load.rejectsMax - tally.rejects.length;
  if (decoded.rejects.length <= room) return { block, decoded };
  const last = decoded.rejects[room - 1]!.position.record;
  const part = sliceBlock(block, 0, last + 1 - block.position.record);
  return { block: part, decoded: load.decode(part) };
};

/** Adds the outcomes of a block's records to the tally. */
export const addToTally = (
  load: FileLoad,
  block: RecordBlock,
  { counts, rejects }: Omit<DecodedBlock, 'copyBytes'>,
  tally: ChunkTally,
): void => {
  const end = positionAfter(block);
  // Blank lines before a block's first record may be in no block when it is a piece of another one.
  load.onDecoded(end.byte - tally.end.byte, counts);
  tally.end = end;
  tally.counts = addCounts(tally.counts, counts);
  for (const reject of rejects) tally.rejects.push(reject);
};
