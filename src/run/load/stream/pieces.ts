// Cuts a stream into pieces: blocks of whole records, with their bytes in memory that every thread sees. A piece is a chunk.

import { longLineBlock, positionAfter, type RecordBlock } from '../../../format/split/record-blocks.ts';
import { sliceBlock } from '../../../format/split/record-slice.ts';
import type { Position } from '../../../model.ts';

/** A block whose bytes are a part of a piece's memory. */
interface PieceBlock extends Omit<RecordBlock, 'bytes'> {
  readonly offset: number;
  readonly length: number;
}

export interface Piece {
  readonly start: Position;
  /** null: the file ends with it. */
  readonly byteEnd: number | null;
  readonly memory: SharedArrayBuffer;
  readonly blocks: readonly PieceBlock[];
}

/** The blocks of a piece, as a loader needs them. */
export const blocksOfPiece = ({ memory, blocks }: Piece): readonly RecordBlock[] =>
  blocks.map(({ offset, length, ...block }) => ({ ...block, bytes: Buffer.from(memory, offset, length) }));

/** A range of a stream, and the blocks of its records. */
export interface PiecedRange {
  readonly blocks: AsyncIterable<RecordBlock>;
  readonly start: Position;
  readonly byteEnd: number | null;
  /** The last record of a piece begins before this many bytes of it. */
  readonly pieceBytes: number;
}

/** Where each record is takes twelve bytes, and a record may be shorter than that. */
const recordsPerPieceMax = 500_000;

/** A piece that is being filled. */
interface Filling {
  readonly start: Position;
  memory: SharedArrayBuffer;
  /** Of the memory, that are used. */
  bytes: number;
  records: number;
  readonly blocks: PieceBlock[];
}

/** Room for the end of a record that is longer than what is left. */
const growBytes = 64 * 1024;

/** Appends a block; memory that is too small is replaced. */
const append = (piece: Filling, { bytes, ...block }: RecordBlock): void => {
  const needed = piece.bytes + bytes.length;
  if (needed > piece.memory.byteLength) {
    const larger = new SharedArrayBuffer(needed + growBytes);
    new Uint8Array(larger).set(new Uint8Array(piece.memory, 0, piece.bytes));
    piece.memory = larger;
  }
  new Uint8Array(piece.memory).set(bytes, piece.bytes);
  piece.blocks.push({ ...block, offset: piece.bytes, length: bytes.length });
  piece.bytes = needed;
  piece.records += block.spans.starts.length;
};

/** Adds bytes without a record, such as blank lines: they are counted and not kept, together with those before them. */
const addOthers = (
  piece: Filling,
  fileBytes: number,
  newlines: number,
  newline: number,
  at: Position,
): void => {
  const last = piece.blocks.at(-1);
  const before = last?.spans.starts.length === 0 ? piece.blocks.pop() : undefined;
  const others = {
    head: undefined,
    fileBytes: fileBytes + (before?.fileBytes ?? 0),
    newlines: newlines + (before?.spans.newlines ?? 0),
  };
  if (others.fileBytes > 0) append(piece, longLineBlock(others, newline, before?.position ?? at));
};

/** Adds the records [from, to) of a block; bytes before its first record are in no block, unless they are all there is. */
const add = (piece: Filling, block: RecordBlock, from: number, to: number): void => {
  const { starts, lines, newlines, newline } = block.spans;
  if (starts.length === 0) addOthers(piece, block.fileBytes, newlines, newline, block.position);
  else if (to === 0) addOthers(piece, starts[0]!, lines[0]!, newline, block.position);
  else append(piece, to - from === starts.length ? block : sliceBlock(block, from, to));
};

/** The first record of a block from `from` on that belongs to the next piece; the number of its records when none does. */
const nextPieceAt = (
  piece: Filling,
  { spans, position }: RecordBlock,
  from: number,
  pieceBytes: number,
): number => {
  const { starts } = spans;
  const byte = piece.start.byte + pieceBytes - position.byte;
  let [low, high] = [from, Math.min(starts.length, from + recordsPerPieceMax - piece.records)];
  if (high > low && starts[high - 1]! < byte) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! < byte) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * Yields the pieces of a range, in memory that `take` gives. A piece ends before the first record that begins `pieceBytes` after
 * it, or is too many.
 *
 * Where a piece ends depends on the content of the stream and on where the range begins, never on how the bytes arrive: pieces
 * of a job that is delivered twice are the same, and the ledger knows them by their start
 * (test/unit/run/load/stream/pieces.test.ts, "and are the same however its bytes arrive").
 */
export async function* streamPieces(
  { blocks, start, byteEnd, pieceBytes }: PiecedRange,
  take: () => Promise<SharedArrayBuffer>,
): AsyncGenerator<Piece, Position> {
  const open = async (at: Position): Promise<Filling> => ({
    start: at,
    memory: await take(),
    bytes: 0,
    records: 0,
    blocks: [],
  });
  const close = ({ start: from, memory, blocks: own }: Filling, end: number | null): Piece => ({
    start: from,
    byteEnd: end,
    memory,
    blocks: own,
  });
  let piece = await open(start);
  let end = start;
  for await (const block of blocks) {
    const { spans, position } = block;
    const records = spans.starts.length;
    for (let from = 0, to = 0; from < records || records === 0; from = to) {
      to = nextPieceAt(piece, block, from, pieceBytes);
      add(piece, block, from, to);
      if (to === records) break;
      const byte = position.byte + spans.starts[to]!;
      yield close(piece, byte);
      piece = await open({ byte, line: position.line + spans.lines[to]!, record: position.record + to });
    }
    end = positionAfter(block);
  }
  if (byteEnd === null || end.byte === byteEnd) yield close(piece, byteEnd);
  return end;
}
