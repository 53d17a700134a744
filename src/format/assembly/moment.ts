// Dates, times and timestamps in ISO 8601.

import { noZone, timestampMayHaveOffset, timestampZone } from './layouts';
import { MINUS, SPACE } from './bytes';
import { microsecondsOf, scanOffset, scanTime, secondsEastOf, takenOf } from './clock';
import { noDay, scanDay } from './day';
import { putEight, putFour } from './put';

/** YYYY-MM-DD, and YYYY-MM-DDTHH:mm. */
const dateLength: usize = 10;
const timestampLengthMin: usize = 16;
const LETTER_T: u32 = 84;

/** (start, end) -> 1: `infinity`, 2: `-infinity`, 0: neither. */
export function scanInfinity(start: usize, end: usize): u32 {
  const isNegative = <u32>(load<u8>(start) == MINUS);
  start += isNegative;
  return end - start == 8 && load<u64>(start) == 0x7974696e69666e69 ? 1 + isNegative : 0;
}

/** (column, start, end, out) -> address after the value, or 0: TypeScript must decide. */
export function readDate(column: usize, start: usize, end: usize, out: usize): usize {
  if (end - start == dateLength) {
    const days = scanDay(start);
    return days == noDay ? 0 : putFour(out, days);
  }
  const found = scanInfinity(start, end);
  // The largest date is infinity, the smallest is -infinity.
  return found == 0 ? 0 : putFour(out, 0x7ffffffe + found);
}

/** (out, days, offset, microseconds of the day) -> address after the timestamp. */
export function putMoment(out: usize, days: i32, offset: i32, micros: i64): usize {
  return putEight(out, micros + (<i64>days * 86_400 - <i64>offset) * 1_000_000);
}

export function readTime(column: usize, start: usize, end: usize, out: usize): usize {
  const time = scanTime(start, end);
  if (time == -1 || start + takenOf(<u32>time) != end) return 0;
  return putEight(out, microsecondsOf(time));
}

export function readTimestamp(column: usize, start: usize, end: usize, out: usize): usize {
  if (end - start < timestampLengthMin) {
    const found = scanInfinity(start, end);
    return found == 0 ? 0 : putEight(out, 0x7ffffffffffffffe + <u64>found);
  }
  const separator = <u32>load<u8>(start, dateLength);
  if (separator != LETTER_T && separator != SPACE) return 0;
  const days = scanDay(start);
  const time = scanTime(start + dateLength + 1, end);
  if (days == noDay || time == -1) return 0;
  const at = start + dateLength + 1 + takenOf(<u32>time);
  let offset = load<i32>(column, timestampZone);
  if (at != end) {
    if (load<u32>(column, timestampMayHaveOffset) == 0) return 0;
    const scanned = scanOffset(at, end);
    // An offset of five bytes is +0100, which is allowed only in patterns.
    if (scanned == -1 || takenOf(scanned) == 5 || at + takenOf(scanned) != end) return 0;
    offset = secondsEastOf(scanned);
  }
  return offset == noZone ? 0 : putMoment(out, days, offset, microsecondsOf(time));
}
