// A file cut at the positions of segmentCuts must give the same records as the whole file.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import type { Decoder } from '../../../../src/format/rows/decoder.ts';
import { createRecordDecoder } from './record-decoder.ts';
import { segmentCuts, type RecordBlock } from '../../../../src/format/records/record-blocks.ts';
import { createSplitter, type Splitter } from '../../../../src/format/records/splitter.ts';
import { readBytes, recordBytesMax } from '../../../../src/core/limits.ts';
import type { Position } from '../../../../src/core/model.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { dialects, hostile, tidyTexts } from './generated-csv.ts';
import {
  blocksOf,
  decodedFile,
  cutAt,
  inPieces,
  splitPieces,
  splitterOf,
  startOfFile,
  tableOf,
  decodeBlocks,
} from './reading.ts';
import { searched } from '../../../helpers/seeded.ts';

const cutsOf = async (
  pieces: readonly Buffer[],
  split: Splitter,
  segmentBytes: number,
): Promise<readonly Position[]> => {
  const cuts: Position[] = [];
  for await (const cut of segmentCuts(inPieces(pieces), startOfFile, split, segmentBytes)) cuts.push(cut);
  return cuts;
};

/** The blocks of all segments, in order. */
const segmentBlocks = async (
  bytes: Buffer,
  cuts: readonly Position[],
  split: Splitter,
): Promise<readonly RecordBlock[]> => {
  const segments = [startOfFile, ...cuts].map((from, index) =>
    blocksOf([bytes.subarray(from.byte, cuts[index]?.byte ?? bytes.length)], split, from),
  );
  return (await Promise.all(segments)).flat();
};

const decoded = (blocks: readonly RecordBlock[], decode: Decoder) => {
  const parts = decodeBlocks(blocks, decode);
  return {
    rows: Buffer.concat(parts.map(({ copyBytes }) => copyBytes)).toString(),
    rejects: parts.flatMap(({ rejects }) => rejects),
  };
};

describe('segmentCuts', () => {
  it('cuts generated files so that segments give the records and rejects of the whole', async () => {
    const input = fc.tuple(
      dialects,
      fc.oneof(hostile, tidyTexts),
      fc.constantFrom(1, 2),
      fc.nat(),
      fc.nat(40),
    );
    const header = ['a', 'b'];
    const columns = { a: column.text('a').nullable(), b: column.text('b').nullable() };
    const property = fc.asyncProperty(input, async ([options, text, fields, place, segmentBytes]) => {
      const bytes = Buffer.from(text);
      const table = tableOf({ ...options }, { columns });
      const split = createSplitter(table.format.dialect, fields, 'lf');
      const decode = createRecordDecoder(table, decodedFile(header), encodeTextRow);
      const whole = decoded(await blocksOf([bytes], split), decode);
      const { records } = await splitPieces([bytes], split);
      const places = bytes.length > 60 ? [place % bytes.length] : [...bytes.keys()];
      for (const at of places) {
        const pieces = cutAt(bytes, ...[at, at + 7, at + 50].filter((one) => one <= bytes.length));
        const cuts = await cutsOf(pieces, split, segmentBytes + 1);
        for (const [index, { byte, line, record }] of cuts.entries()) {
          expect(byte - (cuts[index - 1]?.byte ?? 0)).toBeGreaterThan(segmentBytes);
          expect(byte).toBeLessThan(bytes.length);
          // Records before the cut end before it. Records after it begin at the cut or later.
          expect(records.filter((one) => one.byte < byte)).toHaveLength(record - 1);
          const begun = records.filter((one) => one.byte === byte);
          expect(begun).toEqual(begun.map((one) => ({ ...one, line, record })));
        }
        expect(decoded(await segmentBlocks(bytes, cuts, split), decode)).toEqual(whole);
      }
    });
    await fc.assert(property, { numRuns: searched(100) });
  });

  const split = splitterOf({});
  const lines = Buffer.from('a,"b\nc"\n'.repeat(100));

  it.each([
    { name: 'every record, when reads are small', size: 8, segmentBytes: 1, cuts: 99 },
    { name: 'every second record', size: 8, segmentBytes: 9, cuts: 49 },
    { name: 'only where a read has ended', size: 80, segmentBytes: 1, cuts: 9 },
    { name: 'not at the end of the file', size: 8, segmentBytes: 800, cuts: 0 },
  ])('cuts at $name', async ({ size, segmentBytes, cuts }) => {
    const places = Array.from({ length: lines.length / size - 1 }, (_, index) => (index + 1) * size);
    const found = await cutsOf(cutAt(lines, ...places), split, segmentBytes);
    expect(found).toHaveLength(cuts);
    for (const { byte, line, record } of found) {
      expect(byte).toBe(8 * (record - 1));
      expect(line).toBe(2 * record - 1);
    }
  });

  it('does not cut within a line over the bound, nor within an open quote that is closed in time', async () => {
    const long = 'x'.repeat(3 * recordBytesMax);
    const quoted = `"${'y\n'.repeat(recordBytesMax / 2 - 100)}"`;
    const bytes = Buffer.from(`a,b\n${long}\nc,${quoted}\nd,e\nf,g\n`);
    const places = Array.from(
      { length: Math.floor(bytes.length / readBytes) },
      (_, n) => (n + 1) * readBytes,
    );
    const cuts = await cutsOf(cutAt(bytes, ...places), split, 1);
    expect(cuts[0]).toEqual({ byte: 4, line: 2, record: 2 });
    expect(cuts[1]).toEqual({ byte: 4 + long.length + 1, line: 3, record: 3 });
    expect(cuts.slice(2).every(({ byte }) => byte > 4 + long.length + quoted.length)).toBe(true);
  });

  it('goes on after a quote that is never closed, with the right lines', async () => {
    const bytes = Buffer.from(`"a,b\n${'c,d\n'.repeat(recordBytesMax)}`);
    const places = Array.from(
      { length: Math.floor(bytes.length / readBytes) },
      (_, n) => (n + 1) * readBytes,
    );
    const cuts = await cutsOf(cutAt(bytes, ...places), split, readBytes);
    expect(cuts.length).toBeGreaterThan(3);
    for (const { byte, line, record } of cuts) {
      expect(line).toBe(1 + (byte - 1) / 4);
      expect(record).toBe(line);
    }
  });
});
