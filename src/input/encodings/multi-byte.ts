// East Asian encodings with one to four bytes per character, all of which contain ASCII.

import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import { invalidByte, type Transcoder } from './contract.ts';
import type { EncodingName } from './labels.ts';

/** iconv-lite's names for what the standard (encoding.spec.whatwg.org) means by these labels. */
const iconvNames: Partial<Record<EncodingName, string>> = {
  gbk: 'gb18030',
  'euc-kr': 'cp949',
  big5: 'big5-hkscs',
};

const replacement = Buffer.from('\ufffd');

const markedUtf8 = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  let from = bytes.indexOf(replacement);
  if (from === -1) return bytes;
  let to = from;
  while (from !== -1) {
    bytes[to] = invalidByte;
    from += replacement.length;
    const next = bytes.indexOf(replacement, from);
    bytes.copyWithin(to + 1, from, next === -1 ? bytes.length : next);
    to += 1 + (next === -1 ? bytes.length : next) - from;
    from = next;
  }
  return bytes.subarray(0, to);
};

const isLead = (byte: number): boolean => byte > 0x80 && byte < 0xff;
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39;

/** True if the four bytes are a character of gb18030, up to U+10FFFF. */
const isAssigned = (one: number, two: number, three: number, four: number): boolean => {
  const index = (((one - 0x81) * 10 + two - 0x30) * 126 + three - 0x81) * 10 + four - 0x30;
  return index <= 39_419 || (index >= 189_000 && index <= 1_237_575);
};

/** Overwrites four-byte sequences for which iconv-lite would invent a character. */
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

/** iconv-lite loses characters after an invalid byte, so each block gets a new decoder. */
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
      // `left` has one character for each byte of an incomplete character.
      rest = bytes.subarray(bytes.length - left.length);
      return markedUtf8(text);
    },
    end: () => {
      const { text, left } = decode(rest);
      return markedUtf8(text + left);
    },
  };
};
