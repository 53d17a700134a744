// Compares values of a column for `.min` and `.max`.

import type { ColumnOptions } from '../../core/declaration.ts';
import { createRowBytes, type RowBytes } from './row-bytes.ts';
import type { ColumnType, Order } from './contract.ts';
import { emptyShape, isInfinity, scanDecimal } from './number-text.ts';

/** Compares a text with a bound: negative if less, positive if greater, NaN if unordered. */
type CompareTo = (bound: string) => (text: string) => number;

type Key = (text: string) => number | bigint;

const byKey =
  (key: Key): CompareTo =>
  (bound) => {
    const right = key(bound);
    return (text) => {
      const left = key(text);
      if (left < right) return -1;
      if (left > right) return 1;
      return left === right ? 0 : NaN;
    };
  };

export const wholeKey = (encode: (text: string, out: RowBytes) => void): ((text: string) => bigint) => {
  const out = createRowBytes(12);
  return (text) => {
    out.at = 0;
    encode(text, out);
    const length = out.bytes.readInt32BE(0);
    return length === 8 ? out.bytes.readBigInt64BE(4) : BigInt(out.bytes.readIntBE(4, length));
  };
};

/** The number is `sign` * 0.`digits` * 10^`power`: 120 has power 3 and digits 12. */
interface Decimal {
  readonly sign: number;
  readonly power: number;
  readonly digits: string;
}

export const decimalOf = (text: string): Decimal | undefined => {
  const sign = text.startsWith('-') ? -1 : 1;
  if (isInfinity(text)) return { sign, power: Infinity, digits: '' };
  const shape = emptyShape();
  if (!scanDecimal(text, shape)) return undefined;
  const { firstNonzero, lastNonzero, integerDigits, exponent, start, end } = shape;
  if (firstNonzero === -1) return { sign: 0, power: 0, digits: '' };
  const digits = text
    .slice(start, end)
    .replace('.', '')
    .slice(firstNonzero, lastNonzero + 1);
  return { sign, power: integerDigits + exponent - firstNonzero, digits };
};

const toDecimal: CompareTo = (bound) => {
  const right = decimalOf(bound);
  return (text) => {
    const left = decimalOf(text);
    if (left === undefined || right === undefined) return NaN;
    if (left.sign !== right.sign) return left.sign - right.sign;
    if (left.power !== right.power) return left.sign * (left.power < right.power ? -1 : 1);
    if (left.digits === right.digits) return 0;
    return left.sign * (left.digits < right.digits ? -1 : 1);
  };
};

const comparers: Readonly<Record<Order, (type: ColumnType, options: ColumnOptions) => CompareTo>> = {
  whole: ({ encode }) => byKey(wholeKey(encode as (text: string, out: RowBytes) => void)),
  float: ({ toValue }, options) => byKey((text) => toValue(text, options) as number),
  decimal: () => toDecimal,
};

export const compareOf = (type: ColumnType, options: ColumnOptions): CompareTo | undefined =>
  type.order && comparers[type.order](type, options);

export const isText = (type: ColumnType, options: ColumnOptions): boolean =>
  type.order === undefined && type.value(options).kind === 'string';
