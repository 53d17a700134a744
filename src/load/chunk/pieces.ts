// Cuts a stream into pieces: blocks of whole records in memory that all threads share.

import { placeAlike } from '../../core/shared-copy.ts';
import { longLineBlock, positionAfter, type RecordBlock } from '../../format/records/record-blocks.ts';
import { sliceBlock } from '../../format/records/record-slice.ts';
import type { RecordSpans } from '../../format/records/splitter.ts';
import type { Position } from '../../core/model.ts';

/** Position lists, which are in shared memory, so that they are not copied between threads. */
type Places = Pick<RecordSpans, 'starts' | 'ends' | 'lines'>;

interface PieceBlock extends Omit<RecordBlock, 'bytes' | 'spans'> {
  readonly spans: Omit<RecordSpans, keyof Places>;
  readonly offset: number;
  readonly length: number;
  readonly places: number;
  readonly records: number;
}

export interface Piece {
  readonly start: Position;
  /** null: the file ends with this piece. */
  readonly byteEnd: number | null;
  readonly memory: SharedArrayBuffer;
  readonly blocks: readonly PieceBlock[];
}

const placeBytes = Int32Array.BYTES_PER_ELEMENT;

const placesIn = (memory: SharedArrayBuffer, at: number, records: number): Places => {
  const list = (number: number): Int32Array =>
    new Int32Array(memory, at + number * placeBytes * records, records);
  return { starts: list(0), ends: list(1), lines: list(2) };
};

export const blocksOfPiece = ({ memory, blocks }: Piece): readonly RecordBlock[] =>
  blocks.map(({ offset, length, places, records, spans, ...block }) => ({
    ...block,
    bytes: Buffer.from(memory, offset, length),
    spans: { ...spans, ...placesIn(memory, places, records) },
  }));

interface PiecedRange {
  readonly blocks: AsyncIterable<RecordBlock>;
  readonly start: Position;
  readonly byteEnd: number | null;
  /** The last record of a piece begins within this many bytes. */
  readonly pieceBytes: number;
}

/** Bounds the lists of positions: twelve bytes for each record, however short it is. */
const recordsPerPieceMax = 500_000;

interface Filling {
  readonly start: Position;
  memory: SharedArrayBuffer;
  bytes: number;
  records: number;
  readonly blocks: PieceBlock[];
}

const growth = 1 / 16;

const append = (
  piece: Filling,
  { bytes, spans: { starts, ends, lines, ...spans }, ...block }: RecordBlock,
): void => {
  const [offset, records] = [placeAlike(bytes, piece.bytes), starts.length];
  const places = Math.ceil((offset + bytes.length) / placeBytes) * placeBytes;
  const needed = places + 3 * placeBytes * records;
  if (needed > piece.memory.byteLength) {
    const larger = new SharedArrayBuffer(Math.ceil(needed * (1 + growth)));
    new Uint8Array(larger).set(new Uint8Array(piece.memory, 0, piece.bytes));
    piece.memory = larger;
  }
  new Uint8Array(piece.memory).set(bytes, offset);
  const lists = placesIn(piece.memory, places, records);
  lists.starts.set(starts);
  lists.ends.set(ends);
  lists.lines.set(lines);
  piece.blocks.push({ ...block, spans, offset, length: bytes.length, places, records });
  piece.bytes = needed;
  piece.records += records;
};

/** Counts bytes without a record, such as blank lines, but does not keep them. */
const addOthers = (
  piece: Filling,
  fileBytes: number,
  newlines: number,
  newline: number,
  at: Position,
): void => {
  const last = piece.blocks.at(-1);
  const before = last?.records === 0 ? piece.blocks.pop() : undefined;
  const others = {
    head: undefined,
    fileBytes: fileBytes + (before?.fileBytes ?? 0),
    newlines: newlines + (before?.spans.newlines ?? 0),
  };
  if (others.fileBytes > 0) append(piece, longLineBlock(others, newline, before?.position ?? at));
};

/** Adds records [from, to) of a block. If `to` is 0, counts the bytes before the first record. */
const add = (piece: Filling, block: RecordBlock, from: number, to: number): void => {
  const { starts, lines, newlines, newline } = block.spans;
  if (starts.length === 0) addOthers(piece, block.fileBytes, newlines, newline, block.position);
  else if (to === 0) addOthers(piece, starts[0]!, lines[0]!, newline, block.position);
  else append(piece, to - from === starts.length ? block : sliceBlock(block, from, to));
};

/** Returns the index of the record that begins the next piece, or the number of records. */
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
 * Cuts a stream. A piece ends before the first record that begins `pieceBytes` or more after the
 * piece's start, or that would be one record too many. A job that is delivered twice has the same
 * pieces, so the ledger recognizes them. Proved by test/unit/load/chunk/pieces.test.ts, "and are
 * the same however its bytes arrive".
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
