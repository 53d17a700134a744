// Column types real and double. Values that overflow, or underflow to zero, are refused, as by the
// server.

import { putDouble, putSingle } from './row-bytes.ts';
import { notFromBytes } from '../encoder/kinds.ts';
import { nearestSingle } from './single.ts';
import type { ColumnType, Reader, ValueEncoder } from './contract.ts';
import {
  decimalOption,
  groupingOption,
  percentOption,
  emptyShape,
  isInfinity,
  isNotANumber,
  numberText,
  plainNumber,
  scanDecimal,
  separatorsProblem,
  spellingOf,
  thousandsOption,
  wantedNumber,
  type DecimalShape,
  type FloatOptions,
} from './number-text.ts';
import { isNot, quoted, refuse } from './refusal.ts';
import { spellingOption, spellingProblem, withoutBlanks, type SpellingOptions } from './server-spelling.ts';

type Options = FloatOptions & SpellingOptions;

/** Returns false if a nonzero literal overflows or becomes 0. `size` is its absolute double. */
type InRange = (size: number, text: string, shape: DecimalShape) => boolean;

const doubleInRange: InRange = (size) => size !== Infinity && size !== 0;

// Halfway between the largest real and 2^128. The server rounds this number and larger ones to
// infinity.
const realOverflow = 2 ** 128 - 2 ** 103;
const realOverflowExact = 2n ** 128n - 2n ** 103n;

// Half of the smallest real. The server rounds this number and smaller ones to zero (ties go to
// even).
const realUnderflowPower = 150;
const realUnderflow = 2 ** -realUnderflowPower;

/** Returns the sign of |literal| * multiplier - limit, computed exactly. */
const compareExactly = (text: string, shape: DecimalShape, multiplier: bigint, limit: bigint): number => {
  const digits = BigInt(text.slice(shape.start, shape.end).replace('.', ''));
  const power = shape.exponent - (shape.digits - shape.integerDigits);
  const left = digits * multiplier * (power > 0 ? 10n ** BigInt(power) : 1n);
  const right = limit * (power < 0 ? 10n ** BigInt(-power) : 1n);
  if (left === right) return 0;
  return left < right ? -1 : 1;
};

// Rounding to double keeps the order of numbers, and both limits are doubles. So only a literal
// that rounds to a limit needs the exact comparison.
const realInRange: InRange = (size, text, shape) => {
  if (size > realUnderflow && size < realOverflow) return true;
  if (size === realOverflow) return compareExactly(text, shape, 1n, realOverflowExact) < 0;
  if (size === realUnderflow) {
    return compareExactly(text, shape, 2n ** BigInt(realUnderflowPower), 1n) > 0;
  }
  return false;
};

const floatReader = (name: string, inRange: InRange, options: Options): Reader => {
  const plain = options.spelling === 'server' ? withoutBlanks : plainNumber(options);
  const wanted = wantedNumber(`a ${name}`, options);
  const shape = emptyShape();
  return (text) => {
    const number = plain(text);
    if (number === undefined) return isNot(text, wanted);
    if (!scanDecimal(number, shape)) {
      return isNotANumber(number) || isInfinity(number) ? number : isNot(text, wanted);
    }
    if (shape.firstNonzero === -1) return number;
    return inRange(Math.abs(Number(number)), number, shape)
      ? number
      : refuse('range', `${quoted(text)} is out of range for ${name}`);
  };
};

const floatValue = (text: string): number => {
  if (isInfinity(text)) return text.startsWith('-') ? -Infinity : Infinity;
  return Number(text);
};

const floatType = (
  name: 'real' | 'double',
  sql: string,
  inRange: InRange,
  encode: ValueEncoder,
): ColumnType<number, Options> => ({
  sql: () => sql,
  options: {
    decimal: decimalOption,
    thousands: thousandsOption,
    grouping: groupingOption,
    percent: percentOption,
    spelling: spellingOption,
  },
  optionsProblem: (options) => {
    const { decimal, thousands, percent } = options;
    return (
      spellingProblem(options, { decimal, thousands, percent }) ??
      separatorsProblem({ ...options, decimal: decimal ?? '.' })
    );
  },
  reader: (options) => floatReader(name, inRange, options),
  bytes: (options) => (options.percent === undefined ? { kind: name, ...spellingOf(options) } : notFromBytes),
  encode,
  order: 'float',
  value: () => ({ kind: 'float' }),
  toValue: floatValue,
  fromValue: (value) => {
    if (typeof value === 'bigint') return value.toString();
    return typeof value === 'number' ? numberText(value) : undefined;
  },
});

export const realType = floatType('real', 'real', realInRange, (text, out) =>
  putSingle(
    out,
    nearestSingle(floatValue(text), () => text),
  ),
);

export const doubleType = floatType('double', 'double precision', doubleInRange, (text, out) =>
  putDouble(out, floatValue(text)),
);
