// Patterns such as YYYYMMDDHHmm: compiled once a column into steps that read fixed tokens from the text.

import { fourDigits, isDay, isDigitAt, isTimeOfDay, readDigits, readTwo, twoDigits } from './calendar.ts';
import { isOffsetAt, isoOffset, offsetEnd } from './offset.ts';

/**
 * What a pattern has read: one number a part, at the indexes below. An array of small integers, because the steps
 * write into it a billion times; an object with computed keys took twice the time.
 */
export type DateParts = number[];

const year = 0;
const month = 1;
const day = 2;
const hour = 3;
const minute = 4;
const second = 5;
/** Hours that AM and PM add on the 12 h clock, or -1 on the 24 h clock. */
const half = 6;
/** Where fraction and offset stand in the text; nothing when end is 0. */
const fractionStart = 7;
const fractionEnd = 8;
const offsetStart = 9;
const offsetEndAt = 10;

/** Parts that a pattern does not name. */
const midnight: readonly number[] = [1, 1, 1, 0, 0, 0, -1, 0, 0, 0, 0];

/** Reads one token at `at` into `parts` and gives the index after it, or -1 when the text does not fit. */
type Step = (text: string, at: number, parts: DateParts) => number;

type PartName = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second' | 'fraction' | 'half' | 'offset';

interface Token {
  readonly part: PartName;
  readonly step: Step;
  /** Of a token without fixed length: what it would run into if that stood right behind it. */
  readonly runsInto?: RegExp;
  readonly startsWithDigit: boolean;
  readonly clock?: 12 | 24;
}

const longYear: Step = (text, at, parts) => {
  const value = readDigits(text, at, 4);
  if (value === -1) return -1;
  parts.year = value;
  return at + 4;
};

const twoDigit =
  (part: NumberPart): Step =>
  (text, at, parts) => {
    const value = readTwo(text, at);
    if (value === -1) return -1;
    parts[part] = value;
    return at + 2;
  };

const unpadded =
  (part: NumberPart): Step =>
  (text, at, parts) => {
    const width = isDigitAt(text, at + 1) ? 2 : 1;
    const value = readDigits(text, at, width);
    if (value === -1) return -1;
    parts[part] = value;
    return at + width;
  };

/** POSIX: 69 to 99 are the 1900s, 00 to 68 the 2000s. */
const firstYearOf1900s = 69;

const shortYear: Step = (text, at, parts) => {
  const value = readTwo(text, at);
  if (value === -1) return -1;
  parts.year = value + (value >= firstYearOf1900s ? 1900 : 2000);
  return at + 2;
};

const monthNames = new Map(
  ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'].map(
    (name, index) => [name, index + 1],
  ),
);

const monthName: Step = (text, at, parts) => {
  const month = monthNames.get(text.slice(at, at + 3).toLowerCase());
  if (month === undefined) return -1;
  parts.month = month;
  return at + 3;
};

const fraction =
  (width: number): Step =>
  (text, at, parts) => {
    if (readDigits(text, at, width) === -1) return -1;
    parts.fraction = `.${text.slice(at, at + width)}`;
    return at + width;
  };

const halfOfDay: Step = (text, at, parts) => {
  const half = text.slice(at, at + 2).toLowerCase();
  if (half !== 'am' && half !== 'pm') return -1;
  parts.half = half === 'pm' ? 12 : 0;
  return at + 2;
};

const offset: Step = (text, at, parts) => {
  const end = offsetEnd(text, at, true);
  if (end === -1) return -1;
  parts.offset = isoOffset(text.slice(at, end));
  return end;
};

const digits = (part: PartName, step: Step, clock?: 12 | 24): Token => ({
  part,
  step,
  startsWithDigit: true,
  clock,
});
const unfixed = (part: NumberPart, clock?: 12 | 24): Token => ({
  ...digits(part, unpadded(part), clock),
  runsInto: /^\d/,
});
const word = (part: PartName, step: Step): Token => ({ part, step, startsWithDigit: false });

const tokens: ReadonlyMap<string, Token> = new Map<string, Token>([
  ['YYYY', digits('year', longYear)],
  ['YY', digits('year', shortYear)],
  ['MM', digits('month', twoDigit('month'))],
  ['M', unfixed('month')],
  ['MMM', word('month', monthName)],
  ['DD', digits('day', twoDigit('day'))],
  ['D', unfixed('day')],
  ['HH', digits('hour', twoDigit('hour'), 24)],
  ['H', unfixed('hour', 24)],
  ['hh', digits('hour', twoDigit('hour'), 12)],
  ['h', unfixed('hour', 12)],
  ['A', word('half', halfOfDay)],
  ['mm', digits('minute', twoDigit('minute'))],
  ['ss', digits('second', twoDigit('second'))],
  ...[1, 2, 3, 4, 5, 6].map((width): [string, Token] => [
    'S'.repeat(width),
    digits('fraction', fraction(width)),
  ]),
  ['Z', { ...word('offset', offset), runsInto: /^[\d:]/ }],
]);

const literal =
  (characters: string): Step =>
  (text, at) =>
    text.startsWith(characters, at) ? at + characters.length : -1;

const isLiteral = (piece: string): boolean => piece === 'T' || !/\p{L}/u.test(piece);

/** Runs of one letter, and what stands between them. */
const split = (pattern: string): readonly string[] => pattern.match(/(\p{L})\1*|[^\p{L}]+/gu) ?? [];

const namesOf = (pieces: readonly string[]): ReadonlyMap<PartName, string> => {
  const named = new Map<PartName, string>();
  for (const piece of pieces) {
    const part = tokens.get(piece)?.part;
    if (part !== undefined) named.set(part, piece);
  }
  return named;
};

const unknownPiece = (pieces: readonly string[]): string | undefined => {
  const unknown = pieces.find((piece) => !tokens.has(piece) && !isLiteral(piece));
  return unknown === undefined
    ? undefined
    : `'${unknown}' means nothing; tokens are YYYY YY MM M MMM DD D HH H hh h A mm ss S to SSSSSS Z`;
};

const repeatedPart = (pieces: readonly string[]): string | undefined => {
  const seen = new Set<PartName>();
  for (const piece of pieces) {
    const part = tokens.get(piece)?.part;
    if (part === undefined) continue;
    if (seen.has(part)) return `it names the ${part} twice`;
    seen.add(part);
  }
  return undefined;
};

// D followed by MM would read 111 as the 11th of 1?: a value must not depend on such a guess.
const openBeforeDigit = (pieces: readonly string[]): string | undefined => {
  for (const [index, piece] of pieces.entries()) {
    const next = pieces[index + 1];
    const runsInto = tokens.get(piece)?.runsInto;
    if (next === undefined || runsInto === undefined) continue;
    if (tokens.get(next)?.startsWithDigit ?? runsInto.test(next)) {
      return `'${piece}' has no fixed length, so '${next}' cannot follow it directly`;
    }
  }
  return undefined;
};

/** A part makes sense only beside the next larger one. */
const needs: readonly (readonly [PartName, PartName, string])[] = [
  ['fraction', 'second', 'ss'],
  ['second', 'minute', 'mm'],
  ['minute', 'hour', 'HH'],
  ['half', 'hour', 'hh'],
  ['offset', 'hour', 'HH'],
];

const missingPart = (named: ReadonlyMap<PartName, string>): string | undefined => {
  for (const [part, larger, token] of needs) {
    if (named.has(part) && !named.has(larger)) return `${named.get(part)} needs ${token} beside it`;
  }
  const hour = named.get('hour');
  if (hour === undefined) return undefined;
  const clock = tokens.get(hour)!.clock;
  if (clock === 12 && !named.has('half'))
    return `${hour} is the 12 h clock and needs A; use HH for 24 h`;
  if (clock === 24 && named.has('half')) return `A needs the 12 h clock; use hh instead of ${hour}`;
  return undefined;
};

/** What is wrong with a pattern, whatever its type. */
export const patternProblem = (pattern: string): string | undefined => {
  const pieces = split(pattern);
  return (
    unknownPiece(pieces) ??
    repeatedPart(pieces) ??
    openBeforeDigit(pieces) ??
    missingPart(namesOf(pieces))
  );
};

/** The parts that a pattern names. */
export const patternParts = (pattern: string): ReadonlySet<PartName> =>
  new Set(namesOf(split(pattern)).keys());

/**
 * Compiles a pattern without problems. The function reads a whole text and gives its parts, or undefined when
 * the text does not fit; the parts are one object, written anew by every call.
 */
export const compilePattern = (pattern: string): ((text: string) => DateParts | undefined) => {
  const steps = split(pattern).map((piece) => tokens.get(piece)?.step ?? literal(piece));
  const parts = { ...midnight };
  return (text) => {
    let at = 0;
    for (const step of steps) {
      at = step(text, at, parts);
      if (at === -1) return undefined;
    }
    return at === text.length ? parts : undefined;
  };
};

const hourOf = ({ hour, half }: DateParts): number => (half === -1 ? hour : (hour % 12) + half);

export const hasDay = ({ year, month, day }: DateParts): boolean => isDay(year, month, day);

export const hasTimeOfDay = (parts: DateParts): boolean =>
  isTimeOfDay(parts.hour, parts.minute, parts.second) &&
  (parts.half === -1 || (parts.hour >= 1 && parts.hour <= 12));

export const hasOffset = ({ offset: text }: DateParts): boolean =>
  text === '' || isOffsetAt(text, 0, text.length);

export const isoDateOf = ({ year, month, day }: DateParts): string =>
  `${fourDigits(year)}-${twoDigits(month)}-${twoDigits(day)}`;

export const isoTimeOf = (parts: DateParts): string =>
  `${twoDigits(hourOf(parts))}:${twoDigits(parts.minute)}:${twoDigits(parts.second)}${parts.fraction}`;
