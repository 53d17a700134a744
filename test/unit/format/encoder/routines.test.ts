// Calls each routine of the row encoder by itself: bytes in, result and written bytes out. A result
// of 0 means "unsure".

import { describe, expect, it } from 'vitest';
import type { ColumnSpec } from '../../../../src/core/declaration.ts';
import { kindNames, layoutOf, type ByteKind } from '../../../../src/format/encoder/kinds.ts';
import { startRoutines } from '../../../../src/format/encoder/routines.ts';
import {
  columnBytes,
  columnKind,
  columnNulls,
  columnRules,
  slotBytes,
  slotEnd,
  slotStart,
  tokenAt,
  tokenLength,
} from '../../../../src/format/assembly/layouts.ts';
import {
  delimitersAt,
  endsAt,
  fieldsAt,
  glueBytes,
  outAt,
  overrun,
  planAt,
  startsAt,
  stoppedUnsure,
  textAt,
  wanted,
} from '../../../../src/format/assembly/memory.ts';
import * as state from '../../../../src/format/assembly/state.ts';
import { binaryForm } from '../../../../src/format/rows/row-form.ts';
import { createRowPlan, fieldShare, type RowPlan } from '../../../../src/format/rows/row-plan.ts';
import { fieldsOf } from '../../../../src/format/records/file-fields.ts';
import { typeOf } from '../../../../src/format/types/registry.ts';
import { column as columnOf, type AnyColumn } from '../../../../src/pipeline/declare/column.ts';
import { words } from '../../../helpers/words.ts';
import { decodedFile, tableOf } from '../records/reading.ts';

/** What the routine asked the host: the column's index and text, and if its value was written. */
const asked: (readonly [number, string, boolean])[] = [];
const started = startRoutines();
Object.assign(started.host, {
  encodeByText: (index: number, start: number, end: number, out: number, written: number) => {
    asked.push([index, memory.toString('utf8', start, end), written > out]);
    return written;
  },
  isWanted: () => wanted,
});
const memory = started.bytes;

type Routine = (...parameters: (number | bigint)[]) => number;
/** All functions of the module. */
const routines = started as unknown as Readonly<Record<string, Routine>>;
const noDay = 0x7fffffff;

/** The routine of each kind. */
const routineNames = Object.fromEntries(
  kindNames.map((kind) => [
    layoutOf({ kind } as ByteKind).number,
    `read${kind.replace(/^./, (first) => first.toUpperCase())}`,
  ]),
);

const set = (address: number, value: number): void => void memory.writeInt32LE(value, address);
const get = (address: number): number => memory.readInt32LE(address);

/** Copies a text into the window's memory. Returns the addresses of its start and end. */
const putText = (text: string): readonly [number, number] => {
  memory.fill(0, textAt, textAt + 2 * glueBytes);
  return [textAt, textAt + memory.write(text, textAt)];
};

const ofFile = fieldsOf(decodedFile(['a', 'b', 'c']), { match: 'exact', trim: false });

/** Copies the plan of a table with these columns into memory. */
const putPlan = (columns: Readonly<Record<string, AnyColumn>>, options: object = {}): RowPlan => {
  const plan = createRowPlan(tableOf({ nulls: ['', 'NA'], ...options }, { columns }), ofFile, binaryForm);
  memory.set(plan.bytes, planAt);
  set(state.slotsAt, planAt);
  set(state.slotsEnd, plan.slotsEnd);
  set(state.columnsAt, plan.columnsAt);
  set(state.columnsEnd, plan.columnsEnd);
  set(state.delimiterAt, plan.delimiterAt);
  set(state.delimiterBytes, 1);
  return plan;
};

/** The bytes for a text that the column's reader returns unchanged. */
const encoded = (type: string, text: string): string => {
  const out = { bytes: Buffer.alloc(1024), at: 0 };
  const { encode } = typeOf({ type });
  if (typeof encode === 'function') encode(text, out as never);
  return out.bytes.toString('hex', 0, out.at);
};

const written = (end: number): string | undefined =>
  end === 0 ? undefined : memory.toString('hex', outAt, end);

describe('scanDecimal', () => {
  // Packs a result of scanDecimal: digits above bit 8, scale from bit 2, has a point, sign.
  const scanned = (digits: bigint, scale: number, hasPoint: boolean, isNegative: boolean): bigint =>
    (digits << 8n) | BigInt((scale << 2) | (Number(hasPoint) << 1) | Number(isNegative));
  it.each([
    { text: '7', result: scanned(7n, 0, false, false) },
    { text: '+7', result: scanned(7n, 0, false, false) },
    { text: '+123456789.5', result: scanned(1_234_567_895n, 1, true, false) },
    { text: '-7', result: scanned(7n, 0, false, true) },
    { text: '12345678', result: scanned(12_345_678n, 0, false, false) },
    { text: '-123456.78', result: scanned(12_345_678n, 2, true, true) },
    { text: '123456789012345', result: scanned(123_456_789_012_345n, 0, false, false) },
    { text: '0.00000000000001', result: scanned(1n, 14, true, false) },
    { text: '5.', result: scanned(5n, 0, true, false) },
    ...['', ' 5', ...words('- . + +-5 -+5 1e3 1,5 1.2.3 12345678a 1234567890123456 ٣')].map((text) => ({
      text,
      result: -1n,
    })),
  ])('"$text"', ({ text, result }) => expect(routines.scanDecimal!(...putText(text))).toBe(result));
});

/** The routine of each kind, and a column that uses the kind. */
const reading = {
  readText: ['text', columnOf.text('a')],
  'readText of 4': ['varchar', columnOf.varchar('a', { length: 4 })],
  'readInteger of 2': ['smallint', columnOf.smallint('a')],
  'readInteger of 4': ['integer', columnOf.integer('a')],
  'readInteger of 8': ['bigint', columnOf.bigint('a')],
  readReal: ['real', columnOf.real('a')],
  readDouble: ['double', columnOf.double('a')],
  readNumeric: ['numeric', columnOf.numeric('a', { precision: 7, scale: 2 })],
  'readNumeric of any precision': ['numeric', columnOf.numeric('a')],
  'readNumeric rounded': ['numeric', columnOf.numeric('a', { precision: 5, scale: 2, round: true })],
  'readNumeric of decimals': ['numeric', columnOf.numeric('a', { precision: 2, scale: 2, round: true })],
  'readNumeric with separators': ['numeric', columnOf.numeric('a', { decimal: ',', thousands: '.' })],
  'readInteger with separators': ['integer', columnOf.integer('a', { thousands: '\u202f' })],
  'readReal with a comma': ['real', columnOf.real('a', { decimal: ',' })],
  'readDouble with blanks': ['double', columnOf.double('a', { thousands: ' ' })],
  readDate: ['date', columnOf.date('a')],
  readTime: ['time', columnOf.time('a')],
  readTimestamp: ['timestamp', columnOf.timestamp('a')],
  'readTimestamp with offset': ['timestamptz', columnOf.timestamptz('a')],
  'readTimestamp of a zone': ['timestamptz', columnOf.timestamptz('a', { zone: '-03:30' })],
  'readPattern of digits': ['timestamp', columnOf.timestamp('a', { format: 'YYYYMMDDHHmm' })],
  'readPattern of open digits': ['timestamp', columnOf.timestamp('a', { format: 'M/D/YYYY H:mm:ss.SSS' })],
  'readPattern of words': ['date', columnOf.date('a', { format: 'D–MMM–YY' })],
  'readPattern of a half': ['time', columnOf.time('a', { format: 'A h:mm' })],
  'readPattern of an offset': ['timestamptz', columnOf.timestamptz('a', { format: 'DD/MM/YYYY HH:mm Z.' })],
  'readPattern of a zone': [
    'timestamptz',
    columnOf.timestamptz('a', { format: 'DD/MM/YYYY', zone: '+05:45' }),
  ],
  'readPatterns of two': ['date', columnOf.date('a', { format: ['DD/MM/YYYY', 'YYYYMMDD'] })],
  readUuid: ['uuid', columnOf.uuid('a')],
  'readText of 20': ['varchar', columnOf.varchar('a', { length: 20 })],
  'readJson as text': ['json', columnOf.json('a')],
  'readJson as binary': ['jsonb', columnOf.jsonb('a')],
  readBoolean: ['boolean', columnOf.boolean('a')],
  'readWord of two lists': ['boolean', columnOf.boolean('a', { true: ['Ja', 'ä'], false: ['not at all'] })],
  'readWord with else': ['boolean', columnOf.boolean('a', { true: ['X'], else: false })],
} as const;

const levels = (count: number): string => '['.repeat(count) + ']'.repeat(count);
const jsonTexts = [
  ' \t\n\r[1 , "a" ,null,{ "a" : [ ] , "b":{}} ] ',
  `"${'x'.repeat(40)}\\n${'y'.repeat(15)}"`,
  levels(63),
  '9'.repeat(1_000),
  ...words(`
    {} [] 0 -0.5E-12 1e+5 12.50 "" true false null {"a":{"b":[{"c":[1,[2,[3]]]},{}]},"d":"e"}
    "\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\uD83D\\uDE00" "\\\\u0000" "äé日😀\u007f"`),
];
/** JSON texts that jsonb cannot store. */
const jsonOnly = words(`
    "\\u0000" {"\\u0000":1} "\\ud800" "\\ude00" "\\ud83d\\ud83d" "\\ud83dx\\ude00"
    "\\ud83d\\\\ude00"`);
const jsonUnsure = [levels(64), '1e1000', '9'.repeat(1_001)];
const noJson = [
  '',
  ' ',
  '[1 2]',
  '1 2',
  '{"a" 1}',
  '{"a":1 "b":2}',
  '"a\nb"',
  '\ufeff{}',
  '\u00a0{}',
  '\f1',
  ...words(`
    { [ ] } {] [} [1,] [,1] 1,2 {"a"} {"a":} {"a":1,} {a:1} {1:2} {'a':1} [1]] [[1] {"a":[}] : ,
    "a":1 01 - -a 1. .5 +1 1e 1e+ 0x1 1.e5 NaN Infinity tru truee True nul falsy " "a "a\\" "\\
    "\\x" "\\u" "\\u12" "\\u12g4" "\\u123" "\u0001"`),
];

describe('a routine that reads a kind writes what the encoder of the type writes', () => {
  const rows: readonly (readonly [keyof typeof reading, readonly string[], readonly string[]])[] = [
    ['readText', ['', 'a', 'é and more than sixteen bytes'], []],
    ['readText of 4', ['', 'abcd', 'ééé', '日本語', '😀😀😀😀'], ['abcde', 'ééééé', '😀😀😀😀😀']],
    [
      'readText of 20',
      ['x'.repeat(20), 'é'.repeat(20), '😀'.repeat(20), `${'é'.repeat(19)}x`],
      ['x'.repeat(21), 'é'.repeat(21), '😀'.repeat(21), `${'é'.repeat(20)}x`],
    ],
    ['readJson as text', [...jsonTexts, ...jsonOnly], [...noJson, ...jsonUnsure]],
    ['readJson as binary', jsonTexts, [...noJson, ...jsonUnsure, ...jsonOnly]],
    ['readInteger of 2', ['0', '-32768', '32767', '007', '+1'], ['32768', '-32769', '1.0', '+', 'x', '1e0']],
    ['readInteger of 4', ['2147483647', '-2147483648'], ['2147483648', '-2147483649', '99999999999999999']],
    [
      'readInteger of 8',
      words(`
    999999999999999 -1 9223372036854775807 -9223372036854775808 +1000000000000000
    0000000000000000000000000000001`),
      words(`
    9223372036854775808 -9223372036854775809 9999999999999999999 10000000000000000000
    18446744073709551617 +-00000000000000000000005 -- 1000000000000000. 1000000000000000e0 1000000000000000x`),
    ],
    [
      'readReal',
      words('0 -0 0.1 -3.25 1e5 -0e99 1.17549436e-38 8.507059e37 NaN nAn -inf +INF Infinity'),
      ['-NaN', 'infinit', '16777217', '1.17549435e-38', '1e-38', '1e39', '3.4028235e38', '1e-400'],
    ],
    [
      'readDouble',
      words(`
    0 -0 0.1 123456789012345 -3.25 .5 5. -1234567890123456 0.30000000000000004
    1.7976931348623157e307 -2.2250738585072014e-300 9007199254740993 9007199254740995
    9007199254740992.5 9007199254740993.0 900719925474099.5e1 1.00000000000000000E+01 2.5e-1
    +9007199254740993E0 99.44639611104503 -0.1234567890123456 0.12345678901234567 1234567890123456789
    1234567890123456. -1234567890123456.789 .1234567890123456789 1e23 0.00000000000000000000000012345678901234567 0e9999 NaN -infinity inf`),
      [
        '',
        ...words(
          '+nan infi infinityx in . e5 1e 1e+ 1e12345 1e5x 1e5. 1.2.3 12345678901234567890 5e-324 1e309 1.234.5678901234567 1.2345678901234.67 +-1234567890123456 1234567890123456x 12x34567890123456789',
        ),
      ],
    ],
    [
      'readNumeric',
      words(`
    0 -0.00 0.05 10000 99999.99 -12345.6 00001 +1 .5 5. 1.2300 0.000 -000.000 nan 1e1 -1.50E+1
    123e-2 0e-2 -0.0e3`),
      ['', ...words('123456 0.001 inf -Infinity . - +-1 1.2.3 1,5 1.23001 1e5 1e-3 --1e1 -+1e1')],
    ],
    [
      'readNumeric of any precision',
      [
        '9'.repeat(128),
        `${'0'.repeat(60)}1.${'0'.repeat(60)}`,
        ...words(`
    NaN Inf -infinity 0 0.00000 0.0001 0.00001 0.000000000000000000000001 10000 100000000 12345
    1234567890123456 12345678901234567890123456789012345678.1234567890
    -0.1234567890123456789012345678901234567890 1.5e3 -1.50e1 9999999999999999999E100 -.1e-99 0e0
    0.000e2 12345678901234.56789e-07`),
      ],
      [
        '9'.repeat(129),
        '1 2',
        `${'9'.repeat(40)}x`,
        `${'9'.repeat(16)}.${'9'.repeat(16)}.`,
        ...words('1e101 1e-101 12345678901234567890e1 1e 1e+ e1 1e1.5 1e1e1'),
      ],
    ],
    ['readNumeric rounded', ['123.456', '0.005', '899.999', '123.4500'], ['999.995', '1234', '912.345']],
    ['readNumeric of decimals', ['0.123', '0.000', '0.0999', '.5'], ['0.999', '1.1', '0.95001']],
    [
      'readNumeric with separators',
      ['1.234,5', '-1.234.567,89', '123', '1234,5', '0,5', ',5', '+12.345', '1.234,'],
      ['', ...words('1.23 12.34,5 1234.567 0.123 1.234.5 1,234,5 .123 1,5.000 1.2345 x.123')],
    ],
    [
      'readInteger with separators',
      ['1\u202f234', '-12\u202f345\u202f678', '1234'],
      ['1 234', '1\u202f23', '1\u202f', '\u202f123', '1\u2030234', '1\u202f234\u202f'],
    ],
    ['readReal with a comma', ['0,5', '-1,25', '7', '1,5e3'], ['0.5', '0,5,', '1.000,5']],
    [
      'readDouble with blanks',
      ['1 234.5', '12 345 678', '1 234e5', '0.5'],
      ['1 23.5', '0 123', '1.234 567', '1  234'],
    ],
    [
      'readDate',
      ['0001-01-01', '2000-02-29', '2012-12-31', '9999-12-31', 'infinity', '-infinity'],
      [
        '',
        ...words(
          '1900-02-29 0000-01-01 2011-1-01 2011/01/01 2011-04-31 2011-01-011 Infinity +infinity -infinit',
        ),
      ],
    ],
    [
      'readTime',
      ['00:00', '23:59', '23:59:59', '00:00:00.1', '12:34:56.789', '23:59:59.999999'],
      ['', ...words('1:00 24:00 00:60 00:00:60 00:00: 00:00:00. 00:00:00.1234567 00:00.5 00-00')],
    ],
    [
      'readTimestamp',
      [
        '1999-12-31 23:59',
        '2011-01-01T00:00:00',
        '0001-01-01 00:00:00.000001',
        '9999-12-31T23:59:59.999999',
        'infinity',
        '-infinity',
      ],
      [
        '2011-01-01',
        '2011-01-01 24:00:00',
        '2011-02-30 00:00',
        '2011-01-01t00:00',
        '2011-01-01 00:00Z',
        '--infinity',
        'infinity2',
      ],
    ],
    [
      'readTimestamp with offset',
      [
        ...['Z', '+01', '-15:59:59', '+05:45', '-00:30'].map((offset) => `2011-01-01T00:53:00.25${offset}`),
        '0001-01-01 00:00+15:59',
        '9999-12-31 23:59Z',
        '-infinity',
      ],
      ['', ' Z', ...words('z + +1 +16 +0100 +01: +01:00: +01:60 +01:00:60 +01:00:00:00 Z+01 .Z')].map(
        (offset) => `2011-01-01T00:53:00${offset}`,
      ),
    ],
    [
      'readTimestamp of a zone',
      ['2011-01-01T00:53', '2011-01-01T00:53:00Z', '2011-01-01 00:53+03:30'],
      ['2011-01-01T00:53-0330'],
    ],
    [
      'readPattern of digits',
      ['201101010053', '000101010000', '201202292359'],
      ['2011010100530', '20110101005', '201102290000', '201101012400', '2011010100é'],
    ],
    [
      'readPattern of open digits',
      ['1/2/2011 0:00:00.000', '12/31/2011 23:59:59.999', '01/02/2011 00:00:00.120'],
      [
        '1/2/11 0:00:00.000',
        '1/2/2011 0:00:00.00',
        '/2/2011 0:00:00.000',
        '1/123/2011 0:00:00.000',
        '13/1/2011 0:00:00.000',
      ],
    ],
    [
      'readPattern of words',
      ['1–Jan–69', '01–DEC–68', '29–feb–12', '9–sEp–00'],
      ['1–Jän–69', '1-Jan-69', '30–Feb–12', '1–Ja\u000e–69', '1–Jan–6', '1–jan–069'],
    ],
    [
      'readPattern of a half',
      ['AM 12:00', 'pm 12:00', 'Pm 1:59', 'aM 11:59'],
      ['AM 0:00', 'PM 13:00', 'XM 1:00', 'A 1:00', 'AM 1:60'],
    ],
    [
      'readPattern of an offset',
      ['Z', '+01', '+0130', '-01:30', '-15:59:59'].map((offset) => `31/01/2011 00:53 ${offset}.`),
      ['', 'z', '+1', '+16', '+010', '+0160', '+01:', '+01:00:'].map(
        (offset) => `31/01/2011 00:53 ${offset}.`,
      ),
    ],
    ['readPatterns of two', ['31/01/2011', '20110131'], ['31.01.2011', '20110231', '']],
    ['readPattern of a zone', ['31/01/2011'], ['31/01/2011Z', '31/01/201', '00/01/2011']],
    [
      'readUuid',
      [
        '00112233-4455-6677-8899-aabbccddeeff',
        'FEDCBA98-7654-3210-0123-456789ABCDEF',
        '{00112233-4455-6677-8899-aAbBcCdDeEfF}',
        '0123456789abcdefABCDEF9876543210',
      ],
      [
        '',
        '0123456789abcdefABCDEF987654321',
        '0123456789abcdefABCDEF987654321g',
        '0123456789abcdefABCDEF987654321@',
        '/123456789abcdefABCDEF9876543210',
        '`123456789abcdefABCDEF9876543210',
        '0123456789:bcdefABCDEF9876543210',
        '00112233_4455-6677-8899-aabbccddeeff',
        '00112233-4455-6677-8899aabbccddeeff-',
        '00112233-4455-6677-8899-aabbccddeef-',
        '(00112233-4455-6677-8899-aabbccddeeff}',
        '{00112233-4455-6677-8899-aabbccddeeff)',
        '{0123456789abcdefABCDEF9876543210}',
      ],
    ],
    [
      'readBoolean',
      ['t', 'TRUE', 'y', 'Yes', 'oN', '1', 'F', 'false', 'n', 'NO', 'oFF', '0'],
      ['', '\u0011', '2', '10', 'tr', 'truE ', 'o', 'falsee', 'yesyesyes', 'é'],
    ],
    ['readWord of two lists', ['Ja', 'ä', 'not at all'], ['', 'ja', 'Ä', 'not at al', 'Not at all', 't']],
    ['readWord with else', ['X', '', 'x', 'XX', 'anything else of any length'], []],
  ];
  const values = rows.flatMap(([name, taken, left]) => [
    ...taken.map((text) => ({ name, text, isTaken: true })),
    ...left.map((text) => ({ name, text, isTaken: false })),
  ]);

  const routineOf = (name: keyof typeof reading) => routines[name.split(' ')[0]!]!;

  it.each(values)('$name of "$text": $isTaken', ({ name, text, isTaken }) => {
    const [type, declared] = reading[name];
    const { columnsAt } = putPlan({ v: declared });
    const end = routineOf(name)(columnsAt, ...putText(text), outAt);
    const [{ options }] = tableOf({}, { columns: { v: declared } }).columns as [ColumnSpec];
    const canonical = typeOf({ type }).reader(options)(text);
    expect(written(end)).toBe(isTaken ? encoded(type, canonical as string) : undefined);
  });

  const long: Readonly<Record<string, readonly string[]>> = {
    readText: ['€'.repeat(1_000)],
    'readNumeric of any precision': [
      '9'.repeat(127),
      `.${'1'.repeat(126)}`,
      `1${'0'.repeat(126)}`,
      '9e99',
      '9e-99',
      '0e-99',
    ],
  };
  it.each(rows)('%s stays within the room of its column', (name, taken) => {
    const { columnsAt, valuesMax } = putPlan({ v: reading[name][1] });
    for (const text of [...taken, ...(long[name] ?? [])]) {
      const most = outAt + valuesMax[0]! + fieldShare * Buffer.byteLength(text);
      memory.fill(0xee, outAt, most + 1_000);
      const end = routineOf(name)(columnsAt, ...putText(text), outAt);
      expect(end).toBeGreaterThan(outAt);
      expect(end).toBeLessThanOrEqual(most);
      expect(memory.subarray(most + overrun, most + 1_000)).toEqual(Buffer.alloc(1_000 - overrun, 0xee));
    }
  });

  it('putCopyText stays within the room of its column', () => {
    const [start, end] = putText('\\'.repeat(100));
    expect(routines.putCopyText!(start, end, outAt) - outAt).toBeLessThanOrEqual(fieldShare * (end - start));
  });

  it.each([
    ['M/D/YYYY H', '1/2/2011 23', 1, '2011-01-02T02:00'],
    [undefined, '2011-01-02T02:00:00.123456+01:00:00', 6, '2011-01-02T02:00:00.123456+01'],
    [undefined, '2011-01-02T02:00:00.123456', 4, '2011-01-02T02:00:00.12Z'],
    [undefined, '2011-01-02T02:00:00.123456', 7, '2011-01-02T02:00:00Z'],
    [undefined, '2011-01-02T02:00:00', 3, '2011-01-02T02:00Z'],
  ])(
    'of format %s nothing of "%s" is read after the field, which ends %d bytes before',
    (format, text, left, canonical) => {
      const { columnsAt } = putPlan({ v: columnOf.timestamptz('a', { format, zone: 'UTC' }) });
      const [start, end] = putText(text);
      const read = format === undefined ? routines.readTimestamp! : routines.readPattern!;
      expect(written(read(columnsAt, start, end - left, outAt))).toBe(encoded('timestamptz', canonical));
    },
  );

  it('a pattern with half of a surrogate pair, which has no bytes, is not read from bytes', () => {
    const kindOf = (format: string): string => typeOf({ type: 'date' }).bytes({ format }).kind;
    expect([kindOf('DD\u{1f4c5}MM YYYY'), kindOf('DD\ud83dMM YYYY')]).toEqual(['pattern', 'other']);
  });

  it('has a test of every kind', () => {
    const kinds = Object.values(reading).map(([type, declared]) => {
      const [spec] = tableOf({}, { columns: { v: declared } }).columns;
      return typeOf({ type }).bytes(spec!.options).kind;
    });
    expect(new Set(kinds).size).toBe(kindNames.length);
  });
});

it.each([
  ['0053', 53],
  ['', 0],
  ['5x', -1],
])('readDigits of "%s" gives %d', (text, value) => {
  const [start, end] = putText(text);
  expect(routines.readDigits!(start, end - start)).toBe(value);
});

it.each([
  ['00', 0],
  ['99', 99],
  ['5x', -1],
  ['/0', -1],
  ['é', -1],
])('readTwo of "%s" gives %d', (text, value) => expect(routines.readTwo!(putText(text)[0])).toBe(value));

it.each([
  ['2000-01-01', 0],
  ['1999-12-31', -1],
  ['2000-03-01', 60],
  ['0001-01-01', -730_119],
  ['9999-12-31', 2_921_939],
  ['2001-02-29', noDay],
  ['2000-13-01', noDay],
  ['2000-00-01', noDay],
  ['2000-01-00', noDay],
  ['0000-12-31', noDay],
])('scanDay of "%s", and countDays of its numbers, give %d', (text, days) => {
  expect(routines.scanDay!(putText(text)[0])).toBe(days);
  const [year, month, day] = text.split('-').map(Number) as [number, number, number];
  expect(routines.countDays!(year, month, day)).toBe(days);
});

it.each(['2000-01.01', '2000.01-01', '200a-01-01', 'a000-01-01', '2000-0:-01', '2000-01-0\u0080'])(
  'scanDay of "%s" gives no day',
  (text) => expect(routines.scanDay!(putText(text)[0])).toBe(noDay),
);

it.each([
  ['00:00:00', 0],
  ['23:59:59', 86_399],
  ['24:00:00', -1],
  ['00:60:00', -1],
  ['00:00:60', -1],
  ['00:00-00', -1],
])('scanClock of "%s" gives %d', (text, seconds) => {
  expect(routines.scanClock!(Buffer.from(text).readBigInt64LE())).toBe(seconds);
});

// The lowest five bits are the number of bytes read.
it.each([
  ['00:01', (60_000_000n << 5n) | 5n],
  ['00:01Z', (60_000_000n << 5n) | 5n],
  ['00:00:01', (1_000_000n << 5n) | 8n],
  ['00:00:01.5', (1_500_000n << 5n) | 10n],
  ['00:00:01.0000010', (1_000_001n << 5n) | 16n],
  ['00:00:01.0000011', (1_000_001n << 5n) | 15n],
  [`00:00:01.${'0'.repeat(40)}`, (1_000_000n << 5n) | 31n],
  ['00:00:01.', -1n],
  ['00:0', -1n],
])('scanTime of "%s" gives %d', (text, scanned) =>
  expect(routines.scanTime!(...putText(text))).toBe(scanned),
);

it.each([
  ['Z', 0, 1],
  ['+01', 3600, 3],
  ['-0130', -5400, 5],
  ['+01:30', 5400, 6],
  ['-15:59:59', -57_599, 9],
])('scanOffset of "%s" gives %d seconds and %d bytes', (text, seconds, taken) => {
  expect(routines.scanOffset!(...putText(text))).toBe(((seconds + 57_600) << 5) | taken);
});

it.each(['', '+', '+1', '+16', '01:00', '+01:6'])('scanOffset of "%s" gives none', (text) => {
  expect(routines.scanOffset!(...putText(text))).toBe(-1);
});

it.each([
  ['infinity', 1],
  ['-infinity', 2],
  ['infinit', 0],
  ['-', 0],
  ['', 0],
])('scanInfinity of "%s" gives %d', (text, scanned) => {
  expect(routines.scanInfinity!(...putText(text))).toBe(scanned);
});

it('putMoment writes microseconds from 2000', () =>
  expect(written(routines.putMoment!(outAt, 1, 3600, 5n))).toBe(
    encoded('timestamp', '2000-01-01T23:00:00.000005'),
  ));

it.each([
  ['[1', ']'],
  ['"a', '"'],
  ['tru', 'e'],
  ['{"a":1', '}'],
  ['{"a"', ':1}'],
  ['1', '2'],
  ['"\\u00', '41"'],
])('readJson of %s does not go on with %s, which is after the field', (text, after) => {
  const { columnsAt } = putPlan({ v: columnOf.json('a') });
  const [start, end] = putText(text + after);
  const isNumber = text === '1';
  expect(routines.readJson!(columnsAt, start, end - after.length, outAt) !== 0).toBe(isNumber);
});

describe('findToken', () => {
  const many = Array.from({ length: 40 }, (_, n) => `token ${n} of many`);
  const alike = ['a.12345678', 'b.12345678', 'ab12345678'];
  const nulls = ['-', 'none', '12345678', 'ä', ...alike, 'x'.repeat(70), ...many];
  it.each([
    ...['', 'NA', ...nulls].map((text) => [text, text]),
    ...['no', 'nonE', '1234567', '_12345678', 'c.12345678', 'token 40 of many', 'x'.repeat(71), 'Ä'].map(
      (text) => [text, undefined],
    ),
  ])('of "%s" finds %s', (text = '', found) => {
    const { columnsAt } = putPlan({ v: columnOf.text('a').nulls(nulls).nullable() });
    const at = routines.findToken!(get(columnsAt + columnNulls), ...putText(text));
    const textAtToken = (): string =>
      memory.toString('utf8', get(at + tokenAt), get(at + tokenAt) + get(at + tokenLength));
    expect(at === 0 ? undefined : textAtToken()).toBe(found);
  });

  it('of half a surrogate pair is not found in its replacement', () => {
    const { columnsAt } = putPlan({ v: columnOf.text('a').nulls(['\ud800']).nullable() });
    expect(routines.findToken!(get(columnsAt + columnNulls), ...putText('\ufffd'))).toBe(0);
  });
});

/** Finds the fields of one record and fills the slots. */
const placeRecord = (text: string, quote: number, trim: 'whole' | 'outside' | 'none'): readonly string[] => {
  set(state.between, 8);
  set(state.quote, quote);
  set(state.trim, Number(trim === 'whole'));
  set(state.trimOutside, Number(trim === 'outside'));
  const [start, end] = putText(text);
  const listEnd = routines.scanFields!(start, end, 44, quote);
  expect((listEnd - delimitersAt) / 4).toBe(2);
  memory.copyWithin(fieldsAt, delimitersAt, listEnd);
  set(fieldsAt - 4, start - 1);
  set(fieldsAt + 8, end);
  expect(routines.placeFields!(fieldsAt)).toBe(1);
  return ofFile.header.map((_, index) => {
    const at = planAt + slotBytes * index;
    return memory.toString('utf8', get(at + slotStart), get(at + slotEnd));
  });
};

it.each([
  { text: 'a||b||c', delimiter: '||', places: [1, 4] },
  { text: 'a|b|||c||', delimiter: '||', places: [3, 7] },
  { text: '||||', delimiter: '||', places: [0, 2] },
  { text: 'é§\u00a0§x', delimiter: '§', places: [2, 6] },
  { text: 'abababa', delimiter: 'aba', places: [0, 4] },
  { text: 'a|', delimiter: '|~|', places: [] },
])('keepDelimiters finds "$delimiter" in $text', ({ text, delimiter, places }) => {
  const plan = putPlan({ a: columnOf.text('a') }, { delimiter });
  set(state.delimiterBytes, Buffer.byteLength(delimiter));
  expect(plan.delimiterAt).toBeGreaterThan(planAt);
  const listEnd = routines.scanFields!(...putText(text), Buffer.from(delimiter)[0]!, -1);
  const end = routines.keepDelimiters!(listEnd);
  const kept = Array.from({ length: (end - delimitersAt) / 4 }, (_, index) => get(delimitersAt + 4 * index));
  expect(kept.map((address) => address - textAt)).toEqual(places);
  expect(get(end)).toBe(0x7fffffff);
});

it.each([
  ['1,2,3', 34, 'none', ['1', '2', '3']],
  [',,', 34, 'none', ['', '', '']],
  ['"a,b","c""d",e', 34, 'none', ['a,b', 'c"d', 'e']],
  ['"a,"x,c', -1, 'none', ['"a', '"x', 'c']],
  [' 1 ," 2 ",3\t', 34, 'outside', ['1', ' 2 ', '3']],
  [' " 2 ",b ,', 34, 'whole', [' 2 ', 'b ', '']],
  [`${'x'.repeat(70)},"${','.repeat(70)}",z`, 34, 'none', ['x'.repeat(70), ','.repeat(70), 'z']],
] as const)('scanFields and placeFields %s', (text, quote, trim, fields) => {
  putPlan({ a: columnOf.text('a'), b: columnOf.text('b'), c: columnOf.text('c') });
  expect(placeRecord(text, quote, trim)).toEqual(fields);
});

it.each([
  ['plain', 'plain'],
  ['a""b', 'a"b'],
  ['""""', '""'],
  ['', ''],
])('placeFields halves the quotes of %s, and leaves the text as it is', (text, content) => {
  putPlan({ a: columnOf.text('a'), b: columnOf.text('b'), c: columnOf.text('c') });
  const record = `"${text}",,"${text}"`;
  expect(placeRecord(record, 34, 'none')).toEqual([content, '', content]);
  expect(memory.toString('utf8', textAt, textAt + record.length)).toBe(record);
});

describe('encodeColumn', () => {
  const cases = [
    { name: 'a null token', declared: columnOf.integer('a').nullable(), text: 'NA,,', hex: 'ffffffff' },
    { name: 'a missing value', declared: columnOf.integer('a'), text: 'NA,,', hex: undefined },
    {
      name: 'a default',
      declared: columnOf.integer('a').default(7),
      text: ',,',
      hex: encoded('integer', '7'),
    },
    {
      name: 'a token of a decimal',
      declared: columnOf.numeric('a', { precision: 5, scale: 2, tokens: { T: '0.01' } }),
      text: 'T,,',
      hex: encoded('numeric', '0.01'),
    },
    {
      name: 'a token of a boolean',
      declared: columnOf.boolean('a', { tokens: { ja: 'true' } }),
      text: 'ja,,',
      hex: encoded('boolean', 't'),
    },
    {
      name: 'glued fields',
      declared: columnOf.timestamp(['a', 'b'], { format: 'YYYYMMDDHHmm' }),
      text: '20110131,0053,',
      hex: encoded('timestamp', '2011-01-31T00:53'),
    },
    {
      name: 'glued fields with a separator between',
      declared: columnOf.text(['a', 'b', 'c'], { separator: ' · ' }),
      text: 'x,y,z',
      hex: encoded('text', 'x · y · z'),
    },
    {
      name: 'glued fields of which one is missing',
      declared: columnOf.timestamp(['a', 'b'], { format: 'YYYYMMDDHHmm' }).nullable(),
      text: '20110131,,',
      hex: 'ffffffff',
    },
  ];

  it.each(cases)('writes $name', ({ declared, text, hex }) => {
    const { columnsAt } = putPlan({ v: declared });
    asked.length = 0;
    placeRecord(text, 34, 'none');
    expect(written(routines.encodeColumn!(columnsAt, fieldsAt, outAt))).toBe(hex);
    expect(asked).toEqual([]);
  });

  it('asks the host for a spelling that it does not read', () => {
    const { columnsAt } = putPlan({ v: columnOf.integer('a') });
    asked.length = 0;
    placeRecord('1e1,,', 34, 'none');
    expect(routines.encodeColumn!(columnsAt, fieldsAt, outAt)).toBe(0);
    expect(asked).toEqual([[0, '1e1', false]]);
  });

  it.each([
    { name: 'read', text: '5', isWritten: true },
    { name: 'not read', text: '1e1', isWritten: false },
  ])('asks the host for the functions of a value that it has $name', ({ text, isWritten }) => {
    const declared = columnOf.integer(['b', 'c']).check((value) => value > 0, 'must be positive');
    const { columnsAt } = putPlan({ a: columnOf.text('a'), v: declared });
    asked.length = 0;
    placeRecord(`x,${text},1`, 34, 'none');
    const end = routines.encodeColumn!(columnsAt + columnBytes, fieldsAt, outAt);
    expect(written(end)).toBe(isWritten ? encoded('integer', `${text}1`) : undefined);
    expect(asked).toEqual([[1, `${text}1`, isWritten]]);
  });

  it('asks nobody for glued fields that are too long', () => {
    const { columnsAt } = putPlan({ v: columnOf.text(['a', 'b']) });
    asked.length = 0;
    placeRecord(`${'x'.repeat(glueBytes)},y,z`, 34, 'none');
    expect(routines.encodeColumn!(columnsAt, fieldsAt, outAt)).toBe(0);
    expect(asked).toEqual([]);
  });
});

describe('obeysRules', () => {
  const cases: readonly (readonly [AnyColumn, readonly string[], readonly string[]])[] = [
    [columnOf.smallint('a').min(-3).max(7), ['-3', '0', '7'], ['-4', '8', '32767']],
    [columnOf.bigint('a').max(5), ['5', '-999999999999999'], ['6']],
    [columnOf.date('a').min('2011-01-31'), ['2011-01-31', '9999-12-31'], ['2011-01-30', '0001-01-01']],
    [columnOf.double('a').min(-1.5).max(1.5), ['-1.5', '0', '-0', '1.5'], ['-1.51', '1.500001']],
    [columnOf.double('a').min(0), ['0', '5'], ['-0', '-1']],
    // Another text than the bound may round to the same real.
    [columnOf.real('a').min(-0.1).max(0.7), ['0.69', '-0.09'], ['0.7', '-0.1', '0.71']],
    [
      columnOf.numeric('a', { precision: 9, scale: 3 }).min('0.5').max(20),
      ['0.5', '20.000'],
      ['0.499', '20.001', '-1'],
    ],
    [columnOf.text('a').oneOf(['one', 'two']), ['one', 'two'], ['three', 'on', '']],
    [columnOf.text('a').length({ min: 2, max: 5 }), ['ab', 'abcde'], ['a', 'abcdef', 'é', 'aé', 'ééa']],
    [columnOf.text('a').length({ max: 2 }), ['', 'é'], ['éé']],
  ];
  const values = cases.flatMap(([declared, sure, unsure]) => [
    ...sure.map((text) => ({ declared, text, isSure: 1 })),
    ...unsure.map((text) => ({ declared, text, isSure: 0 })),
  ]);

  it.each(values)('"$text": $isSure', ({ declared, text, isSure }) => {
    const { columnsAt } = putPlan({ v: declared }, { nulls: [] });
    const [start, end] = putText(text);
    const read = routines[routineNames[get(columnsAt + columnKind)]!]!;
    expect(read(columnsAt, start, end, outAt)).toBeGreaterThan(outAt);
    expect(routines.obeysRules!(get(columnsAt + columnRules), start, end, outAt)).toBe(isSure);
  });
});

it('encodeSpans writes rows up to a record of which it is not sure', () => {
  const plan = putPlan({ a: columnOf.integer('a'), c: columnOf.text('c') });
  const records = ['1,x,one', '2,"y,y",two', '3.,z,three', '4,z,four'];
  const starts: number[] = [];
  const text = records.map((record) => `${record}\n`).join('');
  let at = 0;
  for (const [index, record] of records.entries()) {
    starts.push(at);
    set(startsAt + 4 * index, at);
    set(endsAt + 4 * index, at + record.length);
    at += record.length + 1;
  }
  const [, end] = putText(text);
  set(state.between, 8);
  set(state.rowRoom, plan.rowRoom);
  set(state.perByte, plan.perByte);
  set(state.rowHead, 2 << 8);
  set(state.filter, 0);
  set(state.usesSlots, 0);
  set(state.lineAt, 0);
  set(state.delimiterBytes, 1);
  set(state.delimiter, 44);
  set(state.quote, 34);
  set(state.trim, 0);
  set(state.trimOutside, 0);
  set(state.out, outAt);
  expect(routines.encodeSpans!(0, records.length, textAt, textAt, end)).toBe(2);
  expect(get(state.reason)).toBe(stoppedUnsure);
  expect(get(state.copied)).toBe(2);
  const row = (a: string, c: string): string => `0002${encoded('integer', a)}${encoded('text', c)}`;
  expect(written(get(state.out))).toBe(row('1', 'one') + row('2', 'two'));
});
