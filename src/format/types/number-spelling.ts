// How files write numbers, such as decimal commas and percent signs.

import { ZERO } from '../../core/characters.ts';
import { oneOfOption, type OptionShape } from './contract.ts';
import { afterDigits, afterSign, decimalParts } from './number-text.ts';
import { serverNumber, spellingOption, spellingProblem, type SpellingOptions } from './server-spelling.ts';

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

export type IntegerOptions = GroupOptions & SpellingOptions;

export type NumberOptions = FloatOptions & SpellingOptions;

const thousandsOption: OptionShape = { takes: 'text', must: 'one character', isSpelling: true };
const groupingOption = oneOfOption('indian');

export const groupOptions = {
  thousands: thousandsOption,
  grouping: groupingOption,
  spelling: spellingOption,
};

export const floatOptions = {
  decimal: oneOfOption(',', '.'),
  thousands: thousandsOption,
  grouping: groupingOption,
  percent: oneOfOption('number', 'share'),
  spelling: spellingOption,
};

export const writesPlainly = ({ decimal = '.', thousands, percent }: FloatOptions): boolean =>
  decimal === '.' && thousands === undefined && percent === undefined;

export const spellingOf = (
  options: FloatOptions,
): { decimal: number; thousands: number; thousandsBytes: number } => {
  const { decimal = '.', thousands = '\0', grouping } = options;
  // Byte 0 means no separator. JavaScript reads Indian grouping, and no text contains half a
  // surrogate pair.
  const isLeft = grouping !== undefined || /\p{Surrogate}/u.test(thousands);
  const separator = Buffer.from(isLeft ? '\0' : thousands);
  return {
    decimal: writesPlainly(options) ? 0 : decimal.charCodeAt(0),
    thousands: separator.readUIntLE(0, separator.length),
    thousandsBytes: separator.length,
  };
};

interface Separators {
  readonly decimal?: string | undefined;
  readonly thousands?: string | undefined;
  readonly grouping?: 'indian' | undefined;
}

const separatorsProblem = ({ decimal, thousands, grouping }: Separators): string | undefined => {
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

export const numberOptionsProblem = (options: NumberOptions, point?: '.'): string | undefined => {
  const { decimal, thousands, percent } = options;
  return (
    spellingProblem(options, { decimal, thousands, percent }) ??
    separatorsProblem({ ...options, decimal: decimal ?? point })
  );
};

/**
 * Removes separators. Accepts 1,234,567 or 12,34,567, but not 12,34 or 1,234567. Refuses a leading
 * 0 before a separator: 0,123 is a decimal and not 123.
 */
const withoutGroups = (text: string, separator: string, isIndian: boolean): string | undefined => {
  let at = text.indexOf(separator);
  if (at === -1) return text;
  const start = afterSign(text);
  const first = at - start;
  if (first < 1 || first > (isIndian ? 2 : 3) || text.charCodeAt(start) === ZERO) return undefined;
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

type PlainNumber = (text: string) => string | undefined;

const asItIs: PlainNumber = (text) => text;

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

const sign = /[ \u00a0\u202f]?%$/;

const hundredth = (text: string): string | undefined => {
  const [found, plusMinus = '', whole = '', rest = '', exponent] = decimalParts.exec(text) ?? [];
  if (found === undefined || whole + rest === '') return undefined;
  const digits = whole.padStart(3, '0');
  const power = exponent === undefined ? '' : `e${exponent}`;
  return `${plusMinus}${digits.slice(0, -2)}.${digits.slice(-2)}${rest}${power}`;
};

const plainPercent =
  (plain: PlainNumber, percent: 'number' | 'share'): PlainNumber =>
  (text) => {
    if (!sign.test(text)) return undefined;
    const number = plain(text.replace(sign, ''));
    if (number === undefined || !decimalParts.test(number)) return undefined;
    return percent === 'share' ? hundredth(number) : number;
  };

export const plainNumber = (options: NumberOptions, readServer: PlainNumber = serverNumber): PlainNumber => {
  if (options.spelling === 'server') return readServer;
  const plain = plainSeparators(options);
  return options.percent === undefined ? plain : plainPercent(plain, options.percent);
};

/** Completes the sentence `"x" is not …`. */
export const wantedNumber = (type: string, { percent }: FloatOptions): string =>
  percent === undefined ? type : `${type} with %`;

export const fromNumber = (value: unknown): string | undefined => {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'number') return undefined;
  if (Object.is(value, -0)) return '-0';
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
};
