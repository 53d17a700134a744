// Decompresses with a stream of node:zlib, and reports the offset of damaged data.

import { once } from 'node:events';
import { pipeline, Readable, type Transform } from 'node:stream';
import { codeOf, messageOf } from '../../core/errors/errors.ts';
import { CorruptBytes } from './contract.ts';

/** True for truncated data. zlib also has this code for small buffers, which do not occur here. */
const isCutOff = (error: unknown): boolean => codeOf(error) === 'Z_BUF_ERROR';

export type Decompressor = Transform & { readonly bytesWritten: number };

/**
 * Decompresses `bytes`, which begin at offset `start` of the file, up to the end of the compressed
 * data. Returns the bytes after that end that were read. zlib reads blocks late: their memory must
 * not be reused.
 */
export async function* untilEnd(
  bytes: AsyncIterable<Buffer>,
  decompressor: Decompressor,
  name: string,
  start: number,
): AsyncGenerator<Buffer, Buffer> {
  let given = 0;
  /** The blocks that zlib may not have read to their end. */
  const held: Buffer[] = [];
  let heldFrom = 0;
  let failure: { readonly error: unknown } | undefined;
  async function* watched(): AsyncGenerator<Buffer, void> {
    try {
      for await (const block of bytes) {
        while (held.length > 0 && heldFrom + held[0]!.length <= decompressor.bytesWritten)
          heldFrom += held.shift()!.length;
        held.push(block);
        given += block.length;
        yield block;
      }
    } catch (error) {
      failure = { error };
      throw error;
    }
  }
  const stored = Readable.from(watched(), { objectMode: true, highWaterMark: 1 });
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
  return Buffer.concat(held).subarray(decompressor.bytesWritten - heldFrom);
}

async function* copies(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  for await (const block of bytes) yield Buffer.from(block);
}

/** Decompresses all `bytes`, which begin at offset `start` of the file. */
export async function* throughZlib(
  bytes: AsyncIterable<Buffer>,
  decompressor: Decompressor,
  name: string,
  start = 0,
): AsyncGenerator<Buffer, void> {
  const after = yield* untilEnd(copies(bytes), decompressor, name, start);
  // zlib silently ignores bytes after its data, which may be rows.
  if (after.length > 0)
    throw new CorruptBytes(
      `it has bytes after the end of its ${name} data`,
      start + decompressor.bytesWritten,
    );
}
