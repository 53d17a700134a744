// The partitions of a declared table: names, bounds and conditions of their rows.

import type { PartitionSpec, PartitionUnit } from '../../core/declaration.ts';
import { fittingName } from '../../db/names.ts';
import { quoteName, quoteText } from '../../db/sql.ts';
import { identifierBytesMax } from '../../core/limits.ts';

export interface Partition {
  /**
   * For a range, the first day, such as 2024-03-01; for a list, the value; for a hash, the
   * remainder.
   */
  readonly key: string;
  readonly name: string;
  readonly bound: string;
  /**
   * SQL: true for all rows of the partition. With such a check, the server attaches a table without
   * scanning it. Operators name their schema, because a search path may contain other people's
   * operators (test/modes/hostile-nights.test.ts).
   */
  readonly condition: string;
}

/** Leaves room for the name of the partition's primary key: `<name>_pkey`. */
const nameBytesMax = identifierBytesMax - '_pkey'.length;

const datePattern = /^(\d{4,6})-(\d\d)-(\d\d)$/;
const dayMs = 86_400_000;

/** Parses a day. Returns undefined for infinity and for dates BC. */
const dayOf = (text: string): Date | undefined => {
  const found = datePattern.exec(text);
  if (found === null) return undefined;
  const day = new Date(0);
  day.setUTCFullYear(Number(found[1]), Number(found[2]) - 1, Number(found[3]));
  return day;
};

const twoDigits = (value: number): string => String(value).padStart(2, '0');
const yearText = (day: Date): string => String(day.getUTCFullYear()).padStart(4, '0');
const monthText = (day: Date): string => twoDigits(day.getUTCMonth() + 1);
const dayText = (day: Date): string => `${yearText(day)}-${monthText(day)}-${twoDigits(day.getUTCDate())}`;

const monthsOf: Partial<Record<PartitionUnit, number>> = { month: 1, quarter: 3, year: 12 };

const nextOf = (unit: PartitionUnit, day: Date): Date => {
  const next = new Date(day);
  const months = monthsOf[unit];
  if (months === undefined) next.setUTCDate(next.getUTCDate() + (unit === 'week' ? 7 : 1));
  else next.setUTCMonth(next.getUTCMonth() + months);
  return next;
};

/** By ISO 8601, weeks begin on Monday and belong to the year of their Thursday. */
const weekSuffix = (monday: Date): string => {
  const thursday = new Date(monday.getTime() + 3 * dayMs);
  const newYear = new Date(thursday);
  newYear.setUTCMonth(0, 1);
  const week = Math.floor((thursday.getTime() - newYear.getTime()) / (7 * dayMs)) + 1;
  return `${yearText(thursday)}w${twoDigits(week)}`;
};

const suffixes: Readonly<Record<PartitionUnit, (day: Date) => string>> = {
  day: (day) => dayText(day).replaceAll('-', '_'),
  week: weekSuffix,
  month: (day) => `${yearText(day)}_${monthText(day)}`,
  quarter: (day) => `${yearText(day)}q${Math.floor(day.getUTCMonth() / 3) + 1}`,
  year: yearText,
};

/**
 * Returns a bound for any column type: the server ignores the time for a date, and the zone for a
 * timestamp.
 */
const boundText = (day: Date): string => quoteText(`${dayText(day)} 00:00:00+00`);

/**
 * Returns the partition, or undefined if the key is not a day. `parent`: oid of the partitioned
 * table, for a hash.
 */
export const partitionOf = (
  table: string,
  spec: PartitionSpec,
  key: string,
  parent: number,
): Partition | undefined => {
  const column = quoteName(spec.column);
  const named = (suffix: string) => ({ key, name: fittingName(`${table}_${suffix}`, nameBytesMax) });
  if (spec.by === 'list')
    return {
      ...named(key),
      bound: `for values in (${quoteText(key)})`,
      condition: `${column} operator(pg_catalog.=) ${quoteText(key)}`,
    };
  if (spec.by === 'hash')
    return {
      ...named(key),
      bound: `for values with (modulus ${spec.partitions}, remainder ${key})`,
      condition: `pg_catalog.satisfies_hash_partition(${parent}::oid, ${spec.partitions}, ${key}, ${column})`,
    };
  const first = dayOf(key);
  if (first === undefined) return undefined;
  const [from, to] = [boundText(first), boundText(nextOf(spec.unit, first))];
  return {
    ...named(suffixes[spec.unit](first)),
    bound: `for values from (${from}) to (${to})`,
    condition: `${column} operator(pg_catalog.>=) ${from} and ${column} operator(pg_catalog.<) ${to}`,
  };
};

/** Parses `hh`, `hh:mm` or `hh:mm:ss`. Zone offsets have seconds in dates before standard time. */
const msOf = (text = '00'): number => {
  const [hours, minutes = 0, seconds = 0] = text.split(':').map(Number);
  return ((hours! * 60 + minutes) * 60 + seconds) * 1_000;
};

/** Parses a bound in any time zone. Returns undefined if it is not midnight in UTC. */
const dayOfBound = (text: string): Date | undefined => {
  const found = /^(\d{4,6}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d)(?:([+-])(\d\d(?::\d\d){0,2}))?)?$/.exec(text);
  const day = found === null ? undefined : dayOf(found[1]!);
  if (day === undefined) return undefined;
  const [, , time, sign, offset] = found!;
  const timestamp = day.getTime() + msOf(time) - msOf(offset) * (sign === '-' ? -1 : 1);
  return timestamp % dayMs === 0 ? new Date(timestamp) : undefined;
};

const unquoted = (literal: string): string | undefined =>
  /^'(?:[^']|'')*'$/.test(literal)
    ? literal.slice(1, -1).replaceAll("''", "'")
    : /^[\w.+-]+$/.test(literal) && literal !== 'NULL'
      ? literal
      : undefined;

const isFirst = (unit: PartitionUnit, day: Date): boolean => {
  if (unit === 'day') return true;
  if (unit === 'week') return day.getUTCDay() === 1;
  const months = monthsOf[unit]!;
  return day.getUTCDate() === 1 && day.getUTCMonth() % months === 0;
};

/**
 * Returns a partition's key from its bound, as the server prints it; undefined if it is not
 * declared.
 */
export const keyOfBound = (spec: PartitionSpec, bound: string): string | undefined => {
  if (spec.by === 'list') {
    const found = /^FOR VALUES IN \((.*)\)$/s.exec(bound);
    return found === null ? undefined : unquoted(found[1]!);
  }
  if (spec.by === 'hash') {
    const found = /^FOR VALUES WITH \(modulus (\d+), remainder (\d+)\)$/.exec(bound);
    return found !== null && Number(found[1]) === spec.partitions ? found[2] : undefined;
  }
  const found = /^FOR VALUES FROM \('([^']*)'\) TO \('([^']*)'\)$/.exec(bound);
  const [first, end] = [dayOfBound(found?.[1] ?? ''), dayOfBound(found?.[2] ?? '')];
  if (first === undefined || end === undefined || !isFirst(spec.unit, first)) return undefined;
  return nextOf(spec.unit, first).getTime() === end.getTime() ? dayText(first) : undefined;
};
