// Turns a stream of bytes into blocks of whole records with their positions. Memory: one read and one record.

import type { Position } from '../model.ts';
import { recordBytesMax, rejectRawBytesMax } from '../limits.ts';
import { lineEnd, type RecordSpans, type Splitter } from './splitter.ts';

/** Whole records, and where they stand. Blocks follow each other without a gap. */
export interface RecordBlock {
  /** Offsets in `spans` count from the first byte. */
  readonly bytes: Buffer;
  readonly spans: RecordSpans;
  /** Of the block's first byte; `record` is the number of its first record. */
  readonly position: Position;
  /** Length in the file: `bytes` may hold less of a record that is too long. */
  readonly fileBytes: number;
}

/** Position of the first byte after a block. */
export const positionAfter = ({ position, spans, fileBytes }: RecordBlock): Position => ({
  byte: position.byte + fileBytes,
  line: position.line + spans.newlines,
  record: position.record + spans.starts.length,
});

const LF = 10;
const CR = 13;

const blockOf = (bytes: Buffer, spans: RecordSpans, position: Position): RecordBlock => ({
  bytes: bytes.subarray(0, spans.consumed),
  spans,
  position,
  fileBytes: spans.consumed,
});

/** A line that is longer than `recordBytesMax`, while its end is looked for. */
interface LongLine {
  /** What a reject shows of it, and a byte more, so that it is seen to be cut. */
  readonly head: Buffer;
  readonly fileBytes: number;
}

/** The line as a block of one fault. It is one block, so that no chunk ends within a line. */
const longLineBlock = ({ head, fileBytes }: LongLine, newlines: number, position: Position): RecordBlock => ({
  bytes: head,
  spans: {
    starts: Int32Array.of(0),
    ends: Int32Array.of(head.length),
    lines: Int32Array.of(0),
    faults: new Map([[0, 'record_too_long' as const]]),
    consumed: fileBytes,
    newlines,
    plain: false,
  },
  position,
  fileBytes,
});

/** Bytes of a piece without a newline that are surely within the line: a carriage return at its end may be a newline's. */
const withinLine = (piece: Buffer): number => (piece.at(-1) === CR ? piece.length - 1 : piece.length);

const nothing: Buffer = Buffer.alloc(0);

/**
 * The bytes of `rest` and the first line of `read`, when they are whole records together. They nearly always are, and
 * then the read itself need not be copied to follow the rest.
 */
const splitJoint = (
  rest: Buffer,
  read: Buffer,
  split: Splitter,
): { readonly bytes: Buffer; readonly spans: RecordSpans } | undefined => {
  const lineEnds = read.indexOf(LF);
  if (rest.length === 0 || lineEnds === -1) return undefined;
  const bytes = Buffer.concat([rest, read.subarray(0, lineEnds + 1)]);
  const spans = split(bytes, false);
  return spans.consumed === bytes.length ? { bytes, spans } : undefined;
};

/**
 * Yields blocks of whole records from bytes that begin at a record at `start`.
 *
 * A line longer than `recordBytesMax` becomes one fault; reading goes on after its newline
 * (test/unit/format/record-blocks.test.ts, "a line over the bound costs one record").
 */
export async function* recordBlocks(
  reads: AsyncIterable<Buffer>,
  start: Position,
  split: Splitter,
): AsyncGenerator<RecordBlock, void> {
  let rest = nothing;
  let position = start;
  let longLine: LongLine | undefined;
  for await (let read of reads) {
    const joint = longLine === undefined ? splitJoint(rest, read, split) : undefined;
    if (joint !== undefined) {
      const block = blockOf(joint.bytes, joint.spans, position);
      position = positionAfter(block);
      read = read.subarray(joint.bytes.length - rest.length);
      rest = nothing;
      yield block;
    }
    let bytes = rest.length === 0 ? read : Buffer.concat([rest, read]);
    if (longLine !== undefined) {
      const end = lineEnd(bytes, 0, false);
      const taken = end?.next ?? withinLine(bytes);
      longLine = { head: longLine.head, fileBytes: longLine.fileBytes + taken };
      bytes = rest = bytes.subarray(taken);
      if (end === undefined) continue;
      const block = longLineBlock(longLine, 1, position);
      longLine = undefined;
      position = positionAfter(block);
      yield block;
    }
    const spans = split(bytes, false);
    rest = bytes.subarray(spans.consumed);
    if (spans.consumed > 0) {
      const block = blockOf(bytes, spans, position);
      position = positionAfter(block);
      yield block;
    } else if (bytes.length > recordBytesMax + 1) {
      const fileBytes = withinLine(bytes);
      longLine = { head: Buffer.from(bytes.subarray(0, rejectRawBytesMax + 1)), fileBytes };
      rest = bytes.subarray(fileBytes);
    }
  }
  if (longLine !== undefined) {
    // What is left is at most the carriage return that ends the line.
    const fileBytes = longLine.fileBytes + rest.length;
    yield longLineBlock({ ...longLine, fileBytes }, rest.length, position);
  } else if (rest.length > 0) yield blockOf(rest, split(rest, true), position);
}
