// Runs a decoder for tests that compare the two decoders. Rows are in COPY's binary format.

import { Readable } from 'node:stream';
import { expect } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import type { ReadTable } from '../../../../src/core/declaration.ts';
import type { Position } from '../../../../src/core/model.ts';
import { createRowBytes, putInt16, putNull, reserve } from '../../../../src/format/types/row-bytes.ts';
import { blockDecoder, createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import { createRowMaker } from '../../../../src/format/rows/row-maker.ts';
import { canPass } from '../../../../src/format/rows/row-routine.ts';
import { streamRows, type StreamedRows, type StreamEnd } from '../../../../src/format/rows/stream-rows.ts';
import type { DecodedFile } from '../../../../src/format/records/file-fields.ts';
import { encoderOf } from '../../../../src/format/rows/row-form.ts';
import type { Decoder, RowEncoder } from '../../../../src/format/rows/decoder.ts';
import { createRecordDecoder } from './record-decoder.ts';
import { positionAfter, type RecordBlock } from '../../../../src/format/records/record-blocks.ts';
import { addCounts, noCounts } from '../../../../src/core/counts.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { blocksOf, cutAt, decodeBlocks, decodedFile, startOfFile } from './reading.ts';

/** What a decoder makes of all blocks together. */
export const outcomeOf = (blocks: readonly RecordBlock[], decode: Decoder) => {
  const parts = decodeBlocks(blocks, decode);
  return {
    rows: Buffer.concat(parts.map(({ copyBytes }) => copyBytes)).toString('hex'),
    counts: parts.reduce((sum, { counts }) => addCounts(sum, counts), noCounts),
    rejects: parts.flatMap(({ rejects }) => rejects),
  };
};

/** The record decoder, with rows in binary. */
export const binaryRecordDecoder = (table: ReadTable, file: DecodedFile): Decoder => {
  const out = createRowBytes(1024);
  const decode = createRecordDecoder(table, file, (row) => {
    reserve(out, 2);
    putInt16(out, row.length);
    for (const [index, value] of row.entries())
      if (value === null) putNull(out);
      else encoderOf(table.columns[index]!)(value, out);
    return '';
  });
  return (block) => {
    out.at = 0;
    const decoded = decode(block);
    return { ...decoded, copyBytes: Buffer.from(out.bytes.subarray(0, out.at)) };
  };
};

/** What one pass over a stream makes of it; undefined if its records must be found first. */
export const streamedOutcome = async (
  reads: Iterable<Buffer> | AsyncIterable<Buffer>,
  start: Position,
  table: ReadTable,
  file: DecodedFile,
  encodeRow?: RowEncoder,
  last: StreamEnd = { bytes: Infinity, rejects: Infinity },
) => {
  const maker = createRowMaker(table, file, encodeRow);
  if (!canPass(maker.table)) return undefined;
  const splitter = createSplitter(table.format.dialect, file.header.length, file.lineEnd);
  const parts: StreamedRows[] = [];
  for await (const part of streamRows(
    maker,
    blockDecoder(maker),
    splitter,
    Readable.from(reads),
    start,
    last,
  ))
    parts.push({ ...part, copyBytes: Buffer.from(part.copyBytes) });
  return {
    rows: Buffer.concat(parts.map(({ copyBytes }) => copyBytes)).toString('hex'),
    counts: parts.reduce((sum, { counts }) => addCounts(sum, counts), noCounts),
    rejects: parts.flatMap(({ rejects }) => rejects),
    end: parts.at(-1)!.end,
  };
};

/**
 * Both decoders, with rows in binary, and one pass over the bytes make the same of blocks. Returns
 * what they make.
 */
export const expectSame = async (blocks: readonly RecordBlock[], table: ReadTable, file: DecodedFile) => {
  const outcome = outcomeOf(blocks, createCompiledDecoder(table, file));
  expect(outcome).toEqual(outcomeOf(blocks, binaryRecordDecoder(table, file)));
  const isWhole = blocks.length > 0 && blocks.every(({ bytes, fileBytes }) => bytes.length === fileBytes);
  const streamed = isWhole
    ? await streamedOutcome(
        blocks.map(({ bytes }) => bytes),
        blocks[0]!.position,
        table,
        file,
      )
    : undefined;
  if (streamed !== undefined) expect(streamed).toEqual({ ...outcome, end: positionAfter(blocks.at(-1)!) });
  return outcome;
};

const textOutcome = (blocks: readonly RecordBlock[], decode: Decoder) => {
  const parts = decodeBlocks(blocks, decode);
  const rejects = parts.flatMap((part) => part.rejects);
  return {
    rows: Buffer.concat(parts.map(({ copyBytes }) => copyBytes)).toString(),
    rejects: rejects.map(({ code, position: { line, byte } }) => ({ code, line, byte })),
  };
};

/**
 * Rows in COPY's text format and positions of rejects. Both decoders must give the same, with the
 * bytes whole and cut at every position.
 */
export const readEverywhere = async (
  bytes: Buffer,
  table: ReadTable,
  header: readonly string[],
): Promise<ReturnType<typeof textOutcome>> => {
  const split = createSplitter(table.format.dialect, header.length, 'lf');
  const file = decodedFile(header);
  const whole = await blocksOf([bytes], split);
  const expected = textOutcome(whole, createRecordDecoder(table, file, encodeTextRow));
  const decode = createCompiledDecoder(table, file, encodeTextRow);
  for (let at = 0; at <= bytes.length; at += 1)
    expect(textOutcome(await blocksOf(cutAt(bytes, at), split), decode), `cut at ${at}`).toEqual(expected);
  for (let at = 0; at <= bytes.length; at += 1) {
    const streamed = await streamedOutcome(cutAt(bytes, at), startOfFile, table, file, encodeTextRow);
    if (streamed === undefined) break;
    const rows = Buffer.from(streamed.rows, 'hex').toString();
    const rejects = streamed.rejects.map(({ code, position: { line, byte } }) => ({ code, line, byte }));
    expect({ rows, rejects }, `streamed, cut at ${at}`).toEqual(expected);
  }
  return expected;
};
