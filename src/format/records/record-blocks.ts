// Turns a stream of bytes into blocks of whole records. Memory: one read and one record.

import { CR, LF } from '../../core/characters.ts';
import type { Position } from '../../core/model.ts';
import { recordBytesMax, rejectRawBytesMax } from '../../core/limits.ts';
import { countLines } from './grammar.ts';
import type { RecordSpans, Splitter } from './splitter.ts';

/** A block of whole records. Each block begins where the previous block ends. */
export interface RecordBlock {
  readonly bytes: Buffer;
  readonly spans: RecordSpans;
  readonly position: Position;
  /** Length in the file. `bytes` is shorter if a record is too long. */
  readonly fileBytes: number;
}

export const positionAfter = ({ position, spans, fileBytes }: RecordBlock): Position => ({
  byte: position.byte + fileBytes,
  line: position.line + spans.newlines,
  record: position.record + spans.starts.length,
});

const nothing: Buffer = Buffer.alloc(0);

const blockOf = (bytes: Buffer, spans: RecordSpans, position: Position): RecordBlock => ({
  bytes: bytes.subarray(0, spans.consumed),
  spans,
  position,
  fileBytes: spans.consumed,
});

/** A comment, or a line longer than `recordBytesMax`, whose end has not been read yet. */
interface LongLine {
  readonly head: Buffer | undefined;
  fileBytes: number;
  newlines: number;
}

/** Returns one block for the whole line, so that no chunk ends inside it. */
export const longLineBlock = (
  { head, fileBytes, newlines }: LongLine,
  newline: number,
  position: Position,
): RecordBlock => {
  const records = head === undefined ? 0 : 1;
  const bytes = head ?? nothing;
  return {
    bytes,
    spans: {
      starts: new Int32Array(records),
      ends: new Int32Array(records).fill(bytes.length),
      lines: new Int32Array(records),
      faults: new Map(head === undefined ? [] : [[0, 'record_too_long' as const]]),
      consumed: fileBytes,
      newlines,
      newline,
      plain: false,
    },
    position,
    fileBytes,
  };
};

const takeInto = (line: LongLine, piece: Buffer, bytes: number, newline: number): Buffer => {
  line.fileBytes += bytes;
  line.newlines += countLines(piece, 0, bytes, newline);
  return piece.subarray(bytes);
};

/** Returns how many bytes surely belong to the line: a last CR may belong to its end. */
const withinLine = (piece: Buffer): number => (piece.at(-1) === CR ? piece.length - 1 : piece.length);

/** Splits `rest` with only the first line of `read`, which spares copying all of `read`. */
const splitJoint = (
  rest: Buffer,
  read: Buffer,
  { split }: Splitter,
): { readonly bytes: Buffer; readonly spans: RecordSpans } | undefined => {
  const lineEnds = read.indexOf(LF);
  if (rest.length === 0 || lineEnds === -1) return undefined;
  const bytes = Buffer.concat([rest, read.subarray(0, lineEnds + 1)]);
  const spans = split(bytes, false);
  return spans.consumed === bytes.length ? { bytes, spans } : undefined;
};

/**
 * Bytes of a record whose end was not found yet. The search is repeated only when the bytes have
 * doubled, because every search begins at the record's start.
 */
interface Gathered {
  rest: Buffer;
  /** Copies of reads, whose buffers are reused. The bytes in `rest` come next. */
  waiting: Buffer[];
  waitingBytes: number;
  wanted: number;
}

const gather = (gathered: Gathered, read: Buffer): Buffer | undefined => {
  const { rest, waiting } = gathered;
  const isEnough = rest.length + gathered.waitingBytes + read.length >= gathered.wanted;
  if (isEnough) {
    const all = rest.length + waiting.length === 0 ? read : Buffer.concat([...waiting, rest, read]);
    Object.assign(gathered, { rest: nothing, waiting: [], waitingBytes: 0, wanted: 0 });
    return all;
  }
  if (rest.length > 0) waiting.push(Buffer.from(rest));
  waiting.push(Buffer.from(read));
  gathered.waitingBytes += rest.length + read.length;
  gathered.rest = nothing;
  return undefined;
};

/**
 * Yields a stream's records, which begin at `start`. A record longer than `recordBytesMax` becomes
 * one reject, and reading continues after its line. Proved by
 * test/unit/format/records/record-blocks.test.ts, "a line over the bound costs one record".
 */
export async function* recordBlocks(
  reads: AsyncIterable<Buffer>,
  start: Position,
  splitter: Splitter,
): AsyncGenerator<RecordBlock, void> {
  const { split, firstLine, isComment, newline } = splitter;
  const gathered: Gathered = { rest: nothing, waiting: [], waitingBytes: 0, wanted: 0 };
  let position = start;
  let longLine: LongLine | undefined;
  for await (let read of reads) {
    const isUsual = longLine === undefined && gathered.wanted === 0;
    const joint = isUsual ? splitJoint(gathered.rest, read, splitter) : undefined;
    if (joint !== undefined) {
      const block = blockOf(joint.bytes, joint.spans, position);
      position = positionAfter(block);
      read = read.subarray(joint.bytes.length - gathered.rest.length);
      gathered.rest = nothing;
      yield block;
    }
    let bytes = gather(gathered, read);
    if (bytes === undefined) continue;
    if (longLine !== undefined) {
      const line = firstLine(bytes, false);
      bytes = gathered.rest = takeInto(longLine, bytes, line?.next ?? withinLine(bytes), newline);
      if (line === undefined) continue;
      const block = longLineBlock(longLine, newline, position);
      longLine = undefined;
      position = positionAfter(block);
      yield block;
    }
    const spans = split(bytes, false);
    gathered.rest = bytes.subarray(spans.consumed);
    if (spans.consumed > 0) {
      const block = blockOf(bytes, spans, position);
      position = positionAfter(block);
      yield block;
    } else if (bytes.length > recordBytesMax + 1) {
      const head = isComment(bytes) ? undefined : Buffer.from(bytes.subarray(0, rejectRawBytesMax + 1));
      longLine = { head, fileBytes: 0, newlines: 0 };
      gathered.rest = takeInto(longLine, bytes, withinLine(bytes), newline);
    } else gathered.wanted = Math.min(2 * bytes.length, recordBytesMax + 2);
  }
  const last = Buffer.concat([...gathered.waiting, gathered.rest]);
  if (longLine !== undefined) {
    // Only a CR can be left, the first half of the line's end.
    takeInto(longLine, last, last.length, newline);
    yield longLineBlock(longLine, newline, position);
  } else if (last.length > 0) yield blockOf(last, split(last, true), position);
}

/**
 * Yields positions at which a file may be cut, each at least `segmentBytes` after the previous
 * position. Segments give the same records and rejects as the whole file. Proved by
 * test/unit/format/records/segment-cuts.test.ts.
 */
export async function* segmentCuts(
  reads: AsyncIterable<Buffer>,
  start: Position,
  split: Splitter,
  segmentBytes: number,
): AsyncGenerator<Position, void> {
  let from = start;
  for await (const { position } of recordBlocks(reads, start, split)) {
    if (position.byte - from.byte < segmentBytes) continue;
    from = position;
    yield position;
  }
}
