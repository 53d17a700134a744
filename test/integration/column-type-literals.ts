// Literals for the column type tests: right ones, nearly right ones, and those at the edges of each type.

import fc, { type Arbitrary } from 'fast-check';

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
export const numerics = fc.oneof(
  decimals,
  concat(sign, digits(5), fc.constant('.'), digits(8)),
  concat(
    fc.constantFrom('9', '99', '999', '0.99', '.9'),
    fc.constantFrom('.', '', '99'),
    digits(4),
    fc.constantFrom('', 'e1', 'e-3'),
  ),
  concat(
    digits(3),
    fc.constantFrom('e', '.5e-', 'e-'),
    fc.constantFrom('16380', '16384', '131070', '131072', '1073741823', '1073741824'),
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
