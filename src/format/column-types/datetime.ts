// date, time, timestamp and timestamptz: ISO 8601 by default, or a pattern of the column.

import { daysOf, microsecondsOf, microsecondsSinceEpoch, offsetSecondsOf } from '../binary/moments.ts';
import { putBigInt64, putInt32, putInt64, reserve } from '../binary/row-bytes.ts';
import { notFromBytes, noZone, type ByteKind } from '../encoder/kinds.ts';
import { writes } from '../encoder/moments/pattern-steps.ts';
import type { ColumnType, OptionShape, Reader, Refusal, ValueEncoder } from './contract.ts';
import {
  hasDay,
  hasOffset,
  hasTimeOfDay,
  isoDateOf,
  isoOffsetOf,
  isoTimeOf,
  type DateParts,
} from './reading/date-parts.ts';
import { compilePattern, patternParts, patternProblem, patternSteps } from './reading/date-pattern.ts';
import {
  isoTimestamptzReader,
  noSuchDay,
  noSuchOffset,
  noSuchTime,
  readIsoDate,
  readIsoTime,
  readIsoTimestamp,
} from './reading/iso-date-time.ts';
import { isNot, quoted } from './reading/refusal.ts';

export interface DateOptions {
  /** Pattern such as YYYYMMDDHHmm; ISO 8601 by default. */
  readonly format?: string;
}

export interface TimestamptzOptions extends DateOptions {
  /** Offset of texts that have none, 'UTC' or '+01:00'. */
  readonly zone?: string;
}

type DateKind = 'date' | 'time' | 'timestamp' | 'timestamptz';

const zonePattern = /^[+-](?:0\d|1[0-5]):[0-5]\d$/;

/** Offset of texts that have none; undefined when the column names none. */
const suffixOf = (zone: string | undefined): string | undefined => (zone === 'UTC' ? 'Z' : zone);

const zoneProblem = (zone: string | undefined): string | undefined =>
  zone === undefined || zone === 'UTC' || zonePattern.test(zone)
    ? undefined
    : `zone ${quoted(zone)} is neither 'UTC' nor an offset such as '+01:00'`;

const dayProblem = (parts: DateParts): Refusal | undefined =>
  hasDay(parts) ? undefined : noSuchDay(isoDateOf(parts));

// The reason shows the text, not the parts: 13 PM has no ISO spelling.
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

/** Parts of a pattern that its type does not have, or that are missing. */
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

const formatProblem = (kind: DateKind, { format, zone }: TimestamptzOptions): string | undefined => {
  if (format === undefined) return undefined;
  const problem = patternProblem(format) ?? misfit(kind, format, zone);
  return problem === undefined ? undefined : `format ${quoted(format)}: ${problem}`;
};

/** Where a Date, as toISOString writes it, becomes text of the type. */
const fromDate: Readonly<Record<DateKind, (iso: string) => string | undefined>> = {
  date: (iso) => iso.slice(0, iso.indexOf('T')),
  // A moment has no time of day without a zone.
  time: () => undefined,
  timestamp: (iso) => iso.slice(0, -1),
  timestamptz: (iso) => iso,
};

const fromValue = (kind: DateKind, value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return undefined;
  return fromDate[kind](value.toISOString());
};

// The server reads 2011-01-01 00:53, but checks should see one spelling only.
const withT = (text: string): string => text.replace(' ', 'T');

/** PostgreSQL's infinity is the largest number, -infinity the smallest. */
const infinityOf = (text: string): bigint | undefined => {
  if (text === 'infinity') return 2n ** 63n - 1n;
  return text === '-infinity' ? -(2n ** 63n) : undefined;
};

/** Where the time of day begins in a canonical text. */
const timeAt = 'YYYY-MM-DDT'.length;

const momentOf = (text: string): bigint =>
  infinityOf(text) ?? microsecondsSinceEpoch(daysOf(text), microsecondsOf(text.slice(timeAt)));

const encoders: Readonly<Record<DateKind, ValueEncoder>> = {
  date: (text, out) => {
    const infinity = infinityOf(text);
    reserve(out, 8);
    putInt32(out, 4);
    putInt32(out, infinity === undefined ? daysOf(text) : infinity > 0n ? 0x7fffffff : -0x80000000);
  },
  time: (text, out) => putInt64(out, microsecondsOf(text)),
  timestamp: (text, out) => putBigInt64(out, momentOf(text)),
  timestamptz: (text, out) => {
    const offset = infinityOf(text) === undefined ? offsetSecondsOf(text.slice(timeAt)) : 0;
    putBigInt64(out, momentOf(text) - BigInt(offset) * 1_000_000n);
  },
};

/** Seconds east of UTC of a zone that has no problem. */
const zoneSeconds = (zone: string): number => offsetSecondsOf(suffixOf(zone)!);

const isoBytes: Readonly<Record<DateKind, (zone: string | undefined) => ByteKind>> = {
  date: () => ({ kind: 'date' }),
  time: () => ({ kind: 'time' }),
  timestamp: () => ({ kind: 'timestamp', zone: 0, mayHaveOffset: 0 }),
  timestamptz: (zone) => ({
    kind: 'timestamp',
    zone: zone === undefined ? noZone : zoneSeconds(zone),
    mayHaveOffset: 1,
  }),
};

/** Half of a surrogate pair has no bytes of its own. */
const hasBytes = (pattern: string): boolean => !/\p{Cs}/u.test(pattern);

const patternBytes = (kind: DateKind, pattern: string, zone = 'UTC'): ByteKind =>
  hasBytes(pattern)
    ? {
        kind: 'pattern',
        steps: patternSteps(pattern),
        writes: kind === 'timestamptz' ? writes.timestamp : writes[kind],
        zone: zoneSeconds(zone),
      }
    : notFromBytes;

const formatOption: OptionShape = {
  takes: 'text',
  must: 'a pattern such as YYYY-MM-DD',
  isSpelling: true,
};

/** Common to the types; only timestamptz has a zone. */
const dateTimeType = (kind: DateKind): Omit<ColumnType<string, TimestamptzOptions>, 'options'> => ({
  sql: () => kind,
  optionsProblem: (options) => zoneProblem(options.zone) ?? formatProblem(kind, options),
  reader: ({ format, zone }) =>
    format === undefined ? isoReaders[kind](zone) : patternReader(kind, format, zone),
  bytes: ({ format, zone }) =>
    format === undefined ? isoBytes[kind](zone) : patternBytes(kind, format, zone),
  encode: encoders[kind],
  order: 'whole',
  value: () => ({ kind: 'string' }),
  toValue: withT,
  fromValue: (value) => fromValue(kind, value),
});

const withoutZone = (kind: DateKind): ColumnType<string, DateOptions> => ({
  ...dateTimeType(kind),
  options: { format: formatOption },
});

export const dateType = withoutZone('date');
export const timeType = withoutZone('time');
export const timestampType = withoutZone('timestamp');
export const timestamptzType: ColumnType<string, TimestamptzOptions> = {
  ...dateTimeType('timestamptz'),
  options: { format: formatOption, zone: { takes: 'text', must: "an offset such as 'UTC' or '+01:00'" } },
};
