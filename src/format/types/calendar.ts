// Checks, reads and writes the numbers in dates and times of day.

const zero = 48;

/** Reads the two digits at index `at`. Returns -1 if one of them is not a digit. */
export const readTwo = (text: string, at: number): number => {
  const tens = text.charCodeAt(at) - zero;
  const ones = text.charCodeAt(at + 1) - zero;
  // charCodeAt gives NaN beyond the end of the text, and comparisons with NaN are false.
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1;
};

/** Reads `width` digits from index `at`. Returns -1 if one of them is not a digit. */
export const readDigits = (text: string, at: number, width: number): number => {
  let value = 0;
  for (let end = at; end < at + width; end += 1) {
    const digit = text.charCodeAt(end) - zero;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value;
};

export const isDigitAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= zero && code <= zero + 9;
};

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** True if the day exists in the Gregorian calendar. Years begin at 1. */
export const isDay = (year: number, month: number, day: number): boolean => {
  if (year < 1 || month < 1 || month > 12 || day < 1) return false;
  if (day <= 28) return true;
  return day <= (month === 2 && isLeapYear(year) ? 29 : daysOfMonth[month - 1]!);
};

// Refuses 24:00 and second 60: the server would turn them into the next day or minute.
export const isTimeOfDay = (hour: number, minute: number, second: number): boolean =>
  hour <= 23 && minute <= 59 && second <= 59;

const pairs = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'));

/** Writes a number from 0 to 99 with two digits. */
export const twoDigits = (value: number): string => pairs[value]!;

/** Writes a number from 0 to 9999 with four digits. */
export const fourDigits = (value: number): string =>
  twoDigits(Math.floor(value / 100)) + twoDigits(value % 100);
