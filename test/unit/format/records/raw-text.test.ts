// Records shown as text: valid, storable, and of limited length.

import { describe, expect, it } from 'vitest';
import { isStorable, rawText } from '../../../../src/format/records/raw-text.ts';
import { rejectRawBytesMax } from '../../../../src/core/limits.ts';

const full = 'x'.repeat(rejectRawBytesMax);
const almost = (missing: number): string => 'x'.repeat(rejectRawBytesMax - missing);

const cases: readonly { name: string; bytes: string | number[]; text: string }[] = [
  { name: 'nothing', bytes: '', text: '' },
  { name: 'text as it is', bytes: 'a,"é𝄞"\r\n\t', text: 'a,"é𝄞"\r\n\t' },
  { name: 'a NUL', bytes: 'a\0b', text: 'a\\x00b' },
  { name: 'a NUL beside characters of several bytes', bytes: 'é\0€𝄞', text: 'é\\x00€𝄞' },
  { name: 'bytes that are not UTF-8', bytes: [0x61, 0xe9, 0x62, 0xff], text: 'a\\xe9b\\xff' },
  { name: 'half a character', bytes: [0xe2, 0x82], text: '\\xe2\\x82' },
  { name: 'half a character before a whole one', bytes: [0xe2, 0x82, 0xc3, 0xa9], text: '\\xe2\\x82é' },
  { name: 'a surrogate', bytes: [0xed, 0xa0, 0x80], text: '\\xed\\xa0\\x80' },
  { name: 'just the bound', bytes: full, text: full },
  { name: 'over the bound', bytes: `${full}y`, text: `${full}…` },
  {
    name: 'a character of four bytes that the cut would split',
    bytes: `${almost(3)}𝄞`,
    text: `${almost(3)}…`,
  },
  {
    name: 'a character of two bytes that the cut would split',
    bytes: `${almost(1)}é`,
    text: `${almost(1)}…`,
  },
  { name: 'a character that ends at the cut', bytes: `${almost(2)}éé`, text: `${almost(2)}é…` },
  {
    name: 'bytes that are no characters at the cut',
    bytes: [...Buffer.from(almost(1)), 0x80, 0x80, 0x80],
    text: `${almost(2)}…`,
  },
];

describe('rawText', () => {
  it.each(cases)('$name', ({ bytes, text }) => {
    expect(rawText(Buffer.from(bytes as string))).toBe(text);
  });
});

it('isStorable: UTF-8 without a NUL', () => {
  const texts = ['', 'é€𝄞', 'b\0'].map((text) => Buffer.from(text));
  expect([...texts, Buffer.from([0xe9])].map(isStorable)).toEqual([true, true, false, false]);
});
