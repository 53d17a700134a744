// Reads texts by the first of several patterns that fits.

import { isRefusal, type Reader, type Refusal } from './contract.ts';
import {
  hasDay,
  hasOffset,
  hasTimeOfDay,
  isMidnight,
  isoDateOf,
  isoOffsetOf,
  isoTimeOf,
  type DateParts,
} from './date-parts.ts';
import { compilePattern, patternParts, patternWriter, type Sample } from './date-pattern.ts';
import { noSuchDay, noSuchOffset, noSuchTime, type AddOffset } from './iso-date-time.ts';
import { isNot, quoted, refuse } from './refusal.ts';

export type DateKind = 'date' | 'time' | 'timestamp' | 'timestamptz';

export interface Composing {
  readonly addOffset: AddOffset;
  readonly dropsTime: boolean;
  readonly pivot: number;
}

const dayProblem = (parts: DateParts): Refusal | undefined =>
  hasDay(parts) ? undefined : noSuchDay(isoDateOf(parts));

// Shows the text instead of the parts: 13 PM has no ISO 8601 form.
const timeProblem = (text: string, parts: DateParts): Refusal | undefined =>
  hasTimeOfDay(parts) ? undefined : noSuchTime(text);

const offsetProblem = (offset: string): Refusal | undefined =>
  hasOffset(offset) ? undefined : noSuchOffset(offset);

const losesTime = (text: string): Refusal =>
  refuse(
    'range',
    `${quoted(text)} has a time of day, which a date cannot store; use timestamp, or set time: 'drop'`,
  );

const composers: Readonly<
  Record<DateKind, (composing: Composing) => (text: string, parts: DateParts) => string | Refusal>
> = {
  date:
    ({ dropsTime }) =>
    (text, parts) => {
      const problem =
        dayProblem(parts) ?? timeProblem(text, parts) ?? offsetProblem(isoOffsetOf(text, parts));
      if (problem !== undefined) return problem;
      return dropsTime || isMidnight(text, parts) ? isoDateOf(parts) : losesTime(text);
    },
  time: () => (text, parts) => timeProblem(text, parts) ?? isoTimeOf(text, parts),
  timestamp: () => (text, parts) =>
    dayProblem(parts) ?? timeProblem(text, parts) ?? `${isoDateOf(parts)}T${isoTimeOf(text, parts)}`,
  timestamptz:
    ({ addOffset }) =>
    (text, parts) => {
      const offset = isoOffsetOf(text, parts);
      const problem = dayProblem(parts) ?? timeProblem(text, parts) ?? offsetProblem(offset);
      if (problem !== undefined) return problem;
      const local = `${isoDateOf(parts)}T${isoTimeOf(text, parts)}`;
      return offset === '' ? addOffset(local) : local + offset;
    },
};

const readerOf = (kind: DateKind, pattern: string, composing: Composing) => {
  const read = compilePattern(pattern, composing.pivot);
  const compose = composers[kind](composing);
  return (text: string): string | Refusal | undefined => {
    const parts = read(text);
    return parts && compose(text, parts);
  };
};

export const patternReader = (kind: DateKind, patterns: readonly string[], composing: Composing): Reader => {
  const readers = patterns.map((pattern) => readerOf(kind, pattern, composing));
  const wanted = `a ${kind} written as ${patterns.join(' or ')}`;
  return (text) => {
    let refusal: Refusal | undefined;
    for (const read of readers) {
      const result = read(text);
      if (result === undefined) continue;
      if (!isRefusal(result)) return result;
      refusal ??= result;
    }
    return refusal ?? isNot(text, wanted);
  };
};

/** Numbers from 1 to 12 are valid months, days, hours, minutes and seconds. */
const smallNumbers = 12;

/** Yields dates whose parts are small and all different, so that swapped parts change the date. */
function* samples(hasOffsets: boolean): Generator<Sample> {
  for (let first = 0; first < smallNumbers; first += 1) {
    const number = (index: number): number => 1 + ((first + index) % smallNumbers);
    const two = (index: number): string => String(number(index)).padStart(2, '0');
    const hours = `${two(9)}:${two(10)}`;
    const offsets = [
      'Z',
      ...[two(9), two(9) + two(10), hours, `${hours}:${two(11)}`].flatMap((size) => [`+${size}`, `-${size}`]),
    ];
    for (const century of [20, 19, number(5), 0]) {
      for (const offset of hasOffsets ? offsets : ['']) {
        for (const half of [0, 12]) {
          yield {
            year: 100 * century + number(6),
            month: number(0),
            day: number(1),
            hour: (number(2) % 12) + half,
            minute: number(3),
            second: number(4),
            fraction: `${two(7)}${two(8)}${two(9)}${two(10)}${two(11)}`,
            offset,
          };
        }
      }
    }
  }
}

/** Describes a text that both patterns read, as two different values. */
const conflictOf = (
  kind: DateKind,
  [one, other]: readonly [string, string],
  composing: Composing,
  valueOf: (canonical: string) => unknown,
): string | undefined => {
  // Without dropsTime, the time of day of each sample would be refused.
  const trial = { ...composing, dropsTime: true };
  const [readOne, readOther] = [readerOf(kind, one, trial), readerOf(kind, other, trial)];
  const hasOffsets = [one, other].some((pattern) => patternParts(pattern).has('offset'));
  const writers = [one, other].map(patternWriter);
  const texts = new Set([...samples(hasOffsets)].flatMap((sample) => writers.map((write) => write(sample))));
  for (const text of texts) {
    const [left, right] = [readOne(text), readOther(text)];
    if (left === undefined || right === undefined || isRefusal(left) || isRefusal(right)) continue;
    if (valueOf(left) !== valueOf(right)) {
      return `${quoted(one)} reads ${quoted(text)} as ${left} and ${quoted(other)} as ${right}; leave one of them out`;
    }
  }
  return undefined;
};

export const conflictOfPatterns = (
  kind: DateKind,
  patterns: readonly string[],
  composing: Composing,
  valueOf: (canonical: string) => unknown,
): string | undefined => {
  for (const [index, one] of patterns.entries())
    for (const other of patterns.slice(index + 1)) {
      const conflict = conflictOf(kind, [one, other], composing, valueOf);
      if (conflict !== undefined) return conflict;
    }
  return undefined;
};
