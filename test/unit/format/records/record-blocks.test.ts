// Blocks of records: positions without gaps, limited memory, and the cost of a record that is too
// long.

import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { LineEnd } from '../../../../src/core/declaration.ts';
import { positionAfter, type RecordBlock } from '../../../../src/format/records/record-blocks.ts';
import type { Splitter } from '../../../../src/format/records/splitter.ts';
import { readBytes, recordBytesMax, rejectRawBytesMax } from '../../../../src/core/limits.ts';
import { blocksOf, cutAt, splitPieces, splitterOf, startOfFile } from './reading.ts';

const bound = recordBytesMax;
const split = splitterOf({});

/** Cuts bytes as a file reader would. */
const inReads = (bytes: Buffer, size: number): Buffer[] =>
  cutAt(
    bytes,
    ...Array.from({ length: Math.ceil(bytes.length / size) - 1 }, (_, index) => (index + 1) * size),
  );

const shortText = (text: string): string => (text.length > 20 ? `${text.slice(0, 4)}…` : text);

const outlined = async (pieces: readonly Buffer[], lineEnd: LineEnd = 'lf') => {
  const { records, end } = await splitPieces(pieces, splitterOf({}, 2, lineEnd));
  return { end, records: records.map((record) => ({ ...record, text: shortText(record.text) })) };
};

describe('recordBlocks', () => {
  it('gives blocks whose positions follow each other', async () => {
    const start = { byte: 100, line: 7, record: 3 };
    const bytes = Buffer.from('a,b\r\n\n"c\nd",e\n\nf,"\ng,h\ni,j');
    for (let size = 1; size <= bytes.length; size += 1) {
      const blocks = await blocksOf(inReads(bytes, size), split, start);
      expect(blocks[0]!.position).toEqual(start);
      for (const [index, block] of blocks.slice(1).entries())
        expect(block.position).toEqual(positionAfter(blocks[index]!));
      expect(positionAfter(blocks.at(-1)!)).toEqual({ byte: 100 + bytes.length, line: 14, record: 8 });
    }
  });

  it('gives no block for no bytes', async () => {
    expect(await blocksOf([], split)).toEqual([]);
    expect(await blocksOf([Buffer.alloc(0), Buffer.alloc(0)], split)).toEqual([]);
  });

  it('gives a block without records for blank lines, so that their bytes are accounted for', async () => {
    const [block, ...others] = await blocksOf([Buffer.from('\n\r\n')], split);
    expect(others).toEqual([]);
    expect(block!.spans.starts).toHaveLength(0);
    expect(positionAfter(block!)).toEqual({ byte: 3, line: 3, record: 1 });
  });
});

const filler = (length: number): string => 'x'.repeat(length);

/** A name, a record on one line, its line end, and if the record is too long. `c,d` follows it. */
const longCases: [name: string, long: string, newline: string, isTooLong: boolean, before?: string][] = [
  ['a line of just the bound is a record', filler(bound), '\n', false],
  ['and with CRLF', filler(bound), '\r\n', false],
  ['a line over the bound costs one record', filler(bound + 1), '\n', true],
  ['and with CRLF', filler(bound + 1), '\r\n', true],
  ['and with CR, after which the file goes on', filler(bound + 1), '\r', true],
  ['and far over the bound', filler(3 * bound), '\n', true],
  ['and far over the bound with CRLF', filler(3 * bound), '\r\n', true],
  ['and after another record', filler(2 * bound), '\n', true, '"a",b\n'],
  ['a quoted field on one line over the bound', `"${filler(2 * bound)}"`, '\n', true],
  ['an unclosed quote on a line over the bound', `"${filler(2 * bound)}`, '\n', true],
];

describe('a comment over the bound', () => {
  const commented = splitterOf({ comment: '#' });

  it.each([
    { name: 'LF', newline: '\n' },
    { name: 'CRLF', newline: '\r\n' },
  ])('is skipped, however it is read, before a line with $name', async ({ newline }) => {
    const comment = `#${filler(2 * bound)}${newline}`;
    const bytes = Buffer.from(`a,b\n${comment}c,d\n${comment}`);
    for (const pieces of [[bytes], inReads(bytes, readBytes), cutAt(bytes, 4 + comment.length - 1)]) {
      const { records, end } = await splitPieces(pieces, commented);
      expect(records.map(({ text, line, byte }) => [text, line, byte])).toEqual([
        ['a,b', 1, 0],
        ['c,d', 3, 4 + comment.length],
      ]);
      expect(end).toEqual({ byte: bytes.length, line: 5, record: 3 });
    }
  });

  it('is skipped also when nothing ends it', async () => {
    const bytes = Buffer.from(`a,b\n#${filler(2 * bound)}`);
    const { records, end } = await splitPieces(inReads(bytes, readBytes), commented);
    expect(records).toHaveLength(1);
    expect(end).toEqual({ byte: bytes.length, line: 2, record: 2 });
  });
});

it('the end of a record in small reads is searched a few times only', async () => {
  let seen = 0;
  const counting: Splitter = {
    ...split,
    split: (block, atEnd) => {
      seen += block.length;
      return split.split(block, atEnd);
    },
  };
  const bytes = Buffer.from(`"a\n${'line\n'.repeat(60_000)}",b\nc,d\n`);
  const blocks = await blocksOf(inReads(bytes, 7), counting);
  expect(blocks.reduce((sum, { spans }) => sum + spans.starts.length, 0)).toBe(2);
  expect(seen).toBeLessThan(5 * bytes.length);
});

describe('a record over the bound', () => {
  it.each(longCases)('%s', async (_, long, newline, isTooLong, before = '') => {
    const bytes = Buffer.from(`${before}${long}${newline}c,d${newline}`);
    const place = before === '' ? 1 : 2;
    const expected = {
      line: place,
      record: place,
      byte: before.length,
      text: expect.anything(),
      ...(isTooLong ? { fault: 'record_too_long' } : {}),
    };
    const byte = before.length + long.length + newline.length;
    const next = { byte, line: place + 1, record: place + 1, text: 'c,d' };
    // The bytes in one piece, in reads of a file's size, and cut inside the line end.
    const newlineAt = before.length + long.length + 1;
    for (const pieces of [
      [bytes],
      inReads(bytes, readBytes),
      inReads(bytes, 300_001),
      cutAt(bytes, newlineAt),
      cutAt(bytes, newlineAt - 1),
    ]) {
      const { records, end } = await outlined(pieces, newline === '\r' ? 'cr' : 'lf');
      expect(records.slice(-2)).toEqual([expected, next]);
      expect(end).toEqual({ byte: bytes.length, line: next.line + 1, record: next.record + 1 });
    }
  });

  it('is one record, whatever its newline, when the file ends with it', async () => {
    for (const [ending, line] of [
      ['', 1],
      ['\n', 2],
      ['\r', 1],
      ['\r\n', 2],
    ] as const) {
      const bytes = Buffer.from(filler(2 * bound) + ending);
      for (const pieces of [
        [bytes],
        inReads(bytes, readBytes),
        cutAt(bytes, 2 * bound),
        cutAt(bytes, 2 * bound + 1),
      ]) {
        const { records, end } = await outlined(pieces);
        expect(records).toMatchObject([{ byte: 0, record: 1, fault: 'record_too_long' }]);
        expect(end).toEqual({ byte: bytes.length, line, record: 2 });
      }
    }
  });

  it('is one block, so that a chunk never ends within a line', async () => {
    const bytes = Buffer.from(`a,b\n${filler(3 * bound)}\nc,d\n`);
    const blocks = await blocksOf(inReads(bytes, 64 * 1024), split);
    expect(blocks.map(({ position, fileBytes }) => [position.byte, fileBytes])).toEqual([
      [0, 4],
      [4, 3 * bound + 1],
      [3 * bound + 5, 4],
    ]);
  });

  it('keeps no more than a reject shows', async () => {
    const [block] = await blocksOf(inReads(Buffer.from(filler(3 * bound)), readBytes), split);
    // Small buffers share an ArrayBuffer of this size.
    expect(block!.bytes.buffer.byteLength).toBeLessThanOrEqual(Math.max(Buffer.poolSize, 8 * 1024));
    expect(block!.bytes.length).toBe(rejectRawBytesMax + 1);
  });

  it('whose quote is never closed costs its line, and reading goes on', async () => {
    const line = `${filler(99)}\n`;
    const lines = Math.ceil((2 * bound) / line.length);
    const bytes = Buffer.from(`"a,b\n${line.repeat(lines)}c,d\n`);
    for (const size of [bytes.length, readBytes, 300_001]) {
      const { records, end } = await outlined(inReads(bytes, size));
      expect(records.filter(({ fault }) => fault !== undefined)).toEqual([
        { ...startOfFile, text: '"a,b', fault: 'quote' },
      ]);
      expect(records).toHaveLength(lines + 2);
      expect(end).toEqual({ byte: bytes.length, line: lines + 3, record: lines + 3 });
    }
  });

  it('over several lines, whose quote is closed too late, gets the same result however it is read', async () => {
    const rows = [
      `"a\n${filler(bound)}",b\nc,d\n`,
      `"a\nb",${filler(2 * bound)}\nc,d\n`,
      `"a\nb",${filler(2 * bound)}`,
    ];
    for (const text of rows) {
      const bytes = Buffer.from(text);
      const whole = await outlined([bytes]);
      expect(whole.records[0]).toMatchObject({ text: '"a', fault: 'quote' });
      for (const size of [readBytes, 300_001])
        expect(await outlined(inReads(bytes, size))).toEqual({
          ...whole,
          // Only the start of a line that is read in pieces is kept.
          records: whole.records.map((record) => ({
            ...record,
            text: expect.stringContaining(record.text.slice(0, 4)),
          })),
        });
    }
  });

  // Lines have 40 bytes. If each of the 55,000 lines were read up to the limit, this would take
  // minutes.
  const opening = `${filler(34)}","d\n`;
  const chains = [
    { name: 'that each close a quote and open another', line: opening },
    { name: 'in which every quote is regular from the line’s beginning', line: `${filler(30)},",b","c\n` },
    { name: 'of a long one after many short ones', line: opening, last: `${filler(bound - 100)}"\n` },
    { name: 'that are broken near the end', line: opening, last: 'e"f\n' },
  ];
  it.each(chains)('lines $name cost a line each, and little time', async ({ line, last = '' }) => {
    const bytes = Buffer.from(`${line.repeat((1.1 * bound) / line.length)}${last}i,j\n`);
    const outcome = async (size: number) => {
      const blocks = await blocksOf(inReads(bytes, size), split);
      const offset = ({ position, spans }: RecordBlock) => [...spans.starts].map((at) => position.byte + at);
      const faults = blocks.map(({ spans }) => spans.faults.size).reduce((sum, count) => sum + count);
      return { starts: blocks.flatMap(offset), faults, end: positionAfter(blocks.at(-1)!) };
    };
    const whole = await outcome(bytes.length);
    expect(whole.end.byte).toBe(bytes.length);
    expect(whole.starts.at(-1)).toBe(bytes.length - 4);
    expect(whole.faults).toBeGreaterThan(0.9 * whole.starts.length);
    // Hundreds of thousands of records: vitest's own comparison takes seconds.
    expect(isDeepStrictEqual(await outcome(700_001), whole)).toBe(true);
  });

  it('of many reads holds one read and one record in memory', async () => {
    const read = Buffer.from(`${filler(1023)}\n`.repeat(64));
    let largest = 0;
    let records = 0;
    const measuring: Splitter = {
      ...split,
      split: (block, atEnd) => {
        largest = Math.max(largest, block.length);
        const spans = split.split(block, atEnd);
        records += spans.starts.length;
        return spans;
      },
    };
    const open = Buffer.from('"');
    await blocksOf([open, ...Array.from({ length: 128 }, () => read)], measuring);
    expect(records).toBe(128 * 64);
    expect(largest).toBeLessThanOrEqual(bound + 2 + read.length);
  });
});
