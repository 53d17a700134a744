// What a member of a zip archive holds: its bytes as they are stored, or deflated.

import { crc32, createInflateRaw } from 'node:zlib';
import { readBytes } from '../limits.ts';
import type { MemberPart } from '../model.ts';
import { CorruptBytes } from './contract.ts';
import { throughZlib } from './through-zlib.ts';

/** Numbers of the methods of compression that are supported. */
export const stored = 0;
export const deflated = 8;

/** Checks size and checksum. Errors: CorruptBytes. */
export async function* contentOf(
  bytes: AsyncIterable<Buffer>,
  part: MemberPart,
): AsyncGenerator<Buffer, void> {
  const content =
    part.method === deflated
      ? throughZlib(bytes, createInflateRaw({ chunkSize: readBytes }), 'zip', part.start)
      : bytes;
  let [made, sum] = [0, 0];
  for await (const block of content) {
    made += block.length;
    sum = crc32(block, sum);
    yield block;
  }
  if (made !== part.bytes)
    throw new CorruptBytes('its zip data has another size than its directory says', part.end);
  if (sum !== part.crc32)
    throw new CorruptBytes('its zip data is broken (its content has another checksum)', part.end);
}
