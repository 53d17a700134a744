// The encodings of one byte a character, all of which contain ASCII.

import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import { invalidByte, type Transcoder } from './contract.ts';
import type { EncodingName } from './labels.ts';

/** Where iconv-lite's tables differ from the standard's (https://encoding.spec.whatwg.org/#indexes). */
const differences: Partial<Record<EncodingName, Readonly<Record<number, string>>>> = {
  macintosh: { 0xbd: '\u03a9', 0xdb: '\u20ac', 0xf0: '\uf8ff' },
  'x-mac-cyrillic': { 0xa2: '\u0490', 0xb6: '\u0491', 0xff: '\u20ac' },
  'koi8-u': { 0xae: '\u045e', 0xbe: '\u040e' },
};

const iconvNames: Partial<Record<EncodingName, string>> = {
  'x-mac-cyrillic': 'maccyrillic',
  'iso-8859-8-i': 'iso-8859-8',
};

/** The characters of all bytes; undefined where there is none. */
const charactersOf = (name: EncodingName): readonly (string | undefined)[] => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  return [...iconv.decode(bytes, iconvNames[name] ?? name)].map((character, byte) => {
    const other = differences[name]?.[byte];
    if (other !== undefined || character !== '\ufffd') return other ?? character;
    // In Windows' code pages, the bytes 80 to 9f without a character are control characters.
    return byte < 0xa0 ? String.fromCharCode(byte) : undefined;
  });
};

/** No character of these encodings has more bytes in UTF-8. */
const utf8BytesMax = 3;

/** UTF-8 of all bytes, three places each, and how many of them count. */
const tableOf = (name: EncodingName): { readonly utf8: Buffer; readonly lengths: Uint8Array } => {
  const utf8 = Buffer.alloc(256 * utf8BytesMax, invalidByte);
  const lengths = new Uint8Array(256).fill(1);
  for (const [byte, character] of charactersOf(name).entries())
    if (character !== undefined) lengths[byte] = utf8.write(character, byte * utf8BytesMax);
  return { utf8, lengths };
};

/** Whether each byte of a text is the character of the same number, so that V8 and Node write its UTF-8. */
const isLatin1 = (text: string): boolean => !/[\x80-\x9f]/.test(text);

export const createSingleByte = (name: EncodingName): Transcoder => {
  const { utf8, lengths } = tableOf(name);
  const byTable = (block: Buffer): Buffer => {
    const out = Buffer.allocUnsafe(block.length * utf8BytesMax);
    let to = 0;
    for (let from = 0; from < block.length; from += 1) {
      const byte = block[from]!;
      if (byte < 0x80) {
        out[to] = byte;
        to += 1;
        continue;
      }
      const start = byte * utf8BytesMax;
      const end = start + lengths[byte]!;
      for (let at = start; at < end; at += 1) {
        out[to] = utf8[at]!;
        to += 1;
      }
    }
    return Buffer.from(out.subarray(0, to));
  };
  return {
    write: (block) => {
      if (isAscii(block)) return Buffer.from(block);
      if (name !== 'windows-1252') return byTable(block);
      const text = block.toString('latin1');
      return isLatin1(text) ? Buffer.from(text) : byTable(block);
    },
    end: () => Buffer.alloc(0),
  };
};
