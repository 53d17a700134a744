// Any range of a plain or compressed file can be read, and no file stays open.

import { readdirSync, readlinkSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { isSeekable, openInput, withBytes, type InputFile } from '../../../src/input/input.ts';
import { failureOf } from '../../helpers/failure.ts';
import { useFiles } from '../../helpers/files.ts';
import { accessWith } from '../../helpers/source-access.ts';
import { zstdStored } from '../../helpers/zstd.ts';

const files = useFiles();
const content = Buffer.from(Array.from({ length: 60_000 }, (_, line) => `${line},${line % 7}\n`).join(''));

const fileOf = (
  name: string,
  bytes: Buffer,
  decoding: string | null,
  encoding: InputFile['encoding'] = 'utf-8',
): InputFile => ({
  table: 't',
  source: 'file',
  location: files.write(name, bytes),
  name,
  decoding,
  encoding,
  part: null,
  bytes: bytes.length,
  fingerprint: '',
});
const access = accessWith();
const plain = fileOf('plain.csv', content, null);
const zipped = fileOf('zipped.csv.gz', gzipSync(content), 'gzip');

const read = async (bytes: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces = [];
  // Copied, because the memory of a block is reused.
  for await (const piece of bytes) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
};

/** Open files in this test's directory, because other tests share the process. */
const openFiles = (): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(files.directory);
    } catch {
      return false;
    }
  }).length;

describe.each([
  { name: 'a file as it is', file: plain, seekable: true },
  { name: 'a file that is decoded', file: zipped, seekable: false },
  { name: 'a file in zstd', file: fileOf('zipped.csv.zst', zstdStored(content), 'zstd'), seekable: false },
  {
    name: 'a file in another encoding',
    file: fileOf('utf16.csv', Buffer.from(content.toString(), 'utf16le'), null, 'utf-16le'),
    seekable: false,
  },
  {
    name: 'a file in gzip and another encoding',
    file: fileOf('utf16.csv.gz', gzipSync(Buffer.from(content.toString(), 'utf16le')), 'gzip', 'utf-16le'),
    seekable: false,
  },
])('$name', ({ file, seekable }) => {
  it('says whether it can be opened anywhere', () => expect(isSeekable(file)).toBe(seekable));

  it.each([
    [0, Infinity],
    [0, 1],
    [1, 65_536],
    [99_999, 100_000],
    [300_000, 400_001],
    [content.length - 1, Infinity],
    [content.length, Infinity],
    [content.length + 10, content.length + 20],
  ])('gives the bytes from %d to %d', async (start, end) => {
    expect((await read(openInput(file, access, start, end))).equals(content.subarray(start, end))).toBe(true);
    expect(openFiles()).toBe(0);
  });

  it('is read by bytes from anywhere, forward and backward', async () => {
    await withBytes(file, access, async (bytesAt) => {
      for (const [from, bytes] of [
        [0, 10],
        [0, 300_000],
        [5, 10],
        [299_990, 100_000],
        [content.length - 5, 10],
        [content.length + 5, 10],
        [100_000, 70_000],
      ] as const)
        expect((await bytesAt(from, bytes)).equals(content.subarray(from, from + bytes))).toBe(true);
    });
    expect(openFiles()).toBe(0);
  });

  it('is closed when nobody reads on', async () => {
    for await (const _ of openInput(file, access, 10)) break;
    expect(openFiles()).toBe(0);
  });
});

it('what comes before the beginning is not decoded for a reader that has left', async () => {
  const left = AbortSignal.abort(new Error('left'));
  const reading = read(openInput(zipped, accessWith({}, left), content.length - 1));
  await expect(reading).rejects.toThrow('left');
  expect(openFiles()).toBe(0);
});

it.each([
  {
    name: 'a gzip of zeros',
    bytes: gzipSync(Buffer.alloc(70_000_000)),
    declared: {},
    message: 'becomes more than 1000 times its size',
    hint: '{ maxRatio: … }',
  },
  {
    name: 'a file of more bytes than it may have',
    bytes: gzipSync(content),
    declared: { maxBytes: content.length - 1 },
    message: `becomes more than ${content.length - 1} bytes`,
    hint: '{ maxBytes: … }',
  },
])('$name is refused while it is decoded, and left', async ({ bytes, declared, message, hint }) => {
  const bomb = fileOf('bomb.csv.gz', bytes, 'gzip');
  const bounded = { declared: { ...access.declared, ...declared } };
  const error = await failureOf(read(openInput(bomb, bounded, 0)));
  expect(error).toMatchObject({ code: 'ETL_SOURCE_EXPANDS', details: { table: 't', file: 'bomb.csv.gz' } });
  expect(error.message).toContain(message);
  expect(error).toHaveProperty('hint', expect.stringContaining(hint));
  expect(openFiles()).toBe(0);
});

it('a damaged file is named, with the byte', async () => {
  const cut = fileOf('cut.csv.gz', gzipSync(content).subarray(0, 5000), 'gzip');
  expect(await failureOf(read(openInput(cut, access, 0)))).toMatchObject({
    code: 'ETL_SOURCE_CORRUPT',
    details: {
      table: 't',
      file: 'cut.csv.gz',
      byte: 5000,
      problem: 'it ends in the middle of its gzip data',
    },
  });
  expect(openFiles()).toBe(0);
});
