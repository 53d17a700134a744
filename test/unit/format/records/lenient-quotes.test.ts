// Quotes that only `quotes: 'lenient'` allows. Values must be those that Python's csv reads, and in
// unquoted fields those of csv-parse. Also blanks inside quotes, which `trim: 'outside'` keeps.

import fc from 'fast-check';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import { createSplitter } from '../../../../src/format/split/splitter.ts';
import { recordBytesMax } from '../../../../src/core/limits.ts';
import type { RejectCode } from '../../../../src/core/model.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { addCounts } from '../../../../src/core/counts.ts';
import { readEverywhere } from './both-decoders.ts';
import { decode, texts } from './decoding.ts';
import { blocksOf, decodedFile, tableOf } from './reading.ts';
import { searched } from '../../../helpers/seeded.ts';

const read = async (input: string, options: CsvOptions) => {
  const { rows, rejects } = await decode(input, { options: { nulls: [], ...options } });
  return [...rows, ...rejects.map(({ code }) => code)];
};

describe("quotes: 'lenient'", () => {
  /**
   * `rejects`: codes and lines. Without rejects, `rows` are what Python reads, if Python has the
   * option.
   */
  const cases: readonly {
    input: string;
    rows: readonly (readonly string[])[];
    rejects?: readonly (readonly [RejectCode, number])[];
    options?: CsvOptions;
  }[] = [
    // Quotes inside unquoted fields.
    { input: '5" pipe,6"\n', rows: [['5" pipe', '6"']] },
    { input: 'a""b,"c"\n', rows: [['a""b', 'c']] },
    { input: 'a "quoted" word,x\n', rows: [['a "quoted" word', 'x']] },
    { input: ' "a",b\n', rows: [[' "a"', 'b']] },
    { input: '"a",b"\n', rows: [['a', 'b"']] },
    { input: 'é"ü,"ß"ö\n', rows: [['é"ü', 'ßö']] },
    {
      input: 'x,a"b\nc"d,e\n',
      rows: [
        ['x', 'a"b'],
        ['c"d', 'e'],
      ],
    },
    // Text after a closing quote, which may contain quotes.
    { input: '"a"b,"c"\n', rows: [['ab', 'c']] },
    { input: '"a"b"c,"d"""e\n', rows: [['ab"c', 'd"e']] },
    { input: '"a" ,"b" "c"\n', rows: [['a ', 'b "c"']] },
    { input: '"a" "b" "c",d\n', rows: [['a "b" "c"', 'd']] },
    { input: '"a"\t,b\n', rows: [['a\t', 'b']] },
    { input: '""a,b\n', rows: [['a', 'b']] },
    { input: '"" "",b\n', rows: [[' ""', 'b']] },
    { input: '"a"\\"b",c\n', rows: [['a\\"b"', 'c']] },
    { input: '"a"b,"c\nd"\n', rows: [['ab', 'c\nd']] },
    // Unescaped quotes inside quoted fields.
    { input: '"a "quoted" word",x\n', rows: [['a quoted" word"', 'x']] },
    { input: 'x,"5" pipe"\n', rows: [['x', '5 pipe"']] },
    { input: '"a,"b,c\n', rows: [['a,b', 'c']] },
    { input: '"a"""b,c\n', rows: [['a"b', 'c']] },
    { input: '"a""b"c""d,e\n', rows: [['a"bc""d', 'e']] },
    { input: '"""a",b\n', rows: [['"a', 'b']] },
    { input: '"a""\nb"c,d\n', rows: [['a"\nbc', 'd']] },
    {
      input: '"a\nb"c,d\ne,f\n',
      rows: [
        ['a\nbc', 'd'],
        ['e', 'f'],
      ],
    },
    // A delimiter after an unescaped quote ends the field.
    { input: '"he said "no", twice",x\nc,d\n', rows: [['c', 'd']], rejects: [['field_count', 1]] },
    { input: '"a"b","c"\n', rows: [['ab"', 'c']] },
    // Quotes that are never closed. Python takes the rest of the file.
    { input: 'a,"b\nc,d\n', rows: [['c', 'd']], rejects: [['quote', 1]] },
    { input: 'c,d\na,"b', rows: [['c', 'd']], rejects: [['quote', 2]] },
    { input: 'c,d\n"a"",b\n', rows: [['c', 'd']], rejects: [['quote', 2]] },
    {
      input: '"a,b\n"c,d\n"e,f\ng,h\n',
      rows: [
        ['a,b\nc', 'd'],
        ['g', 'h'],
      ],
      rejects: [['quote', 3]],
    },
    // Other quotes, escapes and blanks.
    { input: "'a'b;c'd\n", options: { quote: "'", delimiter: ';' }, rows: [['ab', "c'd"]] },
    { input: '"a\\"b\\c"d\\e"f,g"\n', options: { escape: '\\' }, rows: [['a"b\\cd\\e"f', 'g"']] },
    { input: ' "a" , "b" c \n', options: { trim: true }, rows: [['a', 'b c']] },
    {
      input: ' "a " | x"y ," b" c \n',
      options: { delimiter: '|', trim: 'outside' },
      rows: [['a ', 'x"y ," b" c']],
    },
    { input: '"a"b||c" |\n', options: { delimiter: '||' }, rows: [['ab', 'c" |']] },
  ];
  it.each(cases)('$input', async ({ input, rows, rejects = [], options }) => {
    const table = tableOf({ quotes: 'lenient', nulls: [], ...options }, { columns: texts });
    expect(await readEverywhere(Buffer.from(input), table, ['a', 'b'])).toEqual({
      rows: rows.map(encodeTextRow).join(''),
      rejects: rejects.map(([code, line]) => ({
        code,
        line,
        byte: Buffer.byteLength(
          input
            .split('\n')
            .slice(0, line - 1)
            .map((one) => `${one}\n`)
            .join(''),
        ),
      })),
    });
  });

  it('a quote that is never closed takes no more than its line, in a file of any length', async () => {
    const table = tableOf({ quotes: 'lenient' }, { columns: texts });
    const rows = Math.ceil((1.5 * recordBytesMax) / 4);
    const bytes = Buffer.from(`"open\n${'a,b\n'.repeat(rows)}`);
    const blocks = await blocksOf([bytes], createSplitter(table.format.dialect, 2, 'lf'));
    const compiled = createCompiledDecoder(table, decodedFile(['a', 'b']));
    const counts = blocks.map((block) => compiled(block).counts).reduce(addCounts);
    expect(counts).toEqual({ records: rows + 1, copied: rows, rejected: 1, filtered: 0 });
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
    // Blocks without any quote.
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
