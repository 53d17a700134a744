// Cases for every decoding: pieces of any size, offsets of damage, and a closed source.

import { readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CorruptBytes, type Decoding } from '../../../../src/input/decode/contract.ts';
import {
  decodingNamed,
  decodingOf,
  decodingOfFile,
  decodings,
} from '../../../../src/input/decode/registry.ts';
import { zstdFixture, zstdStored } from '../../../helpers/zstd.ts';

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** Compresses a content, by decoding. */
const encoders: Readonly<Record<string, (content: Buffer) => Buffer>> = {
  gzip: (content) => gzipSync(content),
  zstd: zstdStored,
  brotli: (content) => brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
};

/** Decodings without a checksum: damage may go unnoticed. */
const unchecked = new Set(['brotli']);

const content = Buffer.from(Array.from({ length: 40_000 }, (_, line) => `${line},${line * line}\n`).join(''));

const source = (bytes: Buffer, pieceBytes: number) => {
  const state = { isClosed: false, given: 0 };
  async function* pieces(): AsyncGenerator<Buffer, void> {
    try {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
        state.given += piece.length;
        yield piece;
        // Overwrites the piece, as a source does that reuses its memory.
        piece.fill(0xff);
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { state, pieces };
};

const decodedBy = async ({ decode }: Decoding, bytes: Buffer, pieceBytes = 1000): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  let last: Buffer = Buffer.alloc(0);
  for await (const piece of decode(source(bytes, pieceBytes).pieces())) {
    // Copied late: a piece must stay valid until the second piece after it is requested.
    pieces.push(Buffer.from(last));
    last = piece;
  }
  return Buffer.concat([...pieces, last]);
};

describe.each(decodings)('$name', (decoding) => {
  const { name, decode, extension } = decoding;
  const encoded = encoders[name]!(content);
  const decodeAll = (bytes: Buffer, pieceBytes?: number): Promise<Buffer> =>
    decodedBy(decoding, bytes, pieceBytes);

  it('is known by its first bytes or its name, and a CSV file is not of it', () => {
    expect(decodingOfFile(encoded, `a.csv${extension ?? ''}`)?.name).toBe(name);
    expect(decodingOf(content)).toBeUndefined();
    expect(decodingOf(encoded.subarray(0, 1))).toBeUndefined();
    expect(decodingOf(Buffer.alloc(0))).toBeUndefined();
  });

  it.each([1, 7, 1000, 1e6])('gives the bytes that were encoded, in pieces of %i', async (pieceBytes) => {
    const expected = content.subarray(0, 1000 * pieceBytes);
    expect((await decodeAll(encoders[name]!(expected), pieceBytes)).equals(expected)).toBe(true);
  });

  it('an empty file has no bytes', async () =>
    expect(await decodeAll(encoders[name]!(Buffer.alloc(0)))).toEqual(Buffer.alloc(0)));

  it('a file that is cut off anywhere is damaged, at its end', async () => {
    const short = encoders[name]!(content.subarray(0, 200));
    for (let bytes = 1; bytes < short.length; bytes += 1) {
      const error = await failureOf(decodeAll(short.subarray(0, bytes), 50));
      expect(error).toMatchObject({ byte: bytes, message: `it ends in the middle of its ${name} data` });
    }
    for (const share of [0.1, 0.5, 0.9, 0.999]) {
      const bytes = Math.floor(encoded.length * share);
      expect(await failureOf(decodeAll(encoded.subarray(0, bytes)))).toMatchObject({ byte: bytes });
    }
  });

  it('a byte that was changed is found where the content has a checksum', async () => {
    const part = content.subarray(0, 200);
    for (let at = 0, short = encoders[name]!(part); at < short.length; at += 1) {
      const damaged = Buffer.from(short);
      damaged[at]! ^= 0x55;
      const outcome = await decodeAll(damaged, 50).catch((error: unknown) => error);
      const isRight = Buffer.isBuffer(outcome) && (unchecked.has(name) || outcome.equals(part));
      expect(isRight || outcome instanceof CorruptBytes).toBe(true);
    }
    if (unchecked.has(name)) return;
    const damaged = Buffer.from(encoded);
    damaged[encoded.length >> 1]! ^= 0x55;
    expect(await failureOf(decodeAll(damaged))).toBeInstanceOf(CorruptBytes);
  });

  it.each([1000, 1e6])('bytes after the end are damage there, in pieces of %i', async (pieceBytes) => {
    const longer = Buffer.concat([encoded, Buffer.from('1,2\n')]);
    const problem = `it has bytes after the end of its ${name} data`;
    const error = await failureOf(decodeAll(longer, pieceBytes));
    expect(error).toMatchObject({ byte: encoded.length, message: problem });
  });

  it('reads no further than it is asked, and closes its source', async () => {
    const { state, pieces } = source(encoders[name]!(Buffer.concat(Array(8).fill(content))), 1000);
    for await (const _ of decode(pieces())) break;
    expect(state.isClosed).toBe(true);
    expect(state.given).toBeLessThan(encoded.length * 5);
  });

  it('an error of the source is given as it is', async () => {
    const broken = Object.assign(new Error('gone'), { code: 'EIO' });
    async function* failing(): AsyncGenerator<Buffer, void> {
      yield encoded.subarray(0, 100);
      throw broken;
    }
    const reading = (async () => {
      for await (const _ of decode(failing()));
    })();
    expect(await failureOf(reading)).toBe(broken);
  });
});

it('gzip: files that were joined are one', async () => {
  const joined = Buffer.concat([gzipSync('a,b\n'), gzipSync('1,2\n'), gzipSync('')]);
  expect(String(await decodedBy(decodingOf(joined)!, joined, 5))).toBe('a,b\n1,2\n');
});

describe('gzip', () => {
  const gzip = decodingNamed('gzip');
  // The first part is longer than what is inflated at once.
  const parts = [content.subarray(0, 70_000), Buffer.alloc(0), Buffer.from('1,2\n')];
  const members = Buffer.concat([...parts, ...parts].map((part) => gzipSync(part)));
  const expected = Buffer.concat([...parts, ...parts]);
  const zeros = Buffer.alloc(600);

  it.each([7, 1000, 1e6])('is padded with zeros or not, in pieces of %i', async (pieceBytes) => {
    for (const padded of [
      members,
      Buffer.concat([members, Buffer.alloc(1)]),
      Buffer.concat([members, zeros]),
    ])
      expect((await decodedBy(gzip, padded, pieceBytes)).equals(expected)).toBe(true);
  });

  it.each([7, 1000, 1e6])('ends where other bytes begin, in pieces of %i', async (pieceBytes) => {
    for (const after of ['g', 'garbage', '\x1f', '\x1f\x8c\x08\0\0\0\0\0\0\0']) {
      const byte = members.length;
      const error = await failureOf(
        decodedBy(gzip, Buffer.concat([members, Buffer.from(after, 'latin1')]), pieceBytes),
      );
      expect(error).toMatchObject({ byte, message: 'it has bytes after the end of its gzip data' });
      const later = await failureOf(
        decodedBy(gzip, Buffer.concat([members, zeros, Buffer.from('1,2')]), pieceBytes),
      );
      expect(later).toMatchObject({ byte: byte + zeros.length });
    }
  });

  it('may have every part of a header that its specification has', async () => {
    const [bare, flags] = [gzipSync('1,2\n'), 0x02 | 0x04 | 0x08 | 0x10];
    const optional = Buffer.from('\x03\0abcname.csv\0a comment\0##', 'latin1');
    const full = Buffer.concat([
      bare.subarray(0, 3),
      Buffer.of(flags),
      bare.subarray(4, 10),
      optional,
      bare.subarray(10),
    ]);
    expect((await decodedBy(gzip, Buffer.concat([full, full]), 1)).equals(Buffer.from('1,2\n1,2\n'))).toBe(
      true,
    );
  });

  it.each([
    ['a checksum that is wrong', -8, 'incorrect data check'],
    ['a length that is wrong', -4, 'incorrect length check'],
    ['a method that does not exist', 2, 'unknown compression method'],
  ])('is damaged by %s', async (_, at, problem) => {
    for (const part of [content, Buffer.from('1,2\n')]) {
      const damaged = Buffer.concat([members, gzipSync(part)]);
      const byte = at < 0 ? damaged.length + at : members.length + at;
      damaged[byte]! ^= 1;
      const error = await failureOf(decodedBy(gzip, damaged));
      expect(error).toMatchObject({ byte, message: `its gzip data is broken (${problem})` });
    }
  });
});

it('what first bytes tell goes before a name, and an empty file is not encoded', () => {
  expect(decodingOfFile(gzipSync('a'), 'a.csv.br')?.name).toBe('gzip');
  expect(decodingOfFile(Buffer.from('a,b\n'), 'a.CSV.BR')?.name).toBe('brotli');
  expect(decodingOfFile(Buffer.from('a,b\n'), 'a.csv.gz')).toBeUndefined();
  expect(decodingOfFile(Buffer.alloc(0), 'a.csv.br')).toBeUndefined();
});

describe('zstd, as its own program writes it', () => {
  const zstd = decodingNamed('zstd');
  const names = readdirSync('test/fixtures/zstd').filter((name) => name.endsWith('.zst'));

  it.each(names)('%s', async (name) => {
    const expected = readFileSync(`data/noaa/${name.slice(0, -'.zst'.length)}`);
    const bytes = readFileSync(`test/fixtures/zstd/${name}`);
    for (const pieceBytes of [7, 1000, 1e6])
      expect((await decodedBy(zstd, bytes, pieceBytes)).equals(expected)).toBe(true);
  });

  const frame = zstdFixture('201101hourly.txt');
  const frames = zstdFixture('201104hourly.txt');

  it('is the content of all frames that follow each other, in blocks whose memory is used again', async () => {
    const expected = Buffer.concat(Array(40).fill(readFileSync('data/noaa/201101hourly.txt')));
    expect((await decodedBy(zstd, Buffer.concat(Array(40).fill(frame)), 10_000)).equals(expected)).toBe(true);
  });

  it('may want more memory than there is: a window of 64 MiB, and many frames at once', async () => {
    const expected = readFileSync('data/noaa/201101hourly.txt');
    const wide = zstdStored(expected);
    // The window descriptor for 2^(10 + 16) bytes.
    wide[5] = 16 << 3;
    expect((await decodedBy(zstd, wide)).equals(expected)).toBe(true);
    const all = await Promise.all(Array.from({ length: 60 }, () => decodedBy(zstd, frame, 10_000)));
    expect(all.every((bytes) => bytes.equals(expected))).toBe(true);
  });

  it('is damaged where it is cut off, in any frame', async () => {
    const bytesOfSkippable = 13;
    for (let bytes = 1; bytes < frames.length; bytes += bytes < 40 ? 1 : 997) {
      if (bytes === bytesOfSkippable) continue;
      const error = await failureOf(decodedBy(zstd, frames.subarray(0, bytes)));
      expect(error).toBeInstanceOf(CorruptBytes);
      const { byte, message } = error as CorruptBytes;
      // Up to three bytes after a frame are too few to be recognized as a frame.
      const isBetween = bytes - bytesOfSkippable < 4 && bytes > bytesOfSkippable;
      expect([byte, message]).toEqual(
        isBetween
          ? [bytesOfSkippable, 'it has bytes after the end of its zstd data']
          : [bytes, 'it ends in the middle of its zstd data'],
      );
    }
  });

  it('is damaged where a byte was changed', async () => {
    const expected = readFileSync('data/noaa/201101hourly.txt');
    for (let at = 4; at < frame.length; at += at < 20 ? 1 : 499) {
      const damaged = Buffer.from(frame);
      damaged[at]! ^= 0x55;
      const outcome = await decodedBy(zstd, damaged).catch((error: unknown) => error);
      expect(outcome instanceof CorruptBytes || expected.equals(outcome as Buffer)).toBe(true);
    }
  });

  const header = (...bytes: readonly number[]): Buffer => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, ...bytes]);
  it.each([
    ['needs a dictionary', header(0x01, 0x38, 7, 1, 0, 0), 'needs a dictionary'],
    ['needs 2 GiB of memory', header(0x00, 0xa8, 1, 0, 0), 'more than 128 MiB'],
    ['claims 2 TiB in one piece', header(0xe0, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0), 'more than 128 MiB'],
    ['has a reserved bit', header(0x08, 0x38, 1, 0, 0), 'a reserved bit is set'],
    ['has a reserved block', header(0, 0x38, 0x07, 0, 0), 'no block begins here'],
    ['has a block that is too long', header(0, 0x38, 1, 0, 0xff), 'no block begins'],
  ])('is refused when it %s', async (_, bytes, problem) => {
    const error = await failureOf(decodedBy(zstd, Buffer.concat([bytes, Buffer.alloc(20)])));
    expect(error).toBeInstanceOf(CorruptBytes);
    expect((error as CorruptBytes).message).toContain(problem);
  });
});
