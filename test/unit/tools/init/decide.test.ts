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
  return table.columns[0]!;
};

const many = (text: (index: number) => string): readonly string[] =>
  Array.from({ length: 60 }, (_, index) => text(index));

interface More {
  readonly name?: string;
  readonly options?: object;
  readonly words?: readonly string[];
  readonly says?: RegExp;
}

it.each<[of: string, values: readonly string[], is: string, more?: More]>([
  ['small whole numbers', ['1', '-20', '3276'], 'smallint'],
  ['whole numbers with no room for ten times as much', ['1', '3277'], 'integer'],
  ['negative numbers with no room for ten times as much', ['1', '-3277'], 'integer'],
  ['whole numbers of more than nine digits', ['1', '2147483648'], 'bigint'],
  ['whole numbers beyond bigint', ['9223372036854775808'], 'numeric'],
  ['padded numbers and blanks', ['  73', ' ', '8'], 'smallint'],
  ['numbers with decimals', ['1', '10.25', '-3.5'], 'numeric', { options: { precision: 6, scale: 2 } }],
  [
    'numbers with signs and zeros before the point',
    ['+0411.2', '-008.6'],
    'numeric',
    { options: { precision: 6, scale: 1 } },
  ],
  ['numbers with exponents', ['1e5', '2.5'], 'double'],
  [
    'numbers with a decimal comma',
    ['2,6', '13,25'],
    'numeric',
    { options: { precision: 6, scale: 2, decimal: ',' } },
  ],
  [
    'numbers that may have a decimal comma or thousands',
    ['1,234', '5,678'],
    'text',
    { says: /thousand, or a decimal comma/ },
  ],
  ['numbers with thousands', ['1,234,567', '1,000'], 'text', { says: /thousands: ','/ }],
  [
    'numbers with thousands and a decimal comma',
    ['1.234,5', '12,5', '1.234.567,25'],
    'text',
    { says: /thousands: '.'/ },
  ],
  ['numbers with leading zeros', ['00100', '12345'], 'text', { says: /leading zeros/ }],
  ['whole numbers called a postcode', ['90210'], 'text', { name: 'ZipCode', says: /codes/ }],
  [
    'numbers and null words',
    ['1', 'NA', 'M', String.raw`\N`],
    'smallint',
    { words: ['NA', 'M', String.raw`\N`] },
  ],
  ['texts and NA', ['DE', 'NA', 'FR'], 'text', { says: /"NA" 1×/ }],
  ['null words alone', ['NA', 'NA'], 'text', { says: /"NA" 2×/ }],
  [
    'numbers and another word',
    [...many(String), 'VR'],
    'text',
    { says: /60 of 61 are numbers, "VR" 1× not/ },
  ],
  ['truth in words', ['Y', 'N', ''], 'boolean'],
  ['one word of a pair', ['Y', 'Y'], 'text'],
  ['points of the compass', ['N', 'Y', 'S'], 'text'],
  ['noughts and ones', ['0', '1'], 'smallint'],
  ['uuids', ['{5BBE9CB3-6332-4EB0-9CD3-8737CEA4A65A}'], 'uuid'],
  ['objects', ['{"a": 1}', '[]'], 'jsonb'],
  ['ISO dates', ['2024-02-29'], 'date'],
  ['days that there are not', ['2023-02-29'], 'text'],
  ['dates of digits', ['20240229'], 'date', { name: 'Date', options: { format: 'YYYYMMDD' } }],
  ['a few numbers that might be dates', ['20240229'], 'integer', { name: 'id' }],
  ['times of digits', ['0053', '2353'], 'time', { name: 'Time', options: { format: 'HHmm' } }],
  ['dates by day', ['10/03/2004', '31/12/2004'], 'date', { options: { format: 'DD/MM/YYYY' } }],
  ['dates by month', ['1/3/2004', '12/31/2004'], 'date', { options: { format: 'M/D/YYYY' } }],
  ['dates by day or month', ['10/03/2004', '11/12/2004'], 'text', { says: /day or month: kept as text/ }],
  ['dates of two digits', ['10/03/04', '11/12/04'], 'text', { says: /day or month or year/ }],
  ['dates with dots', ['1.3.2004'], 'date', { options: { format: 'D.M.YYYY' } }],
  ['dates with names of months', ['01-Mar-2004'], 'date', { options: { format: 'DD-MMM-YYYY' } }],
  ['ISO timestamps', ['2024-02-29T10:00:00', '2024-02-29 10:00:00.5'], 'timestamp'],
  [
    'timestamps by month',
    ['1/3/2023 3:36', '12/31/2023 13:36'],
    'timestamp',
    { options: { format: 'M/D/YYYY H:mm' } },
  ],
  [
    'timestamps on the 12 h clock',
    ['12/31/2023 1:36 PM'],
    'timestamp',
    { options: { format: 'MM/DD/YYYY h:mm A' } },
  ],
  [
    'timestamps whose first part may be the day or the month',
    ['01/02/2024 10:00'],
    'text',
    { says: /first part may be day or month/ },
  ],
  [
    'timestamps at midnight',
    many((day) => `1995-07-${String(1 + (day % 28)).padStart(2, '0')} 00:00`),
    'date',
    { options: { format: 'YYYY-MM-DD HH:mm' } },
  ],
  ['a few timestamps at midnight', ['1995-07-01 00:00'], 'timestamp'],
  ['timestamps with offsets', ['2024-02-29T10:00:00Z', '2024-02-29 10:00:00+01'], 'timestamptz'],
  ['dates and timestamps', ['2024-02-29', '2024-02-29 10:00'], 'text'],
  ['times', ['10:00', '10:00:01.5'], 'time'],
  ['nothing', ['', ' '], 'text'],
])('a column of %s', (_, values, is, { name = 'x', options = {}, words = [], says } = {}) => {
  for (const column of [ofTexts(values), ofBytes(values)]) {
    const found = decideColumn(column, name);
    expect(found.type).toBe(is);
    expect(found.options).toEqual(options);
    expect(found.words.map(([word]) => word)).toEqual(words);
    expect(found.doubts.join()).toMatch(says ?? /^$/);
  }
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
