// The directory at the end of a zip archive, ZIP64 as well. It is loaded with the first archive: yauzl takes 28 ms of processor time.

import { callbackify } from 'node:util';
import yauzl from 'yauzl';
import type { MemberPart } from '../../core/model.ts';
import { collectBytes } from './collect-bytes.ts';
import { UnreadableArchive, type ArchiveBytes, type Member } from './contract.ts';
import { deflated, stored } from './zip-content.ts';

/** Read at once: yauzl asks for a few bytes at a time, and each may be a request to a server. */
const windowBytes = 256 * 1024;

/** Reads the directory for yauzl, and then the headers of members. */
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
        return (await this.bytesAt(position, length)).copy(buffer, offset);
      } catch (error) {
        this.failure = { error };
        throw error;
      }
    };
    callbackify(readInto)(callback);
  }

  /** Fewer bytes where the archive ends. */
  async bytesAt(position: number, length: number): Promise<Buffer> {
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
const entriesOf = (reader: DirectoryReader, archive: ArchiveBytes): Promise<readonly yauzl.Entry[]> =>
  new Promise((resolve, reject) => {
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

/** An entry, and the byte before which its member must end: the next member begins there. */
interface Placed {
  readonly entry: yauzl.Entry;
  readonly before: number;
}

const overlap = ({ fileName }: yauzl.Entry): UnreadableArchive =>
  new UnreadableArchive(`${fileName} overlaps the member after it, so that bytes would be read twice`);

/**
 * Places the entries in the order of their bytes. Members that share bytes multiply what a small archive expands to. Errors:
 * UnreadableArchive.
 */
const placed = (entries: readonly yauzl.Entry[], archiveBytes: number): readonly Placed[] => {
  const sorted = entries.toSorted(
    (one, other) => one.relativeOffsetOfLocalHeader - other.relativeOffsetOfLocalHeader,
  );
  return sorted.map((entry, index) => {
    const next = sorted[index + 1]?.relativeOffsetOfLocalHeader;
    const end = entry.relativeOffsetOfLocalHeader + headerBytes + entry.fileNameLength + entry.compressedSize;
    if (next !== undefined && end > next) throw overlap(entry);
    return { entry, before: next ?? archiveBytes };
  });
};

/** A member's own header says where its bytes begin. It must be the header of this member, and of no other one. */
const locate = async (
  reader: DirectoryReader,
  { entry, before }: Placed,
  archiveBytes: number,
): Promise<MemberPart> => {
  const { relativeOffsetOfLocalHeader: at, fileNameRaw, compressedSize, uncompressedSize: bytes } = entry;
  const header = await reader.bytesAt(at, headerBytes + fileNameRaw.length);
  if (header.length < headerBytes || header.readUInt32LE() !== headerMagic)
    throw new UnreadableArchive(`no member begins at byte ${at}, where its directory has ${entry.fileName}`);
  const nameBytes = header.readUInt16LE(26);
  if (nameBytes !== fileNameRaw.length || !header.subarray(headerBytes).equals(fileNameRaw))
    throw new UnreadableArchive(
      `the member at byte ${at} has another name than its directory has, ${entry.fileName}`,
    );
  const start = at + headerBytes + nameBytes + header.readUInt16LE(28);
  const end = start + compressedSize;
  if (end > archiveBytes) throw new UnreadableArchive(`it ends in the middle of ${entry.fileName}`);
  if (end > before) throw overlap(entry);
  return { start, end, archiveBytes, method: entry.compressionMethod, bytes, crc32: entry.crc32 };
};

/**
 * Its files, in the order of their bytes, without directories. Errors: UnreadableArchive, also for members that share bytes; those of
 * reading.
 */
export const membersOf = async (archive: ArchiveBytes): Promise<readonly Member[]> => {
  const reader = new DirectoryReader(archive);
  return placed(await entriesOf(reader, archive), archive.bytes)
    .filter(({ entry: { fileName } }) => !fileName.endsWith('/'))
    .map((one) => {
      const { fileName: name, compressedSize: bytes } = one.entry;
      const refusal = refusalOf(one.entry);
      return {
        name,
        bytes,
        ...(refusal !== undefined && { refusal }),
        locate: () => locate(reader, one, archive.bytes),
      };
    });
};
