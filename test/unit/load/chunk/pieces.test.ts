// Pieces of a stream: they give what the whole gives, and end where its content says, however its bytes arrive.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import {
  positionAfter,
  recordBlocks,
  type RecordBlock,
} from '../../../../src/format/records/record-blocks.ts';
import { createSplitter, type Splitter } from '../../../../src/format/records/splitter.ts';
import { recordBytesMax } from '../../../../src/core/limits.ts';
import type { Position, SourceFile } from '../../../../src/core/model.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { openSegment } from '../../../../src/load/chunk/block-source.ts';
import { streamPieces, type Piece } from '../../../../src/load/chunk/pieces.ts';
import { rangesOf } from '../../../../src/load/thread/ranges.ts';
import { dialects, hostile, tidyTexts } from '../../format/records/generated-csv.ts';
import {
  blocksOf,
  cutAt,
  decodedFile,
  decodeBlocks,
  inPieces,
  splitterOf,
  startOfFile,
  tableOf,
} from '../../format/records/reading.ts';
import { createRecordDecoder } from '../../format/records/record-decoder.ts';
import { searched } from '../../../helpers/seeded.ts';

const splitter = splitterOf({ comment: '#' });

const piecesOf = async (
  reads: readonly Buffer[],
  split: Splitter,
  pieceBytes: number,
  byteEnd: number | null = null,
): Promise<readonly Piece[]> => {
  const blocks = recordBlocks(inPieces(reads), startOfFile, split);
  const pieces: Piece[] = [];
  const take = async (): Promise<SharedArrayBuffer> => new SharedArrayBuffer(pieceBytes);
  for await (const piece of streamPieces({ blocks, start: startOfFile, byteEnd, pieceBytes }, take))
    pieces.push(piece);
  return pieces;
};

/** The blocks of a piece as a loader reads them. */
const readPiece = async (piece: Piece, split: Splitter, from = piece.start): Promise<RecordBlock[]> => {
  const access = { declared: tableOf({}).source };
  const part = { access, start: piece.start, byteEnd: piece.byteEnd, chunkBytes: 1, splitter: split };
  const blocks: RecordBlock[] = [];
  // As it arrives in a thread.
  for await (const block of openSegment({
    file: {} as SourceFile,
    ...part,
    piece: structuredClone(piece),
  }).from(from))
    blocks.push(block);
  return blocks;
};

const cutsOf = (pieces: readonly Piece[]): readonly Position[] => pieces.map(({ start }) => start);

/** Records of blocks as their decoder sees them; rows and rejects have positions. */
const decodeAll = (blocks: readonly RecordBlock[], decode: ReturnType<typeof createRecordDecoder>) => {
  const parts = decodeBlocks(blocks, decode);
  return {
    rows: Buffer.concat(parts.map(({ copyBytes }) => copyBytes)).toString(),
    rejects: parts.flatMap(({ rejects }) => rejects),
  };
};

const inReads = (bytes: Buffer, size: number): readonly Buffer[] =>
  cutAt(bytes, ...Array.from({ length: Math.floor((bytes.length - 1) / size) }, (_, n) => (n + 1) * size));

describe('pieces of a stream', () => {
  const columns = { a: column.text('a').nullable(), b: column.text('b').nullable() };

  it('give the records, rejects and lines of the whole, and are the same however its bytes arrive', async () => {
    const input = fc.tuple(
      dialects,
      fc.oneof(hostile, tidyTexts),
      fc.constantFrom(1, 2),
      fc.constantFrom('lf' as const, 'crlf' as const, 'cr' as const),
      fc.array(fc.nat(), { minLength: 2, maxLength: 6 }),
      fc.integer({ min: 1, max: 90 }),
    );
    const property = fc.asyncProperty(input, async ([options, text, fields, lineEnd, places, pieceBytes]) => {
      const bytes = Buffer.from(text);
      const table = tableOf(options, { columns });
      const split = createSplitter(table.format.dialect, fields, lineEnd);
      const decode = createRecordDecoder(table, decodedFile(['a', 'b'], lineEnd), encodeTextRow);
      const whole = decodeAll(await blocksOf([bytes], split), decode);
      const pieces = await piecesOf([bytes], split, pieceBytes);
      const sorted = places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b);
      expect(cutsOf(await piecesOf(cutAt(bytes, ...sorted), split, pieceBytes))).toEqual(cutsOf(pieces));
      expect(pieces.at(-1)!.byteEnd).toBeNull();
      const blocks: RecordBlock[] = [];
      for (const [index, piece] of pieces.entries()) {
        const own = await readPiece(piece, split);
        const end = own.length === 0 ? piece.start : positionAfter(own.at(-1)!);
        expect(end).toEqual(pieces[index + 1]?.start ?? { ...end, byte: bytes.length });
        expect(piece.byteEnd ?? bytes.length).toBe(end.byte);
        blocks.push(...own);
      }
      expect(decodeAll(blocks, decode)).toEqual(whole);
    });
    await fc.assert(property, { numRuns: searched(60) });
  });

  const long = 'x'.repeat(recordBytesMax - 3);
  const tooLong = 'y'.repeat(3 * recordBytesMax);
  const comments = `#${'z'.repeat(99_998)}\n`.repeat(45);

  it.each([
    ['a record that a piece has no room for', `a,b\nc,${long}\nd,e\n`, [0, 7 + long.length]],
    ['a record that is too long', `a,b\n${tooLong}\nd,e\nf,g\n`, [0, 5 + tooLong.length]],
    ['two of them', `${tooLong}\n\n${tooLong}\n`, [0, tooLong.length + 2]],
    [
      'one, with comments after it',
      `${tooLong}\n${comments}a,b\n`,
      [0, tooLong.length + 1 + comments.length],
    ],
    ['a comment that is too long', `a,b\n#${tooLong}\nd,e\n`, [0, 4 + tooLong.length + 2]],
    ['many comments', `a,b\n${comments}d,e\n`, [0, 4 + comments.length]],
    ['many comments at the beginning', `${comments}d,e\n`, [0, comments.length]],
    ['many comments at the end', `a,b\n${comments}`, [0]],
    ['nothing', '', [0]],
    ['no last line end', `a,b\nc,${long}`, [0]],
  ])('%s: cuts where its content says, and holds no more than it needs', async (_, text, starts) => {
    const bytes = Buffer.from(text);
    const whole = (await blocksOf([bytes], splitter)).flatMap((block) =>
      Array.from(block.spans.starts, (start, index) => [
        block.position.byte + start,
        block.position.line + block.spans.lines[index]!,
        block.position.record + index,
        block.spans.faults.get(index),
      ]),
    );
    for (const size of [300_000, 100_000_000]) {
      const pieces = await piecesOf(inReads(bytes, size), splitter, 100_000);
      expect(cutsOf(pieces).map(({ byte }) => byte)).toEqual(starts);
      const found = [];
      let end: Position = startOfFile;
      let held = 0;
      for (const piece of pieces) {
        expect(piece.start).toEqual(end);
        for (const block of await readPiece(piece, splitter)) {
          end = positionAfter(block);
          for (const [index, start] of block.spans.starts.entries())
            found.push([
              block.position.byte + start,
              block.position.line + block.spans.lines[index]!,
              block.position.record + index,
              block.spans.faults.get(index),
            ]);
        }
        held = Math.max(held, size < recordBytesMax ? piece.memory.byteLength : 0);
      }
      expect(found).toEqual(whole);
      expect(held).toBeLessThan(recordBytesMax + 300_000);
      expect(end.byte).toBe(bytes.length);
      expect(end.line).toBe(1 + text.split('\n').length - 1);
    }
  });

  it('are read on from the middle, and what follows their bytes once', async () => {
    const [piece] = await piecesOf(inReads(Buffer.from(`a,b\nc,d\n${comments}`), 300_000), splitter, 100);
    const blocks = await readPiece(piece!, splitter, { byte: 4, line: 2, record: 2 });
    expect(blocks[0]!.bytes.toString('utf8', 0, 4)).toBe('c,d\n');
    const end = positionAfter(blocks.at(-1)!);
    expect(end).toEqual({ byte: 8 + comments.length, line: 48, record: 3 });
    expect(await readPiece(piece!, splitter, end)).toEqual([]);
  });

  it('have no more records than their places have room for', async () => {
    const bytes = Buffer.from('a\n'.repeat(500_002));
    for (const size of [300_000, 100_000_000]) {
      const pieces = await piecesOf(inReads(bytes, size), splitterOf({}), 10_000_000);
      expect(cutsOf(pieces).map(({ byte }) => byte)).toEqual([0, 1_000_000]);
    }
  });

  it('are none of a range that is shorter than it was', async () =>
    expect(await piecesOf([Buffer.from('a,b\n')], splitter, 100, 9)).toEqual([]));
});

it('ranges of a stream are its bytes, whatever lies between them', async () => {
  const bytes = Buffer.from(Array.from({ length: 100 }, (_, n) => String(n)).join(','));
  for (const size of [1, 7, 1_000]) {
    const range = rangesOf(inPieces(inReads(bytes.subarray(10), size)), 10);
    for (const [from, to] of [
      [10, 20],
      [20, 21],
      [50, 90],
      [200, 1_000],
    ] as const) {
      const parts: Buffer[] = [];
      for await (const part of range(from, to)) parts.push(part);
      expect(Buffer.concat(parts).toString()).toBe(bytes.toString('utf8', from, to));
    }
  }
});
