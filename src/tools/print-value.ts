// A value as PostgreSQL prints it: the bytes that COPY would be given, read back. Times with a zone are shown in UTC.

import { createRowBytes } from '../format/types/row-bytes.ts';
import type { ColumnType } from '../format/types/contract.ts';
import { emptyShape, isInfinity, scanDecimal } from '../format/types/number-text.ts';
import type { ColumnTypeName } from '../format/types/registry.ts';
import { columnTypes } from '../format/types/registry.ts';
import type { ColumnSpec } from '../core/declaration/declaration.ts';

/** Prints a text that the column's reader returned. */
export type PrintValue = (text: string) => string;

type Printer = (type: ColumnType, column: ColumnSpec) => PrintValue;

/** Of a value: those after its length. */
const bytesOf = ({ encode }: ColumnType, text: string): Buffer => {
  const out = createRowBytes(text.length + 16);
  (encode as (text: string, out: unknown) => void)(text, out);
  return out.bytes.subarray(4, out.at);
};

const ofBytes =
  (print: (bytes: Buffer) => string): Printer =>
  (type) =>
  (text) =>
    print(bytesOf(type, text));

const asItIs: Printer = () => (text) => text;

/** Days and microseconds of a moment that there is not: the least, and the most. */
const infinity = { days: 0x7fffffff, microseconds: 2n ** 63n - 1n } as const;

const dayMs = 86_400_000;
const epochMs = Date.UTC(2000, 0, 1);

const dateText = (days: number): string => new Date(epochMs + days * dayMs).toISOString().slice(0, 10);

const printDate = (bytes: Buffer): string => {
  const days = bytes.readInt32BE();
  if (days === infinity.days) return 'infinity';
  return days === -infinity.days - 1 ? '-infinity' : dateText(days);
};

const two = (value: number): string => String(value).padStart(2, '0');

const timeText = (microseconds: number): string => {
  const seconds = Math.floor(microseconds / 1e6);
  const fraction = String(microseconds % 1e6)
    .padStart(6, '0')
    .replace(/0+$/, '');
  const clock = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60].map(two).join(':');
  return fraction === '' ? clock : `${clock}.${fraction}`;
};

const dayMicroseconds = 86_400_000_000n;

const printTimestamp =
  (zone: string) =>
  (bytes: Buffer): string => {
    const value = bytes.readBigInt64BE();
    if (value === infinity.microseconds) return 'infinity';
    if (value === -infinity.microseconds - 1n) return '-infinity';
    const ofDay = ((value % dayMicroseconds) + dayMicroseconds) % dayMicroseconds;
    return `${dateText(Number((value - ofDay) / dayMicroseconds))} ${timeText(Number(ofDay))}${zone}`;
  };

/** The shortest digits that are the number again, as the server writes them; `digits`: those that it writes without an exponent. */
const floatText = (value: number, shortest: string, digits: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa = '', power = '0'] = Number(shortest).toExponential().split('e');
  const exponent = Number(power);
  if (exponent < -4 || exponent >= digits)
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${two(Math.abs(exponent))}`;
  return exponent < 0
    ? Number(shortest).toFixed(mantissa.replace(/[-.]/g, '').length - 1 - exponent)
    : shortest;
};

const printDouble = (bytes: Buffer): string => {
  const value = bytes.readDoubleBE();
  return floatText(value, String(value), 15);
};

/** The numbers beside one of single precision. */
const neighbours = (bytes: Buffer): readonly number[] => {
  const place = bytes.readInt32BE();
  return [place - 1, place + 1].map((one) => {
    const other = Buffer.alloc(4);
    other.writeInt32BE(one | 0);
    return other.readFloatBE();
  });
};

/** So many digits. Of two that are equally near, the server takes the even ones and JavaScript the larger ones. */
const nearestDigits = (value: number, precision: number): string => {
  // Half a unit of nine digits has ten, and all of them are among these.
  const [mantissa = '', exponent = ''] = value.toExponential(20).split('e');
  const end = mantissa.indexOf('.') + precision;
  const kept = mantissa.slice(0, end);
  const isEven = /[02468]\.?$/.test(kept);
  return isEven && /^\.?50*$/.test(mantissa.slice(end))
    ? `${kept}e${exponent}`
    : value.toPrecision(precision);
};

/** The server takes no digits that are as near to another number. */
const printReal = (bytes: Buffer): string => {
  const value = bytes.readFloatBE();
  if (value === 0 || !Number.isFinite(value)) return floatText(value, '', 6);
  const middles = new Set(neighbours(bytes).map((other) => (value + other) / 2));
  const isOther = (digits: string): boolean =>
    Math.fround(Number(digits)) !== value || middles.has(Number(digits));
  let precision = 1;
  while (precision < 9 && isOther(nearestDigits(value, precision))) precision += 1;
  return floatText(value, String(Number(nearestDigits(value, precision))), 6);
};

const shape = emptyShape();

/** The digits before and after the point, rounded to a scale. */
const roundedTo = (digits: string, pointAt: number, scale: number): string => {
  const wanted = pointAt + scale;
  const kept = wanted <= 0 ? '0' : digits.slice(0, wanted).padEnd(wanted, '0');
  const roundsUp = (wanted < 0 ? '0' : digits.padEnd(wanted + 1, '0')[wanted]!) >= '5';
  const whole = (BigInt(kept) + (roundsUp ? 1n : 0n)).toString().padStart(scale + 1, '0');
  return scale === 0 ? whole : `${whole.slice(0, -scale)}.${whole.slice(-scale)}`;
};

const printNumeric: Printer =
  (_, { options }) =>
  (text) => {
    if (!scanDecimal(text, shape)) {
      if (!isInfinity(text)) return 'NaN';
      return text.startsWith('-') ? '-Infinity' : 'Infinity';
    }
    const { start, end, exponent, integerDigits, firstNonzero } = shape;
    const digits = text.slice(start, end).replace('.', '');
    const pointAt = integerDigits + exponent;
    const scale =
      options['precision'] === undefined
        ? Math.max(0, digits.length - pointAt)
        : Number(options['scale'] ?? 0);
    // Zero may have any exponent.
    if (firstNonzero === -1) return roundedTo('0', 1, scale);
    const padded = pointAt < 0 ? '0'.repeat(-pointAt) + digits : digits;
    const value = roundedTo(padded, Math.max(0, pointAt), scale);
    return text.startsWith('-') && /[1-9]/.test(value) ? `-${value}` : value;
  };

const printers: Readonly<Record<ColumnTypeName, Printer>> = {
  text: asItIs,
  varchar: asItIs,
  smallint: ofBytes((bytes) => String(bytes.readInt16BE())),
  integer: ofBytes((bytes) => String(bytes.readInt32BE())),
  bigint: ofBytes((bytes) => String(bytes.readBigInt64BE())),
  real: ofBytes(printReal),
  double: ofBytes(printDouble),
  numeric: printNumeric,
  boolean: ofBytes((bytes) => (bytes[0] === 1 ? 'true' : 'false')),
  date: ofBytes(printDate),
  time: ofBytes((bytes) => timeText(Number(bytes.readBigInt64BE()))),
  timestamp: ofBytes(printTimestamp('')),
  timestamptz: ofBytes(printTimestamp('+00')),
  uuid: (type) => (text) => String(type.toValue(text, {})),
  json: asItIs,
  jsonb: asItIs,
  of: asItIs,
};

/** Makes the printer of a column. json, jsonb and types of the server's own are shown as the file writes them. */
export const valuePrinter = (column: ColumnSpec): PrintValue => {
  const name = column.type as ColumnTypeName;
  return printers[name](columnTypes[name], column);
};
