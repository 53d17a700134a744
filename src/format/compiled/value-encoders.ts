// From the text that a column's reader returned to the value in PostgreSQL's binary format: one line a type.

import type { ColumnTypeName } from '../../declaration.ts';
import { daysOf, microsecondsOf, microsecondsSinceEpoch, offsetSecondsOf } from './moments.ts';
import { putNumericText } from './numeric-bytes.ts';
import { putDouble, putInt16, putInt32, putInt64, putSingle, reserve, type RowBytes } from './row-bytes.ts';
import { nearestSingle } from './single.ts';

/** Writes length and value of a text that the column's reader accepted. */
export type ValueEncoder = (text: string, out: RowBytes) => void;

const putText: ValueEncoder = (text, out) => {
  // No character takes more than three bytes a UTF-16 unit.
  reserve(out, 4 + 3 * text.length);
  const length = out.bytes.write(text, out.at + 4);
  putInt32(out, length);
  out.at += length;
};

/** jsonb's binary format is its text behind a version number. */
const putJsonb: ValueEncoder = (text, out) => {
  reserve(out, 5 + 3 * text.length);
  const length = out.bytes.write(text, out.at + 5);
  putInt32(out, length + 1);
  out.bytes[out.at] = 1;
  out.at += length + 1;
};

const putSmallint: ValueEncoder = (text, out) => {
  reserve(out, 6);
  putInt32(out, 2);
  putInt16(out, Number(text));
};

const putInteger: ValueEncoder = (text, out) => {
  reserve(out, 8);
  putInt32(out, 4);
  putInt32(out, Number(text));
};

const putBig = (value: bigint, out: RowBytes): void => {
  reserve(out, 12);
  putInt32(out, 8);
  out.bytes.writeBigInt64BE(value, out.at);
  out.at += 8;
};

const numberOf = (text: string): number => {
  const value = Number(text);
  if (!Number.isNaN(value) && text !== '') return value;
  if (/nan/i.test(text)) return Number.NaN;
  return text.startsWith('-') ? -Infinity : Infinity;
};

const putReal: ValueEncoder = (text, out) =>
  putSingle(
    out,
    nearestSingle(numberOf(text), () => text),
  );

const putBoolean: ValueEncoder = (text, out) => {
  reserve(out, 5);
  putInt32(out, 1);
  out.bytes[out.at] = text === 't' ? 1 : 0;
  out.at += 1;
};

const latestMoment = 2n ** 63n - 1n;

/** PostgreSQL's infinity is the largest number, -infinity the smallest. */
const infinityOf = (text: string): bigint | undefined => {
  if (text === 'infinity') return latestMoment;
  return text === '-infinity' ? -latestMoment - 1n : undefined;
};

const putDate: ValueEncoder = (text, out) => {
  const infinity = infinityOf(text);
  reserve(out, 8);
  putInt32(out, 4);
  putInt32(out, infinity === undefined ? daysOf(text) : infinity > 0n ? 0x7fffffff : -0x80000000);
};

const putTime: ValueEncoder = (text, out) => putInt64(out, microsecondsOf(text));

const putTimestamp: ValueEncoder = (text, out) =>
  putBig(infinityOf(text) ?? microsecondsSinceEpoch(daysOf(text), microsecondsOf(text.slice(11))), out);

const putTimestamptz: ValueEncoder = (text, out) => {
  const infinity = infinityOf(text);
  if (infinity !== undefined) return putBig(infinity, out);
  const local = microsecondsSinceEpoch(daysOf(text), microsecondsOf(text.slice(11)));
  return putBig(local - BigInt(offsetSecondsOf(text.slice(11))) * 1_000_000n, out);
};

const putUuid: ValueEncoder = (text, out) => {
  reserve(out, 20);
  putInt32(out, 16);
  out.bytes.write(text.replace(/[{}-]/g, ''), out.at, 'hex');
  out.at += 16;
};

/** Types without an entry have no binary format that we know: their table goes in text. */
export const valueEncoders: Readonly<Partial<Record<ColumnTypeName, ValueEncoder>>> = {
  text: putText,
  varchar: putText,
  json: putText,
  jsonb: putJsonb,
  smallint: putSmallint,
  integer: putInteger,
  bigint: (text, out) => putBig(BigInt(text.startsWith('+') ? text.slice(1) : text), out),
  real: putReal,
  double: (text, out) => putDouble(out, numberOf(text)),
  numeric: (text, out) => putNumericText(out, text),
  boolean: putBoolean,
  date: putDate,
  time: putTime,
  timestamp: putTimestamp,
  timestamptz: putTimestamptz,
  uuid: putUuid,
};
