// UTF-16 in both byte orders. Lone surrogates and half a unit at the end become `invalidByte`.

import { invalidByte, type Transcoder } from './contract.ts';

const invalid = Buffer.of(invalidByte);

const utf8Of = (text: string): Buffer =>
  text.isWellFormed()
    ? Buffer.from(text)
    : Buffer.concat(
        text
          .split(/\p{Surrogate}/u)
          .flatMap((part, index) => [...(index === 0 ? [] : [invalid]), Buffer.from(part)]),
      );

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;

export const createUtf16 = (isBigEndian: boolean): Transcoder => {
  let rest = Buffer.alloc(0);
  const unitsOf = (bytes: Buffer): Buffer => (isBigEndian ? Buffer.from(bytes).swap16() : bytes);
  return {
    write: (block) => {
      const bytes = rest.length === 0 ? block : Buffer.concat([rest, block]);
      const even = bytes.length - (bytes.length % 2);
      const units = unitsOf(bytes.subarray(0, even));
      const end = even > 0 && isHighSurrogate(units.readUInt16LE(even - 2)) ? even - 2 : even;
      rest = Buffer.from(bytes.subarray(end));
      return utf8Of(units.toString('utf16le', 0, end));
    },
    end: () => {
      const even = rest.length - (rest.length % 2);
      const text = unitsOf(rest.subarray(0, even)).toString('utf16le');
      return Buffer.concat([utf8Of(text), rest.length === even ? Buffer.alloc(0) : invalid]);
    },
  };
};
