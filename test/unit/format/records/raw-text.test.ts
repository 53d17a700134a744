// Records shown as text: valid, storable, and of limited length.

import { expect, it } from 'vitest';
import { isStorable, rawText } from '../../../../src/format/records/raw-text.ts';
import { rejectRawBytesMax } from '../../../../src/core/limits.ts';

const full = 'x'.repeat(rejectRawBytesMax);
const almost = (missing: number): string => 'x'.repeat(rejectRawBytesMax - missing);

const cases: [name: string, bytes: string | number[], text: string][] = [
  ['nothing', '', ''],
  ['text as it is', 'a,"é𝄞"\r\n\t', 'a,"é𝄞"\r\n\t'],
  ['a NUL', 'a\0b', 'a\\x00b'],
  ['a NUL beside characters of several bytes', 'é\0€𝄞', 'é\\x00€𝄞'],
  ['bytes that are not UTF-8', [0x61, 0xe9, 0x62, 0xff], 'a\\xe9b\\xff'],
  ['half a character', [0xe2, 0x82], '\\xe2\\x82'],
  ['half a character before a whole one', [0xe2, 0x82, 0xc3, 0xa9], '\\xe2\\x82é'],
  ['a surrogate', [0xed, 0xa0, 0x80], '\\xed\\xa0\\x80'],
  ['just the bound', full, full],
  ['over the bound', `${full}y`, `${full}…`],
  ['a character of four bytes that the cut would split', `${almost(3)}𝄞`, `${almost(3)}…`],
  ['a character of two bytes that the cut would split', `${almost(1)}é`, `${almost(1)}…`],
  ['a character that ends at the cut', `${almost(2)}éé`, `${almost(2)}é…`],
  ['bytes that are no characters at the cut', [...Buffer.from(almost(1)), 0x80, 0x80, 0x80], `${almost(2)}…`],
];

it.each(cases)('rawText %s', (_, bytes, text) => expect(rawText(Buffer.from(bytes as string))).toBe(text));

it('isStorable: UTF-8 without a NUL', () => {
  const texts = ['', 'é€𝄞', 'b\0'].map((text) => Buffer.from(text));
  expect([...texts, Buffer.from([0xe9])].map(isStorable)).toEqual([true, true, false, false]);
});
