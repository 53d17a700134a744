// Writes numeric in binary: base-10000 digits, weight of the first, sign, decimals shown. Source:
// PostgreSQL's numeric_recv.

import { numericDecimalsMax, numericPrecisionMax } from '../../core/limits.ts';
import { putInt16, putInt32, reserve, type RowBytes } from './row-bytes.ts';

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

const decimal = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

/** Writes a text that the numeric reader returned: a decimal literal, NaN or an infinity. */
export const putNumericText = (out: RowBytes, text: string): void => {
  const matched = decimal.exec(text);
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
  // The format has at most this many decimals. Columns that accept a longer literal round it to a
  // thousand decimals at most.
  const isTiny = scale > numericDecimalsMax && pointAt < -numericPrecisionMax;
  putDigits(
    out,
    sign === '-',
    isTiny ? '0' : digits,
    isTiny ? 1 : pointAt,
    Math.min(scale, numericDecimalsMax),
  );
};

/** Writes `digits`, with the point after `pointAt` of them, shown with `scale` decimals. */
const putDigits = (
  out: RowBytes,
  isNegative: boolean,
  digits: string,
  pointAt: number,
  scale: number,
): void => {
  // Zeros fill the first base-10000 digit, so that the point lies between two of them.
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
