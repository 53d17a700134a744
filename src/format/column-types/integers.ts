// smallint, integer and bigint: digits with an optional sign, range checked exactly.

import type { ColumnOptions, ColumnTypeName } from '../../declaration.ts';
import type { ColumnType, Reader } from './contract.ts';
import {
  afterDigits,
  afterSign,
  afterZeros,
  numberText,
  plainNumber,
  separatorsProblem,
} from './number-text.ts';
import { isNot, quoted, refuse } from './refusal.ts';

interface IntegerKind {
  readonly name: ColumnTypeName;
  readonly article: 'a' | 'an';
  /** Largest sizes above and below zero, as digits. */
  readonly max: string;
  readonly min: string;
}

const minus = 45;

// Digits of one length compare as text just as they compare as numbers: no float and no BigInt is needed.
const integerReader =
  ({ name, article, max, min }: IntegerKind, plain: (text: string) => string | undefined): Reader =>
  (text) => {
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
    const limit = number.charCodeAt(0) === minus ? min : max;
    return digits === limit.length && number.slice(significant) <= limit
      ? number
      : refuse('range', `${quoted(text)} is outside ${name} (-${min} to ${max})`);
  };

const integerType = (kind: IntegerKind, toValue: (text: string) => unknown): ColumnType => ({
  name: kind.name,
  sql: () => kind.name,
  optionKeys: ['thousands'],
  optionsProblem: ({ thousands }: ColumnOptions) => separatorsProblem({ thousands }),
  reader: ({ thousands }) => integerReader(kind, plainNumber({ thousands })),
  toValue,
  fromValue: (value) => {
    if (typeof value === 'bigint') return value.toString();
    return typeof value === 'number' ? numberText(value) : undefined;
  },
});

export const smallintType = integerType(
  { name: 'smallint', article: 'a', max: '32767', min: '32768' },
  Number,
);

export const integerColumnType = integerType(
  { name: 'integer', article: 'an', max: '2147483647', min: '2147483648' },
  Number,
);

// BigInt('+5') throws, though '+5' is a fine bigint.
export const bigintType = integerType(
  { name: 'bigint', article: 'a', max: '9223372036854775807', min: '9223372036854775808' },
  (text) => BigInt(text.startsWith('+') ? text.slice(1) : text),
);
