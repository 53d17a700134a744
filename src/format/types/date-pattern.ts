// Compiles patterns such as YYYYMMDDHHmm into steps that each read one token.

import * as layouts from '../assembly/layouts.ts';
import { fourDigits, twoDigits } from './calendar.ts';
import {
  emptyParts,
  fraction,
  halfOfDay,
  literal,
  longYear,
  monthName,
  monthNames,
  offset,
  padded,
  part,
  shortYear,
  unpadded,
  usualPivot,
  type DateParts,
  type Step,
} from './date-parts.ts';

type PartName = Exclude<keyof typeof part, 'fractionEnd' | 'offsetEnd'>;

export interface Sample {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly fraction: string;
  readonly offset: string;
}

interface Token {
  readonly part: PartName;
  readonly step: Step;
  readonly write: (sample: Sample) => string;
  readonly reads: number;
  readonly needs: number;
  /** For tokens of variable length: matches text that must not follow the token directly. */
  readonly runsInto?: RegExp;
  readonly startsWithDigit: boolean;
  readonly clock?: 12 | 24;
}

/** Where the module keeps each part. */
const byteParts: Readonly<Record<PartName, number>> = {
  year: layouts.partYear,
  month: layouts.partMonth,
  day: layouts.partDay,
  hour: layouts.partHour,
  minute: layouts.partMinute,
  second: layouts.partSecond,
  fraction: layouts.partFraction,
  half: layouts.partHalf,
  offset: layouts.partOffset,
};

const twelve = ({ hour }: Sample): number => hour % 12 || 12;

type Write = Token['write'];

const digits = (name: PartName, step: Step, read: number, write: Write, clock?: 12 | 24): Token => ({
  part: name,
  step,
  reads: read,
  needs: byteParts[name],
  write,
  startsWithDigit: true,
  clock,
});
type Pair = 'month' | 'day' | 'hour' | 'minute' | 'second';
const valueOf =
  (name: Pair, clock?: 12 | 24) =>
  (sample: Sample): number =>
    clock === 12 ? twelve(sample) : sample[name];
const two = (name: Pair, clock?: 12 | 24): Token =>
  digits(name, padded(part[name]), layouts.readsTwo, (at) => twoDigits(valueOf(name, clock)(at)), clock);
const unfixed = (name: 'month' | 'day' | 'hour', clock?: 12 | 24): Token => ({
  ...digits(
    name,
    unpadded(part[name]),
    layouts.readsOneOrTwo,
    (at) => String(valueOf(name, clock)(at)),
    clock,
  ),
  runsInto: /^\d/,
});
const word = (name: PartName, step: Step, read: number, write: Write): Token => ({
  ...digits(name, step, read, write),
  startsWithDigit: false,
});

/** Nanoseconds: the most decimals that a pattern may name. */
const fractionDigitsMax = 9;
const fractions = Array.from({ length: fractionDigitsMax }, (_, index): [string, Token] => {
  const width = index + 1;
  const write: Write = (at) => at.fraction.slice(0, width);
  return [
    'S'.repeat(width),
    { ...digits('fraction', fraction(width), layouts.readsFraction, write), needs: width },
  ];
});

const tokens: ReadonlyMap<string, Token> = new Map<string, Token>([
  ['YYYY', digits('year', longYear, layouts.readsFour, ({ year }) => fourDigits(year))],
  ['YY', digits('year', shortYear(usualPivot), layouts.readsShortYear, ({ year }) => twoDigits(year % 100))],
  ['MM', two('month')],
  ['M', unfixed('month')],
  ['MMM', word('month', monthName, layouts.readsMonthName, ({ month }) => monthNames[month - 1]!)],
  ['DD', two('day')],
  ['D', unfixed('day')],
  ['HH', two('hour', 24)],
  ['H', unfixed('hour', 24)],
  ['hh', two('hour', 12)],
  ['h', unfixed('hour', 12)],
  ['A', word('half', halfOfDay, layouts.readsHalf, ({ hour }) => (hour < 12 ? 'AM' : 'PM'))],
  ['mm', two('minute')],
  ['ss', two('second')],
  ...fractions,
  [
    'Z',
    { ...word('offset', offset, layouts.readsOffset, ({ offset: written }) => written), runsInto: /^[\d:]/ },
  ],
]);

const isLiteral = (piece: string): boolean => piece === 'T' || !/\p{L}/u.test(piece);

const split = (pattern: string): readonly string[] => pattern.match(/(\p{L})\1*|[^\p{L}]+/gu) ?? [];

const namesOf = (pieces: readonly string[]): ReadonlyMap<PartName, string> => {
  const named = new Map<PartName, string>();
  for (const piece of pieces) {
    const name = tokens.get(piece)?.part;
    if (name !== undefined) named.set(name, piece);
  }
  return named;
};

const unknownPiece = (pieces: readonly string[]): string | undefined => {
  const unknown = pieces.find((piece) => !tokens.has(piece) && !isLiteral(piece));
  return unknown === undefined
    ? undefined
    : `'${unknown}' is not a token; tokens are YYYY YY MM M MMM DD D HH H hh h A mm ss S to SSSSSSSSS Z`;
};

const repeatedPart = (pieces: readonly string[]): string | undefined => {
  const seen = new Set<PartName>();
  for (const piece of pieces) {
    const name = tokens.get(piece)?.part;
    if (name === undefined) continue;
    if (seen.has(name)) return `it names the ${name} twice`;
    seen.add(name);
  }
  return undefined;
};

// Refuses 'DMM' and the like. DMM can read 111 as day 11, or as day 1 and month 11.
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

/** [part, larger part, its token]: a pattern with the part needs the larger part too. */
const needs: readonly (readonly [PartName, PartName, string])[] = [
  ['fraction', 'second', 'ss'],
  ['second', 'minute', 'mm'],
  ['minute', 'hour', 'HH'],
  ['half', 'hour', 'hh'],
];

const missingPart = (named: ReadonlyMap<PartName, string>): string | undefined => {
  for (const [name, larger, token] of needs) {
    if (named.has(name) && !named.has(larger)) return `${named.get(name)} needs ${token} beside it`;
  }
  const hour = named.get('hour');
  if (hour === undefined) return undefined;
  const clock = tokens.get(hour)!.clock;
  if (clock === 12 && !named.has('half')) return `${hour} is the 12 h clock and needs A; use HH for 24 h`;
  if (clock === 24 && named.has('half')) return `A needs the 12 h clock; use hh instead of ${hour}`;
  return undefined;
};

export const patternProblem = (pattern: string): string | undefined => {
  const pieces = split(pattern);
  return (
    unknownPiece(pieces) ?? repeatedPart(pieces) ?? openBeforeDigit(pieces) ?? missingPart(namesOf(pieces))
  );
};

export const patternParts = (pattern: string): ReadonlySet<PartName> =>
  new Set(namesOf(split(pattern)).keys());

export const hasShortYear = (pattern: string): boolean => split(pattern).includes('YY');

/** Returns a parser: undefined if the text does not fit. All calls overwrite one DateParts. */
export const compilePattern = (pattern: string, pivot: number): ((text: string) => DateParts | undefined) => {
  const stepOf = (piece: string): Step =>
    piece === 'YY' ? shortYear(pivot) : (tokens.get(piece)?.step ?? literal(piece));
  const steps = split(pattern).map(stepOf);
  const parts = emptyParts();
  return (text) => {
    let at = 0;
    for (const step of steps) {
      at = step(text, at, parts);
      if (at === -1) return undefined;
    }
    return at === text.length ? parts : undefined;
  };
};

export const patternWriter = (pattern: string): ((sample: Sample) => string) => {
  const writers = split(pattern).map((piece) => tokens.get(piece)?.write ?? (() => piece));
  return (sample) => writers.map((write) => write(sample)).join('');
};

/** PostgreSQL stores microseconds. The routine accepts more decimals only if they are 0. */
const fractionDigitsKept = 6;

type ByteStep = [reads: number, needs: number, next: number];

const addBytes = (steps: ByteStep[], text: string): void => {
  for (const byte of Buffer.from(text)) {
    const last = steps.at(-1);
    if (last?.[2] === 0) last[2] = byte;
    else steps.push([layouts.readsByte, byte, 0]);
  }
};

/** Writes three numbers per step, then `end`. */
export const patternSteps = (pattern: string, pivot: number): readonly number[] => {
  const steps: ByteStep[] = [];
  for (const piece of split(pattern)) {
    const token = tokens.get(piece);
    if (token === undefined) addBytes(steps, piece);
    else if (token.part === 'fraction') {
      steps.push([token.reads, Math.min(token.needs, fractionDigitsKept), 0]);
      addBytes(steps, '0'.repeat(Math.max(0, token.needs - fractionDigitsKept)));
    } else steps.push([token.reads, piece === 'YY' ? pivot : token.needs, 0]);
  }
  return [...steps.flat(), layouts.readsEnd];
};
