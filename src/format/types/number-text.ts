// Numbers as files write them: decimal comma, groups of three digits, and the syntax of decimal literals.

import type { OptionShape } from './contract.ts';
import { plainPercent } from './percent.ts';

/** How a file writes whole numbers. */
export interface GroupOptions {
  /** Character between groups of three digits; none by default. */
  readonly thousands?: string;
  /** 'indian': three digits before the point, then two each, 12,34,567; else three each. */
  readonly grouping?: 'indian';
}

/** How a file writes numbers that may have decimals. */
export interface FloatOptions extends GroupOptions {
  /** Character before the decimals; '.' by default. */
  readonly decimal?: ',' | '.';
  /** Texts end with %, and 12.5% is 12.5 (number) or 0.125 (share). */
  readonly percent?: 'number' | 'share';
}

export const decimalOption: OptionShape = {
  takes: 'text',
  must: "',' or '.'",
  oneOf: [',', '.'],
  isSpelling: true,
};
export const thousandsOption: OptionShape = { takes: 'text', must: 'one character', isSpelling: true };

export const groupingOption: OptionShape = {
  takes: 'text',
  must: "'indian'",
  oneOf: ['indian'],
  isSpelling: true,
};
export const percentOption: OptionShape = {
  takes: 'text',
  must: "'number' or 'share'",
  oneOf: ['number', 'share'],
  isSpelling: true,
};

/** Numbers are written as the server reads them. */
export const writesPlainly = ({ decimal = '.', thousands, percent }: FloatOptions): boolean =>
  decimal === '.' && thousands === undefined && percent === undefined;

/** How the row routine reads such numbers: see encoder/kinds.ts. */
export const spellingOf = (
  options: FloatOptions,
): { decimal: number; thousands: number; thousandsBytes: number } => {
  const { decimal = '.', thousands = '\0', grouping } = options;
  // Neither a byte 0 nor half a surrogate pair is in a text. Indian groups are left to the reader.
  const isLeft = grouping !== undefined || /\p{Surrogate}/u.test(thousands);
  const separator = Buffer.from(isLeft ? '\0' : thousands);
  return {
    decimal: writesPlainly(options) ? 0 : decimal.charCodeAt(0),
    thousands: separator.readUIntLE(0, separator.length),
    thousandsBytes: separator.length,
  };
};

const zero = 48;
const plus = 43;
const minus = 45;
const point = 46;

const isDigitAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= zero && code <= zero + 9;
};

/** Index of the first character after an optional sign. */
export const afterSign = (text: string): number => {
  const code = text.charCodeAt(0);
  return code === plus || code === minus ? 1 : 0;
};

/** Index of the first character from `at` on that is not a digit. */
export const afterDigits = (text: string, at: number): number => {
  let end = at;
  while (isDigitAt(text, end)) end += 1;
  return end;
};

/** Index of the first character from `at` on that is not the digit 0. */
export const afterZeros = (text: string, at: number): number => {
  let end = at;
  while (text.charCodeAt(end) === zero) end += 1;
  return end;
};

interface Separators {
  readonly decimal?: string | undefined;
  readonly thousands?: string | undefined;
  readonly grouping?: 'indian' | undefined;
}

/** The problem of `decimal` and `thousands`; `decimal` is undefined for whole numbers. */
export const separatorsProblem = ({ decimal, thousands, grouping }: Separators): string | undefined => {
  if (thousands === undefined) {
    return grouping && "grouping: 'indian' needs thousands, the character between groups, such as ','";
  }
  if (thousands.length !== 1) return "thousands must be one character, such as ','";
  if (/[\p{L}\p{N}+-]/u.test(thousands)) {
    return `thousands cannot be '${thousands}', which is part of a number itself`;
  }
  if (thousands === decimal) {
    return `thousands and decimal are both '${thousands}'; give each a character of its own`;
  }
  return undefined;
};

/**
 * Removes the separators between groups of three digits, or of two before the last three: 1,234,567 or 12,34,567, but neither
 * 12,34 nor 1,234567. A first group that begins with 0 is refused too: 0,123 is a decimal, not a hundred and twenty-three.
 */
const withoutGroups = (text: string, separator: string, isIndian: boolean): string | undefined => {
  let at = text.indexOf(separator);
  if (at === -1) return text;
  const start = afterSign(text);
  const first = at - start;
  if (first < 1 || first > (isIndian ? 2 : 3) || text.charCodeAt(start) === zero) return undefined;
  if (afterDigits(text, start) !== at) return undefined;
  let plain = text.slice(0, at);
  while (text[at] === separator) {
    const end = afterDigits(text, at + 1);
    if (end - at - 1 !== (isIndian && text[end] === separator ? 2 : 3)) return undefined;
    plain += text.slice(at + 1, end);
    at = end;
  }
  const rest = text.slice(at);
  return rest.includes(separator) ? undefined : plain + rest;
};

// In a file with decimal commas, 1.234 may be more than a thousand: a point is no decimal.
const withPoint = (text: string): string | undefined =>
  text.includes('.') ? undefined : text.replace(',', '.');

/** Writes a number as PostgreSQL reads it; undefined when its separators are misplaced. */
export type PlainNumber = (text: string) => string | undefined;

const asItIs: PlainNumber = (text) => text;

/** How numbers written with these separators become plain. */
const plainSeparators = ({ decimal, thousands, grouping }: Separators): PlainNumber => {
  const comma = decimal === ',';
  if (thousands === undefined) return comma ? withPoint : asItIs;
  const isIndian = grouping === 'indian';
  if (!comma) return (text) => withoutGroups(text, thousands, isIndian);
  return (text) => {
    const plain = withoutGroups(text, thousands, isIndian);
    return plain === undefined ? undefined : withPoint(plain);
  };
};

/** How numbers of a column become plain. */
export const plainNumber = (options: FloatOptions): PlainNumber => {
  const plain = plainSeparators(options);
  return options.percent === undefined ? plain : plainPercent(plain, options.percent);
};

/** What a text of the column must be. */
export const wantedNumber = (type: string, { percent }: FloatOptions): string =>
  percent === undefined ? type : `${type} with %`;

/** Where the parts of a decimal literal are; its digits are counted from 0 and without the point. */
export interface DecimalShape {
  /** Digits in all, and digits before the point, leading zeros included. */
  digits: number;
  integerDigits: number;
  /** First and last digit that is not 0; -1 when the literal is zero. */
  firstNonzero: number;
  lastNonzero: number;
  /** Exponent, exact up to ten digits and larger than any bound beyond. */
  exponent: number;
  /** Indexes in the text: the first digit or point, and the end of the digits. */
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

const exponentDigitsExact = 10;

const readExponent = (text: string, at: number): number | undefined => {
  const sign = text.charCodeAt(at);
  const start = sign === plus || sign === minus ? at + 1 : at;
  if (start === text.length || afterDigits(text, start) !== text.length) return undefined;
  const significant = afterZeros(text, start);
  const size = text.length - significant > exponentDigitsExact ? Infinity : Number(text.slice(significant));
  return sign === minus ? -size : size;
};

/**
 * Reads `[+-]?(d+(.d*)?|.d+)([eE][+-]?d+)?` into the caller's `shape`, so that an accepted field allocates nothing. False when the
 * text is no such literal.
 */
export const scanDecimal = (text: string, shape: DecimalShape): boolean => {
  const start = afterSign(text);
  let digits = 0;
  let integerDigits = -1;
  let firstNonzero = -1;
  let lastNonzero = -1;
  let at = start;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > zero && code <= zero + 9) {
      if (firstNonzero === -1) firstNonzero = digits;
      lastNonzero = digits;
    } else if (code === point && integerDigits === -1) {
      integerDigits = digits;
      continue;
    } else if (code !== zero) break;
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

/** Infinity or inf with or without a sign, in any case, as the server reads it. */
export const isInfinity = (text: string): boolean =>
  text.length <= longestSpecial && infinities.has(text.toLowerCase());

/** The text to read for a JavaScript number; the reader then judges whether it fits. */
export const numberText = (value: number): string => {
  if (Object.is(value, -0)) return '-0';
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
};
