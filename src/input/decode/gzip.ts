// gzip: one or several gzip members in a row (RFC 1952), perhaps padded with zeros, as by tapes.
// Node's createGunzip does not say where the last member ends, so each member is inflated alone.

import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib';
import { readBytes } from '../../core/limits.ts';
import { queueBytes, type ByteQueue } from './byte-queue.ts';
import { CorruptBytes, type Decoding } from './contract.ts';
import { untilEnd } from './through-zlib.ts';

const magic = Buffer.from([0x1f, 0x8b]);
const deflateMethod = 8;
const flags = { headerChecksum: 0x02, extra: 0x04, name: 0x08, comment: 0x10, reserved: 0xe0 };

const broken = (problem: string, at: number): CorruptBytes =>
  new CorruptBytes(`its gzip data is broken (${problem})`, at);

const passText = async (queue: ByteQueue): Promise<void> => {
  while ((await queue.demand(1))[0] !== 0);
};

/** Takes the header of a member, after its magic number (RFC 1952, 2.3.1). */
const passHeader = async (queue: ByteQueue): Promise<void> => {
  const start = queue.at();
  const [method, given] = (await queue.demand(8)) as unknown as readonly [number, number];
  if (method !== deflateMethod) throw broken('unknown compression method', start);
  if ((given & flags.reserved) !== 0) throw broken('unknown header flags set', start + 1);
  if ((given & flags.extra) !== 0) await queue.demand((await queue.demand(2)).readUInt16LE());
  if ((given & flags.name) !== 0) await passText(queue);
  if ((given & flags.comment) !== 0) await passText(queue);
  if ((given & flags.headerChecksum) !== 0) await queue.demand(2);
};

/** Files of bgzip have members of at most 64 KiB, for which a stream costs more than the work. */
const smallBytesMax = 64 * 1024;

interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

/** Inflates a small member whose bytes are read already. Undefined for any other member. */
const inflateSmall = async (queue: ByteQueue): Promise<Buffer | undefined> => {
  const options = { info: true, maxOutputLength: smallBytesMax, chunkSize: smallBytesMax };
  try {
    const made = inflateRawSync(queue.peek().subarray(0, 2 * smallBytesMax), options) as unknown as Inflated;
    await queue.take(made.engine.bytesWritten);
    return made.buffer;
  } catch {
    // The stream begins at the same byte, and says what is wrong.
    return undefined;
  }
};

async function* blocksOf(queue: ByteQueue): AsyncGenerator<Buffer, void> {
  for (let block = await queue.takeBlock(); block !== undefined; block = await queue.takeBlock()) yield block;
}

async function* inflate(queue: ByteQueue): AsyncGenerator<Buffer, void> {
  const small = await inflateSmall(queue);
  if (small !== undefined) yield small;
  else {
    const decompressor = createInflateRaw({ chunkSize: readBytes });
    queue.giveBack(yield* untilEnd(blocksOf(queue), decompressor, 'gzip', queue.at()));
  }
}

async function* decodeMember(queue: ByteQueue): AsyncGenerator<Buffer, void> {
  await passHeader(queue);
  let [checksum, bytes] = [0, 0];
  for await (const piece of inflate(queue)) {
    checksum = crc32(piece, checksum);
    bytes += piece.length;
    if (piece.length > 0) yield piece;
  }
  const start = queue.at();
  const trailer = await queue.demand(8);
  if (trailer.readUInt32LE() !== checksum) throw broken('incorrect data check', start);
  if (trailer.readUInt32LE(4) !== bytes % 2 ** 32) throw broken('incorrect length check', start + 4);
}

/** Throws unless only zeros follow. */
const passPadding = async (queue: ByteQueue): Promise<void> => {
  for (let start = queue.at(); ; start = queue.at()) {
    const block = await queue.takeBlock();
    if (block === undefined) return;
    const other = block.findIndex((byte) => byte !== 0);
    if (other !== -1) throw new CorruptBytes('it has bytes after the end of its gzip data', start + other);
  }
};

async function* decodeMembers(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const stream = bytes[Symbol.asyncIterator]();
  const queue = queueBytes(stream, 'gzip');
  try {
    for (let isFirst = true; ; isFirst = false) {
      const start = await queue.take(magic.length);
      if (start?.equals(magic) === true) yield* decodeMember(queue);
      else if (isFirst) throw queue.cutOff();
      else {
        if (start !== undefined) queue.giveBack(start);
        return await passPadding(queue);
      }
    }
  } finally {
    await stream.return?.();
  }
}

export const gzip: Decoding = {
  name: 'gzip',
  matches: (head) => head.subarray(0, magic.length).equals(magic),
  decode: decodeMembers,
};
