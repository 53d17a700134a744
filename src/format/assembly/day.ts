// Dates, eight characters at once.

import { monthDaysAt } from './memory';
import { digitAt } from './bytes';

export const noDay: i32 = 0x7fffffff;

/** (from, count) -> the number of these digits, or -1. */
export function readDigits(from: usize, count: usize): i32 {
  let value: i32 = 0;
  for (const end = from + count; from < end; from += 1) {
    const digit = digitAt(from);
    if (digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** (at) -> the number of two digits, or -1. */
export function readTwo(at: usize): i32 {
  const both = <u32>load<u16>(at) ^ 0x3030;
  if (((both | (both + 0x7676)) & 0x8080) != 0) return -1;
  return (both & 0xff) * 10 + (both >> 8);
}

/** (year, month, day) -> days since 2000-01-01, or `noDay`. Howard Hinnant's days_from_civil. */
export function countDays(year: u32, month: u32, day: u32): i32 {
  if (year == 0 || month - 1 > 11 || day == 0) return noDay;
  if (day > <u32>load<u8>(monthDaysAt + <usize>month)) {
    const isLeap = (year & 3) == 0 && (year % 100 != 0 || year % 400 == 0);
    if (month != 2 || day != 29 || !isLeap) return noDay;
  }
  // Years begin in March here, so that a leap day is the last day of its year.
  year -= <u32>(month <= 2);
  const fromMarch = (month + 9) % 12;
  const ofEra = year % 400;
  const days = (153 * fromMarch + 2) / 5 + day - 1 + ofEra * 365 + ofEra / 4 - ofEra / 100;
  return <i32>(days + (year / 400) * 146_097) - 730_425;
}

/** Adding this to a byte sets the byte's top bit, unless the byte is 0 to 9. */
export const isDigit: u32 = 0x7f - 9;

/**
 * Takes three pairs of digits: `word` is `HH:mm:ss` xor `00:00:00`, or the like. Afterwards, bytes
 * 0, 3 and 6 are the numbers; `noPairs` if the bytes are others.
 */
export const noPairs: u64 = u64.MAX_VALUE;
@inline
export function threePairs(word: u64): u64 {
  if (((word | (word + 0x76767f76767f7676)) & 0x8080808080808080) != 0) return noPairs;
  return word * 10 + (word >> 8);
}

let lastHead: u64 = 0;
let lastTail: u32 = 0;
let lastDays: i32 = noDay;

/** (start) -> days of `YYYY-MM-DD`, or `noDay`. Files repeat dates, so the last one is kept. */
export function scanDay(start: usize): i32 {
  const head = load<u64>(start);
  const tail = <u32>load<u16>(start, 8);
  if (head == lastHead && tail == lastTail) return lastDays;
  const century = readTwo(start);
  // Eight characters from the third: YY-MM-DD.
  const pairs = threePairs(load<u64>(start, 2) ^ 0x30302d30302d3030);
  if (century == -1 || pairs == noPairs) return noDay;
  const year = <u32>century * 100 + <u32>(pairs & 0xff);
  lastDays = countDays(year, <u32>(pairs >> 24) & 0xff, <u32>(pairs >> 48) & 0xff);
  lastHead = head;
  lastTail = tail;
  return lastDays;
}
