// Standard input as a source: its data is written to an unnamed file, and read from there.

import { createHash, randomUUID, type Hash } from 'node:crypto';
import { closeSync, openSync, rmSync, write as writeTo } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { isatty } from 'node:tty';
import { promisify } from 'node:util';
import { getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
import { codeOf, EtlError, messageOf } from '../../core/errors/errors.ts';
import type { Access, FileVersion, NamedFile, Source } from './contract.ts';
import { lookAtFile, readRange } from './read-file.ts';

const location = '-';

/** Threads find the file's path in Node's environment data under this key. */
const pathKey = 'sluice: file of standard input';

const spaceCheckBytes = 64 * 1024 * 1024;
/** Free space left for other programs: this much, or a twentieth of a small file system. */
const spaceLeftBytes = 1024 * 1024 * 1024;

const write = promisify(writeTo);

/** Opens a file and removes its name, so that its space is freed even if the process is killed. */
const openUnnamed = (): { readonly fd: number; readonly path: string } => {
  const path = join(tmpdir(), `sluice-stdin-${randomUUID()}`);
  const fd = openSync(path, 'wx+', 0o600);
  if (process.platform !== 'win32') {
    rmSync(path);
    return { fd, path: `/dev/fd/${fd}` };
  }
  // On Windows, no path leads to a descriptor's file, so the file keeps its name.
  process.once('exit', () => rmSync(path, { force: true }));
  return { fd, path };
};

const refuseFull = async (table: string): Promise<void> => {
  const { bavail, blocks, bsize } = await statfs(tmpdir());
  if (bavail * bsize > Math.min((blocks * bsize) / 20, spaceLeftBytes)) return;
  throw new EtlError('ETL_STDIN_SPACE', { table, directory: tmpdir() });
};

const writeAll = async (fd: number, bytes: Buffer): Promise<void> => {
  for (let written = 0; written < bytes.length;)
    written += (await write(fd, bytes, written, bytes.length - written, null)).bytesWritten;
};

const fill = async (fd: number, hash: Hash, table: string): Promise<number> => {
  let bytes = 0;
  let checked = 0;
  for await (const piece of process.stdin) {
    const block = piece as Buffer;
    hash.update(block);
    await writeAll(fd, block);
    bytes += block.length;
    if (bytes - checked < spaceCheckBytes) continue;
    await refuseFull(table);
    checked = bytes;
  }
  return bytes;
};

interface Kept extends FileVersion {
  readonly path: string;
}

const keep = async ({ table, name }: NamedFile, { signal }: Access): Promise<Kept> => {
  if (isatty(0)) throw new EtlError('ETL_STDIN_TERMINAL', { table });
  const { fd, path } = openUnnamed();
  const hash = createHash('sha256');
  try {
    if (signal !== undefined) addAbortSignal(signal, process.stdin);
    const bytes = await fill(fd, hash, table);
    setEnvironmentData(pathKey, path);
    // The fingerprint has no time: the same data, piped again, must have the same fingerprint.
    return { path, bytes, fingerprint: `${bytes}:${hash.digest('hex')}` };
  } catch (cause) {
    closeSync(fd);
    signal?.throwIfAborted();
    if (cause instanceof EtlError) throw cause;
    if (codeOf(cause) === 'ENOSPC')
      throw new EtlError('ETL_STDIN_SPACE', { table, directory: tmpdir() }, { cause });
    throw new EtlError('ETL_SOURCE_UNREADABLE', { table, file: name, problem: messageOf(cause) }, { cause });
  }
};

/** Standard input can be read once, so all runs and tables of a process share the file. */
let kept: Promise<Kept> | undefined;

const look: Source['look'] = async (file, access) => {
  const { path, ...version } = await (kept ??= keep(file, access));
  const { head } = await lookAtFile(path);
  return { ...version, head };
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
  isNameless: true,
  isSeekable: true,
  isShared: false,
  open: (file, _access, start, end, blockBytes) => {
    // Never undefined: src/run/prepare.ts refuses standard input in other processes.
    const path = getEnvironmentData(pathKey) as string;
    return readRange({ ...file, location: path }, start, end, blockBytes);
  },
};
