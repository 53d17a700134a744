// Dirty files through both decoders, read whole, cut at every byte, and as a stream whose end is not known.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import type { Decoder } from '../../../../src/format/rows/decoder.ts';
import { readHeader } from '../../../../src/format/records/header.ts';
import { lastLinesStart, withoutLastLines } from '../../../../src/input/last-lines.ts';
import { recordBlocks, type RecordBlock } from '../../../../src/format/records/record-blocks.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { binaryRecordDecoder, outcomeOf } from './both-decoders.ts';
import { dirtyCases, type DirtyCase } from './dirty-cases.ts';
import { cutAt, decodeBlocks, decodedFile, inPieces, tableOf } from './reading.ts';
import { createRecordDecoder } from './record-decoder.ts';
import { searched } from '../../../helpers/seeded.ts';

const open = async ({ input, options, columns }: DirtyCase) => {
  const table = tableOf(options, { columns });
  const bytes = Buffer.from(input as string);
  const { dialect } = table.format;
  const read = async (from: number, count: number) => bytes.subarray(from, from + count);
  const named = { table: 't', file: 'f' };
  const { names, dataByte, dataLine, lineEnd } = await readHeader(read, dialect, named, 2);
  const { skipEnd } = table.source;
  const data = bytes.subarray(dataByte);
  const start = { byte: dataByte, line: dataLine, record: 1 };
  const blocksOf = async (reads: AsyncIterable<Buffer>): Promise<readonly RecordBlock[]> => {
    const blocks: RecordBlock[] = [];
    const split = createSplitter(dialect, names.length, lineEnd);
    for await (const block of recordBlocks(reads, start, split)) blocks.push(block);
    return blocks;
  };
  const ended = skipEnd === 0 ? data : data.subarray(0, lastLinesStart(data, skipEnd, lineEnd).start);
  const fail = (problem: string) => new Error(problem);
  return {
    table,
    file: decodedFile(names, lineEnd),
    bytes: data,
    /** The file can be opened at any offset, and its size is known. */
    whole: () => blocksOf(inPieces([ended])),
    /** The file is a stream of two pieces. */
    stream: (at: number) => {
      const reads = inPieces(cutAt(data, at));
      return blocksOf(skipEnd === 0 ? reads : withoutLastLines(reads, skipEnd, lineEnd, fail));
    },
  };
};

const rowsOf = (blocks: readonly RecordBlock[], decode: Decoder) => {
  const parts = decodeBlocks(blocks, decode);
  const text = Buffer.concat(parts.map(({ copyBytes }) => copyBytes)).toString();
  return {
    text,
    rejects: parts
      .flatMap(({ rejects }) => rejects)
      .map(({ code, position, column: name }) => `${code}@${position.line}:${name ?? ''}`),
  };
};

const textOf = async (reads: AsyncIterable<Buffer>): Promise<string> => {
  const blocks: Buffer[] = [];
  for await (const block of reads) blocks.push(block);
  return Buffer.concat(blocks).toString();
};

describe('the last lines of a stream', () => {
  it('are those of the whole, however it is cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('a', 'bc', '\r', '\n', '\r\n', '"'), { maxLength: 14 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom('lf' as const, 'crlf' as const, 'cr' as const),
        fc.array(fc.nat({ max: 20 }), { maxLength: 4 }),
        async (parts, lines, lineEnd, cuts) => {
          const bytes = Buffer.from(parts.join(''));
          const { start, missing } = lastLinesStart(bytes, lines, lineEnd);
          const places = cuts.map((at) => at % (bytes.length + 1)).toSorted((one, other) => one - other);
          const fail = (problem: string) => new Error(problem);
          const left = withoutLastLines(inPieces(cutAt(bytes, ...places)), lines, lineEnd, fail);
          const read = await textOf(left).catch(({ message }: Error) => message);
          expect(read).toBe(missing > 0 ? 'missing' : bytes.toString('utf8', 0, start));
          // Skipped bytes are whole lines, and the bytes before them end with a line end.
          const end = { lf: /\n/, crlf: /\r\n/, cr: /\r\n?/ }[lineEnd];
          const split = bytes.toString().split(end);
          const all = split.at(-1) === '' ? split.length - 1 : split.length;
          expect(missing).toBe(Math.max(0, lines - all));
          expect(bytes.toString('utf8', start).split(end).slice(0, lines)).toEqual(
            split.slice(Math.max(0, all - lines), Math.max(0, all - lines) + lines),
          );
        },
      ),
      { numRuns: searched(200) },
    );
  });

  it('are not held when no line ends', async () => {
    async function* endless(): AsyncGenerator<Buffer, void> {
      for (;;) yield Buffer.alloc(1024 * 1024, 'x');
    }
    const left = withoutLastLines(endless(), 1, 'lf', (problem) => new Error(problem));
    await expect(left.next()).rejects.toThrow('long');
  });
});

describe('dirty files', () => {
  it('are at least sixty', () => expect(dirtyCases.length).toBeGreaterThanOrEqual(60));

  it.each(dirtyCases)('$name', async (dirty) => {
    const { table, file, bytes, whole, stream } = await open(dirty);
    const blocks = await whole();
    const expected = { text: dirty.rows.map(encodeTextRow).join(''), rejects: dirty.rejects };
    expect(rowsOf(blocks, createRecordDecoder(table, file, encodeTextRow))).toEqual(expected);
    const outcome = outcomeOf(blocks, binaryRecordDecoder(table, file));
    expect(outcomeOf(blocks, createCompiledDecoder(table, file))).toEqual(outcome);
    for (let at = 0; at <= bytes.length; at += 1) {
      const cut = await stream(at);
      expect(rowsOf(cut, createCompiledDecoder(table, file, encodeTextRow)), `cut at ${at}`).toEqual(
        expected,
      );
      expect(outcomeOf(cut, createCompiledDecoder(table, file)), `cut at ${at}`).toEqual(outcome);
    }
  });
});
