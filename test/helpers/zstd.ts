// Files in zstd: those of test/fixtures/zstd, and what a compressor writes that finds nothing to compress.

import { readFileSync } from 'node:fs';
import { createXxh64 } from './xxh64.ts';

/** A file of data/noaa in zstd. */
export const zstdFixture = (name: string): Buffer => readFileSync(`test/fixtures/zstd/${name}.zst`);

const blockBytesMax = 128 * 1024;

/** The content in one frame of blocks as they are, with a checksum (RFC 8878). */
export const zstdStored = (content: Buffer): Buffer => {
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x38])];
  for (let at = 0; at === 0 || at < content.length; at += blockBytesMax) {
    const block = content.subarray(at, at + blockBytesMax);
    const head = Buffer.alloc(3);
    head.writeUIntLE((block.length << 3) | (at + blockBytesMax >= content.length ? 1 : 0), 0, 3);
    parts.push(head, block);
  }
  const hash = createXxh64();
  hash.add(content);
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(Number(BigInt.asUintN(32, hash.digest())));
  return Buffer.concat([...parts, sum]);
};
