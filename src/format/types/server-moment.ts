// Rewrites PostgreSQL's spellings of dates and times as ISO 8601, if they mean the same under every
// DateStyle.

import type { DateKind } from './pattern-reader.ts';
import { withoutBlanks } from './server-spelling.ts';

const date = String.raw`(?<year>\d{4})(?:(?<between>[-/.])(?<month>\d{1,2})\k<between>(?<day>\d{1,2})|(?<monthDay>\d{4}))`;
const clock = String.raw`(?:(?<hour>\d{1,2}):(?<minute>\d{1,2})(?::(?<second>\d{1,2})(?<fraction>\.\d+)?)?(?: *(?<half>[ap]m))?|(?<run>\d{6})(?<runFraction>\.\d+)?)`;
// Without the blank, PostgreSQL reads `AM-01` as the POSIX zone "AM", whose sign is reversed.
const offset = String.raw`(?: *(?<!m)(?:(?<utc>z)|(?<sign>[+-])(?:(?<offsetRun>\d{4})|(?<offsetHour>\d{1,2})(?::(?<offsetMinute>\d\d)(?::(?<offsetSecond>\d\d))?)?)))?`;
const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`, 'i');

const shapes: Readonly<Record<DateKind, RegExp>> = {
  date: whole(date),
  time: whole(clock),
  timestamp: whole(`${date}(?:(?:T| +)${clock})?`),
  timestamptz: whole(`${date}(?:(?:T| +)${clock}${offset})?`),
};

type Groups = Readonly<Record<string, string | undefined>>;

const two = (digits: string | undefined): string => (digits ?? '').padStart(2, '0');

const dateOf = ({ year = '', month, day, monthDay }: Groups): string =>
  monthDay === undefined
    ? `${year}-${two(month)}-${two(day)}`
    : `${year}-${monthDay.slice(0, 2)}-${monthDay.slice(2)}`;

/** Converts to the 24-hour clock. Undefined for hours 0 and 13 with AM or PM. */
const hourOf = ({ hour = '', half }: Groups): string | undefined => {
  if (half === undefined) return two(hour);
  if (Number(hour) < 1 || Number(hour) > 12) return undefined;
  return two(String((Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0)));
};

const timeOf = (groups: Groups): string | undefined => {
  const { minute, second, fraction = '', run, runFraction = '' } = groups;
  if (run !== undefined) {
    return `${run.slice(0, 2)}:${run.slice(2, 4)}:${run.slice(4)}${runFraction}`;
  }
  const hour = hourOf(groups);
  return hour && `${hour}:${two(minute)}:${two(second)}${fraction}`;
};

const offsetOf = (groups: Groups): string => {
  const { utc, sign = '', offsetHour, offsetMinute, offsetSecond, offsetRun } = groups;
  if (utc !== undefined) return 'Z';
  if (offsetRun !== undefined) return `${sign}${offsetRun.slice(0, 2)}:${offsetRun.slice(2)}`;
  if (offsetHour === undefined) return '';
  return sign + [offsetHour, offsetMinute, offsetSecond].map(two).join(':');
};

/** PostgreSQL accepts `005300-0330` and `005300 -03:30`, but reads `005300-03:30` as a date. */
const isGluedDate = ({ run, runFraction, sign, offsetMinute }: Groups, text: string): boolean =>
  run !== undefined &&
  runFraction === undefined &&
  sign === '-' &&
  offsetMinute !== undefined &&
  text.includes(`${run}-`);

/** Returns the text in ISO 8601. Undefined for other spellings. */
export const serverMoment = (kind: DateKind, text: string): string | undefined => {
  const trimmed = withoutBlanks(text);
  if (kind !== 'time' && /^-?infinity$/i.test(trimmed)) return trimmed.toLowerCase();
  const groups = shapes[kind].exec(trimmed)?.groups;
  if (groups === undefined || isGluedDate(groups, trimmed)) return undefined;
  if (kind === 'date') return dateOf(groups);
  const isBare = groups['hour'] === undefined && groups['run'] === undefined;
  const time = isBare ? '00:00' : timeOf(groups);
  if (time === undefined) return undefined;
  return kind === 'time' ? time : `${dateOf(groups)}T${time}${offsetOf(groups)}`;
};
