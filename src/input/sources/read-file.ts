// Reads local files.

import { createHash } from 'node:crypto';
import { constants, type BigIntStats, type StatsBase } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { EtlError, codeOf, messageOf } from '../../core/errors/errors.ts';
import { blocksAtOnce } from '../../core/large-blocks.ts';
import { fingerprintSampleBytes, readBytes } from '../../core/limits.ts';
import type { Look, NamedFile } from './contract.ts';

const readFully = async (handle: FileHandle, buffer: Buffer, from: number): Promise<Buffer> => {
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await handle.read(buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
};

export const irregularKind = (stats: StatsBase<number | bigint>): string | undefined => {
  if (stats.isFile()) return undefined;
  if (stats.isDirectory()) return 'a directory';
  if (stats.isFIFO()) return 'a named pipe';
  return stats.isSocket() ? 'a socket' : 'a device';
};

/** Opens a regular file. A pipe that has replaced the file since the listing must not block. */
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

/** Joins texts to one piece of memory: V8 keeps the parts of a template, and a run may have 100,000 files. */
const inOne = (...texts: readonly (string | bigint)[]): string => texts.join(':');

export const versionIn = ({ size, mtimeNs }: Pick<BigIntStats, 'size' | 'mtimeNs'>): string =>
  inOne(size, mtimeNs);

const lookInto = async (handle: FileHandle): Promise<Look> => {
  const stats = await handle.stat({ bigint: true });
  const bytes = Number(stats.size);
  const hash = createHash('sha256');
  const sampleBytes = Math.min(bytes, fingerprintSampleBytes);
  const first = await readFully(handle, Buffer.alloc(sampleBytes), 0);
  hash.update(first);
  const end =
    sampleBytes === bytes ? first : await readFully(handle, Buffer.alloc(sampleBytes), bytes - sampleBytes);
  hash.update(end);
  const fingerprint = inOne(versionIn(stats), hash.digest('hex'));
  return { bytes, fingerprint, head: first, last: end.at(-1), touched: inOne(stats.ino, stats.ctimeNs) };
};

/** Takes constant time: the fingerprint has size, modification time, and hashes of both ends. */
export const lookAtFile = (path: string): Promise<Look> => withFile(path, lookInto);

const unreadable = ({ table, name }: NamedFile, cause: unknown): unknown =>
  codeOf(cause) === undefined || cause instanceof EtlError
    ? cause
    : new EtlError('ETL_SOURCE_UNREADABLE', { table, file: name, problem: messageOf(cause) }, { cause });

/**
 * Yields bytes of a file, and reads one block ahead. The memory of a block is reused when the
 * second block after it is requested. Ends early if the file has become shorter; the receiver
 * compares the sizes. Errors: ETL_SOURCE_UNREADABLE.
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
      // `await reading` throws the error of this read. Until then it must not count as unhandled.
      reading.catch(() => undefined);
      yield block;
    }
  } finally {
    await reading.catch(() => undefined);
    await handle.close();
  }
}
