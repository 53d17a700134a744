// Decompresses a member of a zip archive, and checks its size and checksum.

import { crc32, createInflateRaw } from 'node:zlib';
import { readBytes } from '../../core/limits.ts';
import type { MemberPart } from '../../core/model.ts';
import { CorruptBytes } from './contract.ts';
import { throughZlib } from './through-zlib.ts';

export const stored = 0;
export const deflated = 8;

/** Returns zlib's buffer size. zlib allocates all of it, even for a few bytes, and needs 64. */
const chunkOf = ({ bytes }: MemberPart): number => Math.max(64, Math.min(bytes, readBytes));

const otherSize = ({ end }: MemberPart): CorruptBytes =>
  new CorruptBytes('its zip data has another size than its directory says', end);

export async function* contentOf(
  bytes: AsyncIterable<Buffer>,
  part: MemberPart,
): AsyncGenerator<Buffer, void> {
  const content =
    part.method === deflated
      ? throughZlib(bytes, createInflateRaw({ chunkSize: chunkOf(part) }), 'zip', part.start)
      : bytes;
  let [made, sum] = [0, 0];
  for await (const block of content) {
    made += block.length;
    if (made > part.bytes) throw otherSize(part);
    sum = crc32(block, sum);
    yield block;
  }
  if (made !== part.bytes) throw otherSize(part);
  if (sum !== part.crc32)
    throw new CorruptBytes('its zip data is broken (its content has another checksum)', part.end);
}
