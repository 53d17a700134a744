// Pieces of a block. Together they must equal the block, whatever lies between its records.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordBlock } from '../../../../src/format/records/record-blocks.ts';
import { piecesOf } from '../../../../src/format/records/record-slice.ts';
import { blocksOf, splitterOf } from './reading.ts';

const split = splitterOf({ comment: '#' });

/** Reads the content at once. Its last record may be a block by itself. */
const blockOf = async (content: string): Promise<RecordBlock | undefined> =>
  (await blocksOf([Buffer.from(content)], split, { byte: 100, line: 7, record: 40 }))[0];

/** Position, text and fault of every record of a block. */
const recordsOf = ({ bytes, spans, position }: RecordBlock) =>
  [...spans.starts].map((start, index) => ({
    byte: position.byte + start,
    line: position.line + spans.lines[index]!,
    record: position.record + index,
    text: bytes.subarray(start, spans.ends[index]).toString(),
    fault: spans.faults.get(index),
  }));

const endOf = ({ position, fileBytes, spans }: RecordBlock) => ({
  byte: position.byte + fileBytes,
  line: position.line + spans.newlines,
});

describe('piecesOf', () => {
  it('is the block itself when it has no more records than a piece may have', async () => {
    const block = (await blockOf('1,a\n2,b\n'))!;
    expect([...piecesOf(block, 2, 100)]).toEqual([block]);
  });

  it('gives the records of the block with their places and faults, and ends where it ends', async () => {
    const lines = fc.constantFrom('1,a\n', '\n', '# no record\r\n', '2,"b\nc"\n', '3,"d"e\r\n', '"4,f\r');
    const counts = fc.integer({ min: 1, max: 5 });
    const sizes = fc.integer({ min: 1, max: 40 });
    let allJoined = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(lines), counts, sizes, async (content, recordsMax, bytesMax) => {
        const block = await blockOf(content.join(''));
        if (block === undefined) return;
        const pieces = [...piecesOf(block, recordsMax, bytesMax)];
        expect(pieces.flatMap(recordsOf)).toEqual(recordsOf(block));
        for (const { spans } of pieces)
          expect([...spans.faults.keys()].filter((index) => index >= spans.starts.length)).toEqual([]);
        expect(Math.max(...pieces.map(({ spans }) => spans.starts.length))).toBeLessThanOrEqual(recordsMax);
        const joined = pieces.filter(({ spans }) => spans.starts.length > 1);
        allJoined += joined.length;
        expect(joined.filter(({ spans }) => spans.ends.at(-1)! - spans.starts[0]! > bytesMax)).toEqual([]);
        expect(endOf(pieces.at(-1)!)).toEqual(endOf(block));
        for (const [index, next] of pieces.slice(1).entries())
          expect(endOf(pieces[index]!)).toEqual({ byte: next.position.byte, line: next.position.line });
      }),
    );
    expect(allJoined).toBeGreaterThan(0);
  });
});
