// Offsets from UTC: Z, ±HH[:mm[:ss]], and ±HHmm in patterns.

import { readTwo } from './calendar.ts';

const plus = 43;
const hyphen = 45;
const colon = 58;
const letterZ = 90;

/** PostgreSQL's limit: offsets end at 15:59:59. */
const offsetHoursMax = 15;

const afterColonPart = (text: string, at: number): number =>
  text.charCodeAt(at) === colon && readTwo(text, at + 1) !== -1 ? at + 3 : at;

/** Returns the index after the offset at `at`, or -1 if there is none. Also accepts ±HHmm. */
export const offsetEnd = (text: string, at: number): number => {
  const sign = text.charCodeAt(at);
  if (sign === letterZ) return at + 1;
  if ((sign !== plus && sign !== hyphen) || readTwo(text, at + 1) === -1) return -1;
  const hoursEnd = at + 3;
  if (readTwo(text, hoursEnd) !== -1) return hoursEnd + 2;
  const minutesEnd = afterColonPart(text, hoursEnd);
  return minutesEnd === hoursEnd ? hoursEnd : afterColonPart(text, minutesEnd);
};

const partAt = (text: string, at: number, end: number): number => (at < end ? readTwo(text, at) : 0);

/** True if the server accepts the offset in [at, end), which has the form Z or ±HH[:mm[:ss]]. */
export const isOffsetAt = (text: string, at: number, end: number): boolean =>
  end === at + 1 ||
  (partAt(text, at + 1, end) <= offsetHoursMax &&
    partAt(text, at + 4, end) <= 59 &&
    partAt(text, at + 7, end) <= 59);

/** Adds the colon to ±HHmm. */
export const isoOffset = (offset: string): string =>
  offset.length === 5 ? `${offset.slice(0, 3)}:${offset.slice(3)}` : offset;
