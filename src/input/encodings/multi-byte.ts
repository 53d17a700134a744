// The encodings of East Asia that contain ASCII: one to four bytes a character.

import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import { invalidByte, markedUtf8, type Transcoder } from './contract.ts';
import type { EncodingName } from './labels.ts';

/** The standard reads gbk as gb18030, and by euc-kr and big5 it means what Windows and Hong Kong made of them. */
const iconvNames: Partial<Record<EncodingName, string>> = {
  gbk: 'gb18030',
  'euc-kr': 'cp949',
  big5: 'big5-hkscs',
};

const isLead = (byte: number): boolean => byte > 0x80 && byte < 0xff;
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** Whether a character begins with this byte, and the next three, that are of four bytes; the last is U+10FFFF. */
const isAssigned = (one: number, two: number, three: number, four: number): boolean => {
  const index = (((one - 0x81) * 10 + two - 0x30) * 126 + three - 0x81) * 10 + four - 0x30;
  return index <= 39_419 || (index >= 189_000 && index <= 1_237_575);
};

/** Makes those sequences of four bytes invalid for which iconv-lite makes up a character. Changes `bytes`. */
const dropUnassigned = (bytes: Buffer): void => {
  for (let at = 0; at + 1 < bytes.length;) {
    const [one, two] = [bytes[at]!, bytes[at + 1]!];
    const [three, four] = [bytes[at + 2] ?? 0, bytes[at + 3] ?? 0];
    if (!isLead(one)) at += 1;
    else if (!isDigit(two)) at += two >= 0x40 && two !== 0x7f && two !== 0xff ? 2 : 1;
    else if (!isLead(three) || !isDigit(four)) at += 1;
    else if (isAssigned(one, two, three, four)) at += 4;
    else {
      bytes[at] = invalidByte;
      at += 1;
    }
  }
};

/**
 * A byte that is wrong is invalid alone, so that a line end after it stays one. Each block is decoded by itself, with the bytes
 * that were left of the one before it: a decoder of iconv-lite that goes on after a wrong one loses characters.
 */
export const createMultiByte = (name: EncodingName): Transcoder => {
  const iconvName = iconvNames[name] ?? name;
  let rest = Buffer.alloc(0);
  const decode = (bytes: Buffer): { readonly text: string; readonly left: string } => {
    if (iconvName === 'gb18030') dropUnassigned(bytes);
    const decoder = iconv.getDecoder(iconvName, { stripBOM: false });
    return { text: decoder.write(bytes), left: decoder.end() ?? '' };
  };
  return {
    write: (block) => {
      if (rest.length === 0 && isAscii(block)) return Buffer.from(block);
      const bytes = Buffer.concat([rest, block]);
      const { text, left } = decode(bytes);
      // What is no character yet is given as one for each byte.
      rest = bytes.subarray(bytes.length - left.length);
      return markedUtf8(text);
    },
    end: () => {
      const { text, left } = decode(rest);
      return markedUtf8(text + left);
    },
  };
};
