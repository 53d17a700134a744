// Generated records in generated dialects: cutting the bytes changes nothing, and csv-parse finds
// the same records.

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { csvOptions, isForCsvParse } from '../../../../src/format/records/record-parser.ts';
import { recordFields } from '../../../../src/format/records/record-fields.ts';
import { grammarOf } from '../../../../src/format/records/grammar.ts';
import { createSplitter, type RecordSpans } from '../../../../src/format/records/splitter.ts';
import type { CsvOptions } from '../../../../src/pipeline/declare/csv.ts';
import { dialects, hostile, longTexts, tidyTexts } from './generated-csv.ts';
import { cutAt, splitPieces, tableOf } from './reading.ts';
import { searched } from '../../../helpers/seeded.ts';
import { words } from '../../../helpers/words.ts';

/**
 * Compares records. `plain` may be false for plain bytes, but never true for others: the fast scan
 * sees a CR before it knows if the CR is consumed, or inside quotes.
 */
const expectSame = (fast: RecordSpans, slow: RecordSpans): void => {
  // Thousands of records: vitest's own comparison takes seconds.
  const isSame = isDeepStrictEqual({ ...fast, plain: slow.plain }, slow);
  expect(isSame ? slow : fast).toBe(slow);
  expect(slow.plain || !fast.plain).toBe(true);
};

const newlines = fc.constantFrom('\n', '\r\n', '\r');

const fieldBits = ['\n', '\r\n', ' ', ...words('a b 1 é € 𝄞 " \' \\ , | § : # x')];
/** The line end that was found in the file. */
const found = fc.constantFrom('lf' as const, 'lf' as const, 'cr' as const);
const field = fc.array(fc.constantFrom(...fieldBits), { maxLength: 6 }).map((bits) => bits.join(''));
const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 6 });

/** Quotes every field and escapes every quote. */
const write = (text: string, { quote, escape }: CsvOptions): string => {
  if (quote === null) return text.replace(/[^a-z0-9é€𝄞]/gu, '') || 'x';
  const mark = quote ?? '"';
  const by = escape ?? mark;
  const escaped = [...text].map((one) => (one === mark || (one === by && by !== mark) ? by + one : one));
  return `${mark}${escaped.join('')}${mark}`;
};

/** A comment mark that does not occur, so that all bytes are data. */
const otherwise = '\u0001\u0002';

/**
 * Makes two splitters: one with the fast scan, one that reads byte by byte because an unfinished
 * comment follows the records.
 */
const bothWays = (options: CsvOptions, fields: number) => {
  const comment = options.comment ?? otherwise;
  const splitterOf = (more: CsvOptions) =>
    createSplitter(tableOf({ ...options, ...more }).format.dialect, fields, 'lf').split;
  const [fast, slow] = [splitterOf({}), splitterOf({ comment })];
  return (lines: Buffer) => ({
    fast: fast(lines, false),
    slow: slow(Buffer.concat([lines, Buffer.from(comment)]), false),
  });
};

describe('records of generated files', () => {
  it('are the same in two and three pieces as in one, well-formed or not', async () => {
    const input = fc.tuple(dialects, hostile, fc.constantFrom(1, 2), fc.nat(40), fc.nat(40), found);
    const property = fc.asyncProperty(input, async ([options, text, fields, first, second, lineEnd]) => {
      const bytes = Buffer.from(text);
      const split = createSplitter(tableOf({ ...options }).format.dialect, fields, lineEnd);
      const whole = await splitPieces([bytes], split);
      const places = [first, second].map((place) => Math.min(place, bytes.length)).sort((a, b) => a - b);
      expect(await splitPieces(cutAt(bytes, ...places), split)).toEqual(whole);
      for (let place = 0; place <= bytes.length; place += 1)
        expect(await splitPieces(cutAt(bytes, place), split)).toEqual(whole);
      expect(whole.end.byte).toBe(bytes.length);
    });
    await fc.assert(property, { numRuns: searched(100) });
  });

  it('are those that csv-parse reads, where the file is well-formed', async () => {
    const input = fc.tuple(dialects, rows, newlines, fc.boolean());
    const property = fc.asyncProperty(input, async ([options, values, newline, isEnded]) => {
      const { dialect } = tableOf({ ...options, lineEnd: 'auto' }).format;
      const grammar = grammarOf(dialect, 2, newline === '\r' ? 'cr' : 'lf');
      const lines = values.map((fields) =>
        fields.map((text) => write(text, options)).join(options.delimiter),
      );
      const bytes = Buffer.from(lines.join(newline) + (isEnded ? newline : ''));
      const { records } = await splitPieces([bytes], createSplitter(dialect, 2, grammar.lineEnd));
      expect(records.map(({ text }) => text)).toEqual(lines);
      expect(records.every(({ fault }) => fault === undefined)).toBe(true);
      const fields = records.map(({ text }) => recordFields(Buffer.from(text), dialect));
      expect(options.quote === null ? values : fields).toEqual(values);
      const csv = csvOptions(dialect, grammar);
      const parsed = isForCsvParse(dialect) ? parse(lines.join(csv.record_delimiter as string), csv) : fields;
      expect(fields).toEqual(parsed);
    });
    await fc.assert(property, { numRuns: searched(100) });
  });

  it('are the same by the fast pass as byte by byte', () => {
    const input = fc.tuple(
      dialects,
      fc.oneof(longTexts, tidyTexts),
      fc.constantFrom(1, 2),
      fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 1, 1, 500),
    );
    const property = fc.property(input, ([options, text, fields, times]) => {
      const bytes = Buffer.from(`${text.repeat(times).slice(0, 140_000)}\n`);
      const { fast, slow } = bothWays(options, fields)(bytes);
      expectSame(fast, slow);
    });
    expect(() => fc.assert(property, { numRuns: searched(125) })).not.toThrow();
  });

  it('are the same by both wherever plain bytes have something irregular among them', () => {
    // Groups without quotes follow, so that the scan must keep the state of the group before them.
    const bits = [
      '"a"b',
      '"a"',
      '"a" ',
      'a"b',
      '"',
      'a\rb',
      '\r',
      '\r\n',
      '\n',
      '\n\n',
      '"\r"',
      '""',
      ' "a"',
    ];
    const ways = [bothWays({}, 2), bothWays({ trim: true }, 2)];
    for (const bit of bits)
      for (let before = 0; before <= 140; before += 1) {
        const bytes = Buffer.from(`${'x'.repeat(before)},${bit}${'y'.repeat(140)}\nz,z\n`);
        for (const split of ways) {
          const { fast, slow } = split(bytes);
          expect(fast, `${JSON.stringify(bit)} after ${before}`).toEqual(slow);
        }
      }
  });
});
