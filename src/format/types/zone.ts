// Named zones such as Europe/Berlin: the offset at a local time, and local times that occur twice
// or never.

import type { Refusal } from './contract.ts';
import { readDigits, readTwo, twoDigits } from './calendar.ts';
import { quoted, refuse } from './refusal.ts';

/** Which of two instants a local time means if clocks are set back. */
export type Ambiguous = 'earlier' | 'later' | 'reject';

/** A period with one offset: instants [from, to) in seconds since 1970. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Seconds east of UTC. */
  readonly offset: number;
}

export const isZoneName = (name: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
};

const day = 86_400;

/** No zone changes its offset before 1800 (tz database). */
const yearOfFirstChange = 1800;

/** Seconds since 1970 at the start of the year. */
const startOf = (year: number): number => Date.UTC(year, 0, 1) / 1000;

/** Makes a function that returns a zone's offset at an instant. A call takes microseconds. */
const offsetsOf = (timeZone: string): ((instant: number) => number) => {
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  return (instant) => {
    const [month = 0, date = 0, year = 0, hour = 0, minute = 0, second = 0] = clock
      .format(instant * 1000)
      .match(/\d+/g)!
      .map(Number);
    return Date.UTC(year, month - 1, date, hour, minute, second) / 1000 - instant;
  };
};

/** Returns the periods of a year and two days on each side. Sampling each day is enough. */
const spansOf = (year: number, offsetAt: (instant: number) => number): readonly Span[] => {
  const end = startOf(year + 1) + 2 * day;
  const spans: Span[] = [];
  let from = startOf(year) - 2 * day;
  let offset = offsetAt(from);
  for (let known = from; known < end; known += day) {
    while (offset !== offsetAt(known + day)) {
      let before = Math.max(known, from);
      let after = known + day;
      while (after - before > 1) {
        const middle = Math.floor((before + after) / 2);
        if (offsetAt(middle) === offset) before = middle;
        else after = middle;
      }
      spans.push({ from, to: after, offset });
      from = after;
      offset = offsetAt(after);
    }
  }
  return [...spans, { from, to: Infinity, offset }];
};

/** Writes ±HH:mm, or ±HH:mm:ss if the seconds are not 0. */
const offsetText = (offset: number): string => {
  const size = Math.abs(offset);
  const parts = [size / 3600, (size / 60) % 60, size % 60].map((part) => twoDigits(Math.floor(part)));
  return (offset < 0 ? '-' : '+') + (size % 60 === 0 ? parts.slice(0, 2) : parts).join(':');
};

/** Seconds since 1970 of a canonical local time, taken as UTC. */
const secondsOf = (local: string, year: number): number => {
  const second = local.length > 'YYYY-MM-DDTHH:mm'.length ? readTwo(local, 17) : 0;
  const dayOfYear = Date.UTC(year, readTwo(local, 5) - 1, readTwo(local, 8)) / 1000;
  return dayOfYear + readTwo(local, 11) * 3600 + readTwo(local, 14) * 60 + second;
};

type Spans = (year: number) => readonly Span[];

const createSpans = (zone: string): Spans => {
  const offsetAt = offsetsOf(zone);
  const years = new Map<number, readonly Span[]>();
  return (year) => {
    const spans = years.get(year) ?? spansOf(year, offsetAt);
    years.set(year, spans);
    return spans;
  };
};

/** Periods of each zone, shared by all columns with the zone. */
const zones = new Map<string, Spans>();

/**
 * Makes a function that adds the zone's offset to a canonical local time. A year's first use costs
 * most of a millisecond; later uses are cached.
 */
export const localTimes = (zone: string, ambiguous: Ambiguous): ((local: string) => string | Refusal) => {
  const spansIn = zones.get(zone) ?? createSpans(zone);
  zones.set(zone, spansIn);
  const refusalOf = (local: string, problem: string): Refusal =>
    refuse('range', `${quoted(local)} ${problem}`);
  const never = (local: string, seconds: number, spans: readonly Span[]): Refusal => {
    const next = spans.findIndex(({ to, offset }) => seconds - offset < to);
    const [one, other] = [spans[next - 1]!, spans[next]!].map(({ offset }) => offsetText(offset));
    return refusalOf(local, `is not a time in ${zone}: clocks were set from ${one} to ${other}`);
  };
  return (local) => {
    // Date.UTC reads years below 100 as 19xx. Years before the first change have the same offset as
    // the year of the first change, which is used instead.
    const year = Math.max(readDigits(local, 0, 4), yearOfFirstChange);
    const spans = spansIn(year);
    const seconds = secondsOf(local, year);
    const found = spans.filter(({ from, to, offset }) => from <= seconds - offset && seconds - offset < to);
    const [earlier, later] = found;
    if (earlier === undefined) return never(local, seconds, spans);
    if (later === undefined || ambiguous === 'earlier') return local + offsetText(earlier.offset);
    if (ambiguous === 'later') return local + offsetText(later.offset);
    return refusalOf(
      local,
      `is twice in ${zone}, at ${offsetText(earlier.offset)} and at ${offsetText(later.offset)}; ` +
        "say ambiguous: 'earlier' or 'later'",
    );
  };
};
