// Compares the compiled decoder with the record decoder on random bytes: same counts, rejects and
// rows, wherever the bytes are cut. test/integration/compiled.test.ts shows that the server reads
// the same values from both.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createCompiledDecoder } from '../../../../src/format/rows/compiled-decoder.ts';
import { windowsOf } from '../../../../src/format/rows/windows.ts';
import { createSplitter } from '../../../../src/format/records/splitter.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { oneOf, present, when } from '../../../../src/pipeline/declare/filter.ts';
import { binaryRecordDecoder, expectSame, outcomeOf } from './both-decoders.ts';
import { blocksIn, blocksOf, cutAt, decodedFile, tableOf } from './reading.ts';
import { searched } from '../../../helpers/seeded.ts';

const fail = (): never => {
  throw new RangeError('it broke');
};

const header = ['a', 'b', 'c', 'd'];
const columns = {
  a: column.integer('a'),
  glued: column.timestamp(['b', 'c'], { format: 'YYYYMMDDHHmm' }).nullable(),
  c: column.varchar('c', { length: 4 }).nullable(),
  d: column.boolean('d', { true: ['s'] }).default(false),
  text: column.text('d').nulls(['1']).nullable(),
};

const values = fc.constantFrom(
  '1',
  '-7',
  '2147483648',
  '',
  'M',
  ' 5 ',
  '20110101',
  '20110230',
  '0053',
  'abcde',
  's',
  'x',
  '1.0',
  'a\\b',
  'a,"',
);
const quoted = fc
  .oneof(values, fc.constantFrom('q,r', 'a"b', '""', '"', 'two\nlines', 'a\r\nb', 'é', '\u00a0', '\0'))
  .map((text) => `"${text.replaceAll('"', '""')}"`);
const blanks = fc.constantFrom('', '', '', ' ', '\t ');
const padded = fc.tuple(blanks, quoted, blanks).map((parts) => parts.join(''));
const irregular = fc.constantFrom('"open', 'st"ray', '"a"b', '"a" b', 'é', '\u00a0', '\0');
const fields = fc.oneof(
  { weight: 12, arbitrary: values },
  { weight: 8, arbitrary: quoted },
  { weight: 2, arbitrary: padded },
  { weight: 1, arbitrary: irregular },
  { weight: 1, arbitrary: fc.string({ maxLength: 5 }) },
);
/** Mostly records of four fields, so that most of them are decoded. */
const lines = fc
  .oneof(
    { weight: 6, arbitrary: fc.array(fields, { minLength: 4, maxLength: 4 }) },
    { weight: 1, arbitrary: fc.array(fields, { minLength: 1, maxLength: 6 }) },
  )
  .map((line) => line.join(','));
const files = fc
  .tuple(
    fc.array(lines, { maxLength: 12 }),
    fc.constantFrom('\n', '\r\n'),
    fc.constantFrom('', '\n', '\r\n', '\r'),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(0xff, 0xc3, 0)), { maxLength: 1 }),
  )
  .map(([records, newline, end, broken]) => {
    const bytes = Buffer.from(records.join(newline) + end);
    for (const [at, byte] of broken) if (bytes.length > 0) bytes[at % bytes.length] = byte;
    return bytes;
  });

const dialects = [
  { trim: true, nulls: ['', 'M'] },
  { trim: false, nulls: [''] },
  { quote: null, trim: true, nulls: ['', 'M'] },
  { ragged: 'pad' as const },
  { ragged: 'cut' as const, trim: true, nulls: ['', 'M'] },
  { nulls: ['q,r', 'a"b', ' 5 '], delimiter: ',' },
  { escape: '\\', trim: true, nulls: [''] },
  { trim: 'outside' as const, nulls: ['', ' 5 ', 'M'] },
  { quotes: 'lenient' as const, trim: true, nulls: [''] },
  { quotes: 'lenient' as const, lineEnd: 'lf' as const },
  { lineEnd: 'lf' as const },
  { comment: 'a', nulls: [''] },
  { escapes: 'any' as const, nulls: ['', 'M'] },
  { quotedNulls: false, nulls: ['', 'M', 's'] },
  { quotedNulls: false, nulls: ['', 'M'], trim: true },
  { quotedNulls: false, nulls: ['', ' 5 '], trim: 'outside' as const, quotes: 'lenient' as const },
];

/** Delimiters of several bytes: a character twice, characters beyond ASCII, and blanks. */
const longDelimiters = [
  { delimiter: '||', trim: true, nulls: ['', 'M'] },
  { delimiter: '§', nulls: [''], ragged: 'cut' as const },
  { delimiter: '|~|', quotes: 'lenient' as const },
  { delimiter: ' | ', trim: true, nulls: [''] },
  { delimiter: ' | ', trim: 'outside' as const, nulls: [''] },
  { delimiter: 'aXa', quote: null, nulls: [''] },
  { delimiter: '||', escape: '\\', nulls: ['', 'M'] },
];

it.each(
  dialects.flatMap((options) => [
    { options, filter: [] },
    { options, filter: [present('a'), oneOf('d', ['s', 'x'])] },
  ]),
)('compiled and record decoder $options with $filter.length filters', async ({ options, filter }) => {
  const table = tableOf(options, { columns, filter });
  const split = createSplitter(table.format.dialect, header.length, 'lf');
  await fc.assert(
    fc.asyncProperty(files, fc.nat(300), async (file, place) => {
      // Tries every cut of a short file, but only this cut of a longer file.
      const places = file.length > 40 ? [Math.min(place, file.length)] : file.keys();
      const expected = outcomeOf(
        await blocksOf([file], split),
        binaryRecordDecoder(table, decodedFile(header)),
      );
      const decode = createCompiledDecoder(table, decodedFile(header));
      for (const cut of places)
        expect(outcomeOf(await blocksOf(cutAt(file, cut), split), decode)).toEqual(expected);
    }),
    { numRuns: searched(40) },
  );
});

describe('compiled and record decoder of delimiters of several bytes', () => {
  /** Fields that contain parts of delimiters, and escapes. */
  const hostile = fc
    .array(fc.constantFrom('|', '~', 'a', 'X', ' ', '\xc2', '\xa7', '\\"', '\\', 'x'), { maxLength: 4 })
    .map((parts) => parts.join(''));
  const field = fc.oneof(
    { weight: 3, arbitrary: fields },
    hostile,
    hostile.map((text) => `"${text}"`),
  );

  it.each(longDelimiters)('%j', async (options) => {
    const table = tableOf(options, { columns, filter: [] });
    const split = createSplitter(table.format.dialect, header.length, 'lf');
    const lists = fc.array(fc.array(field, { minLength: 4, maxLength: 4 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(lists, fc.nat(300), async (records, place) => {
        const file = Buffer.from(records.map((record) => `${record.join(options.delimiter)}\n`).join(''));
        const blocks = await blocksOf(cutAt(file, Math.min(place, file.length)), split);
        await expectSame(blocks, table, decodedFile(header));
      }),
      { numRuns: searched(40) },
    );
  });

  it('leaves an unescaped file with another escape to the routine, and records that escape to the judge', async () => {
    const table = tableOf({ escape: '\\' }, { columns: { a: column.text('a'), b: column.text('b') } });
    const file = Buffer.from('"1","b, c"\n"2","a \\"quoted\\" b"\n3,"x\\\\"\n"4","d"\n');
    const blocks = await blocksIn(table, [file]);
    const windows = [...windowsOf(blocks[0]!, 92)].map(({ from, to, isFit }) => [from, to, isFit]);
    expect(windows).toEqual([
      [0, 1, true],
      [1, 3, false],
      [3, 4, true],
    ]);
    await expectSame(blocks, table, decodedFile(['a', 'b']));
  });
});

describe('compiled and record decoder of columns with functions', () => {
  const mapped = {
    a: column.integer('a').check((value) => value !== 1, 'one is refused'),
    glued: column
      .text(['b', 'c'], { tokens: { abcde: 'token' } })
      .map((text) => (text === '' ? null : text.toUpperCase()))
      .default('none'),
    d: column
      .text('d')
      .zod(z.string().transform((text) => `${text}!`))
      .nullable(),
    kept: column.varchar('c', { length: 4 }).zod(z.string().max(3)).nullable(),
    changed: column
      .integer('a')
      .zod(z.int().transform((value) => value * 1_000_000))
      .default(0),
    day: column
      .date('b', { format: 'YYYYMMDD' })
      .check((day) => day < '2011-01-31', 'is later')
      .nullable(),
    token: column
      .text('d', { tokens: { s: 'token' } })
      .check((text) => text !== 'token', 'is a token')
      .nullable(),
  };

  it.each(dialects)('%j', async (options) => {
    const filter = when(({ d }) => d !== 'x', ['d']);
    const table = tableOf(options, { columns: mapped, filter });
    const split = createSplitter(table.format.dialect, header.length, 'lf');
    await fc.assert(
      fc.asyncProperty(files, async (file) => {
        const blocks = await blocksOf([file], split);
        await expectSame(blocks, table, decodedFile(header));
      }),
      { numRuns: searched(30) },
    );
  });

  it('of any length that a function makes of a field', async () => {
    const table = tableOf(
      { trim: false },
      {
        columns: {
          a: column.text('a').map((text) => text.repeat(194)),
          b: column.text('a').map((text) => (text === 'B' ? 'b'.repeat(300_000) : text)),
          glued: column.text(['a', 'a', 'a', 'a']),
          separated: column.text(['a', 'a', 'a'], { separator: 'é'.repeat(500) }),
          blank: column.timestamptz('t').nullable(),
        },
      },
    );
    const names = ['a', 't'];
    const records = Array.from(
      { length: 9_000 },
      (_, n) => `${n % 4_000 === 3_999 ? 'B' : 'A'},2011-01-01T00:00:${10 + (n % 50)}Z\n`,
    );
    const blocks = await blocksIn(table, [Buffer.from(records.join(''))]);
    await expectSame(blocks, table, decodedFile(names));
  });

  it('calls them once for a value, and again for those of a record that is rejected', async () => {
    const seen: unknown[] = [];
    const see = (value: unknown): boolean => seen.push(value) > 0;
    const table = tableOf(
      { delimiter: ';', nulls: ['-'] },
      {
        columns: {
          a: column.integer('a').check((value) => see(value) && value !== 2, 'two is refused'),
          b: column.text('b').check(see, 'is seen').nullable(),
          c: column
            .text('c')
            .map((text) => (see(text) ? `${text}!` : null))
            .zod(z.string().refine(see)),
        },
        filter: when((named) => see(named), ['d']),
      },
    );
    const record = (a: number, b: string): string => `${a};${b};"c ""${a}""";d\n`;
    const file = record(1, 'twelve bytes') + record(2, 'more than twelve bytes') + record(3, '-');
    const blocks = await blocksIn(table, [Buffer.from(file)], 4);
    const { counts } = createCompiledDecoder(table, decodedFile(header))(blocks[0]!);
    expect(counts).toEqual({ records: 3, copied: 2, rejected: 1, filtered: 0 });
    const of = (a: number, ...b: string[]): unknown[] => [{ d: 'd' }, a, ...b, `c "${a}"`, `c "${a}"!`];
    expect(seen).toEqual([
      ...of(1, 'twelve bytes'),
      { d: 'd' },
      2,
      ...of(2, 'more than twelve bytes'),
      ...of(3),
    ]);
  });

  it.each([
    { name: 'a filter', filter: [when(() => fail(), ['a'])], columns: { a: column.text('a') } },
    { name: 'a column', filter: [], columns: { a: column.text('a').map(() => fail()) } },
  ])('$name that throws is reported with the record’s line', async ({ filter, columns: declared }) => {
    const table = tableOf({}, { columns: declared, filter });
    const blocks = await blocksIn(table, [Buffer.from('1,2,3,4\n')], 4);
    const decode = createCompiledDecoder(table, decodedFile(header, 'lf', 'file.csv'));
    expect(() => decode(blocks[0]!)).toThrow(/file\.csv:1: .*it broke/);
  });
});

it('texts of a file are never in quotes, whatever is before them in memory', async () => {
  const glued = column.text(['a', 'x', 'y']).nullable();
  const table = tableOf({ quotedNulls: false }, { columns: { glued, b: column.text('b').nullable() } });
  const file = decodedFile(['a', 'b'], 'lf', 'f', { x: '"', y: '' });
  const blocks = await blocksIn(table, [Buffer.from('1,""\n')]);
  const expected = await expectSame(blocks, table, file);
  // The first column is null, the second an empty text.
  expect(expected.rows).toBe('0002ffffffff00000000');
});

it('more blank lines of one field than the memory holds are decoded', async () => {
  const table = tableOf({ nulls: ['-'] }, { columns: { a: column.text('a'), b: column.text('a') } });
  const file = Buffer.from('\n'.repeat(200_000));
  const blocks = await blocksIn(table, [file], 1);
  const { counts } = createCompiledDecoder(table, decodedFile(['a']))(blocks[0]!);
  expect(counts).toEqual({ records: 200_000, copied: 200_000, rejected: 0, filtered: 0 });
});

it.each(dialects)('compiled and record decoder of a file of one field %j', async (options) => {
  const table = tableOf(options, { columns: { a: column.text('a').nullable() } });
  const split = createSplitter(table.format.dialect, 1, 'lf');
  const oneField = fc
    .array(
      fields.filter((field) => !field.includes(',')),
      { maxLength: 12 },
    )
    .map((records) => Buffer.from(records.join('\n')));
  await fc.assert(
    fc.asyncProperty(oneField, fc.nat(40), async (file, place) => {
      const blocks = await blocksOf(cutAt(file, Math.min(place, file.length)), split);
      await expectSame(blocks, table, decodedFile(['a']));
    }),
    { numRuns: searched(40) },
  );
});

describe('compiled and record decoder of a long file', () => {
  const many = (count: number, text: string): string => Array.from({ length: count }, () => text).join('');
  const long = 'é'.repeat(60_000);
  const cases: readonly { readonly name: string; readonly file: string }[] = [
    { name: 'more records than the memory holds', file: many(40_000, '1,20110101,0053,T\n2,,x,"a""b"\n') },
    { name: 'empty records and more rows than there is room for', file: many(20_000, ',,,\n') },
    { name: 'a record that is longer than the memory', file: `1,,,x\n2,,,${long}\n3,,,"${long}"\n4,,,T\n` },
    {
      name: 'a fault, a bad byte and a judged value among good ones',
      file: many(3_000, '1,,,a\n2,"b"c,,d\n+3,,,\n4,,,R\n'),
    },
  ];

  it.each(cases)('$name', async ({ file }) => {
    const table = tableOf(
      { trim: true, nulls: [''] },
      {
        columns: {
          a: column.integer('a').default(7),
          glued: column.timestamp(['b', 'c'], { format: 'YYYYMMDDHHmm' }).nullable(),
          separated: column.text(['b', 'c', 'd'], { separator: ', ' }).nullable(),
          tokens: column.integer('a', { tokens: { '2': '-12', '3': 'three' } }).default(0),
          marked: column.text('d', { tokens: { T: 'trace' } }).default(many(100, 'long')),
          ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`d${n}`, column.text('d').nullable()])),
        },
      },
    );
    const bytes = Buffer.concat([
      Buffer.from(file),
      Buffer.from('9,,,\xff\n', 'latin1'),
      Buffer.from('8,,,\n'),
    ]);
    const blocks = await blocksIn(table, cutAt(bytes, bytes.length >> 1), 4);
    await expectSame(blocks, table, decodedFile(header));
  });
});
