// Reads texts by one pattern, or by the first of several patterns that fits.

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

/** Options of the column that apply after the pattern has matched. */
export interface Composing {
  readonly addOffset: AddOffset;
  /** True if a date may lose a time of day other than midnight. */
  readonly dropsTime: boolean;
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

/** Makes the reader of one pattern. It returns undefined if the text has another format. */
export const readerOf = (kind: DateKind, pattern: string, composing: Composing) => {
  const read = compilePattern(pattern);
  const compose = composers[kind](composing);
  return (text: string): string | Refusal | undefined => {
    const parts = read(text);
    return parts && compose(text, parts);
  };
};

/** Makes the reader of several patterns: the first value wins, else the first refusal. */
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
