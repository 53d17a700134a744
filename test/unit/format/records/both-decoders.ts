// Runs a decoder for tests that compare the two decoders. Rows are in COPY's binary format.

import { expect } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import type { ReadTable } from '../../../../src/core/declaration.ts';
import { createRowBytes, putInt16, putNull, reserve } from '../../../../src/format/types/row-bytes.ts';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import type { DecodedFile } from '../../../../src/format/records/file-fields.ts';
import { encoderOf } from '../../../../src/format/rows/row-form.ts';
import type { Decoder } from '../../../../src/format/rows/decoder.ts';
import { createRecordDecoder } from './record-decoder.ts';
import type { RecordBlock } from '../../../../src/format/records/record-blocks.ts';
import { addCounts, noCounts } from '../../../../src/core/counts.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { blocksOf, cutAt, decodeBlocks, decodedFile } from './reading.ts';

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

/** Both decoders, with rows in binary, make the same of blocks. Returns what they make. */
export const expectSame = (blocks: readonly RecordBlock[], table: ReadTable, file: DecodedFile) => {
  const outcome = outcomeOf(blocks, createCompiledDecoder(table, file));
  expect(outcome).toEqual(outcomeOf(blocks, binaryRecordDecoder(table, file)));
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
  return expected;
};
