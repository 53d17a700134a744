// Checks and reads the numbers in dates, times of day and offsets from UTC.

import { COLON, LETTER_Z, MINUS, PLUS, ZERO } from '../../core/characters.ts';

export const readTwo = (text: string, at: number): number => {
  const tens = text.charCodeAt(at) - ZERO;
  const ones = text.charCodeAt(at + 1) - ZERO;
  // Beyond the end of the text, charCodeAt returns NaN, and comparisons with NaN are false.
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
};

export const readDigits = (text: string, at: number, width: number): number => {
  let value = 0;
  for (let end = at; end < at + width; end += 1) {
    const digit = text.charCodeAt(end) - ZERO;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
};

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

export const isDay = (year: number, month: number, day: number): boolean => {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  if (day <= 28) return true;
  return day <= (month === 2 && isLeapYear(year) ? 29 : daysOfMonth[month - 1]!);
};

// Refuses 24:00 and second 60: the server would turn them into the next day or minute.
export const isTimeOfDay = (hour: number, minute: number, second: number): boolean =>
  hour <= 23 && minute <= 59 && second <= 59;

const pairs = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));

export const twoDigits = (value: number): string => pairs[value]!;

export const fourDigits = (value: number): string =>
  twoDigits(Math.floor(value / 100)) + twoDigits(value % 100);

/** PostgreSQL's limit: offsets end at 15:59:59. */
const offsetHoursMax = 15;

const afterColonPart = (text: string, at: number): number =>
  text.charCodeAt(at) === COLON && readTwo(text, at + 1) !== -1 ? at + 3 : at;

export const offsetEnd = (text: string, at: number): number => {
  const sign = text.charCodeAt(at);
  if (sign === LETTER_Z) return at + 1;
  if ((sign !== PLUS && sign !== MINUS) || readTwo(text, at + 1) === -1) return -1;
  const hoursEnd = at + 3;
  if (readTwo(text, hoursEnd) !== -1) return hoursEnd + 2;
  const minutesEnd = afterColonPart(text, hoursEnd);
  return minutesEnd === hoursEnd ? hoursEnd : afterColonPart(text, minutesEnd);
};

const partAt = (text: string, at: number, end: number): number => (at < end ? readTwo(text, at) : 0);

export const isOffsetAt = (text: string, at: number, end: number): boolean =>
  end === at + 1 ||
  (partAt(text, at + 1, end) <= offsetHoursMax &&
    partAt(text, at + 4, end) <= 59 &&
    partAt(text, at + 7, end) <= 59);

export const offsetWithColon = (offset: string): string =>
  offset.length === 5 ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset;

const isoTime = /(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?/;
const offsetAtEnd = /(Z|[+-]\d{2}(?::\d{2})?(?::\d{2})?)$/;

/** Days from 1970-01-01, where JavaScript counts from, to 2000-01-01. */
const daysTo2000 = 10_957;

/** Days from 2000-01-01 to a date. */
export const daysOf = (text: string): number =>
  Date.parse(text.slice(0, 'YYYY-MM-DD'.length)) / 86_400_000 - daysTo2000;

export const microsecondsOf = (text: string): number => {
  const [, hour, minute, second = '0', fraction = ''] = isoTime.exec(text)!;
  const seconds = Number(hour) * 3_600 + Number(minute) * 60 + Number(second);
  return seconds * 1_000_000 + Number(fraction.padEnd(6, '0'));
};

export const offsetSecondsOf = (text: string): number => {
  const offset = offsetAtEnd.exec(text)?.[1] ?? 'Z';
  if (offset === 'Z') return 0;
  const [hours = '0', minutes = '0', seconds = '0'] = offset.slice(1).split(':');
  const size = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds);
  return offset.startsWith('-') ? -size : size;
};

/** Returns a bigint, because a double is not exact for all years up to 9999. */
export const microsecondsSinceEpoch = (days: number, ofDay: number): bigint =>
  BigInt(days) * 86_400_000_000n + BigInt(ofDay);
