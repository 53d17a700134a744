// Literals for the column type tests: right ones, nearly right ones, and those at the edges of each type.

import fc, { type Arbitrary } from 'fast-check';
import { serverMajor } from '../helpers/major-server.ts';

/** Enough literals at once that a run costs the server one query. */
export const many = <T>(literal: Arbitrary<T>): Arbitrary<T[]> =>
  fc.array(literal, { minLength: 250, maxLength: 500, size: 'max' });
export const runs = { numRuns: 12 };

const digits = (maxLength: number, minLength = 0): Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
const soup = (alphabet: readonly string[], maxLength: number): Arbitrary<string> =>
  fc.array(fc.constantFrom(...alphabet), { maxLength }).map((pieces) => pieces.join(''));
export const concat = (...parts: readonly Arbitrary<string>[]): Arbitrary<string> =>
  fc.tuple(...parts).map((pieces) => pieces.join(''));
export const maybe = (part: Arbitrary<string>): Arbitrary<string> => fc.oneof(fc.constant(''), part);

/** The literal itself, or with one character taken out, doubled or replaced. */
export const damaged = (literal: Arbitrary<string>): Arbitrary<string> =>
  fc
    .tuple(literal, fc.nat(60), fc.constantFrom('', ' ', '0', '9', '-', ':', 'T', '"', '.', 'e'))
    .map(([text, at, other]) => (at > text.length ? text : text.slice(0, at) + other + text.slice(at + 1)));

const sign = fc.constantFrom('', '', '-', '+');
const nearBounds = fc
  .tuple(fc.constantFrom(2n ** 15n, 2n ** 31n, 2n ** 63n), fc.bigInt(-3n, 3n), fc.boolean())
  .map(([bound, more, negative]) => String(negative ? -bound + more : bound + more));
export const wholeNumbers = fc.oneof(
  fc.bigInt(-(2n ** 65n), 2n ** 65n).map(String),
  concat(sign, fc.constantFrom('', '000'), digits(21)),
  nearBounds,
  soup([...'0019+-., e'], 6),
);

const decimals = concat(
  sign,
  digits(8),
  maybe(concat(fc.constant('.'), digits(9))),
  maybe(concat(fc.constantFrom('e', 'E'), sign, fc.nat(460).map(String))),
);
// The bounds of real and double as exact decimals, cut or lengthened by a digit at any place.
const bounds = [2n ** 128n - 2n ** 103n, 2n ** 1024n - 2n ** 970n]
  .map(String)
  .concat([`${5n ** 150n}e-150`, `${5n ** 1075n}e-1075`, `${5n ** 149n}e-149`, `${5n ** 1074n}e-1074`]);
const nearFloatBounds = fc
  .tuple(fc.constantFrom(...bounds), fc.constantFrom(-2, -1, 0, 1, 2), fc.constantFrom(0, 3))
  .map(([bound, more, zeros]) => {
    const [whole = '', exponent = '0'] = bound.split('e');
    return `${BigInt(whole + '0'.repeat(zeros)) + BigInt(more)}e${Number(exponent) - zeros}`;
  });
export const floats = fc.oneof(
  decimals,
  fc.double().map(String),
  fc.float().map(String),
  nearFloatBounds,
  soup(['inf', 'Inf', 'inity', 'NaN', '+', '-', '1', '0', '.', 'e', ' '], 5),
);
const largeExponents = ['16380', '16384', '131070', '131072', '1073741823', '1073741824'];
/** Zeros, and what is rounded to zero: before PostgreSQL 16, the server refuses some that it takes since. */
const refusedBefore16 = /^0+e|e-/;
export const numerics = fc.oneof(
  decimals,
  concat(sign, digits(5), fc.constant('.'), digits(8)),
  concat(
    fc.constantFrom('9', '99', '999', '0.99', '.9'),
    fc.constantFrom('.', '', '99'),
    digits(4),
    fc.constantFrom('', 'e1', 'e-3'),
  ),
  concat(digits(3), fc.constantFrom('e', '.5e-', 'e-'), fc.constantFrom(...largeExponents)).filter(
    (text) => serverMajor >= 16 || !refusedBefore16.test(text),
  ),
  floats,
);

const number = (max: number, width: number): Arbitrary<string> =>
  fc.nat(max).map((value) => String(value).padStart(width, '0'));
const colon = fc.constant(':');
const hyphen = fc.constant('-');
export const isoDates = concat(
  fc.oneof(number(9999, 4), fc.constantFrom('1900', '2000', '2011', '2012')),
  hyphen,
  fc.oneof(number(13, 2), fc.constant('02')),
  hyphen,
  fc.oneof(number(32, 2), fc.constantFrom('28', '29', '30', '31')),
);
export const isoTimes = concat(
  number(25, 2),
  colon,
  number(61, 2),
  maybe(concat(colon, number(61, 2), maybe(concat(fc.constant('.'), digits(7))))),
);
export const offsets = fc.oneof(
  fc.constant('Z'),
  concat(
    fc.constantFrom('+', '-'),
    number(17, 2),
    maybe(concat(colon, number(60, 2), maybe(concat(colon, number(60, 2))))),
  ),
);
export const dateTimes = concat(isoDates, fc.constantFrom('T', ' '), isoTimes);
export const infinite = fc.constantFrom('infinity', '-infinity', 'Infinity', 'today', '');

const jsonPieces = [
  '"',
  '\\u',
  'd83d',
  'de00',
  '0000',
  '\\',
  '\\\\',
  '[',
  ']',
  '1',
  'e5',
  'e200000',
  '-',
  ',',
  '{"a":',
  '}',
  'null',
  ' ',
];
export const jsonTexts = fc.oneof(
  damaged(fc.json()),
  soup(jsonPieces, 8),
  soup(['\\ud83d', '\\ude00', '\\u0000', '\\u0041', '\\\\', 'u0000', 'x'], 4).map((text) => `["${text}"]`),
  concat(decimals, fc.constantFrom('', 'e131071', 'e131072', 'e-16383', 'e-16384')),
);
export const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 20 }).map((values) => `\\x${Buffer.from(values).toString('hex')}`),
  fc.constantFrom('', 'a', '\\\\', '\\001é', '\\377\\\\', '\\400', '\\x 0a FF', '\\', '\\x0'),
);

export const uuids = damaged(
  fc.oneof(
    fc.uuid(),
    fc.uuid().map((text) => text.toUpperCase()),
    fc.uuid().map((text) => `{${text}}`),
    fc.uuid().map((text) => text.replaceAll('-', '')),
  ),
);
export const words = fc.oneof(
  soup(['t', 'T', 'rue', 'y', 'Es', 'on', '1', 'f', 'alse', 'N', 'o', 'ff', '0'], 3),
  fc.constantFrom('TRUE', 'false', 'Yes', 'OFF'),
);
export const strings = fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => !text.includes('\0'));

const blanks = fc.constantFrom('', '', '', ' ', '  ', '\t', '\v', '\f', '\u00a0');
const otherBases = concat(
  sign,
  fc.constantFrom('0x', '0X', '0o', '0b', '0', '0d'),
  soup([...'0017fF_', '2'], 9),
);

/** Numbers with blanks around, underscores within, or in another base. */
export const widely = (numbers: Arbitrary<string>): Arbitrary<string> =>
  concat(
    blanks,
    fc.oneof(
      numbers,
      numbers.map((text) => text.replace(/(\d)(?=\d)/, '$1_')),
      soup([...'0019__..e-'], 8),
      otherBases,
    ),
    blanks,
  );

const upTo = (most: number): Arbitrary<string> =>
  fc.oneof(fc.nat(most).map(String), number(most, 2), fc.constantFrom('0', '1', '12', '60', '001'));
const between = fc.constantFrom('-', '-', '-', '/', '.', '', ' ');
const wideDate = fc.oneof(
  fc
    .tuple(fc.constantFrom('2011', '2012', '0099', '1999', '9999', '99', '110'), between, upTo(12), upTo(31))
    .map(([year, separator, month, day]) => [year, month, day].join(separator)),
  concat(fc.constantFrom('2011', '1999', '0001'), number(12, 2), number(31, 2)),
  fc.constantFrom(
    '20110131',
    'Infinity',
    '-INFINITY',
    'infinity',
    'today',
    'epoch',
    '2011-031',
    'Jan 31 2011',
  ),
);
const wideTime = concat(
  fc.oneof(
    concat(
      upTo(23),
      colon,
      upTo(59),
      maybe(concat(colon, upTo(59), maybe(concat(fc.constant('.'), digits(6))))),
    ),
    concat(number(23, 2), number(59, 2), maybe(number(59, 2)), maybe(concat(fc.constant('.'), digits(6)))),
  ),
  maybe(fc.constantFrom(' AM', 'PM', ' pm', '  aM', ' Am ')),
);
const wideOffset = concat(
  maybe(fc.constantFrom(' ', '  ')),
  fc.oneof(
    fc.constantFrom('Z', 'z', ' UTC'),
    concat(
      fc.constantFrom('+', '-'),
      upTo(15),
      maybe(concat(maybe(colon), upTo(59))),
      maybe(concat(colon, upTo(59))),
    ),
  ),
);
const wideTimestamp = concat(wideDate, fc.constantFrom('T', ' ', '  ', 't', ''), maybe(wideTime));

/** The wide spellings of each type, right and nearly right. */
export const wideTexts: Readonly<
  Record<
    | 'smallint'
    | 'integer'
    | 'bigint'
    | 'real'
    | 'double'
    | 'numeric'
    | 'boolean'
    | 'uuid'
    | 'date'
    | 'time'
    | 'timestamp'
    | 'timestamptz',
    Arbitrary<string>
  >
> = {
  smallint: widely(wholeNumbers),
  integer: widely(wholeNumbers),
  bigint: widely(wholeNumbers),
  real: widely(floats),
  double: widely(floats),
  numeric: widely(numerics),
  boolean: concat(
    blanks,
    fc
      .tuple(
        fc.constantFrom('true', 'false', 'yes', 'no', 'on', 'off', '1', '0', 'TRUE', 'Off', '10'),
        fc.nat(5),
      )
      .map(([word, end]) => word.slice(0, end)),
    blanks,
  ),
  uuid: fc
    .tuple(
      fc.uuid(),
      fc.uint32Array({ minLength: 0, maxLength: 4, max: 34 }),
      fc.constantFrom('', '', '{}', '{', '}'),
    )
    .map(([id, places, braces]) => {
      let hex = id.replaceAll('-', '');
      for (const place of [...places].toSorted((one, other) => other - one)) {
        const at = place % 5 === 0 ? place : 4 * Math.floor(place / 4);
        hex = `${hex.slice(0, at)}-${hex.slice(at)}`;
      }
      return (braces.startsWith('{') ? '{' : '') + hex + (braces.endsWith('}') ? '}' : '');
    }),
  date: concat(blanks, wideDate, blanks),
  time: concat(blanks, wideTime, blanks),
  timestamp: concat(blanks, wideTimestamp, blanks),
  timestamptz: concat(blanks, wideTimestamp, maybe(wideOffset), blanks),
};
