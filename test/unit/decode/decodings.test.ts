// What every decoding keeps: its bytes in any pieces, damage with its place, and a source that is closed.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CorruptBytes } from '../../../src/decode/contract.ts';
import { decodingOf, decodings } from '../../../src/decode/registry.ts';

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

/** How a text is encoded; a row for each decoding. */
const encoders: Readonly<Record<string, (content: Buffer) => Buffer>> = { gzip: gzipSync };

const content = Buffer.from(Array.from({ length: 40_000 }, (_, line) => `${line},${line * line}\n`).join(''));

const source = (bytes: Buffer, pieceBytes: number) => {
  const state = { isClosed: false, given: 0 };
  async function* pieces(): AsyncGenerator<Buffer, void> {
    try {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
        state.given += piece.length;
        yield piece;
        // As a source does that uses its memory again.
        piece.fill(0xff);
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { state, pieces };
};

describe.each(decodings)('$name', ({ name, matches, decode }) => {
  const encoded = encoders[name]!(content);
  const decodeAll = async (bytes: Buffer, pieceBytes = 1000): Promise<Buffer> => {
    const pieces = [];
    for await (const piece of decode(source(bytes, pieceBytes).pieces())) pieces.push(piece);
    return Buffer.concat(pieces);
  };

  it('is known by its first bytes, and a CSV file is not of it', () => {
    expect(matches(encoded)).toBe(true);
    expect(decodingOf(encoded)?.name).toBe(name);
    expect(decodingOf(content)).toBeUndefined();
    expect(decodingOf(encoded.subarray(0, 1))).toBeUndefined();
    expect(decodingOf(Buffer.alloc(0))).toBeUndefined();
  });

  it.each([1, 7, 1000, 1e6])('gives the bytes that were encoded, in pieces of %i', async (pieceBytes) => {
    const expected = pieceBytes === 1 ? content.subarray(0, 999) : content;
    expect((await decodeAll(encoders[name]!(expected), pieceBytes)).equals(expected)).toBe(true);
  });

  it('an empty file has no bytes', async () => {
    expect(await decodeAll(encoders[name]!(Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
  });

  it.each([0.1, 0.5, 0.9, 0.999])(
    'a file that is cut off after %d of its bytes is damaged',
    async (share) => {
      const error = await failureOf(decodeAll(encoded.subarray(0, Math.floor(encoded.length * share))));
      expect(error).toBeInstanceOf(CorruptBytes);
      expect((error as CorruptBytes).byte).toBeLessThanOrEqual(encoded.length);
    },
  );

  it('a byte that was changed is found', async () => {
    const damaged = Buffer.from(encoded);
    damaged[encoded.length >> 1]! ^= 0x55;
    expect(await failureOf(decodeAll(damaged))).toBeInstanceOf(CorruptBytes);
  });

  it('bytes after the end are damage, not passed over', async () => {
    const error = await failureOf(decodeAll(Buffer.concat([encoded, Buffer.from('1,2\n')])));
    expect(error).toBeInstanceOf(CorruptBytes);
    expect((error as CorruptBytes).byte).toBeGreaterThan(encoded.length - 2_000);
  });

  it('reads no further than it is asked, and closes its source', async () => {
    const { state, pieces } = source(encoders[name]!(Buffer.concat(Array(20).fill(content))), 1000);
    for await (const _ of decode(pieces())) break;
    expect(state.isClosed).toBe(true);
    expect(state.given).toBeLessThan(encoded.length * 10);
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
  const pieces = [];
  const joined = Buffer.concat([gzipSync('a,b\n'), gzipSync('1,2\n'), gzipSync('')]);
  for await (const piece of decodingOf(joined)!.decode(source(joined, 5).pieces())) pieces.push(piece);
  expect(Buffer.concat(pieces).toString()).toBe('a,b\n1,2\n');
});
