// The blocks of a segment, chunk after chunk: the same again for the same chunk, of a file that is read again and of a stream.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { positionAfter } from '../../../../src/format/records/record-blocks.ts';
import type { Position, SourceFile } from '../../../../src/core/model.ts';
import { openSegment, type BlockSource } from '../../../../src/load/chunk/block-source.ts';
import { useFiles } from '../../../helpers/files.ts';
import { accessWith } from '../../../helpers/source-access.ts';
import { splitterOf, startOfFile as start } from '../../format/records/reading.ts';
import { sourceFile } from './source-file.ts';

const files = useFiles();
const content = Buffer.from(Array.from({ length: 200_000 }, (_, line) => `${line},${line % 7}\n`).join(''));

const fileOf = (name: string, bytes: Buffer, decoding: string | null, dataEnd: number | null): SourceFile =>
  sourceFile(files.write(name, bytes), name, bytes, { decoding, dataEnd });
const zipped = gzipSync(content);
const plain = fileOf('plain.csv', content, null, content.length);
const stream = fileOf('stream.csv', zipped, 'gzip', null);

const open = (file: SourceFile, byteEnd: number | null): BlockSource =>
  openSegment({
    file,
    access: accessWith(),
    start,
    byteEnd,
    splitter: splitterOf({}, 2),
    chunkBytes: 100_000,
  });

/** Texts of so many blocks from a position on, and where the last one ends. */
const read = async (blocks: BlockSource, from: Position, most = Infinity) => {
  const texts: string[] = [];
  let end = from;
  for await (const block of blocks.from(from)) {
    // The memory of a block may be used again.
    texts.push(block.bytes.toString());
    end = positionAfter(block);
    if (texts.length === most) break;
  }
  return { text: texts.join(''), end };
};

describe.each([
  { name: 'a file that is read again', file: plain, byteEnd: content.length },
  { name: 'a stream', file: stream, byteEnd: null },
  {
    name: 'a stream whose end is known',
    file: { ...stream, dataEnd: content.length },
    byteEnd: content.length,
  },
])('$name', ({ file, byteEnd }) => {
  it('gives a chunk again, and then the rest, without gap or overlap', async () => {
    const blocks = open(file, byteEnd);
    const first = await read(blocks, start, 1);
    expect(await read(blocks, start, 1)).toEqual(first);
    const rest = await read(blocks, first.end);
    expect(first.text + rest.text).toBe(content.toString());
    expect(rest.end).toMatchObject({ byte: content.length, record: 200_001 });
    await blocks.close();
  });

  it('goes on in the middle of a block', async () => {
    const blocks = open(file, byteEnd);
    await read(blocks, start, 1);
    const middle = content.indexOf('\n5000,') + 1;
    const { text } = await read(blocks, { byte: middle, line: 5001, record: 5001 });
    expect(text).toBe(content.toString('utf8', middle));
    await blocks.close();
  });

  it('reports where the file ends only when that was unknown', async () => {
    const blocks = open(file, byteEnd);
    expect(blocks.expectedEnd()).toBeUndefined();
    const { end } = await read(blocks, start, 1);
    expect(blocks.expectedEnd() !== undefined).toBe(byteEnd === null);
    await read(blocks, end);
    expect(blocks.expectedEnd()).toBe(byteEnd === null ? content.length : undefined);
    await blocks.close();
  });
});
