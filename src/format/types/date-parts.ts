// Reads the tokens of a date pattern one by one.

import {
  fourDigits,
  isDay,
  isOffsetAt,
  isTimeOfDay,
  offsetEnd,
  offsetWithColon,
  readDigits,
  readTwo,
  twoDigits,
} from './calendar.ts';
import { isDigitAt } from './number-text.ts';

/** Indexed by `part`. An object with computed keys took twice as long. */
export type DateParts = number[];

export const part = {
  year: 0,
  month: 1,
  day: 2,
  hour: 3,
  minute: 4,
  second: 5,
  /** Hours to add on the 12-hour clock: 0 for AM, 12 for PM. -1 for the 24-hour clock. */
  half: 6,
  /** Index ranges of fraction and offset in the text. An end of 0 means none. */
  fraction: 7,
  fractionEnd: 8,
  offset: 9,
  offsetEnd: 10,
} as const;

/** Values of parts that the pattern does not name: 0001-01-01, midnight, 24-hour clock. */
export const emptyParts = (): DateParts => [1, 1, 1, 0, 0, 0, -1, 0, 0, 0, 0];

export type Step = (text: string, at: number, parts: DateParts) => number;

export const longYear: Step = (text, at, parts) => {
  const value = readDigits(text, at, 4);
  if (value === -1) return -1;
  parts[part.year] = value;
  return at + 4;
};

/** POSIX reads 69 to 99 as 1969 to 1999, and 00 to 68 as 2000 to 2068. */
export const usualPivot = 69;

/** `pivot`: the first year that is in the 1900s. */
export const shortYear =
  (pivot: number): Step =>
  (text, at, parts) => {
    const value = readTwo(text, at);
    if (value === -1) return -1;
    parts[part.year] = value + (value >= pivot ? 1900 : 2000);
    return at + 2;
  };

export const padded =
  (index: number): Step =>
  (text, at, parts) => {
    const value = readTwo(text, at);
    if (value === -1) return -1;
    parts[index] = value;
    return at + 2;
  };

export const unpadded =
  (index: number): Step =>
  (text, at, parts) => {
    const width = isDigitAt(text, at + 1) ? 2 : 1;
    const value = readDigits(text, at, width);
    if (value === -1) return -1;
    parts[index] = value;
    return at + width;
  };

export const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const monthNumbers = new Map(monthNames.map((name, index) => [name, index + 1]));

export const monthName: Step = (text, at, parts) => {
  const month = monthNumbers.get(text.slice(at, at + 3).toLowerCase());
  if (month === undefined) return -1;
  parts[part.month] = month;
  return at + 3;
};

export const fraction =
  (width: number): Step =>
  (text, at, parts) => {
    if (readDigits(text, at, width) === -1) return -1;
    parts[part.fraction] = at;
    parts[part.fractionEnd] = at + width;
    return at + width;
  };

export const halfOfDay: Step = (text, at, parts) => {
  const half = text.slice(at, at + 2).toLowerCase();
  if (half !== 'am' && half !== 'pm') return -1;
  parts[part.half] = half === 'pm' ? 12 : 0;
  return at + 2;
};

export const offset: Step = (text, at, parts) => {
  const end = offsetEnd(text, at);
  if (end === -1) return -1;
  parts[part.offset] = at;
  parts[part.offsetEnd] = end;
  return end;
};

export const literal =
  (characters: string): Step =>
  (text, at) =>
    text.startsWith(characters, at) ? at + characters.length : -1;

const hourOf = (parts: DateParts): number => {
  const hour = parts[part.hour]!;
  const half = parts[part.half]!;
  return half === -1 ? hour : (hour % 12) + half;
};

export const hasDay = (parts: DateParts): boolean =>
  isDay(parts[part.year]!, parts[part.month]!, parts[part.day]!);

const isOnClock = (hour: number, half: number): boolean => half === -1 || (hour >= 1 && hour <= 12);

export const hasTimeOfDay = (parts: DateParts): boolean =>
  isTimeOfDay(parts[part.hour]!, parts[part.minute]!, parts[part.second]!) &&
  isOnClock(parts[part.hour]!, parts[part.half]!);

export const isoDateOf = (parts: DateParts): string =>
  `${fourDigits(parts[part.year]!)}-${twoDigits(parts[part.month]!)}-${twoDigits(parts[part.day]!)}`;

export const isoTimeOf = (text: string, parts: DateParts): string => {
  const minute = twoDigits(parts[part.minute]!);
  const second = twoDigits(parts[part.second]!);
  const time = `${twoDigits(hourOf(parts))}:${minute}:${second}`;
  const end = parts[part.fractionEnd]!;
  return end === 0 ? time : `${time}.${text.slice(parts[part.fraction], end)}`;
};

export const isoOffsetOf = (text: string, parts: DateParts): string =>
  offsetWithColon(text.slice(parts[part.offset], parts[part.offsetEnd]));

export const isMidnight = (text: string, parts: DateParts): boolean =>
  /^[0:.]*$/.test(isoTimeOf(text, parts));

export const hasOffset = (isoText: string): boolean =>
  isoText === '' || isOffsetAt(isoText, 0, isoText.length);
