// Column type numeric(p,s): exact decimals.

import {
  numericDecimalsMax,
  numericExponentMax,
  numericIntegerDigitsMax,
  numericPrecisionMax,
} from '../../core/limits.ts';
import { putInt16, putInt32, reserve, type RowBytes } from './row-bytes.ts';
import { notFromBytes, type ByteKind } from '../encoder/kinds.ts';
import type { ColumnType, Reader, Refusal } from './contract.ts';
import {
  floatOptions,
  fromNumber,
  numberOptionsProblem,
  plainNumber,
  spellingOf,
  wantedNumber,
  type FloatOptions,
} from './number-spelling.ts';
import {
  decimalParts,
  emptyShape,
  isInfinity,
  isNotANumber,
  scanDecimal,
  type DecimalShape,
} from './number-text.ts';
import { bare, isNot, refuse } from './refusal.ts';
import type { SpellingOptions } from './server-spelling.ts';

export interface NumericOptions extends FloatOptions, SpellingOptions {
  /** Number of all digits. Default: any number, as the server's numeric without a precision. */
  readonly precision?: number;
  /** Number of digits after the point, with a precision only. Default: 0. */
  readonly scale?: number;
  /** Round to the scale as the server does. By default, more decimals reject the record. */
  readonly round?: boolean;
}

type Fit = (text: string, shape: DecimalShape) => Refusal | undefined;

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const exponentTooLarge = (text: string): Refusal =>
  refuse('range', `${bare(text)} has an exponent that is out of range for numeric`);

export const fitsUnconstrained: Fit = (text, { digits, integerDigits, firstNonzero, exponent }) => {
  if (exponent > numericExponentMax || exponent < -numericExponentMax) return exponentTooLarge(text);
  const pointAt = integerDigits + exponent;
  if (firstNonzero !== -1 && pointAt - firstNonzero > numericIntegerDigitsMax) {
    return refuse('range', `${bare(text)} has more than ${numericIntegerDigitsMax} digits before the point`);
  }
  // Trailing zeros count, because the server stores them.
  if (digits - pointAt > numericDecimalsMax) {
    return refuse('range', `${bare(text)} has more than ${numericDecimalsMax} decimals`);
  }
  return undefined;
};

/** True if digits [from, until) are all 9 and rounding up adds a digit in front. */
const roundsUpToNextPower = (text: string, shape: DecimalShape, from: number, until: number): boolean => {
  const digits = text.slice(shape.start, shape.end).replace('.', '');
  for (let at = from; at < until; at += 1) if (digits[at] !== '9') return false;
  return digits.charCodeAt(until) >= 53;
};

const fitsConstrained = (sql: string, precision: number, scale: number, round: boolean): Fit => {
  const integerMax = precision - scale;
  const overflow = (text: string, integers: number): Refusal =>
    refuse(
      'range',
      `${bare(text)} has ${plural(integers, 'digit')} before the point, ${sql} keeps ${integerMax}`,
    );
  return (text, shape) => {
    const { integerDigits, firstNonzero, lastNonzero, exponent } = shape;
    if (exponent > numericExponentMax || exponent < -numericExponentMax) return exponentTooLarge(text);
    if (firstNonzero === -1) return undefined;
    const pointAt = integerDigits + exponent;
    const integers = pointAt - firstNonzero;
    if (integers > integerMax) return overflow(text, Math.max(integers, 0));
    const decimals = lastNonzero + 1 - pointAt;
    if (decimals <= scale) return undefined;
    if (!round) {
      return refuse(
        'range',
        `${bare(text)} has ${plural(decimals, 'decimal')}, ${sql} keeps ${scale}; ` +
          'widen the scale or set round: true',
      );
    }
    return integers === integerMax && roundsUpToNextPower(text, shape, firstNonzero, pointAt + scale)
      ? refuse(
          'range',
          `${bare(text)} rounds to ${integers + 1} digits before the point, ${sql} keeps ${integerMax}`,
        )
      : undefined;
  };
};

const numericSql = ({ precision, scale }: NumericOptions): string => {
  if (precision === undefined) return 'numeric';
  return scale === undefined ? `numeric(${precision})` : `numeric(${precision},${scale})`;
};

const chooseFit = (options: NumericOptions): Fit => {
  const { precision, scale = 0, round = false } = options;
  return precision === undefined
    ? fitsUnconstrained
    : fitsConstrained(numericSql(options), precision, scale, round);
};

const numericReader = (options: NumericOptions): Reader => {
  const plain = plainNumber(options);
  const wanted = wantedNumber('a numeric', options);
  const fit = chooseFit(options);
  const sql = numericSql(options);
  const infinite = options.precision === undefined;
  const shape = emptyShape();
  return (text) => {
    const number = plain(text);
    if (number === undefined) return isNot(text, wanted);
    if (scanDecimal(number, shape)) return fit(number, shape) ?? number;
    if (isNotANumber(number)) return number;
    if (!isInfinity(number)) return isNot(text, wanted);
    return infinite ? number : refuse('range', `${bare(text)} does not fit into ${sql}`);
  };
};

// PostgreSQL before 15 has no scale below 0 or above the precision.
const numericProblem = (options: NumericOptions): string | undefined => {
  const { precision, scale, round } = options;
  if (precision === undefined) {
    if (scale !== undefined) return 'numeric with a scale needs a precision, the digits in all';
    if (round === true) return 'numeric rounds to a scale; give precision and scale beside round';
  } else if (!Number.isInteger(precision) || precision < 1 || precision > numericPrecisionMax) {
    return `the precision of numeric is a whole number from 1 to ${numericPrecisionMax}`;
  } else if (scale !== undefined && (!Number.isInteger(scale) || scale < 0 || scale > precision)) {
    return `the scale of numeric is a whole number from 0 to its precision, ${precision}`;
  }
  return numberOptionsProblem(options, '.');
};

const numericBytes = ({ precision, scale = 0, round = false, ...spelling }: NumericOptions): ByteKind =>
  spelling.percent === undefined
    ? {
        kind: 'numeric',
        ...spellingOf(spelling),
        decimalsMax: precision === undefined ? numericDecimalsMax : scale,
        integersMax: precision === undefined ? numericIntegerDigitsMax : precision - scale,
        rounds: Number(round),
      }
    : notFromBytes;

const positive = 0x0000;
const negative = 0x4000;
const notANumber = 0xc000;
const positiveInfinity = 0xd000;
const negativeInfinity = 0xf000;

const putSpecial = (out: RowBytes, sign: number): void => {
  reserve(out, 12);
  putInt32(out, 8);
  putInt16(out, 0);
  putInt16(out, 0);
  putInt16(out, sign);
  putInt16(out, 0);
};

const encodeNumeric = (text: string, out: RowBytes): void => {
  const matched = decimalParts.exec(text);
  if (matched === null) {
    const isNumber = !/nan/i.test(text);
    putSpecial(out, isNumber ? (text.startsWith('-') ? negativeInfinity : positiveInfinity) : notANumber);
    return;
  }
  const [, sign, integer = '', fraction = '', exponent = '0'] = matched;
  const shift = Number(exponent);
  const digits = integer + fraction;
  const pointAt = integer.length + shift;
  const scale = Math.max(0, fraction.length - shift);
  // Such a number rounds to 0: only columns with at most 1,000 decimals accept so long a literal.
  const isTiny = scale > numericDecimalsMax && pointAt < -numericPrecisionMax;
  putDigits(
    out,
    sign === '-',
    isTiny ? '0' : digits,
    isTiny ? 1 : pointAt,
    Math.min(scale, numericDecimalsMax),
  );
};

const putDigits = (
  out: RowBytes,
  isNegative: boolean,
  digits: string,
  pointAt: number,
  scale: number,
): void => {
  // Leading zeros fill the first base-10000 digit, so that the point is between two such digits.
  const lead = ((-pointAt % 4) + 4) % 4;
  const padded = '0'.repeat(lead) + digits;
  const groups: number[] = [];
  for (let at = 0; at < padded.length; at += 4) groups.push(Number(padded.slice(at, at + 4).padEnd(4, '0')));
  let weight = (pointAt + lead) / 4 - 1;
  let first = 0;
  while (first < groups.length && groups[first] === 0) first += 1;
  let last = groups.length;
  while (last > first && groups[last - 1] === 0) last -= 1;
  const isZero = first === last;
  weight -= first;
  reserve(out, 12 + 2 * (last - first));
  putInt32(out, 8 + 2 * (last - first));
  putInt16(out, last - first);
  putInt16(out, isZero ? 0 : weight);
  putInt16(out, isNegative && !isZero ? negative : positive);
  putInt16(out, scale);
  for (let index = first; index < last; index += 1) putInt16(out, groups[index]!);
};

export const numericType: ColumnType<string, NumericOptions> = {
  sql: numericSql,
  options: {
    precision: { takes: 'whole number' },
    scale: { takes: 'whole number' },
    round: { takes: 'flag' },
    ...floatOptions,
  },
  optionsProblem: numericProblem,
  reader: numericReader,
  bytes: numericBytes,
  encode: encodeNumeric,
  order: 'decimal',
  value: () => ({ kind: 'string' }),
  // A JavaScript number would round; the text is exact.
  toValue: (text) => text,
  fromValue: (value) => (typeof value === 'string' ? value : fromNumber(value)),
};
