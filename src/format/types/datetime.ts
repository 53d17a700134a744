// Column types date, time, timestamp and timestamptz.

import { daysOf, microsecondsOf, microsecondsSinceEpoch, offsetSecondsOf } from './calendar.ts';
import { putBigInt64, putInt32, putInt64, reserve, type RowBytes } from './row-bytes.ts';
import { noZone, writesDate, writesDayOfMoment, writesTime, writesTimestamp } from '../assembly/layouts.ts';
import { notFromBytes, type ByteKind } from '../encoder/kinds.ts';
import {
  oneOfOption,
  type ColumnType,
  type OptionShape,
  type Reader,
  type ValueEncoder,
} from './contract.ts';
import { usualPivot } from './date-parts.ts';
import { hasShortYear, patternParts, patternProblem, patternSteps } from './date-pattern.ts';
import {
  type AddOffset,
  isoTimestamptzReader,
  readIsoDate,
  readIsoTime,
  readIsoTimestamp,
  withDecimals,
} from './iso-date-time.ts';
import { wholeKey } from './order.ts';
import { conflictOfPatterns, patternReader, type Composing, type DateKind } from './pattern-reader.ts';
import { quoted } from './refusal.ts';
import { serverTimestamp, spellingOption, spellingProblem, type SpellingOptions } from './server-spelling.ts';
import { isZoneName, localTimes, type Ambiguous } from './zone.ts';

interface FormatOptions extends SpellingOptions {
  /** Pattern such as YYYYMMDDHHmm, or a list of patterns. Default: ISO 8601. */
  readonly format?: string | readonly string[];
  /** First year of two digits that is in the 1900s. Default: 69, as in POSIX. */
  readonly pivot?: number;
}

export interface DateOptions extends FormatOptions {
  /** 'drop' the time of day that the format names. Default: any time but midnight is a reject. */
  readonly time?: 'drop';
}

export interface TimeOptions extends FormatOptions {
  /** Round to microseconds like the server. By default, more than six decimals are a reject. */
  readonly round?: boolean;
}

export interface TimestamptzOptions extends TimeOptions {
  /** Offset of texts without one: 'UTC', '+01:00' or a zone such as 'Europe/Berlin'. */
  readonly zone?: string;
  /** Which instant a local time means if the zone's clocks are set back. Default: 'reject'. */
  readonly ambiguous?: Ambiguous;
}

type DateTimeOptions = DateOptions & TimestamptzOptions;

const zonePattern = /^[+-](?:0\d|1[0-5]):[0-5]\d$/;

const isOffset = (zone: string): boolean => zone === 'UTC' || zonePattern.test(zone);

const zoneProblem = ({ zone, ambiguous }: DateTimeOptions): string | undefined => {
  if (ambiguous !== undefined && (zone === undefined || isOffset(zone))) {
    return "ambiguous needs a zone whose clocks change, such as zone: 'Europe/Berlin'";
  }
  return zone === undefined || isOffset(zone) || (/^[A-Za-z]/.test(zone) && isZoneName(zone))
    ? undefined
    : `zone ${quoted(zone)} is neither 'UTC', nor an offset such as '+01:00', nor a name such as 'Europe/Berlin'`;
};

const offsetAdder = ({ zone, ambiguous = 'reject' }: DateTimeOptions): AddOffset | undefined => {
  if (zone === undefined) return undefined;
  if (!isOffset(zone)) return localTimes(zone, ambiguous);
  const suffix = zone === 'UTC' ? 'Z' : zone;
  return (local) => local + suffix;
};

const patternsOf = ({ format }: FormatOptions): readonly string[] | undefined =>
  typeof format === 'string' ? [format] : format;

const composingOf = (options: DateTimeOptions): Composing => ({
  addOffset: offsetAdder(options) ?? ((local) => local),
  dropsTime: options.time === 'drop',
  pivot: options.pivot ?? usualPivot,
});

const isoReaders: Readonly<Record<DateKind, (addOffset: AddOffset | undefined) => Reader>> = {
  date: () => readIsoDate,
  time: () => readIsoTime,
  timestamp: () => readIsoTimestamp,
  timestamptz: isoTimestamptzReader,
};

const unpatternedReader = (kind: DateKind, options: DateTimeOptions): Reader => {
  const read = isoReaders[kind](offsetAdder(options));
  return options.spelling === 'server' ? (text) => read(serverTimestamp(kind, text) ?? text) : read;
};

const dateTimeReader = (kind: DateKind, options: DateTimeOptions): Reader => {
  const patterns = patternsOf(options);
  const read =
    patterns === undefined
      ? unpatternedReader(kind, options)
      : patternReader(kind, patterns, composingOf(options));
  return kind === 'date' ? read : withDecimals(read, options.round === true, kind);
};

const misfit = (kind: DateKind, pattern: string, { zone }: DateTimeOptions): string | undefined => {
  const parts = patternParts(pattern);
  const days = (['year', 'month', 'day'] as const).filter((part) => parts.has(part));
  if (kind === 'time') {
    if (days.length > 0) return `a time has no ${days[0]}; use timestamp`;
    if (!parts.has('hour')) return 'a time needs an hour';
  } else if (days.length < 3) return `a ${kind} needs year, month and day`;
  if (kind === 'date') return undefined;
  if (kind !== 'timestamptz')
    return parts.has('offset') ? `a ${kind} has no offset; use timestamptz` : undefined;
  if (!parts.has('offset')) {
    return zone === undefined ? 'a timestamptz needs an offset: Z in the format, or zone' : undefined;
  }
  return parts.has('hour') ? undefined : 'Z needs HH beside it';
};

const formatProblem = (kind: DateKind, options: DateTimeOptions): string | undefined => {
  const patterns = patternsOf(options);
  if (options.time === 'drop' && patterns?.some((pattern) => patternParts(pattern).has('hour')) !== true) {
    return "time: 'drop' needs a format that names the time of day, such as 'YYYY-MM-DDTHH:mm:ss'";
  }
  const { pivot } = options;
  if (pivot !== undefined && (!Number.isInteger(pivot) || pivot < 0 || pivot > 100))
    return 'pivot is a whole number from 0 to 100, the first year of two digits in the 1900s';
  if (pivot !== undefined && patterns?.some(hasShortYear) !== true)
    return 'pivot needs a format with a year of two digits, YY';
  if (patterns === undefined) return undefined;
  for (const pattern of patterns) {
    const problem = patternProblem(pattern) ?? misfit(kind, pattern, options);
    if (problem !== undefined) return `format ${quoted(pattern)}: ${problem}`;
  }
  const valueOf = wholeKey(encoders[kind] as (text: string, out: RowBytes) => void);
  const conflict = conflictOfPatterns(kind, patterns, composingOf(options), valueOf);
  return conflict && `format: ${conflict}`;
};

const fromDate: Readonly<Record<DateKind, (iso: string) => string | undefined>> = {
  date: (iso) => iso.slice(0, iso.indexOf('T')),
  // The time of day of a Date depends on a zone, and type time has none.
  time: () => undefined,
  timestamp: (iso) => iso.slice(0, -1),
  timestamptz: (iso) => iso,
};

const fromValue = (kind: DateKind, value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (!(value instanceof Date) || Number.isNaN(value.getTime())) return undefined;
  return fromDate[kind](value.toISOString());
};

// Checks get the spelling with T; the reader also accepts a blank: 2011-01-01 00:53.
const withT = (text: string): string => text.replace(' ', 'T');

/** PostgreSQL stores infinity as the largest integer, and -infinity as the smallest. */
const infinityOf = (text: string): bigint | undefined => {
  if (text === 'infinity') return 2n ** 63n - 1n;
  return text === '-infinity' ? -(2n ** 63n) : undefined;
};

const timeAt = 'YYYY-MM-DDT'.length;

const microsecondsSince2000 = (text: string): bigint =>
  infinityOf(text) ?? microsecondsSinceEpoch(daysOf(text), microsecondsOf(text.slice(timeAt)));

const encoders: Readonly<Record<DateKind, ValueEncoder>> = {
  date: (text, out) => {
    const infinity = infinityOf(text);
    reserve(out, 8);
    putInt32(out, 4);
    putInt32(out, infinity === undefined ? daysOf(text) : infinity > 0n ? 0x7fffffff : -0x80000000);
  },
  time: (text, out) => putInt64(out, microsecondsOf(text)),
  timestamp: (text, out) => putBigInt64(out, microsecondsSince2000(text)),
  timestamptz: (text, out) => {
    const offset = infinityOf(text) === undefined ? offsetSecondsOf(text.slice(timeAt)) : 0;
    putBigInt64(out, microsecondsSince2000(text) - BigInt(offset) * 1_000_000n);
  },
};

/** Returns a zone's offset, or `noZone` if it varies: then JavaScript reads the values. */
const zoneSeconds = (zone: string | undefined): number =>
  zone !== undefined && isOffset(zone) ? offsetSecondsOf(zone === 'UTC' ? 'Z' : zone) : noZone;

const isoBytes: Readonly<Record<DateKind, (zone: string | undefined) => ByteKind>> = {
  date: () => ({ kind: 'date' }),
  time: () => ({ kind: 'time' }),
  timestamp: () => ({ kind: 'timestamp', zone: 0, mayHaveOffset: 0 }),
  timestamptz: (zone) => ({ kind: 'timestamp', zone: zoneSeconds(zone), mayHaveOffset: 1 }),
};

const hasBytes = (pattern: string): boolean => !/\p{Cs}/u.test(pattern);

const patternBytes = (
  kind: DateKind,
  patterns: readonly string[],
  { zone = 'UTC', time, pivot = usualPivot }: DateTimeOptions,
): ByteKind => {
  const isKnown = isOffset(zone) || patterns.every((pattern) => patternParts(pattern).has('offset'));
  if (!isKnown || !patterns.every(hasBytes)) return notFromBytes;
  const asDate = time === 'drop' ? writesDayOfMoment : writesDate;
  const [first, ...others] = patterns.map((pattern) => patternSteps(pattern, pivot));
  const rest = {
    writes: kind === 'date' ? asDate : kind === 'time' ? writesTime : writesTimestamp,
    zone: isOffset(zone) ? zoneSeconds(zone) : 0,
  };
  if (others.length === 0) return { kind: 'pattern', steps: first!, ...rest };
  return { kind: 'patterns', ...rest, list: [...[first!, ...others].flatMap(withLength), 0] };
};

const withLength = (steps: readonly number[]): readonly number[] => [4 * steps.length, ...steps];

const formatOption: OptionShape = {
  takes: 'text or texts',
  must: 'a pattern such as YYYY-MM-DD, or a list of patterns',
  isSpelling: true,
};
const pivotOption: OptionShape = { takes: 'whole number', isSpelling: true };
const roundOption: OptionShape = { takes: 'flag' };

const dateTimeType = (kind: DateKind): Omit<ColumnType<string, DateTimeOptions>, 'options'> => ({
  sql: () => kind,
  optionsProblem: (options) =>
    zoneProblem(options) ??
    spellingProblem(options, { format: options.format }) ??
    formatProblem(kind, options),
  reader: (options) => dateTimeReader(kind, options),
  bytes: (options) => {
    const patterns = patternsOf(options);
    return patterns === undefined ? isoBytes[kind](options.zone) : patternBytes(kind, patterns, options);
  },
  encode: encoders[kind],
  order: 'whole',
  value: () => ({ kind: 'string' }),
  toValue: withT,
  fromValue: (value) => fromValue(kind, value),
});

const withoutZone = (kind: 'time' | 'timestamp'): ColumnType<string, TimeOptions> => ({
  ...dateTimeType(kind),
  options: { format: formatOption, pivot: pivotOption, round: roundOption, spelling: spellingOption },
});

export const dateType: ColumnType<string, DateOptions> = {
  ...dateTimeType('date'),
  options: {
    format: formatOption,
    pivot: pivotOption,
    time: oneOfOption('drop'),
    spelling: spellingOption,
  },
};
export const timeType = withoutZone('time');
export const timestampType = withoutZone('timestamp');
export const timestamptzType: ColumnType<string, TimestamptzOptions> = {
  ...dateTimeType('timestamptz'),
  options: {
    format: formatOption,
    pivot: pivotOption,
    round: roundOption,
    zone: { takes: 'text', must: "an offset such as 'UTC' or '+01:00', or a zone such as 'Europe/Berlin'" },
    ambiguous: {
      takes: 'text',
      must: "'earlier', 'later' or 'reject'",
      oneOf: ['earlier', 'later', 'reject'],
    },
    spelling: spellingOption,
  },
};
