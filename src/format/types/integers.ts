// Column types smallint, integer and bigint.

import { MINUS } from '../../core/characters.ts';
import { putBigInt64, putInt16, putInt32, reserve } from './row-bytes.ts';
import type { ColumnType, Reader, ValueEncoder, ValueShape } from './contract.ts';
import {
  fromNumber,
  groupOptions,
  numberOptionsProblem,
  plainNumber,
  spellingOf,
  type IntegerOptions,
} from './number-spelling.ts';
import { afterDigits, afterSign, afterZeros } from './number-text.ts';
import { isNot, quoted, refuse } from './refusal.ts';

interface IntegerKind {
  readonly name: string;
  readonly article: 'a' | 'an';
  readonly bytes: 2 | 4 | 8;
}

const rangeOf = (bytes: number): readonly [bigint, bigint] => {
  const beyond = 2n ** BigInt(8 * bytes - 1);
  return [-beyond, beyond - 1n];
};

// Compares digits as strings of equal length, which needs neither floats nor BigInt.
const integerReader = (
  { name, article, bytes }: IntegerKind,
  plain: (text: string) => string | undefined,
): Reader => {
  const [min, max] = rangeOf(bytes).map((limit) => String(limit).replace('-', '')) as [string, string];
  return (text) => {
    const number = plain(text);
    if (number === undefined) return isNot(text, `${article} ${name}`);
    const start = afterSign(number);
    if (start === number.length || afterDigits(number, start) !== number.length) {
      return isNot(text, `${article} ${name}`);
    }
    if (number.length - start < max.length) return number;
    const significant = afterZeros(number, start);
    const digits = number.length - significant;
    if (digits < max.length) return number;
    const limit = number.charCodeAt(0) === MINUS ? min : max;
    return digits === limit.length && number.slice(significant) <= limit
      ? number
      : refuse('range', `${quoted(text)} is outside ${name} (-${min} to ${max})`);
  };
};

const integerType = <Value>(
  kind: IntegerKind,
  value: ValueShape,
  toValue: (text: string) => Value,
  encode: ValueEncoder,
): ColumnType<Value, IntegerOptions> => {
  const [least, most] = rangeOf(kind.bytes);
  return {
    sql: () => kind.name,
    options: groupOptions,
    optionsProblem: (options) => numberOptionsProblem(options),
    reader: (options) => integerReader(kind, plainNumber(options)),
    bytes: (options) => ({ kind: 'integer', ...spellingOf(options), bytes: kind.bytes, least, most }),
    encode,
    order: 'whole',
    value: () => value,
    toValue,
    fromValue: fromNumber,
  };
};

const numberShape = (bytes: number): ValueShape => {
  const [least, most] = rangeOf(bytes);
  return { kind: 'number', least: Number(least), most: Number(most) };
};

export const smallintType = integerType(
  { name: 'smallint', article: 'a', bytes: 2 },
  numberShape(2),
  Number,
  (text, out) => {
    reserve(out, 6);
    putInt32(out, 2);
    putInt16(out, Number(text));
  },
);

export const integerColumnType = integerType(
  { name: 'integer', article: 'an', bytes: 4 },
  numberShape(4),
  Number,
  (text, out) => {
    reserve(out, 8);
    putInt32(out, 4);
    putInt32(out, Number(text));
  },
);

// BigInt('+5') throws, but PostgreSQL accepts +5.
const bigintOf = (text: string): bigint => BigInt(text.startsWith('+') ? text.slice(1) : text);
const [bigintLeast, bigintMost] = rangeOf(8);

export const bigintType = integerType(
  { name: 'bigint', article: 'a', bytes: 8 },
  { kind: 'bigint', least: bigintLeast, most: bigintMost },
  bigintOf,
  (text, out) => putBigInt64(out, bigintOf(text)),
);
