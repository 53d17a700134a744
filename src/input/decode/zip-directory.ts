// Reads the directory at the end of a zip archive. Imported only for archives, because loading
// yauzl takes 28 ms.

import { callbackify } from 'node:util';
import yauzl from 'yauzl';
import type { MemberPart } from '../../core/model.ts';
import { UnreadableArchive, type ArchiveBytes, type Member } from './contract.ts';
import { deflated, stored } from './zip-content.ts';

/** Bytes per read. yauzl wants a few bytes at a time, and a read may be a network request. */
const windowBytes = 256 * 1024;

/** Copies the bytes, because the stream may reuse the memory of a piece. */
const collectBytes = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of stream) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
};

class DirectoryReader extends yauzl.RandomAccessReader {
  readonly #archive: ArchiveBytes;
  #window: { start: number; bytes: Buffer } = { start: 0, bytes: Buffer.alloc(0) };
  /** The original error of a failed read, because yauzl wraps it. */
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

const memberRefusal = (entry: yauzl.Entry): Member['refusal'] => {
  if (entry.isEncrypted())
    return { problem: 'is encrypted', hint: 'Unpack it with its password, and load the unpacked file.' };
  if (entry.compressionMethod !== stored && entry.compressionMethod !== deflated)
    return {
      problem: `is compressed by method ${entry.compressionMethod} of zip, and only deflate is supported`,
      hint: 'Pack it again, for example with `zip -r`.',
    };
  // The name goes into the ledger, and text in PostgreSQL cannot have a NUL.
  return entry.fileName.includes('\0')
    ? { problem: 'has a NUL in its name', hint: 'Pack it again under another name.' }
    : undefined;
};

const headerBytes = 30;
const headerMagic = 0x04034b50;

interface OrderedEntry {
  readonly entry: yauzl.Entry;
  readonly before: number;
}

const overlap = ({ fileName }: yauzl.Entry): UnreadableArchive =>
  new UnreadableArchive(`${fileName} overlaps the member after it, so that bytes would be read twice`);

/** Sorts members. Refuses overlaps, with which a small archive could expand without limit. */
const inOrder = (entries: readonly yauzl.Entry[], archiveBytes: number): readonly OrderedEntry[] => {
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

const locate = async (
  reader: DirectoryReader,
  { entry, before }: OrderedEntry,
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

export const membersOf = async (archive: ArchiveBytes): Promise<readonly Member[]> => {
  const reader = new DirectoryReader(archive);
  return inOrder(await entriesOf(reader, archive), archive.bytes)
    .filter(({ entry: { fileName } }) => !fileName.endsWith('/'))
    .map((one) => {
      const { fileName: name, compressedSize: bytes } = one.entry;
      const refusal = memberRefusal(one.entry);
      return {
        name,
        bytes,
        ...(refusal !== undefined && { refusal }),
        locate: () => locate(reader, one, archive.bytes),
      };
    });
};
