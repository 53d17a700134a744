// Opens a file: reads, decompresses and converts its bytes to UTF-8. The ledger counts the result.

import { exceededBound } from './decode/bounds.ts';
import { CorruptBytes } from './decode/contract.ts';
import type { EncodingName } from './encodings/labels.ts';
import { transcoded } from './encodings/registry.ts';
import { containerNamed, decodingNamed } from './decode/registry.ts';
import { EtlError } from '../core/errors/errors.ts';
import { toLineEnd, withoutLastLines, type TrailerProblem } from './last-lines.ts';
import type { SourceFile } from '../core/model.ts';
import type { ReadBytes } from '../core/read-bytes.ts';
import type { Access } from './sources/contract.ts';
import { plural } from '../core/wording.ts';
import { sourceNamed } from './sources/registry.ts';

export type InputFile = Partial<Pick<SourceFile, 'lineEnd'>> &
  Pick<
    SourceFile,
    'table' | 'source' | 'location' | 'name' | 'decoding' | 'encoding' | 'part' | 'bytes' | 'fingerprint'
  > & {
    /** The first bytes, if `look` of the source has just read them. */
    readonly head?: Buffer;
  };

/** Reading can start at any byte of a seekable file. Other files are streams. */
export const isSeekable = ({
  source,
  decoding,
  encoding,
}: Pick<InputFile, 'source' | 'decoding' | 'encoding'>): boolean =>
  decoding === null && encoding === 'utf-8' && sourceNamed(source).isSeekable;

export interface Meter {
  stored: number;
  /** Counted after decompression and conversion to UTF-8. */
  decoded: number;
}

/** Yields bytes of the stored file. Bytes in `head`, often all bytes, are not read again. */
async function* storedBytes(
  file: InputFile,
  access: Access,
  start: number,
  end: number,
  blockBytes?: number,
): AsyncGenerator<Buffer, void> {
  const known = file.head?.subarray(start, end) ?? Buffer.alloc(0);
  if (known.length > 0) yield known;
  const next = start + known.length;
  if (known.length > 0 && (next >= end || next === file.bytes)) return;
  yield* sourceNamed(file.source).open(file, access, next, end, blockBytes);
}

async function* metered(
  bytes: AsyncIterable<Buffer>,
  meter: Meter,
  { signal }: Access,
): AsyncGenerator<Buffer, void> {
  for await (const block of bytes) {
    signal?.throwIfAborted();
    meter.stored += block.length;
    yield block;
  }
}

async function* bounded(
  bytes: AsyncIterable<Buffer>,
  { table, name }: InputFile,
  { declared }: Access,
  meter: Meter,
): AsyncGenerator<Buffer, void> {
  let made = 0;
  for await (const block of bytes) {
    made += block.length;
    const exceeded = exceededBound(meter.stored, made, declared);
    if (exceeded !== undefined) throw new EtlError('ETL_SOURCE_EXPANDS', { table, file: name, ...exceeded });
    yield block;
  }
}

const decompressed = (
  file: InputFile,
  decoding: string,
  access: Access,
  meter: Meter,
): AsyncIterable<Buffer> => {
  const { part } = file;
  if (part === null)
    return decodingNamed(decoding).decode(metered(storedBytes(file, access, 0, Infinity), meter, access));
  const archive = { ...file, bytes: part.archiveBytes };
  const stored = storedBytes(archive, access, part.start, part.end);
  return containerNamed(decoding).decode(metered(stored, meter, access), part);
};

const decodedBytes = (file: InputFile, access: Access, meter: Meter): AsyncIterable<Buffer> => {
  const { decoding, encoding } = file;
  const bytes =
    decoding === null
      ? metered(storedBytes(file, access, 0, Infinity), meter, access)
      : bounded(decompressed(file, decoding, access, meter), file, access, meter);
  return encoding === 'utf-8' ? bytes : transcoded(bytes, encoding as Exclude<EncodingName, 'utf-8'>);
};

async function* decoded(
  file: InputFile,
  access: Access,
  start: number,
  end: number,
  meter: Meter,
): AsyncGenerator<Buffer, void> {
  try {
    for await (const block of decodedBytes(file, access, meter)) {
      const from = meter.decoded;
      meter.decoded += block.length;
      if (meter.decoded > start) yield block.subarray(Math.max(0, start - from), end - from);
      if (meter.decoded >= end) return;
    }
  } catch (cause) {
    if (!(cause instanceof CorruptBytes)) throw cause;
    const details = { table: file.table, file: file.name, byte: cause.byte, problem: cause.message };
    throw new EtlError('ETL_SOURCE_CORRUPT', details, { cause });
  }
}

/**
 * Yields the bytes [start, end) as UTF-8. A stream is decoded from its beginning. If `end` is the
 * end of a stream whose line end is known, the last `skipEnd` lines are left out.
 *
 * Errors: ETL_FILE_NOT_READY, ETL_SOURCE_TRAILER, ETL_SOURCE_CORRUPT, ETL_SOURCE_EXPANDS, those of the file's source.
 */
export const openInput = (
  file: InputFile,
  access: Access,
  start: number,
  end: number = Infinity,
  {
    blockBytes,
    meter = { stored: 0, decoded: 0 },
  }: { readonly blockBytes?: number; readonly meter?: Meter } = {},
): AsyncIterable<Buffer> => {
  const bytes =
    file.decoding === null && file.encoding === 'utf-8'
      ? storedBytes(file, access, start, end, blockBytes)
      : decoded(file, access, start, end, meter);
  const { skipEnd, arrival } = access.declared;
  if (file.lineEnd === undefined || end !== Infinity || isSeekable(file)) return bytes;
  if (skipEnd === 0) return arrival.lastLine === 'any' ? bytes : toLineEnd(bytes, () => cutOff(file));
  return withoutLastLines(bytes, skipEnd, file.lineEnd, trailerError(file, skipEnd));
};

export const cutOff = ({ table, name }: Pick<InputFile, 'table' | 'name'>): EtlError =>
  new EtlError('ETL_FILE_NOT_READY', {
    table,
    file: name,
    problem: 'ends without a line end',
    hint: "If the file is complete, remove lastLine: 'complete'.",
  });

export const trailerError =
  ({ table, name }: Pick<InputFile, 'table' | 'name'>, lines: number) =>
  (problem: TrailerProblem): EtlError =>
    new EtlError('ETL_SOURCE_TRAILER', {
      table,
      file: name,
      lines: plural(lines, 'line'),
      problem:
        problem === 'missing' ? 'has fewer lines after its header' : 'has no line end in its last megabytes',
    });

const headBlockBytes = 64 * 1024;

/**
 * Calls `use` with a function that reads bytes at an offset. Only an offset before the previous
 * offset opens the file again. Memory: one read, one block.
 */
export const withBytes = async <T>(
  file: InputFile,
  access: Access,
  use: (read: ReadBytes) => Promise<T>,
): Promise<T> => {
  let blocks: AsyncIterator<Buffer> | undefined;
  let window = { from: 0, bytes: Buffer.alloc(0), isLast: false };
  const close = async (): Promise<void> => void (await blocks?.return?.());
  const read: ReadBytes = async (from, bytes) => {
    if (blocks === undefined || from < window.from) {
      await close();
      blocks = openInput(file, access, from, Infinity, { blockBytes: headBlockBytes })[
        Symbol.asyncIterator
      ]();
      window = { from, bytes: Buffer.alloc(0), isLast: false };
    }
    // The memory of a block is reused, so the kept bytes are copied.
    const pieces = [window.bytes.subarray(from - window.from)];
    let length = pieces[0]!.length;
    let skip = Math.max(0, from - window.from - window.bytes.length);
    while (length < bytes && !window.isLast) {
      const next = await blocks.next();
      window.isLast = next.done === true;
      const block: Buffer = next.done === true ? Buffer.alloc(0) : next.value;
      const piece = block.subarray(skip);
      skip = Math.max(0, skip - block.length);
      pieces.push(Buffer.from(piece));
      length += piece.length;
    }
    window = { from, bytes: pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), isLast: window.isLast };
    return window.bytes.subarray(0, bytes);
  };
  try {
    return await use(read);
  } finally {
    await close();
  }
};
