// Decompresses with a stream of node:zlib, and reports the offset of damaged data.

import { once } from 'node:events';
import { pipeline, Readable, type Transform } from 'node:stream';
import { codeOf, messageOf } from '../../core/errors/errors.ts';
import { CorruptBytes } from './contract.ts';

/** True for truncated data. zlib also has this code for small buffers, which do not occur here. */
const isCutOff = (error: unknown): boolean => codeOf(error) === 'Z_BUF_ERROR';

export type Decompressor = Transform & { readonly bytesWritten: number };

/** Decompresses `bytes`, which begin at offset `start` of the file. */
export async function* throughZlib(
  bytes: AsyncIterable<Buffer>,
  decompressor: Decompressor,
  name: string,
  start = 0,
): AsyncGenerator<Buffer, void> {
  let given = 0;
  let failure: { readonly error: unknown } | undefined;
  // Copies blocks, because zlib may still read a block when later requests reuse its memory.
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
  // Errors of both streams are thrown when `decompressor` is read.
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
    if (!stored.closed) {
      stored.destroy();
      await once(stored, 'close').catch(() => undefined);
    }
    decompressor.destroy();
  }
  // zlib silently ignores bytes after its data, which may be rows.
  const used = decompressor.bytesWritten;
  if (used < given) throw new CorruptBytes(`it has bytes after the end of its ${name} data`, start + used);
}
