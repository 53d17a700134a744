// gzip: one member or several, one after the other (RFC 1952).

import { once } from 'node:events';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { codeOf, messageOf } from '../errors.ts';
import { readBytes } from '../limits.ts';
import { CorruptBytes, type Decoding } from './contract.ts';

const magic = Buffer.from([0x1f, 0x8b]);

/** zlib says that the file is cut off by a code that it also uses for a buffer that is too small, which ours are not. */
const problemOf = (error: unknown): string =>
  codeOf(error) === 'Z_BUF_ERROR'
    ? 'it ends in the middle of its gzip data'
    : `its gzip data is broken (${messageOf(error)})`;

/** zlib's own: all others are of the source. */
const isOfZlib = (error: unknown): boolean => codeOf(error)?.startsWith('Z_') ?? false;

async function* decode(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let given = 0;
  // What is on its way into zlib outlives the block that it came in.
  async function* copies(): AsyncGenerator<Buffer, void> {
    for await (const block of bytes) {
      given += block.length;
      yield Buffer.from(block);
    }
  }
  const stored = Readable.from(copies(), { objectMode: true, highWaterMark: 1 });
  const gunzip = createGunzip({ chunkSize: readBytes });
  // What goes wrong on either side is thrown by reading.
  pipeline(stored, gunzip, () => undefined);
  try {
    for await (const piece of gunzip) yield piece as Buffer;
  } catch (cause) {
    throw isOfZlib(cause) ? new CorruptBytes(problemOf(cause), gunzip.bytesWritten, { cause }) : cause;
  } finally {
    // The file is closed when this is.
    if (!stored.closed) {
      stored.destroy();
      await once(stored, 'close').catch(() => undefined);
    }
    gunzip.destroy();
  }
  // zlib passes over what follows its data without a word: somebody's rows, or what is left of another file.
  if (gunzip.bytesWritten < given)
    throw new CorruptBytes('it has bytes after the end of its gzip data', gunzip.bytesWritten);
}

export const gzip: Decoding = {
  name: 'gzip',
  matches: (head) => head.subarray(0, magic.length).equals(magic),
  decode,
};
