// Every encoding decodes pieces of any size to the text that was written. Invalid bytes become
// `invalidByte`, and line ends stay.

import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import {
  encodingLabels,
  encodingOfLabel,
  type EncodingName,
} from '../../../../src/input/encodings/labels.ts';
import { transcoded } from '../../../../src/input/encodings/registry.ts';
import { createChance } from '../../../helpers/seeded.ts';

type Encoding = Exclude<EncodingName, 'utf-8'>;

const transcode = async (bytes: Buffer, encoding: Encoding, pieceBytes: number): Promise<Buffer> => {
  async function* pieces(): AsyncGenerator<Buffer, void> {
    for (let at = 0; at < bytes.length; at += pieceBytes) {
      const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
      yield piece;
      // Overwrites the piece, as a source does that reuses its memory.
      piece.fill(0x21);
    }
  }
  const texts: Buffer[] = [];
  let last: Buffer = Buffer.alloc(0);
  for await (const text of transcoded(pieces(), encoding)) {
    // Copied late: a text must stay valid until the second text after it is requested.
    texts.push(Buffer.from(last));
    last = text;
  }
  return Buffer.concat([...texts, last]);
};

/** The decoded text. Asserts that pieces of every small size give the same text. */
const transcodeEverywhere = async (bytes: Buffer, encoding: Encoding): Promise<Buffer> => {
  const whole = await transcode(bytes, encoding, Infinity);
  for (let pieceBytes = 1; pieceBytes < Math.min(bytes.length, 12); pieceBytes += 1)
    expect((await transcode(bytes, encoding, pieceBytes)).equals(whole)).toBe(true);
  return whole;
};

it('labels mean what the standard says, in any case', () => {
  expect(encodingLabels.length).toBeGreaterThan(200);
  expect(['LATIN1', ' iso-8859-1 ', 'us-ascii', 'cp1252'].map(encodingOfLabel)).toEqual(
    Array(4).fill('windows-1252'),
  );
  expect(
    ['UTF8', 'unicode', 'UTF-16', 'unicodeFFFE', 'sjis', 'gb2312', 'latin9'].map(encodingOfLabel),
  ).toEqual(['utf-8', 'utf-16le', 'utf-16le', 'utf-16be', 'shift_jis', 'gbk', undefined]);
  expect(['x-user-defined', 'iso-2022-jp', 'ebcdic', '', 'constructor'].map(encodingOfLabel)).toEqual(
    Array(5).fill(undefined),
  );
});

const texts: readonly (readonly [encoding: Encoding, text: string, iconvName?: string])[] = [
  ['utf-16le', 'id,a\n1,Zoë 日本 😀 \ufffd\u0000\n'],
  ['windows-1252', 'id,€\n1,Zoë “quoted” – ÿ\n'],
  ['windows-1250', 'Łódź,żółć\n'],
  ['windows-1251', 'Привет,мир\n'],
  ['windows-1253', 'Γειά,σου\n'],
  ['windows-1254', 'İstanbul,ğ\n'],
  ['windows-1255', 'שלום,₪\n'],
  ['windows-1256', 'سلام,گ\n'],
  ['windows-1257', 'Rīga,ž\n'],
  ['windows-1258', 'Vi₫t\n'],
  ['windows-874', 'ไทย,€\n'],
  ['iso-8859-2', 'Łódź\n'],
  ['iso-8859-3', 'ĉĝħ\n'],
  ['iso-8859-4', 'ĸŋ\n'],
  ['iso-8859-5', 'мир\n'],
  ['iso-8859-6', 'سلام\n'],
  ['iso-8859-7', 'σου\n'],
  ['iso-8859-8', 'שלום\n'],
  ['iso-8859-8-i', 'שלום\n', 'iso-8859-8'],
  ['iso-8859-10', 'ąē\n'],
  ['iso-8859-13', 'ąė\n'],
  ['iso-8859-14', 'ŵŷ\n'],
  ['iso-8859-15', '€,Š\n'],
  ['iso-8859-16', 'ș,ț\n'],
  ['koi8-r', 'мир\n'],
  ['koi8-u', 'їжак\n'],
  ['ibm866', 'мир\n'],
  ['macintosh', 'Zoë ∞\n'],
  ['x-mac-cyrillic', 'мир\n', 'maccyrillic'],
  ['shift_jis', '日本,ｱｲｳ ソ能\n1,表\n'],
  ['euc-jp', '日本,語 ｱ\n'],
  ['gbk', '中文,€\n', 'gbk'],
  ['gb18030', '中文,😀 ḿ ü\n'],
  ['big5', '中文,功\n', 'big5-hkscs'],
  ['euc-kr', '한국,똠\n', 'cp949'],
];

it.each(texts.map(([encoding, text, iconvName = encoding]) => ({ encoding, text, iconvName })))(
  '$encoding',
  async ({ encoding, text, iconvName }) => {
    const bytes = iconv.encode(text, iconvName);
    expect(bytes.includes(0x3f)).toBe(text.includes('?'));
    expect((await transcodeEverywhere(bytes, encoding)).toString()).toBe(text);
  },
);

it('utf-16be, and a byte order mark, which becomes that of UTF-8', async () => {
  const text = '\ufeffid,a\n1,Zoë 日本 😀\n';
  const bytes = Buffer.from(text, 'utf16le').swap16();
  expect((await transcodeEverywhere(bytes, 'utf-16be')).toString()).toBe(text);
});

it('a block of several slices, of which some are ASCII, some latin-1, and some neither', async () => {
  const text = ['a,b\n', 'Zoë,ÿ\n', '\u00a0,£\n', '“€”,–\n'].map((line) => line.repeat(10_000)).join('');
  for (const mixed of [text, text.repeat(2).slice(7)])
    expect((await transcode(iconv.encode(mixed, 'windows-1252'), 'windows-1252', Infinity)).toString()).toBe(
      mixed,
    );
});

it('characters that iconv-lite has otherwise than the standard', async () => {
  const characters = async (encoding: Encoding, hex: string): Promise<string> =>
    (await transcode(Buffer.from(hex, 'hex'), encoding, 1)).toString();
  expect(await characters('windows-1252', '80818d9f')).toBe('€\u0081\u008dŸ');
  expect(await characters('macintosh', 'bddbf0')).toBe('Ω€\uf8ff');
  expect(await characters('koi8-u', 'aebe')).toBe('ўЎ');
  expect(await characters('x-mac-cyrillic', 'a2b6ff')).toBe('Ґґ€');
});

describe('what is no character is one invalid byte, and takes no line end with it', () => {
  const cases: readonly (readonly [string, Encoding, string, string])[] = [
    ['half a surrogate pair before a line end', 'utf-16le', '610000d80a006200', '61ff0a62'],
    ['the other half alone', 'utf-16le', '00dc0a00', 'ff0a'],
    ['two first halves and a second', 'utf-16be', 'd83dd83dde00000a', 'fff09f98800a'],
    ['half a unit at the end', 'utf-16le', '61000a', '61ff'],
    ['half a pair and half a unit at the end', 'utf-16be', '0061d83dde', '61ffff'],
    ['a byte without a character', 'windows-1253', 'd20a', 'ff0a'],
    ['a lead byte before a line end', 'shift_jis', '41810a42', '41ff0a42'],
    ['a lead byte before a delimiter', 'gbk', '812c31', 'ff2c31'],
    ['a lead byte at the end', 'euc-kr', '3181', '31ff'],
    ['half of four bytes before a line end', 'gb18030', '8130810a', 'ff30ff0a'],
    ['four bytes without a character', 'gb18030', '853081300a', 'ff30ff300a'],
    ['four bytes after the last character', 'gbk', 'e3329a35fe39fe39', 'f48fbfbfff39ff39'],
    ['a pair without a character', 'big5', '81400a', 'ff400a'],
    ['a trail byte alone', 'euc-jp', 'ff0a', 'ff0a'],
  ];

  it.each(cases)('%s, in %s', async (_, encoding, hex, expected) => {
    expect((await transcodeEverywhere(Buffer.from(hex, 'hex'), encoding)).toString('hex')).toBe(expected);
  });

  const asciiSupersets = texts.map(([encoding]) => encoding).filter((encoding) => encoding !== 'utf-16le');
  it.each(asciiSupersets)('random bytes in %s keep their lines', async (encoding) => {
    const { between } = createChance(encoding.length);
    const bytes = Buffer.from(
      Array.from({ length: 3000 }, () => (between(0, 9) === 0 ? 10 : between(0, 255))),
    );
    const lines = (text: Buffer): number => text.toString('latin1').split('\n').length;
    for (const pieceBytes of [1, 5, 100, 3000])
      expect(lines(await transcode(bytes, encoding, pieceBytes))).toBe(lines(bytes));
  });
});
