// The type that is chosen for a column, from its values alone. The type always accepts all values.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRefusal } from '../../../../src/format/types/contract.ts';
import { columnTypes } from '../../../../src/format/types/registry.ts';
import { trimBlanks } from '../../../../src/format/records/blanks.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import {
  createColumnEvidence,
  observeText,
  type ColumnEvidence,
} from '../../../../src/tools/init/column-evidence.ts';
import { decideColumn } from '../../../../src/tools/init/decide.ts';
import { plainDialect } from '../../../../src/tools/init/dialect.ts';
import { createTableEvidence, observeBlock } from '../../../../src/tools/init/observe.ts';
import { closeFieldCounter } from '../../../../src/tools/init/field-counter.ts';
import { searched } from '../../../helpers/seeded.ts';

const ofTexts = (values: readonly string[]): ColumnEvidence => {
  const column = createColumnEvidence();
  for (const value of values) observeText(column, value);
  return column;
};

const dialect = { ...plainDialect, quote: null, delimiter: ';' };
const files = { file: 'a.csv', dialect, parse: () => [] };

/** Decides from the bytes of records, through the field counter. */
const ofBytes = (values: readonly string[]): ColumnEvidence => {
  const table = createTableEvidence(['x'], dialect);
  const bytes = Buffer.from(values.map((value) => `${value}\n`).join(''));
  const spans = createSplitter(dialect, 1, 'lf').split(bytes, true);
  const position = { byte: 0, line: 1, record: 1 };
  observeBlock(table, { bytes, spans, position, fileBytes: bytes.length }, files);
  closeFieldCounter(table.fieldCounter!);
  return table.columns[0]!;
};

const many = (text: (index: number) => string): readonly string[] =>
  Array.from({ length: 60 }, (_, index) => text(index));

describe('a column of', () => {
  it.each([
    { of: 'small whole numbers', values: ['1', '-20', '3276'], is: 'smallint' },
    { of: 'whole numbers with no room for ten times as much', values: ['1', '3277'], is: 'integer' },
    { of: 'negative numbers with no room for ten times as much', values: ['1', '-3277'], is: 'integer' },
    { of: 'whole numbers of more than nine digits', values: ['1', '2147483648'], is: 'bigint' },
    { of: 'whole numbers beyond bigint', values: ['9223372036854775808'], is: 'numeric' },
    { of: 'padded numbers and blanks', values: ['  73', ' ', '8'], is: 'smallint' },
    {
      of: 'numbers with decimals',
      values: ['1', '10.25', '-3.5'],
      is: 'numeric',
      options: { precision: 6, scale: 2 },
    },
    {
      of: 'numbers with signs and zeros before the point',
      values: ['+0411.2', '-008.6'],
      is: 'numeric',
      options: { precision: 6, scale: 1 },
    },
    { of: 'numbers with exponents', values: ['1e5', '2.5'], is: 'double' },
    {
      of: 'numbers with a decimal comma',
      values: ['2,6', '13,25'],
      is: 'numeric',
      options: { precision: 6, scale: 2, decimal: ',' },
    },
    {
      of: 'numbers that may have a decimal comma or thousands',
      values: ['1,234', '5,678'],
      is: 'text',
      says: /thousand, or a decimal comma/,
    },
    { of: 'numbers with thousands', values: ['1,234,567', '1,000'], is: 'text', says: /thousands: ','/ },
    {
      of: 'numbers with thousands and a decimal comma',
      values: ['1.234,5', '12,5', '1.234.567,25'],
      is: 'text',
      says: /thousands: '.'/,
    },
    { of: 'numbers with leading zeros', values: ['00100', '12345'], is: 'text', says: /leading zeros/ },
    { of: 'whole numbers called a postcode', name: 'ZipCode', values: ['90210'], is: 'text', says: /codes/ },
    {
      of: 'numbers and null words',
      values: ['1', 'NA', 'M', String.raw`\N`],
      is: 'smallint',
      words: ['NA', 'M', String.raw`\N`],
    },
    { of: 'texts and NA', values: ['DE', 'NA', 'FR'], is: 'text', says: /"NA" 1×/ },
    { of: 'null words alone', values: ['NA', 'NA'], is: 'text', says: /"NA" 2×/ },
    {
      of: 'numbers and another word',
      values: [...many(String), 'VR'],
      is: 'text',
      says: /60 of 61 are numbers, "VR" 1× not/,
    },
    { of: 'truth in words', values: ['Y', 'N', ''], is: 'boolean' },
    { of: 'one word of a pair', values: ['Y', 'Y'], is: 'text' },
    { of: 'points of the compass', values: ['N', 'Y', 'S'], is: 'text' },
    { of: 'noughts and ones', values: ['0', '1'], is: 'smallint' },
    { of: 'uuids', values: ['{5BBE9CB3-6332-4EB0-9CD3-8737CEA4A65A}'], is: 'uuid' },
    { of: 'objects', values: ['{"a": 1}', '[]'], is: 'jsonb' },
    { of: 'ISO dates', values: ['2024-02-29'], is: 'date' },
    { of: 'days that there are not', values: ['2023-02-29'], is: 'text' },
    {
      of: 'dates of digits',
      name: 'Date',
      values: ['20240229'],
      is: 'date',
      options: { format: 'YYYYMMDD' },
    },
    { of: 'a few numbers that might be dates', name: 'id', values: ['20240229'], is: 'integer' },
    {
      of: 'times of digits',
      name: 'Time',
      values: ['0053', '2353'],
      is: 'time',
      options: { format: 'HHmm' },
    },
    {
      of: 'dates by day',
      values: ['10/03/2004', '31/12/2004'],
      is: 'date',
      options: { format: 'DD/MM/YYYY' },
    },
    { of: 'dates by month', values: ['1/3/2004', '12/31/2004'], is: 'date', options: { format: 'M/D/YYYY' } },
    {
      of: 'dates by day or month',
      values: ['10/03/2004', '11/12/2004'],
      is: 'text',
      says: /day or month: kept as text/,
    },
    { of: 'dates of two digits', values: ['10/03/04', '11/12/04'], is: 'text', says: /day or month or year/ },
    { of: 'dates with dots', values: ['1.3.2004'], is: 'date', options: { format: 'D.M.YYYY' } },
    {
      of: 'dates with names of months',
      values: ['01-Mar-2004'],
      is: 'date',
      options: { format: 'DD-MMM-YYYY' },
    },
    { of: 'ISO timestamps', values: ['2024-02-29T10:00:00', '2024-02-29 10:00:00.5'], is: 'timestamp' },
    {
      of: 'timestamps by month',
      values: ['1/3/2023 3:36', '12/31/2023 13:36'],
      is: 'timestamp',
      options: { format: 'M/D/YYYY H:mm' },
    },
    {
      of: 'timestamps on the 12 h clock',
      values: ['12/31/2023 1:36 PM'],
      is: 'timestamp',
      options: { format: 'MM/DD/YYYY h:mm A' },
    },
    {
      of: 'timestamps whose first part may be the day or the month',
      values: ['01/02/2024 10:00'],
      is: 'text',
      says: /first part may be day or month/,
    },
    {
      of: 'timestamps at midnight',
      values: many((day) => `1995-07-${String(1 + (day % 28)).padStart(2, '0')} 00:00`),
      is: 'date',
      options: { format: 'YYYY-MM-DD HH:mm' },
    },
    { of: 'a few timestamps at midnight', values: ['1995-07-01 00:00'], is: 'timestamp' },
    {
      of: 'timestamps with offsets',
      values: ['2024-02-29T10:00:00Z', '2024-02-29 10:00:00+01'],
      is: 'timestamptz',
    },
    { of: 'dates and timestamps', values: ['2024-02-29', '2024-02-29 10:00'], is: 'text' },
    { of: 'times', values: ['10:00', '10:00:01.5'], is: 'time' },
    { of: 'nothing', values: ['', ' '], is: 'text' },
  ])('$of is $is', ({ values, is, name = 'x', options = {}, words = [], says }) => {
    for (const column of [ofTexts(values), ofBytes(values)]) {
      const found = decideColumn(column, name);
      expect(found.type).toBe(is);
      expect(found.options).toEqual(options);
      expect(found.words.map(([word]) => word)).toEqual(words);
      expect(found.doubts.join()).toMatch(says ?? /^$/);
    }
  });
});

const digits = fc.stringMatching(/^\d{1,9}$/);
const spellings = fc.oneof(
  fc.stringMatching(/^[+-]?\d{1,6}$/),
  fc.stringMatching(/^[+-]?\d{0,4}[.,]\d{1,4}$/),
  fc.stringMatching(/^\d{1,3}(?:,\d{3}){1,2}$/),
  fc.stringMatching(/^[0-3]?\d[/.][01]?\d[/.](?:19|20)\d\d(?: [0-2]?\d:[0-5]\d)?$/),
  fc.stringMatching(/^(?:19|20)\d\d-[01]\d-[0-3]\d(?:[T ][0-2]\d:[0-5]\d(?::[0-5]\d)?Z?)?$/),
  fc.stringMatching(/^\d{1,2}:\d\d(?: [AP]M)?$/),
  fc.constantFrom('NA', 'M', '', ' ', 'true', 'f', '-', 'x', 'NaN', '1e9', '{}', '[1'),
);
/**
 * Draws a few values and repeats them with small changes, because values of a column are similar.
 */
const columns = fc
  .tuple(
    fc.array(spellings, { minLength: 1, maxLength: 4 }),
    fc.array(fc.nat(3), { minLength: 1, maxLength: 60 }),
    digits,
  )
  .map(([drawn, places, salt]) =>
    places.map((place, index) => {
      const text = drawn[place % drawn.length]!;
      return index % 3 === 0
        ? text.replace(/\d$/, salt[index % salt.length]!)
        : index % 7 === 0
          ? ` ${text}`
          : text;
    }),
  );

describe('whatever is chosen, or offered', () => {
  it.each([
    { values: ['060000', '0'], type: 'integer', range: '0 to 60,000' },
    { values: ['0123'], type: 'smallint', range: 'always 123' },
    { values: ['09223372036854775808'], type: 'numeric', range: 'always 9223372036854776000' },
  ])('as numbers with leading zeros, $values are $type', ({ values, type, range }) => {
    const found = decideColumn(ofBytes(values), 'code');
    expect(found.type).toBe('text');
    expect(found.alternatives.map(({ decision }) => decision)).toEqual([
      expect.objectContaining({ type, range }),
    ]);
  });

  it('takes every value that is not a null word, and counts each once', () => {
    fc.assert(
      fc.property(columns, (values) => {
        const found = decideColumn(ofBytes(values), 'Date');
        expect(decideColumn(ofTexts(values), 'Date')).toEqual(found);
        expect(found.values + found.missing).toBe(values.length);
        for (const { type, options, words } of [
          found,
          ...found.alternatives.map(({ decision }) => decision),
        ]) {
          const reads = columnTypes[type].reader(options as never);
          const missing = new Set(words.map(([word]) => word));
          const present = values.map(trimBlanks).filter((value) => value !== '' && !missing.has(value));
          expect(present.filter((value) => isRefusal(reads(value)))).toEqual([]);
        }
      }),
      { numRuns: searched(300) },
    );
  });
});
