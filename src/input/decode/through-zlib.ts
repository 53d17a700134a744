// Bytes through one of Node's decompressing streams: what is wrong with them has its byte, and nothing stays open.

import { once } from 'node:events';
import { pipeline, Readable, type Transform } from 'node:stream';
import { codeOf, messageOf } from '../../core/errors/errors.ts';
import { CorruptBytes } from './contract.ts';

/** Data that is cut off has a code that zlib also uses for a buffer that is too small, which ours are not. */
const isCutOff = (error: unknown): boolean => codeOf(error) === 'Z_BUF_ERROR';

/** A stream of node:zlib, which counts the bytes that it has used. */
export type Decompressor = Transform & { readonly bytesWritten: number };

/**
 * Gives what `decompressor` makes of the bytes. `name` is in messages; `start` is the byte of the file at which the bytes
 * begin. Errors: CorruptBytes; those of `bytes` as they are.
 */
export async function* throughZlib(
  bytes: AsyncIterable<Buffer>,
  decompressor: Decompressor,
  name: string,
  start = 0,
): AsyncGenerator<Buffer, void> {
  let given = 0;
  let failure: { readonly error: unknown } | undefined;
  // What is on its way into zlib outlives the block that it came in.
  async function* copies(): AsyncGenerator<Buffer, void> {
    try {
      for await (const block of bytes) {
        given += block.length;
        yield Buffer.from(block);
      }
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  const stored = Readable.from(copies(), { objectMode: true, highWaterMark: 1 });
  // What goes wrong on either side is thrown by reading.
  pipeline(stored, decompressor, () => undefined);
  try {
    for await (const piece of decompressor) yield piece as Buffer;
  } catch (cause) {
    if (failure !== undefined) throw failure.error;
    throw isCutOff(cause)
      ? new CorruptBytes(`it ends in the middle of its ${name} data`, start + given, { cause })
      : new CorruptBytes(
          `its ${name} data is broken (${messageOf(cause)})`,
          start + decompressor.bytesWritten,
          { cause },
        );
  } finally {
    // The file is closed when this is.
    if (!stored.closed) {
      stored.destroy();
      await once(stored, 'close').catch(() => undefined);
    }
    decompressor.destroy();
  }
  // zlib passes over what follows its data without a word: somebody's rows, or what is left of another file.
  const used = decompressor.bytesWritten;
  if (used < given) throw new CorruptBytes(`it has bytes after the end of its ${name} data`, start + used);
}
