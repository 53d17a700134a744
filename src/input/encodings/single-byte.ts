// Encodings with one byte per character, all of which contain ASCII.

import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import { blocksAtOnce } from '../../core/large-blocks.ts';
import { invalidByte, type Transcoder } from './contract.ts';
import type { EncodingName } from './labels.ts';

/** Characters of the standard (encoding.spec.whatwg.org/#indexes) that iconv-lite has wrong. */
const differences: Partial<Record<EncodingName, Readonly<Record<number, string>>>> = {
  macintosh: { 0xbd: '\u03a9', 0xdb: '\u20ac', 0xf0: '\uf8ff' },
  'x-mac-cyrillic': { 0xa2: '\u0490', 0xb6: '\u0491', 0xff: '\u20ac' },
  'koi8-u': { 0xae: '\u045e', 0xbe: '\u040e' },
};

const iconvNames: Partial<Record<EncodingName, string>> = {
  'x-mac-cyrillic': 'maccyrillic',
  'iso-8859-8-i': 'iso-8859-8',
};

const charactersOf = (name: EncodingName): readonly (string | undefined)[] => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  return [...iconv.decode(bytes, iconvNames[name] ?? name)].map((character, byte) => {
    const other = differences[name]?.[byte];
    if (other !== undefined || character !== '\ufffd') return other ?? character;
    // In Windows' code pages, bytes 80 to 9f without a character are control characters.
    return byte < 0xa0 ? String.fromCharCode(byte) : undefined;
  });
};

const utf8BytesMax = 3;

const tableOf = (name: EncodingName): { readonly utf8: Buffer; readonly lengths: Uint8Array } => {
  const utf8 = Buffer.alloc(256 * utf8BytesMax, invalidByte);
  const lengths = new Uint8Array(256).fill(1);
  for (const [byte, character] of charactersOf(name).entries())
    if (character !== undefined) lengths[byte] = utf8.write(character, byte * utf8BytesMax);
  return { utf8, lengths };
};

/** Bytes converted at once: few enough for the processor's cache between reading and writing. */
const sliceBytes = 32 * 1024;

/** Only characters 80 to bf begin with this byte in UTF-8. */
const beforeControls = 0xc2;

/** Writes a slice as Latin-1. Undefined if it has bytes 80 to 9f: windows-1252 differs there. */
const writeLatin1 = (slice: Buffer, out: Buffer, to: number): number | undefined => {
  const text = slice.toString('latin1');
  const bytes = out.write(text, to);
  const isLatin1 = !out.subarray(to, to + bytes).includes(beforeControls) || !/[\x80-\x9f]/.test(text);
  return isLatin1 ? bytes : undefined;
};

export const createSingleByte = (name: EncodingName): Transcoder => {
  const { utf8, lengths } = tableOf(name);
  const writeByTable = (slice: Buffer, out: Buffer, start: number): number => {
    let to = start;
    for (let at = 0; at < slice.length; at += 1) {
      const byte = slice[at]!;
      if (byte < 0x80) {
        out[to] = byte;
        to += 1;
        continue;
      }
      const from = byte * utf8BytesMax;
      const end = from + lengths[byte]!;
      for (let next = from; next < end; next += 1) {
        out[to] = utf8[next]!;
        to += 1;
      }
    }
    return to - start;
  };
  const writeSlice = (slice: Buffer, out: Buffer, to: number): number => {
    if (isAscii(slice)) return slice.copy(out, to);
    const bytes = name === 'windows-1252' ? writeLatin1(slice, out, to) : undefined;
    return bytes ?? writeByTable(slice, out, to);
  };
  const memory: Buffer[] = [];
  let turn = 0;
  const roomFor = (bytes: number): Buffer => {
    turn = (turn + 1) % blocksAtOnce;
    const room = memory[turn];
    return room !== undefined && room.length >= bytes ? room : (memory[turn] = Buffer.allocUnsafeSlow(bytes));
  };
  return {
    write: (block) => {
      let out = roomFor(block.length + utf8BytesMax * sliceBytes);
      let to = 0;
      for (let from = 0; from < block.length; from += sliceBytes) {
        const slice = block.subarray(from, from + sliceBytes);
        if (to + utf8BytesMax * slice.length > out.length)
          out = memory[turn] = Buffer.concat(
            [out.subarray(0, to)],
            utf8BytesMax * (block.length + sliceBytes),
          );
        to += writeSlice(slice, out, to);
      }
      return out.subarray(0, to);
    },
    end: () => Buffer.alloc(0),
  };
};
