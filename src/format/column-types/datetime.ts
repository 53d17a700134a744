// date, time, timestamp and timestamptz: ISO 8601 by default, or a pattern of the column.

import type { ColumnOptions } from '../../declaration.ts';
import type { ColumnType, Reader, Refusal } from './contract.ts';
import {
  hasDay,
  hasOffset,
  hasTimeOfDay,
  isoDateOf,
  isoOffsetOf,
  isoTimeOf,
  type DateParts,
} from './date-parts.ts';
import { compilePattern, patternParts, patternProblem } from './date-pattern.ts';
import {
  isoTimestamptzReader,
  noSuchDay,
  noSuchOffset,
  noSuchTime,
  readIsoDate,
  readIsoTime,
  readIsoTimestamp,
} from './iso-date-time.ts';
import { isNot, quoted } from './refusal.ts';

type DateKind = 'date' | 'time' | 'timestamp' | 'timestamptz';

const zonePattern = /^[+-](?:0\d|1[0-5]):[0-5]\d$/;

/** The offset that texts without one get; undefined when the column names none. */
const suffixOf = (zone: string | undefined): string | undefined => (zone === 'UTC' ? 'Z' : zone);

const zoneProblem = (zone: string | undefined): string | undefined =>
  zone === undefined || zone === 'UTC' || zonePattern.test(zone)
    ? undefined
    : `zone ${quoted(zone)} is neither 'UTC' nor an offset such as '+01:00'`;

const dayProblem = (parts: DateParts): Refusal | undefined =>
  hasDay(parts) ? undefined : noSuchDay(isoDateOf(parts));

// The text is named, not the parts: 13 PM has no ISO spelling.
const timeProblem = (text: string, parts: DateParts): Refusal | undefined =>
  hasTimeOfDay(parts) ? undefined : noSuchTime(text);

const composers: Readonly<
  Record<DateKind, (suffix: string) => (text: string, parts: DateParts) => string | Refusal>
> = {
  date: () => (_, parts) => dayProblem(parts) ?? isoDateOf(parts),
  time: () => (text, parts) => timeProblem(text, parts) ?? isoTimeOf(text, parts),
  timestamp: () => (text, parts) =>
    dayProblem(parts) ?? timeProblem(text, parts) ?? `${isoDateOf(parts)}T${isoTimeOf(text, parts)}`,
  timestamptz: (suffix) => (text, parts) => {
    const problem = dayProblem(parts) ?? timeProblem(text, parts);
    if (problem !== undefined) return problem;
    const offset = isoOffsetOf(text, parts);
    if (!hasOffset(offset)) return noSuchOffset(offset);
    return `${isoDateOf(parts)}T${isoTimeOf(text, parts)}${offset === '' ? suffix : offset}`;
  },
};

const patternReader = (kind: DateKind, pattern: string, zone: string | undefined): Reader => {
  const read = compilePattern(pattern);
  const compose = composers[kind](suffixOf(zone) ?? '');
  const wanted = `a ${kind} written as ${pattern}`;
  return (text) => {
    const parts = read(text);
    return parts === undefined ? isNot(text, wanted) : compose(text, parts);
  };
};

const isoReaders: Readonly<Record<DateKind, (zone: string | undefined) => Reader>> = {
  date: () => readIsoDate,
  time: () => readIsoTime,
  timestamp: () => readIsoTimestamp,
  timestamptz: (zone) => isoTimestamptzReader(suffixOf(zone)),
};

/** What a pattern holds that its type has no place for, or lacks. */
const misfit = (kind: DateKind, pattern: string, zone: string | undefined): string | undefined => {
  const parts = patternParts(pattern);
  const days = (['year', 'month', 'day'] as const).filter((part) => parts.has(part));
  if (kind === 'time') {
    if (days.length > 0) return `a time has no ${days[0]}; use timestamp`;
    if (!parts.has('hour')) return 'a time needs an hour';
  } else if (days.length < 3) return `a ${kind} needs year, month and day`;
  if (kind === 'date' && parts.has('hour')) return 'a date has no time of day; use timestamp';
  if (kind !== 'timestamptz' && parts.has('offset')) return `a ${kind} has no offset; use timestamptz`;
  if (kind === 'timestamptz' && !parts.has('offset') && zone === undefined) {
    return 'a timestamptz needs an offset: Z in the format, or zone';
  }
  return undefined;
};

const formatProblem = (kind: DateKind, { format, zone }: ColumnOptions): string | undefined => {
  if (format === undefined) return undefined;
  const problem = patternProblem(format) ?? misfit(kind, format, zone);
  return problem === undefined ? undefined : `format ${quoted(format)}: ${problem}`;
};

/** Where a Date, as toISOString writes it, becomes text of the type. */
const fromDate: Readonly<Record<DateKind, (iso: string) => string | undefined>> = {
  date: (iso) => iso.slice(0, iso.indexOf('T')),
  // A moment is not a time of day: which one it is depends on a zone.
  time: () => undefined,
  timestamp: (iso) => iso.slice(0, -1),
  timestamptz: (iso) => iso,
};

const fromValue = (kind: DateKind, value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return undefined;
  return fromDate[kind](value.toISOString());
};

// 2011-01-01 00:53 is read as it is, but a check should see one spelling only.
const withT = (text: string): string => text.replace(' ', 'T');

const dateTimeType = (kind: DateKind): ColumnType => ({
  name: kind,
  sql: () => kind,
  optionKeys: kind === 'timestamptz' ? ['format', 'zone'] : ['format'],
  optionsProblem: (options) => zoneProblem(options.zone) ?? formatProblem(kind, options),
  reader: ({ format, zone }) =>
    format === undefined ? isoReaders[kind](zone) : patternReader(kind, format, zone),
  toValue: withT,
  fromValue: (value) => fromValue(kind, value),
});

export const dateType = dateTimeType('date');
export const timeType = dateTimeType('time');
export const timestampType = dateTimeType('timestamp');
export const timestamptzType = dateTimeType('timestamptz');
