// The directory at the end of a zip archive, ZIP64 as well. It is loaded with the first archive: yauzl takes 28 ms of processor time.

import { callbackify } from 'node:util';
import yauzl from 'yauzl';
import type { MemberPart } from '../model.ts';
import { collectBytes } from './collect-bytes.ts';
import { UnreadableArchive, type ArchiveBytes, type Member } from './contract.ts';
import { deflated, stored } from './zip-content.ts';

/** Read at once: yauzl asks for a few bytes at a time, and each may be a request to a server. */
const windowBytes = 256 * 1024;

/** What yauzl reads the directory through. */
class DirectoryReader extends yauzl.RandomAccessReader {
  readonly #archive: ArchiveBytes;
  #window: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };
  /** Why reading failed. */
  failure: { readonly error: unknown } | undefined;

  constructor(archive: ArchiveBytes) {
    super();
    this.#archive = archive;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytes?: number) => void,
  ): void {
    const readInto = async (): Promise<number> => {
      try {
        return (await this.#bytesAt(position, length)).copy(buffer, offset);
      } catch (error) {
        this.failure = { error };
        throw error;
      }
    };
    callbackify(readInto)(callback);
  }

  async #bytesAt(position: number, length: number): Promise<Buffer> {
    const { start, bytes } = this.#window;
    if (position < start || position + length > start + bytes.length) {
      const end = Math.min(position + Math.max(length, windowBytes), this.#archive.bytes);
      this.#window = { start: position, bytes: await collectBytes(this.#archive.read(position, end)) };
    }
    const from = position - this.#window.start;
    return this.#window.bytes.subarray(from, from + length);
  }
}

/** All entries of the directory. */
const entriesOf = (archive: ArchiveBytes): Promise<readonly yauzl.Entry[]> => {
  const reader = new DirectoryReader(archive);
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void =>
      reject(
        reader.failure === undefined ? new UnreadableArchive(error.message) : (reader.failure.error as Error),
      );
    yauzl.fromRandomAccessReader(reader, archive.bytes, { lazyEntries: true }, (error, directory) => {
      if (error !== null) return fail(error);
      const entries: yauzl.Entry[] = [];
      directory.on('error', fail);
      directory.on('end', () => resolve(entries));
      directory.on('entry', (entry: yauzl.Entry) => {
        entries.push(entry);
        directory.readEntry();
      });
      directory.readEntry();
    });
  });
};

const refusalOf = (entry: yauzl.Entry): Member['refusal'] => {
  if (entry.isEncrypted())
    return { problem: 'is encrypted', hint: 'Unpack it with its password, and load what it holds.' };
  if (entry.compressionMethod !== stored && entry.compressionMethod !== deflated)
    return {
      problem: `is compressed by method ${entry.compressionMethod} of zip, and only deflate is supported`,
      hint: 'Pack it again, such as with zip -r.',
    };
  // A name goes into the ledger, and PostgreSQL has no NUL.
  return entry.fileName.includes('\0')
    ? { problem: 'has a NUL in its name', hint: 'Pack it again under another name.' }
    : undefined;
};

const headerBytes = 30;
const headerMagic = 0x04034b50;

/** A member's own header says where its bytes begin. */
const locate = async (archive: ArchiveBytes, entry: yauzl.Entry): Promise<MemberPart> => {
  const { relativeOffsetOfLocalHeader: at, compressedSize, uncompressedSize: bytes } = entry;
  const header = await collectBytes(archive.read(at, at + headerBytes));
  if (header.length < headerBytes || header.readUInt32LE() !== headerMagic)
    throw new UnreadableArchive(`no member begins at byte ${at}, where its directory has ${entry.fileName}`);
  const start = at + headerBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
  const end = start + compressedSize;
  if (end > archive.bytes) throw new UnreadableArchive(`it ends in the middle of ${entry.fileName}`);
  return {
    start,
    end,
    archiveBytes: archive.bytes,
    method: entry.compressionMethod,
    bytes,
    crc32: entry.crc32,
  };
};

/** Its files, in its order, without directories. Errors: UnreadableArchive; those of reading. */
export const membersOf = async (archive: ArchiveBytes): Promise<readonly Member[]> =>
  (await entriesOf(archive))
    .filter(({ fileName }) => !fileName.endsWith('/'))
    .map((entry) => {
      const refusal = refusalOf(entry);
      return {
        name: entry.fileName,
        bytes: entry.compressedSize,
        ...(refusal !== undefined && { refusal }),
        locate: () => locate(archive, entry),
      };
    });
