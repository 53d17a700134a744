// Rules of columns: which values they accept, the reasons of rejects, and that both decoders agree.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeTextRow } from '../../../../src/load/chunk/encode-text.ts';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import { createRecordDecoder } from '../records/record-decoder.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { column, type AnyColumn } from '../../../../src/pipeline/declare/column.ts';
import { blocksOf, decodedFile, tableOf } from '../records/reading.ts';
import { searched } from '../../../helpers/seeded.ts';

/** Decodes one field per record with both decoders. Returns the reasons of rejects, by field. */
const judged = async (
  made: AnyColumn,
  fields: readonly string[],
): Promise<Readonly<Record<string, string>>> => {
  const table = tableOf(
    { delimiter: ';', nulls: ['null'] },
    { columns: { v: made, beside: column.text('v').nullable() } },
  );
  const file = Buffer.from(fields.map((field) => `${field};\n`).join(''));
  const [block] = await blocksOf([file], createSplitter(table.format.dialect, 2, 'lf'));
  const [compiled, record] = [
    createCompiledDecoder(table, decodedFile(['v', 'w'])),
    createRecordDecoder(table, decodedFile(['v', 'w']), encodeTextRow),
  ].map((decode) => decode(block!));
  expect(compiled!.rejects).toEqual(record!.rejects);
  expect(compiled!.counts).toEqual(record!.counts);
  expect(compiled!.rejects.every(({ code, column: name }) => code === 'check' && name === 'v')).toBe(true);
  return Object.fromEntries(
    compiled!.rejects.map(({ reason, position }) => [fields[position.record - 1]!, reason]),
  );
};

const least0 = 'must be at least 0';
const cases: [
  name: string,
  made: AnyColumn,
  taken: readonly string[],
  refused: Readonly<Record<string, string>>,
][] = [
  [
    'bounds of an integer',
    column.integer('v').min(0).max(10),
    ['0', '10', '+3', '007', '-0'],
    { '-1': least0, '11': 'must be at most 10', '+11': 'must be at most 10' },
  ],
  [
    'bounds at the ends of a bigint',
    column
      .bigint('v')
      .min(-(2n ** 63n))
      .max(9_007_199_254_740_993n),
    ['-9223372036854775808', '9007199254740993', '5'],
    { '9007199254740994': 'must be at most 9007199254740993' },
  ],
  [
    'a smallint with thousands',
    column.smallint('v', { thousands: '.' }).max(1_000).oneOf([1, 1_000]),
    ['1.000', '1000', '1'],
    { '1.001': 'must be at most 1000', '2': 'must be one of 1, 1000' },
  ],
  [
    'several bounds, of which all hold',
    column.integer('v').min(5).min(0).max(20).max(30),
    ['5', '20'],
    { '4': 'must be at least 5', '-1': 'must be at least 5', '21': 'must be at most 20' },
  ],
  [
    'a numeric',
    column.numeric('v', { precision: 12, scale: 4 }).min(0).max('99.5'),
    ['0', '-0.00', '99.5', '99.5000', '1e1', '0.0001'],
    { '-0.0001': least0, '99.5001': 'must be at most 99.5', '1e2': 'must be at most 99.5' },
  ],
  [
    'a numeric with more digits than a double has',
    column.numeric('v').min('0.12345678901234567891').max('1e30'),
    ['0.12345678901234567891', '0.2', '1e30', '999999999999999999999999999999.9'],
    {
      '0.12345678901234567890': 'must be at least 0.12345678901234567891',
      '1000000000000000000000000000001': 'must be at most 1e30',
      NaN: 'must be at least 0.12345678901234567891',
      Infinity: 'must be at most 1e30',
    },
  ],
  [
    'a numeric whose point is between thousands',
    column.numeric('v', { precision: 12, scale: 2, decimal: ',', thousands: '.' }).max(2),
    ['1,99', '2,00', '2'],
    { '1.234': 'must be at most 2', '1.234,50': 'must be at most 2' },
  ],
  [
    'a double',
    column.double('v').min(0.1).max(Infinity),
    ['0.1', '1e300', 'Infinity', '0.10000000000000000001'],
    {
      '0.09999999999999999': 'must be at least 0.1',
      '-0': 'must be at least 0.1',
      NaN: 'must be at least 0.1',
    },
  ],
  [
    'a real, by its text and not as it is rounded',
    column.real('v').min(-0.1).max(0.7),
    ['0.7', '-0.1', '0.69999999', '0', '-0'],
    { '0.7000000001': 'must be at most 0.7', '-0.1000000001': 'must be at least -0.1' },
  ],
  [
    'a real from 0 on',
    column.real('v').min(0),
    ['0', '-0', '0.000000000000001'],
    { '-0.000000000000001': least0, '-Infinity': least0 },
  ],
  [
    'a date',
    column
      .date('v', { format: 'DD.MM.YYYY' })
      .min('2011-01-31')
      .max(new Date('2012-02-01') as never),
    ['31.01.2011', '01.02.2012'],
    { '30.01.2011': 'must be at least 2011-01-31', '02.02.2012': 'must be at most 2012-02-01' },
  ],
  [
    'a date of which one is one of ours when its day is read as its month',
    column.date('v', { format: 'YYYY-DD-MM' }).oneOf(['2011-02-01']),
    ['2011-01-02'],
    { '2011-02-01': 'must be one of 2011-02-01' },
  ],
  [
    'a timestamp, in any spelling',
    column.timestamp('v').min('2011-01-31T00:53:00').max('infinity'),
    ['2011-01-31 00:53', '2011-01-31T00:53:00.000001', 'infinity'],
    { '2011-01-31 00:52:59.999999': 'must be at least 2011-01-31T00:53:00' },
  ],
  [
    'a timestamptz, at any offset',
    column.timestamptz('v').max('2011-01-31T00:53+01:00'),
    ['2011-01-30T23:53Z', '2011-01-31T01:53:00+02'],
    { '2011-01-31T00:53Z': 'must be at most 2011-01-31T00:53+01:00' },
  ],
  [
    'a time',
    column.time('v').min('06:00').max('18:30'),
    ['06:00:00', '18:30'],
    { '05:59': 'must be at least 06:00', '18:30:00.000001': 'must be at most 18:30' },
  ],
  [
    'texts',
    column.text('v').oneOf(['AA', 'a longer text that is not cut', 'é']),
    ['AA', 'a longer text that is not cut', 'é'],
    {
      aa: 'must be one of AA, a longer text that is not cut, é',
      '': 'must be one of AA, a longer text that is not cut, é',
    },
  ],
  [
    'many texts',
    column.varchar('v', { length: 3 }).oneOf(Array.from({ length: 12 }, (_, n) => `a${n}`)),
    ['a0', 'a11'],
    { a12: 'must be one of a0, a1, a2, a3, a4, a5, a6, a7, and 4 more' },
  ],
  [
    'texts in two lists',
    column.text('v').oneOf(['a', 'b']).oneOf(['b', 'c']),
    ['b'],
    { a: 'must be one of b, c', c: 'must be one of a, b' },
  ],
  [
    'booleans',
    column.boolean('v').oneOf([true]),
    ['true', 'Y'],
    { no: expect.stringContaining('must be one of') as never },
  ],
  [
    'uuids',
    column.uuid('v').oneOf(['00000000-0000-0000-0000-00000000000a']),
    ['00000000-0000-0000-0000-00000000000A', '{00000000-0000-0000-0000-00000000000a}'],
    {
      '00000000-0000-0000-0000-00000000000b': 'must be one of 00000000-0000-0000-0000-00000000000a',
    },
  ],
  [
    'a length in characters',
    column.text('v').length({ min: 2, max: 4 }),
    ['ab', 'abcd', 'éé', '𝄞𝄞', '𝄞𝄞𝄞𝄞', 'éééé'],
    {
      a: 'must have 2 to 4 characters',
      '𝄞': 'must have 2 to 4 characters',
      é: 'must have 2 to 4 characters',
      abcde: 'must have 2 to 4 characters',
      ééééé: 'must have 2 to 4 characters',
    },
  ],
  [
    'an exact length',
    column.varchar('v', { length: 9 }).length(1),
    ['a', 'é'],
    { '': 'must have 1 character', ab: 'must have 1 character' },
  ],
  [
    'one end of a length, and another one',
    column.text('v').length({ min: 1 }).length({ max: 3 }),
    ['a', 'abc'],
    { '': 'must have at least 1 character', abcd: 'must have at most 3 characters' },
  ],
  [
    'a pattern',
    column.text('v').pattern(/^[a-z]+$/i),
    ['ab', 'AB'],
    { a1: 'must match /^[a-z]+$/i', '': 'must match /^[a-z]+$/i' },
  ],
  [
    'what a token means',
    column.integer('v', { tokens: { T: '0', many: '99' } }).max(10),
    ['T', '10'],
    { many: 'must be at most 10' },
  ],
  [
    'what map gives, before checks and a schema',
    column
      .text('v')
      .map((text) => text.trim())
      .length({ min: 1 })
      .check((text) => text !== 'x', 'is x'),
    [' a '],
    { '  ': 'must have at least 1 character', ' x': 'is x' },
  ],
];

describe('rules', () => {
  it.each(cases)('%s', async (_, made, taken, refused) => {
    const fields = [...taken, ...Object.keys(refused)];
    const reasons = await judged(made, fields);
    expect(Object.keys(reasons).toSorted()).toEqual(Object.keys(refused).toSorted());
    for (const [field, reason] of Object.entries(refused))
      expect(reasons[field]!.slice(reasons[field]!.indexOf(': ') + 2)).toEqual(reason);
  });

  it('do not see a missing value', async () => {
    const made = column.integer('v').min(5).oneOf([7]).default(7);
    expect(await judged(made, ['null', '7'])).toEqual({});
  });
});

describe('rules of both decoders agree', () => {
  const digits = fc.array(fc.constantFrom(...'0123456789'), { minLength: 1, maxLength: 6 });
  const decimals = fc
    .tuple(fc.constantFrom('', '', '-', '+'), digits, fc.constantFrom('.', '.', ''), digits)
    .map(([sign, whole, point, part]) => `${sign}${whole.join('')}${point}${point && part.join('')}`);
  const bounds = fc.tuple(decimals, decimals).filter(([one, other]) => Number(one) < Number(other));
  // Decimals of up to 15 digits are distinct doubles.
  const types = {
    real: (least: string, most: string) => column.real('v').min(Number(least)).max(Number(most)),
    double: (least: string, most: string) => column.double('v').min(Number(least)).max(Number(most)),
    numeric: (least: string, most: string) => column.numeric('v').min(least).max(most),
    'numeric with a scale': (least: string, most: string) =>
      column.numeric('v', { precision: 15, scale: 8 }).min(least).max(most),
  };

  it.each(Object.entries(types))('%s', async (_, made) => {
    await fc.assert(
      fc.asyncProperty(bounds, fc.array(decimals), async ([least, most], others) => {
        const near = [least, most].flatMap((bound) =>
          bound.includes('.') ? [bound, `${bound}0`, `${bound}1`, `${bound}01`] : [bound],
        );
        const fields = [...new Set([...near, ...others])];
        const reasons = await judged(made(least, most), fields);
        const refused = fields.filter(
          (field) => Number(field) < Number(least) || Number(field) > Number(most),
        );
        expect(Object.keys(reasons).toSorted()).toEqual(refused.toSorted());
      }),
      { numRuns: searched(40) },
    );
  });

  it.each(['integer', 'bigint'] as const)('%s', async (type) => {
    const whole = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    await fc.assert(
      fc.asyncProperty(fc.tuple(whole, whole), fc.array(whole), async (ends, others) => {
        const [least, most] = [Math.min(...ends), Math.max(...ends)];
        const fields = [...new Set([...ends, ...others, least - 1, most + 1])].filter(
          (n) => Math.abs(n) < 2 ** 31,
        );
        const made = column[type]('v').min(least).max(most);
        const reasons = await judged(made, fields.map(String));
        const refused = fields.filter((n) => n < least || n > most).map(String);
        expect(Object.keys(reasons).toSorted()).toEqual(refused.toSorted());
      }),
      { numRuns: searched(40) },
    );
  });
});
