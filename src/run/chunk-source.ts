// One chunk of a file as a stream of decoded blocks, with a tally of what became of its records.

import type { Client } from '../db/client.ts';
import { readBytes, rejectsPerChunkMax } from '../limits.ts';
import type { Counts, LoadTimes, Position, Reject, SourceFile } from '../model.ts';
import type { Decoder } from '../format/decoder.ts';
import { positionAfter, recordBlocks, type RecordBlock } from '../format/record-blocks.ts';
import type { Splitter } from '../format/splitter.ts';
import { readRange } from '../source/read-file.ts';
import { addCounts, noCounts } from './counts.ts';
import type { CopyFrame } from './table-load.ts';

/** One file on its way into staging, over one connection. */
export interface FileLoad {
  readonly client: Client;
  readonly file: SourceFile;
  /** Where the segment ends: at a record, or at the file's end. */
  readonly byteEnd: number;
  readonly copyStatement: string;
  readonly frame: CopyFrame;
  readonly decode: Decoder;
  readonly split: Splitter;
  readonly epoch: string;
  readonly generation: number;
  readonly chunkBytes: number;
  readonly signal: AbortSignal;
  /** Told of bytes and counts as they are decoded; told the negative when a chunk is rolled back. */
  readonly onDecoded: (bytes: number, counts: Counts) => void;
}

/** Collects what becomes of the records of a chunk while its bytes flow. */
export interface ChunkTally {
  end: Position;
  counts: Counts;
  rejects: Reject[];
  readonly times: Times;
}

/** LoadTimes in the making. */
export type Times = { -readonly [Key in keyof LoadTimes]: number };

/** A tally before the first block. */
export const emptyTally = (from: Position): ChunkTally => ({
  end: from,
  counts: noCounts,
  rejects: [],
  times: { read: 0, decode: 0, copy: 0, ledger: 0 },
});

/** Blocks of the chunk that begins at `from`: whole records, about `chunkBytes` of them, fewer when many are rejected. */
export async function* chunkBlocks(
  load: FileLoad,
  from: Position,
  tally: ChunkTally,
): AsyncGenerator<RecordBlock, void> {
  const { file, byteEnd, chunkBytes, split } = load;
  const reads = readRange(file, from.byte, byteEnd, Math.min(readBytes, chunkBytes));
  for await (const block of recordBlocks(reads, from, split)) {
    load.signal.throwIfAborted();
    yield block;
    // A chunk is about `chunkBytes`: it ends where the next block would lead further away from that.
    if (positionAfter(block).byte - from.byte + block.fileBytes / 2 >= chunkBytes) return;
    if (tally.rejects.length >= rejectsPerChunkMax) return;
  }
}

/** Decodes a block and adds it to the tally. */
export const decodeBlock = (load: FileLoad, block: RecordBlock, tally: ChunkTally): Buffer => {
  const { copyBytes, counts, rejects } = load.decode(block);
  tally.end = positionAfter(block);
  tally.counts = addCounts(tally.counts, counts);
  for (const reject of rejects) tally.rejects.push(reject);
  load.onDecoded(block.fileBytes, counts);
  return copyBytes;
};
