// Quotes that only lenient reading takes: the values of their fields, as Python's csv and, within unquoted fields, csv-parse
// read them; and blanks within quotes, which `trim: 'outside'` keeps.

import fc from 'fast-check';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import type { CsvOptions } from '../../../src/pipeline/declare/csv.ts';
import { decode } from './decoding.ts';
import { searched } from '../../helpers/seeded.ts';

const read = async (input: string, options: CsvOptions) => {
  const { rows, rejects } = await decode(input, { options: { nulls: [], ...options } });
  return [...rows, ...rejects.map(({ code }) => code)];
};

describe("quotes: 'lenient'", () => {
  const cases: readonly { input: string; rows: readonly unknown[]; options?: CsvOptions }[] = [
    { input: '5" pipe,6"\n', rows: [['5" pipe', '6"']] },
    { input: 'a""b,"c"\n', rows: [['a""b', 'c']] },
    { input: '"a"b,"c"\n', rows: [['ab', 'c']] },
    { input: '"a"b"c,"d"""e\n', rows: [['ab"c', 'd"e']] },
    { input: '"a" ,"b" "c"\n', rows: [['a ', 'b "c"']] },
    { input: '"a,"b,c\n', rows: [['a,b', 'c']] },
    {
      input: '"a\nb"c,d\ne,f\n',
      rows: [
        ['a\nbc', 'd'],
        ['e', 'f'],
      ],
    },
    { input: ' "a",b\n', rows: [[' "a"', 'b']] },
    { input: ' "a" , "b" c \n', options: { trim: true }, rows: [['a', 'b c']] },
    {
      input: ' "a " , x"y ," b" c \n'.replace(',', '|'),
      options: { delimiter: '|', trim: 'outside' },
      rows: [['a ', 'x"y ," b" c']],
    },
    { input: '"a\\"b\\c"d\\e"f,g"\n', options: { escape: '\\' }, rows: [['a"b\\cd\\e"f', 'g"']] },
    { input: "'a'b;c'd\n", options: { quote: "'", delimiter: ';' }, rows: [['ab', "c'd"]] },
    { input: 'é"ü,"ß"ö\n', rows: [['é"ü', 'ßö']] },
    { input: 'a,"b\nc,d\n', rows: [['c', 'd'], 'quote'] },
  ];
  it.each(cases)('$input', async ({ input, rows, options }) => {
    expect(await read(input, { quotes: 'lenient', ...options })).toEqual(rows);
  });

  it('reads what csv-parse reads with relax_quotes, where no text follows a closing quote', async () => {
    const bits = fc.constantFrom('a', 'é', '"', '""', ' ', '\n', ',');
    const plain = fc
      .array(fc.constantFrom('a', 'é', '"', '""', ' '), { maxLength: 5 })
      .map((all) => all.join('').replace(/^"+/, ''));
    const quoted = fc.array(bits, { maxLength: 5 }).map((all) => `"${all.join('').replaceAll('"', '""')}"`);
    const row = fc.tuple(fc.oneof(plain, quoted), fc.oneof(plain, quoted)).map((fields) => fields.join(','));
    const property = fc.asyncProperty(fc.array(row, { maxLength: 5 }), async (rows) => {
      const text = rows.map((one) => `${one}\n`).join('');
      expect(await read(text, { quotes: 'lenient' })).toEqual(parse(text, { relax_quotes: true }));
    });
    await fc.assert(property, { numRuns: searched(200) });
  });
});

describe('trim', () => {
  const input = ' a , " b "\n" c ",d \n\t"\te"\t,f\n';
  it.each([
    {
      trim: true,
      rows: [
        ['a', 'b'],
        ['c', 'd'],
        ['e', 'f'],
      ],
    },
    {
      trim: 'outside',
      rows: [
        ['a', ' b '],
        [' c ', 'd'],
        ['\te', 'f'],
      ],
    },
  ] as const)('$trim', async ({ trim, rows }) => {
    expect(await read(input, { trim })).toEqual(rows);
    // Without any quote in the block.
    expect(await read(' a , b\t\n', { trim })).toEqual([['a', 'b']]);
  });

  it("'outside' keeps the end of a field apart from a delimiter that repeats it", async () => {
    expect(await read('x| ||"b"\n', { delimiter: '||', trim: 'outside' })).toEqual([['x|', 'b']]);
  });

  it("'outside' finds null tokens with blanks within quotes", async () => {
    const { rows } = await decode(' NA ," NA "\n', { options: { trim: 'outside', nulls: [' NA '] } });
    expect(rows).toEqual([['NA', null]]);
  });
});
