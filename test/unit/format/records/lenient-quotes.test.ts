// Quotes that only `quotes: 'lenient'` allows. Values must be those that Python's csv reads, and in
// unquoted fields those of csv-parse. Also blanks inside quotes, which `trim: 'outside'` keeps.

import fc from 'fast-check';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { recordBytesMax } from '../../../../src/core/limits.ts';
import type { RejectCode } from '../../../../src/core/model.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { addCounts } from '../../../../src/core/counts.ts';
import { readEverywhere } from './both-decoders.ts';
import { decode, texts } from './decoding.ts';
import { blocksOf, decodedFile, rowsOf, tableOf } from './reading.ts';
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
  const cases: [
    input: string,
    rows: readonly (string | string[])[],
    rejects?: readonly (readonly [RejectCode, number])[],
    options?: CsvOptions,
  ][] = [
    // Quotes inside unquoted fields.
    ['5" pipe,6"\n', ['5" pipe|6"']],
    ['a""b,"c"\n', ['a""b|c']],
    ['a "quoted" word,x\n', ['a "quoted" word|x']],
    [' "a",b\n', [' "a"|b']],
    ['"a",b"\n', ['a|b"']],
    ['é"ü,"ß"ö\n', ['é"ü|ßö']],
    ['x,a"b\nc"d,e\n', ['x|a"b', 'c"d|e']],
    // Text after a closing quote, which may contain quotes.
    ['"a"b,"c"\n', ['ab|c']],
    ['"a"b"c,"d"""e\n', ['ab"c|d"e']],
    ['"a" ,"b" "c"\n', ['a |b "c"']],
    ['"a" "b" "c",d\n', ['a "b" "c"|d']],
    ['"a"\t,b\n', ['a\t|b']],
    ['""a,b\n', ['a|b']],
    ['"" "",b\n', [' ""|b']],
    ['"a"\\"b",c\n', ['a\\"b"|c']],
    ['"a"b,"c\nd"\n', ['ab|c\nd']],
    // Unescaped quotes inside quoted fields.
    ['"a "quoted" word",x\n', ['a quoted" word"|x']],
    ['x,"5" pipe"\n', ['x|5 pipe"']],
    ['"a,"b,c\n', ['a,b|c']],
    ['"a"""b,c\n', ['a"b|c']],
    ['"a""b"c""d,e\n', ['a"bc""d|e']],
    ['"""a",b\n', ['"a|b']],
    ['"a""\nb"c,d\n', ['a"\nbc|d']],
    ['"a\nb"c,d\ne,f\n', ['a\nbc|d', 'e|f']],
    // A delimiter after an unescaped quote ends the field.
    ['"he said "no", twice",x\nc,d\n', ['c|d'], [['field_count', 1]]],
    ['"a"b","c"\n', ['ab"|c']],
    // Quotes that are never closed. Python takes the rest of the file.
    ['a,"b\nc,d\n', ['c|d'], [['quote', 1]]],
    ['c,d\na,"b', ['c|d'], [['quote', 2]]],
    ['c,d\n"a"",b\n', ['c|d'], [['quote', 2]]],
    ['"a,b\n"c,d\n"e,f\ng,h\n', ['a,b\nc|d', 'g|h'], [['quote', 3]]],
    // Other quotes, escapes and blanks.
    ["'a'b;c'd\n", ["ab|c'd"], undefined, { quote: "'", delimiter: ';' }],
    ['"a\\"b\\c"d\\e"f,g"\n', ['a"b\\cd\\e"f|g"'], undefined, { escape: '\\' }],
    [' "a" , "b" c \n', ['a|b c'], undefined, { trim: true }],
    [' "a " | x"y ," b" c \n', ['a |x"y ," b" c'], undefined, { delimiter: '|', trim: 'outside' }],
    ['"a"b||c" |\n', [['ab', 'c" |']], undefined, { delimiter: '||' }],
  ];
  it.each(cases)('%j', async (input, rows, rejects = [], options = {}) => {
    const table = tableOf({ quotes: 'lenient', nulls: [], ...options }, { columns: texts });
    expect(await readEverywhere(Buffer.from(input), table, ['a', 'b'])).toEqual({
      rows: rowsOf(rows).map(encodeTextRow).join(''),
      rejects: rejects.map(([code, line]) => ({
        code,
        line,
        byte: Buffer.byteLength(
          input
            .split(/(?<=\n)/)
            .slice(0, line - 1)
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
    [true, ['a|b', 'c|d', 'e|f']],
    ['outside', ['a| b ', ' c |d', '\te|f']],
  ] as const)('%s', async (trim, rows) => {
    expect(await read(input, { trim })).toEqual(rowsOf(rows));
    // Blocks without any quote.
    expect(await read(' a , b\t\n', { trim })).toEqual([['a', 'b']]);
  });

  it("'outside' keeps the end of a field apart from a delimiter that repeats it", async () =>
    expect(await read('x| ||"b"\n', { delimiter: '||', trim: 'outside' })).toEqual([['x|', 'b']]));

  it("'outside' finds null tokens with blanks within quotes", async () => {
    const { rows } = await decode(' NA ," NA "\n', { options: { trim: 'outside', nulls: [' NA '] } });
    expect(rows).toEqual([['NA', null]]);
  });
});
