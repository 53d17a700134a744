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
import { lossText } from '../../../../src/tools/loss.ts';
import { decideColumn } from '../../../../src/tools/init/decide.ts';
import { plainDialect } from '../../../../src/tools/init/delimiter.ts';
import { createTableEvidence, observeBlock } from '../../../../src/tools/init/observe.ts';
import { searched } from '../../../helpers/seeded.ts';

const ofTexts = (values: readonly string[]): ColumnEvidence => {
  const column = createColumnEvidence();
  for (const [index, value] of values.entries()) {
    Object.assign(column.where, { file: 'a.csv', record: index, lineOf: (record: number) => record + 1 });
    observeText(column, value);
  }
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
  /** The lines that begin with !. */
  readonly loses?: readonly RegExp[];
}

it.each<[of: string, values: readonly string[], is: string, more?: More]>([
  ['small whole numbers', ['1', '-20', '3276'], 'integer'],
  ['whole numbers up to the bounds of integer', ['2147483647', '-2147483648'], 'integer'],
  ['whole numbers beyond integer', ['1', '2147483648'], 'bigint'],
  ['whole numbers below integer', ['1', '-2147483649'], 'bigint'],
  ['whole numbers beyond bigint', ['9223372036854775808'], 'numeric'],
  [
    'padded numbers and blanks',
    ['  73', ' ', '8'],
    'integer',
    {
      loses: [/blanks around values: "  73" in line 1 of a.csv becomes 73/, /blanks alone.*: " " in line 2/],
    },
  ],
  ['numbers with decimals', ['1', '10.25', '-3.5'], 'numeric'],
  ['amounts', ['1.00', '10.25', '-3.50'], 'numeric', { options: { precision: 6, scale: 2 } }],
  ['amounts of different scales', ['1', '10.25', '-3.50'], 'numeric'],
  ['versions', ['1.9', '1.10', '1.1'], 'text', { says: /differ only in zeros at their end, as versions do/ }],
  ['versions by their name', ['1.9', '1.8'], 'text', { name: 'Version', says: /versions by their name/ }],
  [
    'numbers with signs and zeros before the point',
    ['+0411.2', '-008.6'],
    'numeric',
    {
      options: { precision: 6, scale: 1 },
      loses: [/plus signs: "\+0411.2" in line 1 .*becomes 411.2/, /leading zeros: "-008.6".* becomes -8.6/],
    },
  ],
  [
    'numbers without a digit beside the point',
    ['.5', '5.'],
    'numeric',
    { loses: [/without a digit before or after the point: ".5" .*becomes 0.5; `--type x=text`/] },
  ],
  ['a zero with a sign', ['-0', '1'], 'integer', { loses: [/"-0" .*becomes 0/] }],
  ['numbers with exponents', ['1e5', '2.5'], 'double', { loses: [/exponents: "1e5" .*becomes 100000/] }],
  ['numbers with exponents as the server writes them', ['1e-07', '2.5'], 'double'],
  [
    'numbers with exponents that a double does not keep',
    ['9007199254740993', '1e2'],
    'numeric',
    { loses: [/exponents: "1e2" in line 2 of a.csv becomes 100/] },
  ],
  ['codes with an E', ['10E1', '22E3'], 'text', { says: /digits around an E, as codes have/ }],
  [
    'telephone numbers',
    ['+491701234567', '+491709999999'],
    'text',
    { says: /whole numbers with plus signs/ },
  ],
  ['numbers with a decimal comma', ['2,6', '13,25', '-0,5'], 'numeric', { options: { decimal: ',' } }],
  [
    'numbers that may have a decimal comma or thousands',
    ['1,234', '5,678'],
    'text',
    { says: /thousand, or a decimal comma/ },
  ],
  ['numbers with thousands', ['1,234,567', '1,000', '-0.5'], 'numeric', { options: { thousands: ',' } }],
  [
    'numbers with thousands and a decimal comma',
    ['1.234,50', '-0,5', '1.234.567,25'],
    'numeric',
    { options: { thousands: '.', decimal: ',' } },
  ],
  [
    'numbers of which some have no thousands separator',
    ['1,234,567', '1234'],
    'numeric',
    { options: { thousands: ',' }, loses: [/"1234" .*becomes 1,234/] },
  ],
  ['numbers with an apostrophe', ["1'234.50", '-0.5'], 'numeric', { options: { thousands: "'" } }],
  [
    'numbers with a no-break space',
    ['1\u00a0234,50', '7'],
    'numeric',
    { options: { thousands: '\u00a0', decimal: ',' } },
  ],
  [
    'numbers with a blank',
    ['1 000', '20'],
    'text',
    { says: /"1 000": numbers with a blank between thousands/ },
  ],
  ['a minus at the end', ['12-', '5'], 'text', { says: /a minus at the end: kept as text/ }],
  ['numbers and a leading zero', ['1.10', '1.1', '01'], 'text', { says: /numbers, some with leading zeros/ }],
  ['numbers with leading zeros', ['00100', '12345'], 'text', { says: /leading zeros/ }],
  ['whole numbers called a postcode', ['90210'], 'text', { name: 'ZipCode', says: /codes/ }],
  [
    'numbers and null words',
    ['1', 'NA', 'M', String.raw`\N`],
    'integer',
    {
      words: ['NA', 'M', String.raw`\N`],
      loses: [/^words that become null, "NA" 1×.*: "NA" in line 2 of a.csv;/],
    },
  ],
  ['texts and NA', ['DE', 'NA', 'FR'], 'text', { says: /"NA" 1×/ }],
  ['null words alone', ['NA', 'NA'], 'text', { says: /"NA" 2×/ }],
  [
    'numbers and another word',
    [...many(String), 'VR'],
    'text',
    { says: /60 of 61 are numbers, "VR" 1× not/ },
  ],
  ['truth in words', ['Y', 'N', ''], 'boolean', { options: { true: ['Y'], false: ['N'] } }],
  ['truth and nulls', ['true', 'false', 'NULL'], 'boolean', { words: ['NULL'], loses: [/"NULL" 1×/] }],
  [
    'three answers',
    ['yes', 'no', 'unknown'],
    'text',
    { says: /only "yes" and "no", beside "unknown": kept/ },
  ],
  ['truth in several spellings', ['Yes', 'yes', 'no'], 'text', { says: /only "Yes", "yes" and "no"/ }],
  ['one word of a pair', ['Y', 'Y'], 'text'],
  ['points of the compass', ['N', 'Y', 'S'], 'text'],
  ['noughts and ones', ['0', '1'], 'integer'],
  [
    'uuids',
    ['{5BBE9CB3-6332-4EB0-9CD3-8737CEA4A65A}'],
    'uuid',
    { loses: [/capitals and braces.* becomes 5bbe9cb3-/] },
  ],
  ['objects', ['{"a": 1, "a": 2}', '[]'], 'json'],
  ['ISO dates', ['2024-02-29'], 'date'],
  [
    'ISO dates and none',
    ['2024-02-29', '0000-00-00'],
    'date',
    { words: ['0000-00-00'], loses: [/"0000-00-00" 1×/] },
  ],
  ['days that there are not', ['2023-02-29'], 'text'],
  ['dates of digits', ['20240229'], 'date', { name: 'Date', options: { format: 'YYYYMMDD' } }],
  ['a few numbers that might be dates', ['20240229'], 'integer', { name: 'id' }],
  ['times of digits', ['0053', '2353'], 'time', { name: 'Time', options: { format: 'HHmm' } }],
  ['dates by day', ['10/03/2004', '31/12/2004'], 'date', { options: { format: 'DD/MM/YYYY' } }],
  ['dates by month', ['1/3/2004', '12/31/2004'], 'date', { options: { format: 'M/D/YYYY' } }],
  ['dates by day or month', ['10/03/2004', '11/12/2004'], 'text', { says: /day or month: kept as text/ }],
  ['dates of two digits', ['10/03/04', '11/12/04'], 'text', { says: /day or month or year/ }],
  [
    'dates of which some have a leading zero',
    ['01/3/2004', '1/31/2004'],
    'date',
    {
      options: { format: 'M/D/YYYY' },
      loses: [/forms of dates and times.* "01\/3\/2004" .*becomes 1\/3\/2004/],
    },
  ],
  [
    'dates of two digits, some of four',
    ['6/16/99', '01/01/1950'],
    'text',
    { says: /years of two digits, some with four: kept as text; .*'D\/M\/YY'/ },
  ],
  [
    'dates in words',
    ['September 9, 2019', 'May 1, 2020'],
    'text',
    { says: /name of the month first: kept as text/ },
  ],
  ['dates with dots', ['1.3.2004'], 'date', { options: { format: 'D.M.YYYY' } }],
  ['dates with names of months', ['01-Mar-2004'], 'date', { options: { format: 'DD-MMM-YYYY' } }],
  [
    'dates with short years',
    ['31-Dec-45'],
    'date',
    {
      options: { format: 'DD-MMM-YY' },
      loses: [/^centuries: years 69 to 99 become 1969.*--pivot.*"31-Dec-45" in line 1/],
    },
  ],
  ['timestamps as the server writes them', ['2024-02-29 10:00:00', '2024-02-29 10:00:00.5'], 'timestamp'],
  [
    'ISO timestamps',
    ['2024-02-29T10:00:00.120', '2024-02-29T10:00:01.000'],
    'timestamp',
    { options: { format: 'YYYY-MM-DDTHH:mm:ss.SSS' } },
  ],
  [
    'ISO timestamps in two forms',
    ['2024-02-29T10:00:00', '2024-02-29 10:00:00.5'],
    'timestamp',
    { loses: [/forms of dates.*"2024-02-29T10:00:00" .*becomes 2024-02-29 10:00:00/] },
  ],
  [
    'timestamps with seven decimals',
    ['2024-02-29T10:00:00.1234567', '2024-02-29T10:00:01.0000000'],
    'text',
    { says: /more than six decimals of a second.*`round: true`/ },
  ],
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
  [
    'a few timestamps at midnight',
    ['1995-07-01 00:00'],
    'timestamp',
    { options: { format: 'YYYY-MM-DD HH:mm' } },
  ],
  [
    'timestamps with offsets',
    ['2024-02-29T10:00:00+01'],
    'timestamptz',
    { loses: [/^offsets \(the instant is kept, in UTC\): .* becomes 2024-02-29 09:00:00\+00/] },
  ],
  [
    'timestamps in UTC',
    ['2024-02-29T10:00:00Z'],
    'timestamptz',
    { options: { format: 'YYYY-MM-DDTHH:mm:ssZ' } },
  ],
  ['dates and timestamps', ['2024-02-29', '2024-02-29 10:00'], 'text'],
  ['times', ['10:00', '23:59'], 'time', { options: { format: 'HH:mm' } }],
  ['times in two forms', ['10:00', '10:00:01.5'], 'time', { loses: [/"10:00" .*becomes 10:00:00/] }],
  ['nothing', ['', ' '], 'text', { loses: [/^fields of blanks alone.*: " " in line 2/] }],
])('a column of %s', (_, values, is, { name = 'x', options = {}, words = [], says, loses = [] } = {}) => {
  for (const column of [ofTexts(values), ofBytes(values)]) {
    const found = decideColumn(column, name);
    expect(found.type).toBe(is);
    expect(found.options).toEqual(options);
    expect(found.words.map(([word]) => word)).toEqual(words);
    expect(found.doubts.join()).toMatch(says ?? /^$/);
    expect(found.losses.map((loss) => lossText(loss, name))).toEqual(
      loses.map((line) => expect.stringMatching(line)),
    );
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
    { values: ['0123'], type: 'integer', range: 'always 123' },
    { values: ['09223372036854775808'], type: 'numeric', range: 'always about 9.22e+18' },
  ])('as numbers with leading zeros, $values are $type', ({ values, type, range }) => {
    const found = decideColumn(ofBytes(values), 'code');
    expect(found.type).toBe('text');
    expect(found.alternatives.map(({ decision }) => decision)).toEqual([
      expect.objectContaining({ type, range }),
    ]);
    expect(found.alternatives[0]!.decision.losses.map(({ what }) => what)).toEqual(['leading zeros']);
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
