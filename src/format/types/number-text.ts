// Numbers as files write them: decimal comma, thousands separators, and decimal literals.

import type { OptionShape } from './contract.ts';
import { plainPercent } from './percent.ts';

/** How a file writes whole numbers. */
export interface GroupOptions {
  /** Character between groups of digits. Default: none. */
  readonly thousands?: string;
  /** 'indian': groups of two digits before the last three, 12,34,567. Default: groups of three. */
  readonly grouping?: 'indian';
}

/** How a file writes numbers with decimals. */
export interface FloatOptions extends GroupOptions {
  /** Character before the decimals. Default: '.'. */
  readonly decimal?: ',' | '.';
  /** Texts end with %. 12.5% becomes 12.5 ('number') or 0.125 ('share'). */
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

/** True if the server reads these numbers as they are. */
export const writesPlainly = ({ decimal = '.', thousands, percent }: FloatOptions): boolean =>
  decimal === '.' && thousands === undefined && percent === undefined;

/** The separators for the row routine (encoder/kinds.ts). */
export const spellingOf = (
  options: FloatOptions,
): { decimal: number; thousands: number; thousandsBytes: number } => {
  const { decimal = '.', thousands = '\0', grouping } = options;
  // Byte 0 means that the row routine accepts no separator. Texts never contain it. Indian grouping
  // is left to the reader, and half a surrogate pair cannot occur in a text.
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

/** Returns 1 if the text begins with a sign, else 0. */
export const afterSign = (text: string): number => {
  const code = text.charCodeAt(0);
  return code === plus || code === minus ? 1 : 0;
};

/** Returns the index of the first character from `at` that is not a digit. */
export const afterDigits = (text: string, at: number): number => {
  let end = at;
  while (isDigitAt(text, end)) end += 1;
  return end;
};

/** Returns the index of the first character from `at` that is not the digit 0. */
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

/** Returns what is wrong with the separators, or undefined. Integers have no `decimal`. */
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
 * Removes separators between groups of three digits, or of two before the last three: accepts
 * 1,234,567 or 12,34,567, but not 12,34 or 1,234567. Refuses a leading 0 before a separator: 0,123
 * is a decimal and not 123.
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

// Refuses a point in a file with decimal commas: 1.234 may mean 1234.
const withPoint = (text: string): string | undefined =>
  text.includes('.') ? undefined : text.replace(',', '.');

/** Rewrites a number as PostgreSQL reads it. Undefined if a separator is misplaced. */
export type PlainNumber = (text: string) => string | undefined;

const asItIs: PlainNumber = (text) => text;

/** Makes a PlainNumber for numbers with these separators. */
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

/** Makes the PlainNumber of a column. */
export const plainNumber = (options: FloatOptions): PlainNumber => {
  const plain = plainSeparators(options);
  return options.percent === undefined ? plain : plainPercent(plain, options.percent);
};

/** Completes the sentence `"x" is not …`. */
export const wantedNumber = (type: string, { percent }: FloatOptions): string =>
  percent === undefined ? type : `${type} with %`;

/** Where a decimal literal has its parts. Digit positions start at 0 and skip the point. */
export interface DecimalShape {
  /** Number of all digits, and of digits before the point. Both count leading zeros. */
  digits: number;
  integerDigits: number;
  /** Positions of the first and the last nonzero digit; -1 if the literal is zero. */
  firstNonzero: number;
  lastNonzero: number;
  /** Exact up to ten digits. Infinite beyond, which exceeds every limit. */
  exponent: number;
  /** Range of digits and point in the text, without sign and exponent. */
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
 * Reads `[+-]?(d+(.d*)?|.d+)([eE][+-]?d+)?`. Returns false for other texts. Fills the caller's
 * `shape`, so that accepted fields allocate nothing.
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

/** Accepts the server's spellings: infinity or inf, with or without a sign, in any case. */
export const isInfinity = (text: string): boolean =>
  text.length <= longestSpecial && infinities.has(text.toLowerCase());

/** Writes a JavaScript number as text. The column's reader then checks the range. */
export const numberText = (value: number): string => {
  if (Object.is(value, -0)) return '-0';
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
};
