// Decompresses zstd (RFC 8878). Parses frames itself, because Node's createZstdDecompress stops
// after a frame, and ignores truncation before Node 24.

import * as zlib from 'node:zlib';
import { inLargeBlocks } from '../../core/large-blocks.ts';
import { readBytes } from '../../core/limits.ts';
import { queueBytes, type ByteQueue } from './byte-queue.ts';
import { CorruptBytes, type Decoding } from './contract.ts';
import { throughZlib, type Decompressor } from './through-zlib.ts';

const frameMagic = 0xfd2fb528;
const magicBytes = 4;

/** The last hexadecimal digit of a skippable frame's magic number may have any value. */
const isSkippable = (magic: number): boolean => magic >>> 4 === 0x184d2a5;

/** Largest window; the zstd program has the same limit without its option --long=28. */
const windowBytesMax = 128 * 1024 * 1024;

const blockBytesMax = 128 * 1024;

const checksumFlag = 0x04;
const checksumBytes = 4;

const broken = (problem: string, at: number): CorruptBytes =>
  new CorruptBytes(`its zstd data ${problem}`, at);

interface FrameHeader {
  readonly bytes: Buffer;
  readonly hasChecksum: boolean;
}

const dictionaryBytes = [0, 1, 2, 4] as const;
const contentBytes = [0, 2, 4, 8] as const;

const windowOf = (fields: Buffer, isSingle: boolean, sizeBytes: number): number => {
  if (!isSingle) {
    const [exponent, mantissa] = [fields[0]! >> 3, fields[0]! & 7];
    return 2 ** (10 + exponent) * (1 + mantissa / 8);
  }
  const size = fields.subarray(fields.length - sizeBytes);
  return sizeBytes === 8 ? Number(size.readBigUInt64LE()) : size.readUIntLE(0, sizeBytes);
};

const readFrameHeader = async (queue: ByteQueue, magic: Buffer): Promise<FrameHeader> => {
  const start = queue.at() - magicBytes;
  const descriptor = await queue.demand(1);
  const flags = descriptor[0]!;
  const isSingle = (flags & 0x20) !== 0;
  if ((flags & 0x08) !== 0) throw broken('is broken (a reserved bit is set)', start);
  const dictionary = dictionaryBytes[flags & 3]!;
  const size = flags >> 6 === 0 && isSingle ? 1 : contentBytes[flags >> 6]!;
  const fields = await queue.demand((isSingle ? 0 : 1) + dictionary + size);
  const own = isSingle ? 0 : 1;
  if (fields.subarray(own, own + dictionary).some((byte) => byte !== 0))
    throw broken('needs a dictionary; compress it without', start);
  if (windowOf(fields, isSingle, size) > windowBytesMax)
    throw broken('needs a window of more than 128 MiB; compress it without --long', start);
  return { bytes: Buffer.concat([magic, descriptor, fields]), hasChecksum: (flags & checksumFlag) !== 0 };
};

const repeatedByte = 1;
const reserved = 3;

async function* blocksOf(queue: ByteQueue, header: Buffer): AsyncGenerator<Buffer, void> {
  yield header;
  for (let isLast = false; !isLast;) {
    const start = queue.at();
    const head = await queue.demand(3);
    const code = head.readUIntLE(0, 3);
    isLast = (code & 1) === 1;
    const [kind, size] = [(code >> 1) & 3, code >> 3];
    if (kind === reserved || size > blockBytesMax) throw broken('is broken (no block begins here)', start);
    yield Buffer.concat([head, await queue.demand(kind === repeatedByte ? 1 : size)]);
  }
}

async function* decodeHere(queue: ByteQueue, header: FrameHeader): AsyncGenerator<Buffer, void> {
  // Imported only when needed: every process and thread loads this file, but few read zstd.
  const { openZstdFrame } = await import('./zstd-module.ts');
  let at = queue.at() - header.bytes.length;
  const frame = await openZstdFrame();
  const decodeBlock = (bytes: Buffer, problem = 'is broken'): Buffer => {
    const made = frame.decode(bytes);
    if (made === undefined) throw broken(problem, at);
    return Buffer.from(made.buffer, made.byteOffset, made.length);
  };
  try {
    for await (const block of blocksOf(queue, header.bytes)) {
      at = queue.at() - block.length;
      const piece = decodeBlock(block);
      if (piece.length > 0) yield piece;
    }
    if (header.hasChecksum)
      decodeBlock(await queue.demand(checksumBytes), 'is broken (its content has another checksum)');
    if (!frame.isEnded()) throw broken('is broken', at);
  } finally {
    frame.close();
  }
}

const blocksAtOnce = 16;

const bytesAtOnce = 256 * 1024;

type Options = { readonly chunkSize: number };
const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: Options) => Decompressor };

async function* decodeByNode(
  createDecompressor: NonNullable<typeof createZstdDecompress>,
  queue: ByteQueue,
  header: FrameHeader,
): AsyncGenerator<Buffer, void> {
  const start = queue.at() - header.bytes.length;
  async function* stored(): AsyncGenerator<Buffer, void> {
    let blocks: Buffer[] = [];
    let bytes = 0;
    for await (const block of blocksOf(queue, header.bytes)) {
      blocks.push(block);
      bytes += block.length;
      if (blocks.length < blocksAtOnce && bytes < bytesAtOnce) continue;
      yield Buffer.concat(blocks);
      [blocks, bytes] = [[], 0];
    }
    yield Buffer.concat(header.hasChecksum ? [...blocks, await queue.demand(checksumBytes)] : blocks);
  }
  yield* throughZlib(stored(), createDecompressor({ chunkSize: readBytes }), 'zstd', start);
}

const decodeFrame =
  createZstdDecompress === undefined ? decodeHere : decodeByNode.bind(undefined, createZstdDecompress);

const skipFrame = async (queue: ByteQueue): Promise<void> => {
  const size = (await queue.demand(4)).readUInt32LE();
  if (!(await queue.skip(size))) throw queue.cutOff();
};

async function* decodeFrames(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const stream = bytes[Symbol.asyncIterator]();
  const queue = queueBytes(stream, 'zstd');
  try {
    for (let isFirst = true; ; isFirst = false) {
      const start = queue.at();
      const magic = await queue.take(magicBytes);
      if (magic === undefined && queue.left() === 0) return;
      if (magic !== undefined && isSkippable(magic.readUInt32LE())) await skipFrame(queue);
      else if (magic?.readUInt32LE() === frameMagic)
        yield* decodeFrame(queue, await readFrameHeader(queue, magic));
      else if (isFirst) throw queue.cutOff();
      else throw new CorruptBytes('it has bytes after the end of its zstd data', start);
    }
  } finally {
    await stream.return?.();
  }
}

const magicOf = (head: Buffer): number => (head.length < magicBytes ? 0 : head.readUInt32LE());

export const zstd: Decoding = {
  name: 'zstd',
  matches: (head) => magicOf(head) === frameMagic || isSkippable(magicOf(head)),
  // Joins decoded blocks, which have at most 128 KiB, because later steps have a cost per block.
  decode: (bytes) => inLargeBlocks(decodeFrames(bytes), readBytes),
};
