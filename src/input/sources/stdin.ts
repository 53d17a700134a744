// Standard input as a source: what comes is kept in a file without a name as long as the process lives, and read from there.

import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, write as writeTo } from 'node:fs';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { codeOf, EtlError, messageOf } from '../../core/errors/errors.ts';
import type { Access, FileState, NamedFile, Source } from './contract.ts';
import { fileState, readRange } from './read-file.ts';

const location = '-';

/** Threads find the file by this: descriptors belong to the whole process. */
const descriptorKey = 'sluice: file of standard input';

/** How often the room is looked at, and how much of the file system is left to others: a twentieth, or this much. */
const roomCheckBytes = 64 * 1024 * 1024;
const roomLeftBytes = 1024 * 1024 * 1024;

const write = promisify(writeTo);

/** Opened and removed at once: the system frees its room when the process ends, however it ends. */
const openUnnamed = async (): Promise<number> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-stdin-'));
  try {
    return openSync(join(directory, 'stdin'), 'wx+', 0o600);
  } finally {
    await rm(directory, { recursive: true });
  }
};

const refuseFull = async (table: string): Promise<void> => {
  const { bavail, blocks, bsize } = await statfs(tmpdir());
  if (bavail * bsize > Math.min((blocks * bsize) / 20, roomLeftBytes)) return;
  throw new EtlError('ETL_STDIN_SPACE', { table, directory: tmpdir() });
};

const writeAll = async (fd: number, bytes: Buffer): Promise<void> => {
  for (let written = 0; written < bytes.length;)
    written += (await write(fd, bytes, written, bytes.length - written, null)).bytesWritten;
};

/** Writes whatever comes to the file, and gives its size. */
const fill = async (fd: number, hash: Hash, table: string): Promise<number> => {
  let bytes = 0;
  let checked = 0;
  for await (const piece of process.stdin) {
    const block = piece as Buffer;
    hash.update(block);
    await writeAll(fd, block);
    bytes += block.length;
    if (bytes - checked < roomCheckBytes) continue;
    await refuseFull(table);
    checked = bytes;
  }
  return bytes;
};

interface Kept extends FileState {
  readonly fd: number;
}

const keep = async ({ table, name }: NamedFile, { signal }: Access): Promise<Kept> => {
  if (isatty(0)) throw new EtlError('ETL_STDIN_TERMINAL', { table });
  const fd = await openUnnamed();
  const hash = createHash('sha256');
  try {
    if (signal !== undefined) addAbortSignal(signal, process.stdin);
    const bytes = await fill(fd, hash, table);
    setEnvironmentData(descriptorKey, fd);
    // The time of the file is that of the run; the content is the same when it is given again.
    return { fd, bytes, fingerprint: `${bytes}:${hash.digest('hex')}` };
  } catch (cause) {
    closeSync(fd);
    signal?.throwIfAborted();
    if (cause instanceof EtlError) throw cause;
    if (codeOf(cause) === 'ENOSPC')
      throw new EtlError('ETL_STDIN_SPACE', { table, directory: tmpdir() }, { cause });
    throw new EtlError('ETL_SOURCE_UNREADABLE', { table, file: name, problem: messageOf(cause) }, { cause });
  }
};

/** Standard input is there once: every run and table of this process gets what came. */
let kept: Promise<Kept> | undefined;

const pathOf = (fd: number): string => `/dev/fd/${fd}`;

const look: Source['look'] = async (file, access) => {
  const { fd, ...state } = await (kept ??= keep(file, access));
  const { head } = await fileState(pathOf(fd));
  return { ...state, head };
};

export const stdin: Source = {
  name: 'stdin',
  matches: (one) => one === location,
  problem: () => undefined,
  options: {},
  async *list() {
    yield { location, name: 'stdin' };
  },
  look,
  isSeekable: true,
  isShared: false,
  open: (file, _access, start, end, blockBytes) => {
    // There is one: other processes are refused before they load (src/run/prepare.ts).
    const fd = getEnvironmentData(descriptorKey) as number;
    return readRange({ ...file, location: pathOf(fd) }, start, end, blockBytes);
  },
};
