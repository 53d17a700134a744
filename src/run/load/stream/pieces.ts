// Cuts a stream into pieces of whole records, each in memory that every thread sees: a piece is a chunk.

import type { LongLine, RecordBlock } from '../../../format/split/record-blocks.ts';
import { positionAfter } from '../../../format/split/record-blocks.ts';
import { countLines } from '../../../format/split/grammar.ts';
import { recordBytesMax } from '../../../limits.ts';
import type { Position } from '../../../model.ts';

export interface Piece {
  readonly start: Position;
  /** null: the file ends with it. */
  readonly byteEnd: number | null;
  /** Its first `bytes` bytes are those of the piece. */
  readonly memory: SharedArrayBuffer;
  readonly bytes: number;
  /** What follows them, without its bytes: a record that is too long, or blank lines and comments that are as long. */
  readonly rest: LongLine | undefined;
}

/** A range of a stream, and the blocks of its records. */
export interface PiecedRange {
  readonly blocks: AsyncIterable<RecordBlock>;
  readonly start: Position;
  readonly byteEnd: number | null;
  /** A piece has no more, unless its first record has. */
  readonly pieceBytes: number;
}

/** A piece that is being filled. */
interface Filling {
  readonly start: Position;
  memory: SharedArrayBuffer;
  bytes: number;
  rest: LongLine | undefined;
  /** Where its last record ends; its start when it has none. */
  recordEnd: number;
  /** Its record is too long. */
  isTooLong: boolean;
}

/** Appends bytes; memory that is too small for a record is replaced. */
const append = (piece: Filling, bytes: Buffer): void => {
  const needed = piece.bytes + bytes.length;
  if (needed > piece.memory.byteLength) {
    const larger = new SharedArrayBuffer(Math.max(needed, 2 * piece.memory.byteLength));
    new Uint8Array(larger).set(new Uint8Array(piece.memory, 0, piece.bytes));
    piece.memory = larger;
  }
  new Uint8Array(piece.memory).set(bytes, piece.bytes);
  piece.bytes = needed;
};

/** Whether only the head of a line is in the block. */
const isHeadOnly = ({ bytes, fileBytes }: RecordBlock): boolean => bytes.length < fileBytes;

/** Adds what the block has from `from` to `to`. After more than `recordBytesMax` bytes without a record, they are only counted. */
const add = (piece: Filling, block: RecordBlock, from: number, to: number): void => {
  const { bytes, spans, position, fileBytes } = block;
  if (isHeadOnly(block)) {
    const head = spans.starts.length === 0 ? piece.rest?.head : Buffer.from(bytes);
    const { fileBytes: before, newlines } = piece.rest ?? { fileBytes: 0, newlines: 0 };
    piece.rest = { head, fileBytes: before + fileBytes, newlines: newlines + spans.newlines };
    return;
  }
  const hasRecord = piece.recordEnd > position.byte + from;
  const isRun = !hasRecord && position.byte + to - piece.recordEnd > recordBytesMax;
  if (piece.rest === undefined && !isRun) append(piece, bytes.subarray(from, to));
  else {
    piece.rest ??= { head: undefined, fileBytes: 0, newlines: 0 };
    piece.rest.fileBytes += to - from;
    piece.rest.newlines += countLines(bytes, from, to, spans.newline);
  }
};

/**
 * Yields the pieces of a range, in memory that `take` gives. A piece ends before the record that would make it longer than
 * `pieceBytes`; a record that is too long has one for itself; and one ends after more than `recordBytesMax` bytes without a record.
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
    rest: undefined,
    recordEnd: at.byte,
    isTooLong: false,
  });
  const close = ({ start: from, memory, bytes, rest }: Filling, end: number | null): Piece => ({
    start: from,
    byteEnd: end,
    memory,
    bytes,
    rest,
  });
  let piece = await open(start);
  let end = start;
  for await (const block of blocks) {
    const { spans, position, fileBytes } = block;
    let from = 0;
    for (let index = 0; index < spans.starts.length; index += 1) {
      const [first, last] = [spans.starts[index]!, isHeadOnly(block) ? fileBytes : spans.ends[index]!];
      const byte = position.byte + first;
      const isTooLong = last - first > recordBytesMax;
      const isFull = position.byte + last - piece.start.byte > pieceBytes;
      const isFar = byte - piece.recordEnd > recordBytesMax;
      if (byte > piece.start.byte && (isFull || isTooLong || piece.isTooLong || isFar)) {
        if (first > from) add(piece, block, from, first);
        yield close(piece, byte);
        piece = await open({
          byte,
          line: position.line + spans.lines[index]!,
          record: position.record + index,
        });
        from = first;
      }
      piece.recordEnd = position.byte + last;
      piece.isTooLong = isTooLong;
    }
    add(piece, block, from, block.bytes.length);
    end = positionAfter(block);
  }
  if (byteEnd === null || end.byte === byteEnd) yield close(piece, byteEnd);
  return end;
}
