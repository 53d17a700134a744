// Reads blocks of one segment. A chunk's blocks can be read again until the next chunk begins.

import { positionAfter, recordBlocks, type RecordBlock } from '../../format/records/record-blocks.ts';
import { sliceBlock } from '../../format/records/record-slice.ts';
import type { Splitter } from '../../format/records/splitter.ts';
import { readBytes, streamChunkBytesMax } from '../../core/limits.ts';
import type { Position, SourceFile } from '../../core/model.ts';
import type { Access } from '../../input/sources/contract.ts';
import { isSeekable, openInput, type Meter } from '../../input/input.ts';
import type { FileSegment } from './loader.ts';
import { blocksOfPiece, type Piece } from './pieces.ts';

/** Smallest read, in bytes. A record that spans many reads is copied once for each read. */
const readBytesMin = 64 * 1024;

export interface BlockSource {
  readonly from: (position: Position) => AsyncIterable<RecordBlock>;
  /** The bytes from a position on. Undefined: only blocks can be read. */
  readonly reads?: (position: Position) => AsyncIterable<Buffer>;
  readonly chunkBytes: number;
  /** True if the segment ends with the file, and the file's end is unknown. */
  readonly isOpenEnded: boolean;
  readonly expectedEnd: () => number | undefined;
  readonly close: () => Promise<void>;
}

interface Reading extends FileSegment {
  /** `access.signal` ends the reading of a stream, even before the segment's first block. */
  readonly access: Access;
  readonly splitter: Splitter;
  readonly chunkBytes: number;
  readonly streamChunkBytes?: number;
}

const readAgain = ({ file, access, byteEnd, splitter, chunkBytes }: Reading): BlockSource => {
  const blockBytes = Math.max(readBytesMin, Math.min(readBytes, chunkBytes));
  const reads = (position: Position): AsyncIterable<Buffer> =>
    openInput(file, access, position.byte, byteEnd ?? undefined, { blockBytes });
  return {
    from: (position) => recordBlocks(reads(position), position, splitter),
    reads,
    chunkBytes,
    isOpenEnded: false,
    expectedEnd: () => undefined,
    close: () => Promise.resolve(),
  };
};

const partAfter = (block: RecordBlock, { byte, record }: Position): RecordBlock | undefined => {
  if (block.position.byte >= byte) return block;
  const records = block.spans.starts.length;
  const first = record - block.position.record;
  return positionAfter(block).byte <= byte || first >= records
    ? undefined
    : sliceBlock(block, first, records);
};

/** Reads a piece as one chunk, or as several chunks if rejects make a chunk end early. */
const readPiece = (piece: Piece): BlockSource => {
  const blocks = blocksOfPiece(piece);
  async function* from(position: Position): AsyncGenerator<RecordBlock, void> {
    for (const block of blocks) {
      const part = partAfter(block, position);
      if (part !== undefined) yield part;
    }
  }
  return {
    from,
    chunkBytes: Infinity,
    isOpenEnded: piece.byteEnd === null,
    expectedEnd: () => undefined,
    close: () => Promise.resolve(),
  };
};

export const expectedEnd = ({ bytes }: SourceFile, { stored, decoded }: Meter): number | undefined =>
  bytes > 0 && stored > 0 ? Math.round((bytes * decoded) / stored) : undefined;

interface KeptBlock {
  readonly block: RecordBlock;
  readonly memory: Buffer;
}

/** Memory is allocated in multiples of this size, so that it usually fits the next block, too. */
const keptStepBytes = 256 * 1024;

/** Keeps the memory of earlier blocks for later blocks: allocating costs more than copying. */
const createBlockMemory = () => {
  const free: Buffer[] = [];
  const take = (bytes: number): Buffer => {
    const fitting = free.findIndex(({ length }) => length >= bytes);
    if (fitting !== -1) return free.splice(fitting, 1)[0]!;
    free.pop();
    return Buffer.allocUnsafeSlow(Math.ceil(bytes / keptStepBytes) * keptStepBytes);
  };
  return {
    keep: (block: RecordBlock): KeptBlock => {
      const memory =
        block.bytes.length < keptStepBytes
          ? Buffer.allocUnsafe(block.bytes.length)
          : take(block.bytes.length);
      block.bytes.copy(memory);
      return { block: { ...block, bytes: memory.subarray(0, block.bytes.length) }, memory };
    },
    give: (memory: Buffer): void => {
      if (memory.length >= keptStepBytes) free.push(memory);
    },
  };
};

const readOnce = (stream: Reading): BlockSource => {
  const { file, access, start, byteEnd, splitter, streamChunkBytes = streamChunkBytesMax } = stream;
  const meter: Meter = { stored: 0, decoded: 0 };
  const blocks = recordBlocks(
    openInput(file, access, start.byte, byteEnd ?? undefined, { meter }),
    start,
    splitter,
  );
  const isOpenEnded = byteEnd === null;
  const memory = createBlockMemory();
  let kept: readonly KeptBlock[] = [];
  async function* from(position: Position): AsyncGenerator<RecordBlock, void> {
    kept = kept.flatMap((each) => {
      const block = partAfter(each.block, position);
      if (block === undefined) memory.give(each.memory);
      return block === undefined ? [] : [{ ...each, block }];
    });
    for (let place = 0; ; place += 1) {
      while (place >= kept.length) {
        const next = await blocks.next();
        if (next.done === true) return;
        const part = partAfter(next.value, position);
        if (part !== undefined) kept = [...kept, memory.keep(part)];
      }
      yield kept[place]!.block;
    }
  }
  return {
    from,
    chunkBytes: Math.min(stream.chunkBytes, streamChunkBytes),
    isOpenEnded,
    expectedEnd: () => (isOpenEnded ? expectedEnd(file, meter) : undefined),
    close: async () => void (await blocks.return()),
  };
};

export const openSegment = (segment: Reading): BlockSource => {
  if (segment.piece !== undefined) return readPiece(segment.piece);
  return isSeekable(segment.file) ? readAgain(segment) : readOnce(segment);
};
