// Prints values as PostgreSQL does, without a server. Times with a zone are printed in UTC.

import { createRowBytes } from '../format/types/row-bytes.ts';
import type { ColumnType } from '../format/types/contract.ts';
import { emptyShape, isInfinity, scanDecimal } from '../format/types/number-text.ts';
import { type ColumnTypeName, columnTypes } from '../format/types/registry.ts';
import type { ColumnSpec } from '../core/declaration.ts';

export type PrintValue = (text: string) => string;

type Printer = (type: ColumnType, column: ColumnSpec) => PrintValue;

/** Encodes a value as COPY's binary format does, without the four bytes of its length. */
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

/** PostgreSQL's encoding of `infinity`; `-infinity` is the same number negated, minus 1. */
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

/**
 * Formats a float as PostgreSQL does.
 *
 * @param shortest the shortest digits that read back as the same number
 * @param digits number of digits from which PostgreSQL writes an exponent
 */
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

const neighbours = (bytes: Buffer): readonly number[] => {
  const index = bytes.readInt32BE();
  return [index - 1, index + 1].map((one) => {
    const other = Buffer.alloc(4);
    other.writeInt32BE(one | 0);
    return other.readFloatBE();
  });
};

/**
 * Rounds to `precision` digits. Halfway, PostgreSQL rounds to an even digit, and JavaScript rounds
 * up.
 */
const nearestDigits = (value: number, precision: number): string => {
  // 20 digits show if a number is exactly halfway: that takes one digit more than `precision`.
  const [mantissa = '', exponent = ''] = value.toExponential(20).split('e');
  const end = mantissa.indexOf('.') + precision;
  const kept = mantissa.slice(0, end);
  const isEven = /[02468]\.?$/.test(kept);
  return isEven && /^\.?50*$/.test(mantissa.slice(end))
    ? `${kept}e${exponent}`
    : value.toPrecision(precision);
};

/** Prints a float of 4 bytes. Digits that are halfway between two such floats are too few. */
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

/** Rounds a number to `scale` decimals. Its decimal point is after `pointAt` of its digits. */
const roundedTo = (digits: string, pointAt: number, scale: number): string => {
  const wanted = pointAt + scale;
  const kept = wanted <= 0 ? '0' : digits.slice(0, wanted).padEnd(wanted, '0');
  const roundsUp = (wanted < 0 ? '0' : digits.padEnd(wanted + 1, '0')[wanted]!) >= '5';
  const whole = (BigInt(kept) + (roundsUp ? 1n : 0n)).toString().padStart(scale + 1, '0');
  return scale === 0 ? whole : `${whole.slice(0, -scale)}.${whole.slice(-scale)}`;
};

/** A number as the server writes it, except zeros with a sign. */
const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.(\d+))?$/;

const printNumeric: Printer =
  (_, { options }) =>
  (text) => {
    const isSized = options['precision'] !== undefined;
    const declared = Number(options['scale'] ?? 0);
    const plain = text.startsWith('-0') ? null : plainNumber.exec(text);
    if (plain !== null && (!isSized || (plain[1]?.length ?? 0) === declared)) return text;
    if (!scanDecimal(text, shape)) {
      if (!isInfinity(text)) return 'NaN';
      return text.startsWith('-') ? '-Infinity' : 'Infinity';
    }
    const { start, end, exponent, integerDigits, firstNonzero } = shape;
    const digits = text.slice(start, end).replace('.', '');
    const pointAt = integerDigits + exponent;
    const scale = isSized ? declared : Math.max(0, digits.length - pointAt);
    // Zero with a large exponent (0e999) would be padded with zeros.
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
  bytea: asItIs,
  of: asItIs,
};

/** Returns the printer of a column. json, jsonb and column.of are printed as in the file. */
export const valuePrinter = (column: ColumnSpec): PrintValue => {
  const name = column.type as ColumnTypeName;
  return printers[name](columnTypes[name], column);
};
