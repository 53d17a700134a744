// Turns a stream of bytes into rows for COPY, in one pass over the memory of the row routines.
//
// Reads are copied there, and the routines take regular records (assembly/rows.ts). They stop at a
// record that they are not sure of, and the record judge takes it; and at an irregular record, from
// which on the splitter and the block decoder take some bytes. Rows are sent from the same memory.
// Proved by compiled-oracle.test.ts in test/unit/format/records, which compares both ways.

import { LF } from '../../core/characters.ts';
import { addCounts, noCounts } from '../../core/counts.ts';
import type { Counts, Position, Reject } from '../../core/model.ts';
import {
  outAt,
  outEnd,
  stoppedAtEnd,
  stoppedEnough,
  stoppedFull,
  stoppedIrregular,
  textAt,
  textBytes,
} from '../assembly/memory.ts';
import * as state from '../assembly/state.ts';
import { setWord, wordAt } from '../encoder/routines.ts';
import { countLines } from '../records/grammar.ts';
import { positionAfter, recordBlocks, type RecordBlock } from '../records/record-blocks.ts';
import type { Splitter } from '../records/splitter.ts';
import type { RowBytes } from '../types/row-bytes.ts';
import { decodeUpTo, type DecodedBlock, type Decoder } from './decoder.ts';
import { filtered, rejectOf } from './record-judge.ts';
import type { RowMaker } from './row-maker.ts';
import { beginPass, newText, startRowRoutine, type RowRoutine } from './row-routine.ts';

export interface StreamedRows extends DecodedBlock {
  readonly end: Position;
  /** Time spent waiting for bytes. */
  readonly readMs: number;
}

/** Where a stream of rows ends, if its bytes do not end before. */
export interface StreamEnd {
  /** Records that begin this many bytes after the start are left. */
  readonly bytes: number;
  readonly rejects: number;
}

interface Streaming {
  readonly maker: RowMaker;
  readonly decode: Decoder;
  readonly splitter: Splitter;
  readonly routine: RowRoutine;
  readonly lastByte: number;
  /** Addresses of the bytes that are in memory and not taken. */
  from: number;
  to: number;
  position: Position;
  counts: Counts;
  rejects: Reject[];
  rejectsLeft: number;
  isDone: boolean;
  readMs: number;
}

/** Bytes that the splitter takes at an irregular record. */
const irregularBytes = 32 * 1024;

/**
 * Routines to reuse, because each has megabytes of memory. Those of a stream that was broken off are
 * not: its rows may still wait for the socket, and a memory that grows moves.
 */
const idle: RowRoutine[] = [];

const rowsOf = (streaming: Streaming, copyBytes: Buffer): StreamedRows => {
  const { counts, rejects, position, readMs } = streaming;
  Object.assign(streaming, { counts: noCounts, rejects: [], readMs: 0 });
  return { copyBytes, counts, rejects, end: position, readMs };
};

/** Returns the rows in memory. The memory is reused when the next rows are requested. */
const takeRows = (streaming: Streaming): StreamedRows => {
  const { routine } = streaming;
  const copyBytes = routine.bytes.subarray(outAt, wordAt(routine, state.out));
  setWord(routine, state.out, outAt);
  return rowsOf(streaming, copyBytes);
};

const advance = (
  streaming: Streaming,
  bytes: number,
  newlines: number,
  counts: Counts,
  rejects: readonly Reject[],
): void => {
  const { byte, line, record } = streaming.position;
  streaming.from += bytes;
  streaming.position = { byte: byte + bytes, line: line + newlines, record: record + counts.records };
  streaming.counts = addCounts(streaming.counts, counts);
  streaming.rejects.push(...rejects);
  streaming.rejectsLeft -= rejects.length;
  if (streaming.rejectsLeft <= 0 || streaming.position.byte >= streaming.lastByte) streaming.isDone = true;
};

/** Appends rows that were made elsewhere; yields what does not fit. */
function* appendRows(streaming: Streaming, rows: Buffer): Generator<StreamedRows, void> {
  const { routine } = streaming;
  if (wordAt(routine, state.out) + rows.length > outEnd) {
    yield takeRows(streaming);
    if (rows.length > outEnd - outAt) {
      yield rowsOf(streaming, rows);
      return;
    }
  }
  const out = wordAt(routine, state.out);
  routine.bytes.set(rows, out);
  setWord(routine, state.out, out + rows.length);
}

/** Returns the record of which the routines are not sure as a block. */
const unsureRecord = ({ routine, from, position }: Streaming): RecordBlock => {
  const newlineAt = wordAt(routine, state.lineEnd);
  const bytes = routine.bytes.subarray(from, newlineAt + 1);
  const end = bytes.length - (bytes.length > 1 && bytes[bytes.length - 2] === 0x0d ? 2 : 1);
  return {
    bytes,
    spans: {
      starts: Int32Array.of(0),
      ends: Int32Array.of(end),
      lines: Int32Array.of(0),
      faults: new Map(),
      consumed: bytes.length,
      newlines: countLines(bytes, 0, bytes.length, LF),
      newline: LF,
      plain: false,
    },
    position,
    fileBytes: bytes.length,
  };
};

function* judgeRecord(streaming: Streaming, row: RowBytes): Generator<StreamedRows, void> {
  const { maker, routine } = streaming;
  const block = unsureRecord(streaming);
  let [copied, rejects]: [number, Reject[]] = [0, []];
  row.at = 0;
  maker.judge(block, 0, 1, (judgement) => {
    if (judgement === filtered) return;
    if (Array.isArray(judgement)) {
      maker.putRow(judgement, row);
      copied = 1;
    } else rejects = [rejectOf(block, 0, judgement as never)];
  });
  yield* appendRows(streaming, row.bytes.subarray(0, row.at));
  const rejected = rejects.length;
  const counts = { records: 1, copied, rejected, filtered: 1 - copied - rejected };
  advance(streaming, block.fileBytes, block.spans.newlines, counts, rejects);
  routine.skipRecord();
}

function* takeBlock(streaming: Streaming, whole: RecordBlock): Generator<StreamedRows, void> {
  const { decode, rejectsLeft } = streaming;
  const { block, copyBytes, counts, rejects } = decodeUpTo(decode, whole, rejectsLeft);
  yield* appendRows(streaming, copyBytes);
  // The difference also counts blank lines and comments before a block that was cut.
  const [{ byte, line }, end] = [streaming.position, positionAfter(block)];
  advance(streaming, end.byte - byte, end.line - line, counts, rejects);
}

/** Takes the records of some bytes with the splitter. False: they do not have a whole record. */
function* takeIrregular(streaming: Streaming, end: number): Generator<StreamedRows, boolean> {
  const { splitter, routine, from, position, lastByte } = streaming;
  const few = Math.min(end, from + irregularBytes);
  const limit = Math.min(few, from + lastByte - position.byte);
  for (const to of [limit, few, end]) {
    const bytes = routine.bytes.subarray(from, to);
    const spans = splitter.split(bytes, false);
    if (spans.consumed === 0) continue;
    const { consumed } = spans;
    yield* takeBlock(streaming, { bytes: bytes.subarray(0, consumed), spans, position, fileBytes: consumed });
    return true;
  }
  return false;
}

/** Takes the records that end before `end`, which follows a line end, or some of them. */
function* takeText(streaming: Streaming, end: number, row: RowBytes): Generator<StreamedRows, void> {
  const { maker, routine, lastByte } = streaming;
  newText(routine, streaming.to);
  beginPass(routine, maker.table);
  while (streaming.from < end && !streaming.isDone) {
    const { from, position } = streaming;
    routine.bytes.writeBigInt64LE(BigInt(position.line), state.blockLine);
    const next = routine.pass(from, end, Math.min(end, from + lastByte - position.byte));
    const [records, copied, newlines, reason] = [
      wordAt(routine, state.records),
      wordAt(routine, state.copied),
      wordAt(routine, state.newlines),
      wordAt(routine, state.reason),
    ];
    const counts = { records, copied, rejected: 0, filtered: records - copied };
    advance(streaming, next - from, newlines, counts, []);
    if (reason === stoppedAtEnd || reason === stoppedEnough || streaming.isDone) continue;
    if (reason === stoppedFull && wordAt(routine, state.out) !== outAt) yield takeRows(streaming);
    else if (reason !== stoppedIrregular) yield* judgeRecord(streaming, row);
    else if (!(yield* takeIrregular(streaming, end))) return;
  }
}

/** Takes the rest as blocks: a record is too long for the memory. */
async function* takeRest(
  streaming: Streaming,
  reads: AsyncIterable<Buffer>,
): AsyncGenerator<StreamedRows, void> {
  for await (const block of recordBlocks(reads, streaming.position, streaming.splitter)) {
    yield* takeBlock(streaming, block);
    yield takeRows(streaming);
    if (streaming.isDone) return;
  }
}

async function* afterBytes(
  bytes: Buffer,
  read: Buffer,
  reads: AsyncIterator<Buffer>,
): AsyncGenerator<Buffer, void> {
  yield bytes;
  yield read;
  for (let next = await reads.next(); next.done !== true; next = await reads.next()) yield next.value;
}

/** Moves the untaken bytes to the front, and copies a read behind them. False: no room. */
const addRead = (streaming: Streaming, read: Buffer): boolean => {
  const { routine, from, to } = streaming;
  if (to - from + read.length > textBytes) return false;
  if (to + read.length > textAt + textBytes || from === to) {
    routine.bytes.copyWithin(textAt, from, to);
    streaming.to = textAt + to - from;
    streaming.from = textAt;
  }
  routine.bytes.set(read, streaming.to);
  streaming.to += read.length;
  return true;
};

/**
 * Yields the rows of a stream whose first record begins at `start`. Errors: ETL_USER_FUNCTION,
 * those of `reads`. Proved to be what the block decoder makes by
 * test/unit/format/records/compiled-oracle.test.ts.
 */
export async function* streamRows(
  maker: RowMaker,
  decode: Decoder,
  splitter: Splitter,
  reads: AsyncIterable<Buffer>,
  start: Position,
  last: StreamEnd,
): AsyncGenerator<StreamedRows, void> {
  const routine = idle.pop() ?? startRowRoutine();
  const streaming: Streaming = {
    maker,
    decode,
    splitter,
    routine,
    lastByte: start.byte + last.bytes,
    from: textAt,
    to: textAt,
    position: start,
    counts: noCounts,
    rejects: [],
    rejectsLeft: last.rejects,
    isDone: false,
    readMs: 0,
  };
  setWord(routine, state.out, outAt);
  const row: RowBytes = { bytes: Buffer.alloc(0), at: 0 };
  const iterator = reads[Symbol.asyncIterator]();
  try {
    while (!streaming.isDone) {
      const began = performance.now();
      const next = await iterator.next();
      streaming.readMs += performance.now() - began;
      if (next.done === true) break;
      if (!addRead(streaming, next.value)) {
        const rest = Buffer.from(routine.bytes.subarray(streaming.from, streaming.to));
        yield* takeRest(streaming, afterBytes(rest, next.value, iterator));
        streaming.from = streaming.to;
        break;
      }
      const end = routine.bytes.lastIndexOf(LF, streaming.to - 1) + 1;
      yield* takeText(streaming, Math.max(end, streaming.from), row);
    }
    if (!streaming.isDone && streaming.from < streaming.to) {
      const { from, to, position } = streaming;
      const bytes = routine.bytes.subarray(from, to);
      const spans = splitter.split(bytes, true);
      yield* takeBlock(streaming, { bytes, spans, position, fileBytes: spans.consumed });
    }
    yield takeRows(streaming);
    idle.push(routine);
  } finally {
    await iterator.return?.();
  }
}
