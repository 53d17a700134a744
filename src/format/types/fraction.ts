// Decimals of a second beyond the sixth: zeros are dropped, other digits are rounded or refused.

import { twoDigits } from './calendar.ts';
import { isRefusal, type Reader, type Refusal } from './contract.ts';
import { bare, refuse } from './refusal.ts';

/** A canonical time or timestamp with a fraction, split into its parts. */
const moment = /^(.*?)(\d\d):(\d\d):(\d\d)\.(\d+)(.*)$/;
const tooLong = /\.\d{7}/;
const digitsKept = 6;

/** Rounds like the server: fraction times a million as a double, halves to even. */
const microsecondsOf = (digits: string): number => {
  const exact = Number(`0.${digits}`) * 1e6;
  const below = Math.floor(exact);
  const rest = exact - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 === 1) ? below + 1 : below;
};

/** Returns the day after `YYYY-MM-DD`. Undefined after 9999-12-31. */
const dayAfter = (date: string): string | undefined => {
  const next = new Date(Date.parse(`${date}T00:00:00Z`) + 86_400_000).toISOString();
  return next.startsWith('+') ? undefined : next.slice(0, 'YYYY-MM-DD'.length);
};

/** Adds a second. 23:59:59 of a `time` becomes 24:00:00, which the server stores. */
const secondLater = ([, day = '', hour = '', minute = '', second = '', , offset = '']: RegExpExecArray):
  | string
  | undefined => {
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second) + 1;
  const clock = (of: number): string =>
    [of / 3600, (of / 60) % 60, of % 60].map((part) => twoDigits(Math.floor(part))).join(':');
  if (seconds < 86_400 || day === '') return `${day}${clock(seconds)}${offset}`;
  const next = dayAfter(day.slice(0, -1));
  return next && `${next}T00:00:00${offset}`;
};

const fit = (text: string, canonical: string, rounds: boolean, sql: string): string | Refusal => {
  const parts = moment.exec(canonical)!;
  const [, day = '', hour = '', minute = '', second = '', digits = '', offset = ''] = parts;
  const kept = digits.slice(0, digitsKept);
  const written = (fraction: string): string => `${day}${hour}:${minute}:${second}.${fraction}${offset}`;
  if (/^0*$/.test(digits.slice(digitsKept))) return written(kept);
  if (!rounds) {
    return refuse(
      'range',
      `${bare(text)} has ${digits.length} decimals of a second, ${sql} keeps ${digitsKept}; set round: true`,
    );
  }
  const microseconds = microsecondsOf(digits);
  if (microseconds < 1e6) return written(String(microseconds).padStart(digitsKept, '0'));
  return secondLater(parts) ?? refuse('range', `${bare(text)} rounds to a day after 9999-12-31`);
};

/** Wraps a reader: texts with more than six decimals are rounded or refused. */
export const withFraction =
  (read: Reader, rounds: boolean, sql: string): Reader =>
  (text) => {
    const canonical = read(text);
    return isRefusal(canonical) || !tooLong.test(canonical) ? canonical : fit(text, canonical, rounds, sql);
  };
