// Scans digits and decimal literals.

import { MINUS, PLUS, POINT, ZERO } from '../../core/characters.ts';

export const isDigitAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= ZERO && code <= ZERO + 9;
};

export const afterSign = (text: string): number => {
  const code = text.charCodeAt(0);
  return code === PLUS || code === MINUS ? 1 : 0;
};

export const afterDigits = (text: string, at: number): number => {
  let end = at;
  while (isDigitAt(text, end)) end += 1;
  return end;
};

export const afterZeros = (text: string, at: number): number => {
  let end = at;
  while (text.charCodeAt(end) === ZERO) end += 1;
  return end;
};

/** Where a decimal literal has its parts. Digit positions start at 0 and skip the point. */
export interface DecimalShape {
  digits: number;
  integerDigits: number;
  /** Positions of nonzero digits; -1 if the literal is zero. */
  firstNonzero: number;
  lastNonzero: number;
  /** Exact up to ten digits. Infinite beyond, which exceeds every limit. */
  exponent: number;
  start: number;
  end: number;
}

export const emptyShape = (): DecimalShape => ({
  digits: 0,
  integerDigits: 0,
  firstNonzero: -1,
  lastNonzero: -1,
  exponent: 0,
  start: 0,
  end: 0,
});

export const decimalParts = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/;

const exponentDigitsExact = 10;

const readExponent = (text: string, at: number): number | undefined => {
  const sign = text.charCodeAt(at);
  const start = sign === PLUS || sign === MINUS ? at + 1 : at;
  if (start === text.length || afterDigits(text, start) !== text.length) return undefined;
  const significant = afterZeros(text, start);
  const size = text.length - significant > exponentDigitsExact ? Infinity : Number(text.slice(significant));
  return sign === MINUS ? -size : size;
};

/** Reads `[+-]?(d+(.d*)?|.d+)([eE][+-]?d+)?` into the caller's `shape`: allocates nothing. */
export const scanDecimal = (text: string, shape: DecimalShape): boolean => {
  const start = afterSign(text);
  let digits = 0;
  let integerDigits = -1;
  let firstNonzero = -1;
  let lastNonzero = -1;
  let at = start;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > ZERO && code <= ZERO + 9) {
      if (firstNonzero === -1) firstNonzero = digits;
      lastNonzero = digits;
    } else if (code === POINT && integerDigits === -1) {
      integerDigits = digits;
      continue;
    } else if (code !== ZERO) break;
    digits += 1;
  }
  if (digits === 0) return false;
  shape.digits = digits;
  shape.integerDigits = integerDigits === -1 ? digits : integerDigits;
  shape.firstNonzero = firstNonzero;
  shape.lastNonzero = lastNonzero;
  shape.start = start;
  shape.end = at;
  shape.exponent = 0;
  if (at === text.length) return true;
  if ((text.charCodeAt(at) | 32) !== 101) return false;
  const exponent = readExponent(text, at + 1);
  if (exponent === undefined) return false;
  shape.exponent = exponent;
  return true;
};

const infinities = new Set(['infinity', '+infinity', '-infinity', 'inf', '+inf', '-inf']);
const longestSpecial = 9;

export const isNotANumber = (text: string): boolean => text.length === 3 && text.toLowerCase() === 'nan';

export const isInfinity = (text: string): boolean =>
  text.length <= longestSpecial && infinities.has(text.toLowerCase());
