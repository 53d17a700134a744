// The encodings that there are. Adding one is a line in labels.ts and one here.

import type { Transcoder } from './contract.ts';
import type { EncodingName } from './labels.ts';
import { createUtf16be, createUtf16le } from './utf-16.ts';

const multiByte = new Set<EncodingName>(['gbk', 'gb18030', 'big5', 'euc-jp', 'euc-kr', 'shift_jis']);

/** Tables of characters are imported with the first file that needs them: every process and thread comes by here. */
const createTranscoder = async (name: EncodingName): Promise<Transcoder> => {
  if (name === 'utf-16le') return createUtf16le();
  if (name === 'utf-16be') return createUtf16be();
  if (multiByte.has(name)) return (await import('./multi-byte.ts')).createMultiByte(name);
  return (await import('./single-byte.ts')).createSingleByte(name);
};

/** The bytes in UTF-8, in blocks that stay valid until the second one after them is requested; what is no character of the encoding is a byte that is invalid there as well. */
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
