// Decodes texts in one of the encodings, and tells whether all bytes have a meaning there.

import { invalidByte } from '../../input/encodings/contract.ts';
import type { EncodingName } from '../../input/encodings/labels.ts';
import { transcoded } from '../../input/encodings/registry.ts';

export type OtherEncoding = Exclude<EncodingName, 'utf-8'>;

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

const c1Control = /[\u{80}-\u{9f}]/u;

/** The first byte of C1 controls in UTF-8. */
const beforeControls = 0xc2;

const isText = (utf8: Buffer): boolean =>
  !utf8.includes(invalidByte) && !(utf8.includes(beforeControls) && c1Control.test(utf8.toString()));

/** True if the bytes have neither invalid characters nor C1 controls, which no text has. */
export const isTextIn = async (bytes: AsyncIterable<Buffer>, encoding: OtherEncoding): Promise<boolean> => {
  for await (const block of transcoded(bytes, encoding)) if (!isText(block)) return false;
  return true;
};

/** Returns undefined for bytes that are not a text in the encoding. */
export const decodeText = async (bytes: Buffer, encoding: OtherEncoding): Promise<string | undefined> => {
  const parts: Buffer[] = [];
  for await (const part of transcoded(once(bytes), encoding)) parts.push(Buffer.from(part));
  const utf8 = Buffer.concat(parts);
  return isText(utf8) ? utf8.toString() : undefined;
};
