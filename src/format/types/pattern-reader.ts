// Texts of a pattern, or of the first of several that fits, as values of a date or time type.

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
import { compilePattern } from './date-pattern.ts';
import { noSuchDay, noSuchOffset, noSuchTime, type AddOffset } from './iso-date-time.ts';
import { isNot, quoted, refuse } from './refusal.ts';

export type DateKind = 'date' | 'time' | 'timestamp' | 'timestamptz';

/** What a column says of its texts beside their format. */
export interface Composing {
  readonly addOffset: AddOffset;
  /** A date may lose a time of day that is no midnight. */
  readonly dropsTime: boolean;
}

const dayProblem = (parts: DateParts): Refusal | undefined =>
  hasDay(parts) ? undefined : noSuchDay(isoDateOf(parts));

// The text is named, not the parts: 13 PM has no ISO spelling.
const timeProblem = (text: string, parts: DateParts): Refusal | undefined =>
  hasTimeOfDay(parts) ? undefined : noSuchTime(text);

const offsetProblem = (offset: string): Refusal | undefined =>
  hasOffset(offset) ? undefined : noSuchOffset(offset);

const losesTime = (text: string): Refusal =>
  refuse(
    'range',
    `${quoted(text)} has a time of day, which a date loses; use timestamp, or say time: 'drop'`,
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

/** Makes the reader of one pattern; undefined: the text has another shape. */
export const readerOf = (kind: DateKind, pattern: string, composing: Composing) => {
  const read = compilePattern(pattern);
  const compose = composers[kind](composing);
  return (text: string): string | Refusal | undefined => {
    const parts = read(text);
    return parts && compose(text, parts);
  };
};

/** Makes the reader of some patterns: the first that gives a value counts, else the first that has the shape of the text. */
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
