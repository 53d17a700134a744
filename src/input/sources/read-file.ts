// Reads local files: their fingerprint, their first bytes, and byte ranges as a stream of blocks.

import { createHash } from 'node:crypto';
import { constants, type BigIntStats, type StatsBase } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { EtlError, codeOf, messageOf } from '../../core/errors/errors.ts';
import { fingerprintSampleBytes, readBytes } from '../../core/limits.ts';
import type { FileState, NamedFile } from './contract.ts';

const readFully = async (handle: FileHandle, buffer: Buffer, from: number): Promise<Buffer> => {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
};

/** What a path leads to, when it is no regular file. */
export const irregularKind = (stats: StatsBase<number | bigint>): string | undefined => {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
};

/** Opens a regular file. Another one may have taken its place since it was listed, and a pipe must not be waited for. */
const openRegular = async (path: string): Promise<FileHandle> => {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  const kind = irregularKind(await handle.stat());
  if (kind === undefined) return handle;
  await handle.close();
  throw Object.assign(new Error(`it is ${kind}, not a regular file`), {
    code: kind === 'a directory' ? 'EISDIR' : 'EINVAL',
  });
};

const withFile = async <T>(path: string, use: (handle: FileHandle) => Promise<T>): Promise<T> => {
  const handle = await openRegular(path);
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
};

/** Size and modification time in nanoseconds: the beginning of a fingerprint. */
export const versionIn = ({ size, mtimeNs }: Pick<BigIntStats, 'size' | 'mtimeNs'>): string =>
  `${size}:${mtimeNs}`;

const stateOf = async (handle: FileHandle): Promise<FileState & { readonly head: Buffer }> => {
  const stats = await handle.stat({ bigint: true });
  const bytes = Number(stats.size);
  const hash = createHash('sha256');
  const sampleBytes = Math.min(bytes, fingerprintSampleBytes);
  const first = await readFully(handle, Buffer.alloc(sampleBytes), 0);
  hash.update(first);
  hash.update(
    sampleBytes === bytes ? first : await readFully(handle, Buffer.alloc(sampleBytes), bytes - sampleBytes),
  );
  return { bytes, fingerprint: `${versionIn(stats)}:${hash.digest('hex')}`, head: first };
};

/**
 * Size, fingerprint and first bytes of a file, in constant time. The fingerprint is the size, the modification time in
 * nanoseconds, and the SHA-256 of its first and last 64 KiB. Throws Node's own errors.
 */
export const fileState = (path: string): ReturnType<typeof stateOf> => withFile(path, stateOf);

/** The system's refusal to open or read a file, as our error; anything else as it is. */
const unreadable = ({ table, name }: NamedFile, cause: unknown): unknown =>
  codeOf(cause) === undefined || cause instanceof EtlError
    ? cause
    : new EtlError('ETL_SOURCE_UNREADABLE', { table, file: name, problem: messageOf(cause) }, { cause });

/** One block is with the receiver, the rest of the one before it may be, and the next one is on its way. */
const blocksAtOnce = 3;

/**
 * Yields the bytes [start, end) of a file in blocks of at most `blockBytes`, and reads ahead by one. A block's memory is used
 * again: its bytes stay valid until the second block after it is requested. Fresh memory for each would cost as much as reading.
 * Ends early when the file is shorter than it was: the receiver compares what came with what was planned.
 * Errors: ETL_SOURCE_UNREADABLE.
 */
export async function* readRange(
  file: NamedFile,
  start: number,
  end: number,
  blockBytes = readBytes,
): AsyncGenerator<Buffer, void> {
  const fail = (cause: unknown): never => {
    throw unreadable(file, cause);
  };
  const handle = await openRegular(file.location).catch(fail);
  const memory: Buffer[] = [];
  let from = start;
  let turn = 0;
  const readNext = async (): Promise<Buffer> => {
    turn = (turn + 1) % blocksAtOnce;
    const room = (memory[turn] ??= Buffer.allocUnsafeSlow(Math.min(blockBytes, end - start)));
    const block = await readFully(handle, room.subarray(0, Math.min(blockBytes, end - from)), from);
    from += block.length;
    return block;
  };
  let reading = readNext();
  try {
    for (;;) {
      const block = await reading.catch(fail);
      if (block.length === 0) return;
      reading = readNext();
      // Reported when its turn comes, which may be never.
      reading.catch(() => undefined);
      yield block;
    }
  } finally {
    await reading.catch(() => undefined);
    await handle.close();
  }
}
