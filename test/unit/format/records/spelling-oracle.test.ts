// Compares the compiled decoder with the record decoder on every type in every spelling: literals
// that are valid, nearly valid, or damaged byte by byte, in one field or joined from two.

import fc, { type Arbitrary } from 'fast-check';
import { it } from 'vitest';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { type AnyColumn, column } from '../../../../src/pipeline/declare/column.ts';
import * as literals from '../../../integration/column-type-literals.ts';
import { expectSame } from './both-decoders.ts';
import { blocksOf, decodedFile, tableOf } from './reading.ts';
import { searched } from '../../../helpers/seeded.ts';

type Headers = string | readonly [string, ...string[]];

interface Case {
  readonly name: string;
  readonly declare: (headers: Headers) => AnyColumn;
  readonly values: Arbitrary<string>;
}

const ownWords = Array.from({ length: 30 }, (_, n) => `word ${'x'.repeat(n)}`);

/** Separators between integer digits, mostly in valid positions. */
const grouped = (values: Arbitrary<string>, separator: string): Arbitrary<string> =>
  fc
    .tuple(values, fc.nat(9), fc.nat(12))
    .map(([text, kind, at]) =>
      kind === 0
        ? text.slice(0, at) + separator + text.slice(at)
        : text.replace(
            /^([+-]?)(\d+)/,
            (_, sign: string, digits: string) => sign + digits.replaceAll(/\B(?=(?:\d{3})+$)/g, separator),
          ),
    );

const digits = (maxLength: number): Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'00001234567899999'), maxLength });
/** Numbers of every length, with zeros and nines in critical positions. */
const long = fc
  .tuple(fc.constantFrom('', '', '-', '+'), digits(50), fc.constantFrom('', '.', '.', '.'), digits(50))
  .map((parts) => parts.join(''));
const veryLong = fc.tuple(digits(140), digits(140)).map((parts) => parts.join('.'));
const decimals = literals.damaged(
  fc.oneof(
    { weight: 4, arbitrary: literals.numerics },
    { weight: 4, arbitrary: literals.floats },
    { weight: 4, arbitrary: long },
    { weight: 1, arbitrary: veryLong },
    { weight: 4, arbitrary: fc.double({ noNaN: true }).map(String) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.constantFrom('', '-', '+'),
          fc.constantFrom('NaN', 'nan', 'inf', 'Inf', 'infinity', 'INFINITY'),
        )
        .map((parts) => parts.join('')),
    },
  ),
);

const cases: readonly Case[] = [
  {
    name: 'uuid',
    declare: (from) => column.uuid(from, { tokens: { tok: '0'.repeat(32) } }),
    values: literals.uuids,
  },
  {
    name: 'boolean',
    declare: (from) => column.boolean(from, { tokens: { tok: 'on' } }),
    values: fc.oneof(literals.words, literals.damaged(literals.words)),
  },
  {
    name: 'boolean of two lists',
    declare: (from) =>
      column.boolean(from, { true: ['ja', 'J', 'ä'], false: ['nein', 'N', ''], tokens: { tok: 'ja' } }),
    values: literals.damaged(fc.constantFrom('ja', 'J', 'nein', 'N', 'ä', 'Ja')),
  },
  {
    name: 'boolean with else',
    declare: (from) => column.boolean(from, { true: ownWords, else: false }),
    values: literals.damaged(fc.constantFrom(...ownWords)),
  },
  {
    name: 'text',
    declare: (from) => column.text(from, { tokens: { tok: 'token' } }),
    values: literals.strings,
  },
  ...[1, 3, 20].map((length) => ({
    name: `varchar(${length})`,
    declare: (from: Headers) => column.varchar(from, { length, tokens: { tok: 't' } }),
    values: fc.oneof(
      literals.strings,
      fc.string({ unit: 'binary', maxLength: 24 }),
      fc.string({ unit: fc.constantFrom('a', 'é', '日', '😀'), maxLength: 24 }),
    ),
  })),
  ...(['json', 'jsonb'] as const).map((type) => ({
    name: type,
    declare: (from: Headers) => column[type](from, { tokens: { tok: '[1]' } }),
    values: fc.oneof(
      literals.jsonTexts,
      fc.json({ stringUnit: 'binary' }),
      literals.damaged(fc.jsonValue({ stringUnit: 'binary' }).map((value) => JSON.stringify(value, null, 1))),
      fc
        .array(fc.constantFrom(...'{}[]:,"', '"a"', '1', '-', 'true', ' ', '\\u0061', '\\'), { maxLength: 9 })
        .map((parts) => parts.join('')),
    ),
  })),
  ...(['smallint', 'integer', 'bigint'] as const).flatMap((type) => [
    {
      name: type,
      declare: (from: Headers) => column[type](from, { tokens: { tok: '7' } }),
      values: literals.wholeNumbers,
    },
    ...[',', '\u202f', "'"].map((thousands) => ({
      name: `${type} with ${thousands}`,
      declare: (from: Headers) => column[type](from, { thousands, tokens: { tok: '7' } }),
      values: grouped(literals.wholeNumbers, thousands),
    })),
  ]),
  ...(['real', 'double', 'numeric'] as const).flatMap((type) => [
    {
      name: type,
      declare: (from: Headers) => column[type](from, { tokens: { tok: '7' } }),
      values: decimals,
    },
    {
      name: `${type} with comma`,
      declare: (from: Headers) => column[type](from, { decimal: ',', tokens: { tok: '7,5' } }),
      values: decimals.map((text) => text.replace('.', ',')),
    },
    {
      name: `${type} with comma and point`,
      declare: (from: Headers) =>
        column[type](from, { decimal: ',', thousands: '.', tokens: { tok: '7,5' } }),
      values: grouped(
        decimals.map((text) => text.replace('.', ',')),
        '.',
      ),
    },
    {
      name: `${type} with blanks`,
      declare: (from: Headers) => column[type](from, { thousands: '\u00a0', tokens: { tok: '7' } }),
      values: grouped(decimals, '\u00a0'),
    },
  ]),
  ...[
    { precision: 5, scale: 2 },
    { precision: 5, scale: 2, round: true },
    { precision: 3, scale: 3, round: true },
    { precision: 15 },
    { precision: 38, scale: 10 },
    { precision: 200, scale: 60, round: true },
    { precision: 12, scale: 2, decimal: ',', thousands: "'" },
  ].map((options) => ({
    name: `numeric ${JSON.stringify(options)}`,
    declare: (from: Headers) => column.numeric(from, { ...options, tokens: { tok: '0' } } as never),
    values: fc.oneof(
      decimals,
      grouped(
        decimals.map((text) => text.replace('.', ',')),
        "'",
      ),
    ),
  })),
  ...(['real', 'double', 'numeric'] as const).flatMap((type) => [
    {
      name: `${type} in per cent`,
      declare: (from: Headers) => column[type](from, { percent: 'share', tokens: { tok: '7%' } }),
      values: decimals.map((text) => `${text}%`),
    },
    {
      name: `${type} in Indian groups`,
      declare: (from: Headers) =>
        column[type](from, { thousands: ',', grouping: 'indian', tokens: { tok: '1,00,000' } }),
      values: fc.oneof(
        decimals,
        decimals.map((text) =>
          text.replace(
            /^([+-]?)(\d+)(\d{3})/,
            (_, sign: string, left: string, right: string) =>
              `${sign}${left.replaceAll(/\B(?=(?:\d\d)+$)/g, ',')},${right}`,
          ),
        ),
      ),
    },
    {
      name: `${type} as the server spells it`,
      declare: (from: Headers) => column[type](from, { spelling: 'server', tokens: { tok: ' 7 ' } }),
      values: literals.widely(decimals),
    },
  ]),
  ...(['integer', 'bigint', 'boolean', 'uuid', 'date', 'time', 'timestamp', 'timestamptz'] as const).map(
    (type) => ({
      name: `${type} as the server spells it`,
      declare: (from: Headers) => column[type](from, { spelling: 'server' }),
      values: literals.wideTexts[type],
    }),
  ),
];

const header = ['whole', 'left', 'right'];

/** Values, the index at which each is cut for joining, and a byte that replaces another byte. */
const files = (values: Arbitrary<string>): Arbitrary<Buffer> => {
  const value = fc.oneof(
    { weight: 30, arbitrary: values },
    { weight: 1, arbitrary: fc.constantFrom('', 'NA', 'tok', ' ') },
  );
  const line = fc
    .tuple(value, fc.nat(40))
    .map(([text, at]) => `${text}|${text.slice(0, at)}|${text.slice(at)}`);
  return fc
    .tuple(
      fc.array(line, { maxLength: 300, size: 'max' }),
      fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 5 }),
    )
    .map(([lines, damages]) => {
      const bytes = Buffer.from(lines.map((text) => `${text.replaceAll(/[\r\n]/g, ' ')}\n`).join(''));
      for (const [at, byte] of damages) if (bytes.length > 0) bytes[at % bytes.length] = byte;
      return bytes;
    });
};

it.each(cases)('compiled and record decoder give the same of $name', async ({ declare, values }) => {
  const columns = { whole: declare('whole').nullable(), glued: declare(['left', 'right']).nullable() };
  const table = tableOf({ delimiter: '|', quote: null, nulls: ['', 'NA'] }, { columns });
  const split = createSplitter(table.format.dialect, header.length, 'lf');
  await fc.assert(
    fc.asyncProperty(files(values), async (file) => {
      const blocks = await blocksOf([file], split);
      await expectSame(blocks, table, decodedFile(header));
    }),
    { numRuns: searched(12) },
  );
});
