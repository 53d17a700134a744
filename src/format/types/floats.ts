// Column types real and double.

import { putDouble, putSingle } from './row-bytes.ts';
import { notFromBytes } from '../encoder/kinds.ts';
import type { ColumnType, Reader, ValueEncoder } from './contract.ts';
import {
  floatOptions,
  fromNumber,
  numberOptionsProblem,
  plainNumber,
  spellingOf,
  wantedNumber,
  type NumberOptions,
} from './number-spelling.ts';
import { decimalParts, emptyShape, isInfinity, isNotANumber, scanDecimal } from './number-text.ts';
import { isNot, quoted, refuse } from './refusal.ts';
import { withoutBlanks } from './server-spelling.ts';

/** Halfway between the largest real and 2^128. The server rounds larger numbers to infinity. */
const realOverflow = 2 ** 128 - 2 ** 103;

/** Half of the smallest real. The server rounds smaller numbers to zero (ties go to even). */
const realUnderflow = 2 ** -150;

/** Returns the exact sign of |decimal text| - size. `size` times 2^202 is an integer. */
const compareExactly = (text: string, size: number): number => {
  const [, , integer = '', fraction = '', exponent = '0'] = decimalParts.exec(text)!;
  const power = Number(exponent) - fraction.length;
  const left = BigInt(integer + fraction) * 10n ** BigInt(Math.max(power, 0)) * 2n ** 202n;
  const right = BigInt(size * 2 ** 202) * 10n ** BigInt(Math.max(-power, 0));
  return left === right ? 0 : left < right ? -1 : 1;
};

type InRange = (size: number, text: string) => boolean;

const doubleInRange: InRange = (size) => size !== Infinity && size !== 0;

// Rounding to double keeps the order of numbers, so only a literal that rounds to a limit needs the
// exact comparison.
const realInRange: InRange = (size, text) => {
  if (size === realOverflow) return compareExactly(text, size) < 0;
  if (size === realUnderflow) return compareExactly(text, size) > 0;
  return size > realUnderflow && size < realOverflow;
};

const floatReader = (name: string, inRange: InRange, options: NumberOptions): Reader => {
  const plain = plainNumber(options, withoutBlanks);
  const wanted = wantedNumber(`a ${name}`, options);
  const shape = emptyShape();
  return (text) => {
    const number = plain(text);
    if (number === undefined) return isNot(text, wanted);
    if (!scanDecimal(number, shape)) {
      return isNotANumber(number) || isInfinity(number) ? number : isNot(text, wanted);
    }
    if (shape.firstNonzero === -1) return number;
    return inRange(Math.abs(Number(number)), number)
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
): ColumnType<number, NumberOptions> => ({
  sql: () => sql,
  options: floatOptions,
  optionsProblem: (options) => numberOptionsProblem(options, '.'),
  reader: (options) => floatReader(name, inRange, options),
  bytes: (options) => (options.percent === undefined ? { kind: name, ...spellingOf(options) } : notFromBytes),
  encode,
  order: 'float',
  value: () => ({ kind: 'float' }),
  toValue: floatValue,
  fromValue: fromNumber,
});

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

const neighbour = (value: number, away: boolean): number => {
  single[0] = value;
  singleBits[0]! += away ? 1 : -1;
  return single[0];
};

/**
 * Rounds to double, then to float4. This is wrong only if the double is exactly between two float4:
 * then the text decides. Proved by test/integration/compiled.test.ts, "halfway cases included".
 */
const nearestSingle = (text: string): number => {
  const value = floatValue(text);
  const rounded = Math.fround(value);
  if (rounded === value || !Number.isFinite(value)) return rounded;
  const size = Math.abs(value);
  const isAway = Math.abs(rounded) > size;
  const other = neighbour(rounded, !isAway);
  if (size !== realOverflow && other - value !== value - rounded) return rounded;
  const side = compareExactly(text, size);
  return side === 0 || side > 0 === isAway ? rounded : other;
};

export const realType = floatType('real', 'real', realInRange, (text, out) =>
  putSingle(out, nearestSingle(text)),
);

export const doubleType = floatType('double', 'double precision', doubleInRange, (text, out) =>
  putDouble(out, floatValue(text)),
);
