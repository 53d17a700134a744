// All encodings. To add one: a line in labels.ts and a line here.

import type { Transcoder } from './contract.ts';
import type { EncodingName } from './labels.ts';
import { createUtf16 } from './utf-16.ts';

const multiByte = new Set<EncodingName>(['gbk', 'gb18030', 'big5', 'euc-jp', 'euc-kr', 'shift_jis']);

/** Tables of characters are imported only when needed, because every thread loads this file. */
const createTranscoder = async (name: EncodingName): Promise<Transcoder> => {
  if (name === 'utf-16le' || name === 'utf-16be') return createUtf16(name === 'utf-16be');
  if (multiByte.has(name)) return (await import('./multi-byte.ts')).createMultiByte(name);
  return (await import('./single-byte.ts')).createSingleByte(name);
};

/** Converts bytes to UTF-8. A block's memory is reused when the second block after it is read. */
export async function* transcoded(
  bytes: AsyncIterable<Buffer>,
  encoding: Exclude<EncodingName, 'utf-8'>,
): AsyncGenerator<Buffer, void> {
  const { write, end } = await createTranscoder(encoding);
  for await (const block of bytes) {
    const text = write(block);
    if (text.length > 0) yield text;
  }
  const text = end();
  if (text.length > 0) yield text;
}
