// The usual spellings of the usual types, read straight from bytes. Whatever is unusual is left to the column's reader.

import type { ColumnSpec } from '../../declaration.ts';
import { daysFromCivil, isDay } from './moments.ts';
import { putScaled } from './numeric-bytes.ts';
import {
  putBytes,
  putDouble,
  putInt16,
  putInt32,
  putInt64,
  putSingle,
  reserve,
  type RowBytes,
} from './row-bytes.ts';
import { nearestSingle } from './single.ts';

/** Writes the value of bytes [start, end) and returns true; false: not sure, nothing written. */
export type ByteReader = (bytes: Buffer, start: number, end: number, out: RowBytes) => boolean;

const MINUS = 45;
const POINT = 46;
const ZERO = 48;

/** A decimal as integer and number of decimals; kept outside so that reading a field allocates nothing. */
const scanned = { value: 0, scale: 0, isNegative: false };

/** Reads `-?digits[.digits]` of at most `digitsMax` digits into `scanned`; false when it is anything else. */
const scanDecimal = (bytes: Buffer, start: number, end: number, digitsMax: number): boolean => {
  let at = start;
  const isNegative = bytes[at] === MINUS;
  if (isNegative) at += 1;
  let value = 0;
  let digits = 0;
  let point = -1;
  for (; at < end; at += 1) {
    const digit = bytes[at]! - ZERO;
    if (digit >= 0 && digit <= 9) {
      value = value * 10 + digit;
      digits += 1;
    } else if (bytes[at] === POINT && point === -1) point = at;
    else return false;
  }
  if (digits === 0 || digits > digitsMax) return false;
  scanned.value = value;
  scanned.scale = point === -1 ? 0 : end - point - 1;
  scanned.isNegative = isNegative;
  return true;
};

const readInteger =
  (min: number, max: number, put: (out: RowBytes, value: number) => void): ByteReader =>
  (bytes, start, end, out) => {
    if (!scanDecimal(bytes, start, end, 15) || scanned.scale > 0 || bytes[end - 1] === POINT) return false;
    const value = scanned.isNegative ? -scanned.value : scanned.value;
    if (value < min || value > max) return false;
    put(out, value);
    return true;
  };

const putSmallint = (out: RowBytes, value: number): void => {
  reserve(out, 6);
  putInt32(out, 2);
  putInt16(out, value);
};

const putInteger = (out: RowBytes, value: number): void => {
  reserve(out, 8);
  putInt32(out, 4);
  putInt32(out, value);
};

const powersOfTen = Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));

/**
 * Integers up to 2^53 and powers of ten up to 10^22 are doubles exactly, so that one division rounds once, and correctly.
 * W. D. Clinger, "How to Read Floating Point Numbers Accurately", 1990.
 */
const scannedDouble = (): number => {
  const size = scanned.value / powersOfTen[scanned.scale]!;
  return scanned.isNegative ? -size : size;
};

const readReal: ByteReader = (bytes, start, end, out) => {
  if (!scanDecimal(bytes, start, end, 15)) return false;
  // Fifteen digits and no exponent: neither overflow nor underflow is near.
  putSingle(
    out,
    nearestSingle(scannedDouble(), () => bytes.toString('latin1', start, end)),
  );
  return true;
};

const readDouble: ByteReader = (bytes, start, end, out) => {
  if (!scanDecimal(bytes, start, end, 15)) return false;
  putDouble(out, scannedDouble());
  return true;
};

const readNumeric =
  (precision: number, scaleMax: number): ByteReader =>
  (bytes, start, end, out) => {
    if (!scanDecimal(bytes, start, end, 12)) return false;
    const { value, scale, isNegative } = scanned;
    if (scale > scaleMax || value >= powersOfTen[precision - scaleMax]! * powersOfTen[scale]!) return false;
    putScaled(out, isNegative, value, scale);
    return true;
  };

const readText: ByteReader = (bytes, start, end, out) => {
  const length = end - start;
  reserve(out, 4 + length);
  putInt32(out, length);
  putBytes(out, bytes, start, end);
  return true;
};

/** At most n characters for sure when there are at most n bytes. */
const readVarchar =
  (length: number): ByteReader =>
  (bytes, start, end, out) =>
    end - start <= length && readText(bytes, start, end, out);

/** Tokens of a pattern whose every token has a fixed place, or undefined. */
const fixedTokens = (pattern: string): ReadonlyMap<string, number> | undefined => {
  if (!/^(?:YYYY|MM|DD|HH|mm|ss|[^\p{L}\d])*$/u.test(pattern)) return undefined;
  const places = [...pattern.matchAll(/YYYY|MM|DD|HH|mm|ss/g)].map(
    ({ 0: token, index }) => [token, index] as const,
  );
  return new Map(places);
};

/** Value of `count` digits, or -1. */
const digitsAt = (bytes: Buffer, from: number, count: number): number => {
  let value = 0;
  for (let at = from; at < from + count; at += 1) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
};

/** The literal characters of a pattern, by place. */
const literalsOf = (pattern: string): readonly (readonly [number, number])[] =>
  [...pattern].flatMap((character, place) =>
    /[^\p{L}]/u.test(character) ? [[place, character.charCodeAt(0)] as const] : [],
  );

/** Largest number of seconds from 2000-01-01 whose microseconds a double holds exactly: the year 2285. */
const exactSecondsMax = 9_007_199_254;

/** Dates and timestamps of a fixed pattern, such as YYYYMMDDHHmm. */
const readMoment = (pattern: string, isDate: boolean): ByteReader | undefined => {
  const places = fixedTokens(pattern);
  if (places === undefined || /[^\x20-\x7e]/.test(pattern)) return undefined;
  const literals = literalsOf(pattern);
  const [year, month, day] = ['YYYY', 'MM', 'DD'].map((token) => places.get(token)!) as [
    number,
    number,
    number,
  ];
  const [hour, minute, second] = ['HH', 'mm', 'ss'].map((token) => places.get(token) ?? -1) as [
    number,
    number,
    number,
  ];
  const length = pattern.length;
  const at = (bytes: Buffer, start: number, place: number): number =>
    place === -1 ? 0 : digitsAt(bytes, start + place, 2);
  return (bytes, start, end, out) => {
    if (end - start !== length) return false;
    for (const [place, code] of literals) if (bytes[start + place] !== code) return false;
    const y = digitsAt(bytes, start + year, 4);
    const m = digitsAt(bytes, start + month, 2);
    const d = digitsAt(bytes, start + day, 2);
    if (!isDay(y, m, d)) return false;
    const days = daysFromCivil(y, m, d);
    if (isDate) {
      putInteger(out, days);
      return true;
    }
    const [h, min, s] = [at(bytes, start, hour), at(bytes, start, minute), at(bytes, start, second)];
    if (h < 0 || h > 23 || min < 0 || min > 59 || s < 0 || s > 59) return false;
    const seconds = days * 86_400 + h * 3_600 + min * 60 + s;
    if (seconds > exactSecondsMax || seconds < -exactSecondsMax) return false;
    putInt64(out, seconds * 1_000_000);
    return true;
  };
};

const isPlainNumber = ({ options }: ColumnSpec): boolean =>
  options.thousands === undefined && (options.decimal ?? '.') === '.';

/** The byte reader of a column, or undefined when only its reader knows its spelling. */
export const byteReaderOf = (column: ColumnSpec): ByteReader | undefined => {
  const { type, options } = column;
  if (type === 'text') return readText;
  if (type === 'varchar') return readVarchar(options.length!);
  if (type === 'date') return readMoment(options.format ?? 'YYYY-MM-DD', true);
  if (type === 'timestamp' && options.format !== undefined) return readMoment(options.format, false);
  if (!isPlainNumber(column)) return undefined;
  if (type === 'smallint') return readInteger(-32_768, 32_767, putSmallint);
  if (type === 'integer') return readInteger(-2_147_483_648, 2_147_483_647, putInteger);
  if (type === 'bigint') return readInteger(-1e15, 1e15, putInt64);
  if (type === 'real') return readReal;
  if (type === 'double') return readDouble;
  const { precision, scale = 0 } = options;
  // The bound is a product of two powers of ten, which must be exact.
  return type === 'numeric' && precision !== undefined && precision <= 15
    ? readNumeric(precision, scale)
    : undefined;
};
