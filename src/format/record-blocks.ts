// Turns a stream of bytes into blocks of whole records with their positions. Memory: one read and one record.

import type { Position } from '../model.ts';
import { recordBytesMax, rejectRawBytesMax } from '../limits.ts';
import type { RecordSpans, Splitter } from './splitter.ts';

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

const blockOf = (bytes: Buffer, spans: RecordSpans, position: Position): RecordBlock => ({
  bytes: bytes.subarray(0, spans.consumed),
  spans,
  position,
  fileBytes: spans.consumed,
});

const noRecords = { starts: [], ends: [], lines: [], faults: new Map(), plain: false };

/** The beginning of a record that is too long, as a block of one fault. */
const tooLongBlock = (bytes: Buffer, position: Position): RecordBlock => ({
  bytes: bytes.subarray(0, rejectRawBytesMax),
  spans: {
    starts: [0],
    ends: [Math.min(bytes.length, rejectRawBytesMax)],
    lines: [0],
    faults: new Map([[0, 'record_too_long' as const]]),
    consumed: bytes.length,
    newlines: 0,
    plain: false,
  },
  position,
  fileBytes: bytes.length,
});

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
  let rest: Buffer = Buffer.alloc(0);
  let position = start;
  let isSkipping = false;
  for await (const read of reads) {
    let bytes = rest.length === 0 ? read : Buffer.concat([rest, read]);
    rest = Buffer.alloc(0);
    if (isSkipping) {
      const newline = bytes.indexOf(LF);
      isSkipping = newline === -1;
      const consumed = isSkipping ? bytes.length : newline + 1;
      const skipped = blockOf(bytes, { ...noRecords, consumed, newlines: isSkipping ? 0 : 1 }, position);
      yield skipped;
      position = positionAfter(skipped);
      bytes = bytes.subarray(consumed);
    }
    const spans = split(bytes, false);
    isSkipping ||= spans.consumed === 0 && bytes.length > recordBytesMax;
    const block = isSkipping && bytes.length > 0 ? tooLongBlock(bytes, position) : blockOf(bytes, spans, position);
    if (block.fileBytes > 0) yield block;
    position = positionAfter(block);
    rest = bytes.subarray(block.fileBytes);
  }
  if (rest.length > 0) yield blockOf(rest, split(rest, true), position);
}
