// Dates and times in ISO 8601, the default of the date types: shapes first, then the calendar.

import type { Reader, Refusal } from './contract.ts';
import { isDay, isDigitAt, isTimeOfDay, readDigits } from './calendar.ts';
import { isOffsetAt, offsetEnd } from './offset.ts';
import { bare, isNot, refuse } from './refusal.ts';

const hyphen = 45;
const colon = 58;
const point = 46;
const letterT = 84;
const blank = 32;

const dateLength = 10;
const timeStart = dateLength + 1;
const fractionDigitsMax = 6;

export const noSuchDay = (date: string): Refusal =>
  refuse('range', `${bare(date)} is not a day of the calendar`);

export const noSuchTime = (time: string): Refusal =>
  refuse('range', `${bare(time)} is not a time of day`);

export const noSuchOffset = (offset: string): Refusal =>
  refuse('range', `${bare(offset)} is not an offset from UTC`);

// Every position is asked by itself: faster than a regular expression, and it allocates nothing.
const isDateShaped = (text: string): boolean =>
  text.charCodeAt(4) === hyphen &&
  text.charCodeAt(7) === hyphen &&
  readDigits(text, 0, 4) !== -1 &&
  readDigits(text, 5, 2) !== -1 &&
  readDigits(text, 8, 2) !== -1;

const isDayOf = (text: string): boolean =>
  isDay(readDigits(text, 0, 4), readDigits(text, 5, 2), readDigits(text, 8, 2));

/** Index after HH:mm[:ss[.f{1,6}]] at `at`, or -1 when the text has another shape. */
const timeEnd = (text: string, at: number): number => {
  if (readDigits(text, at, 2) === -1 || text.charCodeAt(at + 2) !== colon) return -1;
  if (readDigits(text, at + 3, 2) === -1) return -1;
  if (text.charCodeAt(at + 5) !== colon) return at + 5;
  if (readDigits(text, at + 6, 2) === -1) return -1;
  if (text.charCodeAt(at + 8) !== point) return at + 8;
  let end = at + 9;
  while (isDigitAt(text, end)) end += 1;
  const digits = end - (at + 9);
  return digits >= 1 && digits <= fractionDigitsMax ? end : -1;
};

const isTimeAt = (text: string, at: number, end: number): boolean =>
  isTimeOfDay(
    readDigits(text, at, 2),
    readDigits(text, at + 3, 2),
    end > at + 5 ? readDigits(text, at + 6, 2) : 0,
  );

const isInfinity = (text: string): boolean => text === 'infinity' || text === '-infinity';

export const readIsoDate: Reader = (text) => {
  if (text.length === dateLength && isDateShaped(text))
    return isDayOf(text) ? text : noSuchDay(text);
  return isInfinity(text) ? text : isNot(text, 'a date (YYYY-MM-DD)');
};

export const readIsoTime: Reader = (text) => {
  if (timeEnd(text, 0) !== text.length) return isNot(text, 'a time (HH:mm:ss)');
  return isTimeAt(text, 0, text.length) ? text : noSuchTime(text);
};

/** Index after the time of day of a date with time, or -1. */
const dateTimeEnd = (text: string): number => {
  if (!isDateShaped(text)) return -1;
  const between = text.charCodeAt(dateLength);
  return between === letterT || between === blank ? timeEnd(text, timeStart) : -1;
};

const dateTimeProblem = (text: string, end: number): Refusal | undefined => {
  if (!isDayOf(text)) return noSuchDay(text.slice(0, dateLength));
  return isTimeAt(text, timeStart, end) ? undefined : noSuchTime(text.slice(timeStart, end));
};

export const readIsoTimestamp: Reader = (text) => {
  if (dateTimeEnd(text) === text.length) return dateTimeProblem(text, text.length) ?? text;
  return isInfinity(text) ? text : isNot(text, 'a timestamp (YYYY-MM-DD HH:mm:ss)');
};

/** `suffix` is the offset of texts that have none; without it they are refused. */
export const isoTimestamptzReader = (suffix: string | undefined): Reader => {
  const kind = `a timestamptz (YYYY-MM-DD HH:mm:ss with Z or ±HH:mm)`;
  return (text) => {
    const end = dateTimeEnd(text);
    if (end === -1) return isInfinity(text) ? text : isNot(text, kind);
    if (end === text.length) {
      if (suffix === undefined) return isNot(text, kind);
      return dateTimeProblem(text, end) ?? text + suffix;
    }
    if (offsetEnd(text, end, false) !== text.length) return isNot(text, kind);
    const problem = dateTimeProblem(text, end);
    if (problem !== undefined) return problem;
    return isOffsetAt(text, end, text.length) ? text : noSuchOffset(text.slice(end));
  };
};
