// Rewrites PostgreSQL 18's spellings of values as texts that older servers and our readers accept.

import { oneOfOption } from './contract.ts';
import type { DateKind } from './pattern-reader.ts';

export interface SpellingOptions {
  /** 'server': also PostgreSQL's wider spellings: ` 5`, `1_000`, `0x1F`, `2011-1-31`, `tru`. */
  readonly spelling?: 'server';
}

export const spellingOption = oneOfOption('server');

export const spellingProblem = (
  { spelling }: SpellingOptions,
  others: Readonly<Record<string, unknown>>,
): string | undefined => {
  const other = Object.keys(others).find((name) => others[name] !== undefined);
  return spelling === undefined || other === undefined
    ? undefined
    : `spelling: 'server' reads texts as the server does, and ${other} contradicts that; leave one of them out`;
};

const isBlankAt = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13);
};

/** Trims in a loop: a regular expression would retry at every blank inside a long text. */
export const withoutBlanks = (text: string): string => {
  let start = 0;
  let end = text.length;
  while (start < end && isBlankAt(text, start)) start += 1;
  while (end > start && isBlankAt(text, end - 1)) end -= 1;
  return text.slice(start, end);
};

/** Longer texts are not converted: no integer type has that many digits in base 2, 8 or 16. */
const otherBaseCharsMax = 128;
const otherBase = /^([+-]?)(0x_?[\da-f]+(?:_[\da-f]+)*|0o_?[0-7]+(?:_[0-7]+)*|0b_?[01]+(?:_[01]+)*)$/i;

const fromOtherBase = (text: string): string | undefined => {
  if (text.length > otherBaseCharsMax) return undefined;
  const [, sign = '', digits] = otherBase.exec(text) ?? [];
  return digits === undefined ? undefined : `${sign}${BigInt(digits.replaceAll('_', ''))}`;
};

const underscores = /(?<=\d)_(?=\d)/g;

export const serverNumber = (text: string): string => {
  const trimmed = withoutBlanks(text);
  return fromOtherBase(trimmed) ?? trimmed.replace(underscores, '');
};

const trues = ['true', 'yes', 'on', '1'];
const falses = ['false', 'no', 'off', '0'];

/** Accepts a word or its beginning, unless two words begin alike. Returns 't' or 'f'. */
export const serverBoolean = (text: string): string | undefined => {
  const word = withoutBlanks(text).toLowerCase();
  if (word === '' || word === 'o') return undefined;
  if (trues.some((each) => each.startsWith(word))) return 't';
  return falses.some((each) => each.startsWith(word)) ? 'f' : undefined;
};

const groupsOfFour = /^(?:[\da-f]{4}-?){7}[\da-f]{4}$/i;

export const serverUuid = (text: string): string | undefined => {
  const bare = text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text;
  return groupsOfFour.test(bare) ? bare.replaceAll('-', '') : undefined;
};

// Spellings of dates and times that mean the same under every DateStyle.
const datePattern = String.raw`(?<year>\d{4})(?:(?<between>[-/.])(?<month>\d{1,2})\k<between>(?<day>\d{1,2})|(?<monthDay>\d{4}))`;
const clockPattern = String.raw`(?:(?<hour>\d{1,2}):(?<minute>\d{1,2})(?::(?<second>\d{1,2})(?<fraction>\.\d+)?)?(?: *(?<half>[ap]m))?|(?<run>\d{6})(?<runFraction>\.\d+)?)`;
// Without the blank, PostgreSQL reads `AM-01` as the POSIX zone "AM", whose sign is reversed.
const offsetPattern = String.raw`(?: *(?<!m)(?:(?<utc>z)|(?<sign>[+-])(?:(?<offsetRun>\d{4})|(?<offsetHour>\d{1,2})(?::(?<offsetMinute>\d\d)(?::(?<offsetSecond>\d\d))?)?)))?`;
const whole = (pattern: string): RegExp => new RegExp(`^${pattern}$`, 'i');

const shapes: Readonly<Record<DateKind, RegExp>> = {
  date: whole(datePattern),
  time: whole(clockPattern),
  timestamp: whole(`${datePattern}(?:(?:T| +)${clockPattern})?`),
  timestamptz: whole(`${datePattern}(?:(?:T| +)${clockPattern}${offsetPattern})?`),
};

type Groups = Readonly<Record<string, string | undefined>>;

const two = (digits: string | undefined): string => (digits ?? '').padStart(2, '0');

const dateOf = ({ year = '', month, day, monthDay }: Groups): string =>
  monthDay === undefined
    ? `${year}-${two(month)}-${two(day)}`
    : `${year}-${monthDay.slice(0, 2)}-${monthDay.slice(2)}`;

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

/** True for `005300-03:30`: a date in PostgreSQL, unlike `005300-0330` and `005300 -03:30`. */
const isGluedDate = ({ run, runFraction, sign, offsetMinute }: Groups, text: string): boolean =>
  run !== undefined &&
  runFraction === undefined &&
  sign === '-' &&
  offsetMinute !== undefined &&
  text.includes(`${run}-`);

export const serverTimestamp = (kind: DateKind, text: string): string | undefined => {
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
