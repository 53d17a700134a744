// Finds the offset of a zone such as Europe/Berlin at a local time.

import { changeBetween, zoneOffsets, type OffsetAt } from '../../core/zone-offsets.ts';
import type { Refusal } from './contract.ts';
import { readDigits, readTwo } from './calendar.ts';
import { quoted, refuse } from './refusal.ts';

/** Which of two instants a local time means if clocks are set back. */
export type Ambiguous = 'earlier' | 'later' | 'reject';

/** A period with one offset: instants [from, to), in milliseconds since 1970. */
interface Span {
  readonly from: number;
  readonly to: number;
  /** Milliseconds east of UTC. */
  readonly offset: number;
  readonly text: string;
}

export const isZoneName = (name: string): boolean => {
  try {
    zoneOffsets(name);
    return true;
  } catch {
    return false;
  }
};

const dayMs = 86_400_000;

/** In the tz database, no zone changes its offset before 1800. */
const yearOfFirstChange = 1800;

const spanOf = (from: number, to: number, offset: number): Span => {
  const time = new Date(Math.abs(offset)).toISOString().slice('YYYY-MM-DDT'.length);
  const length = time.slice('HH:mm:'.length).startsWith('00') ? 'HH:mm'.length : 'HH:mm:ss'.length;
  return { from, to, offset, text: (offset < 0 ? '-' : '+') + time.slice(0, length) };
};

/** Returns periods of a year and two days on each side. An offset is valid for more than a day. */
const spansOf = (year: number, offsetAt: OffsetAt): readonly Span[] => {
  const end = Date.UTC(year + 1) + 2 * dayMs;
  const spans: Span[] = [];
  let from = Date.UTC(year) - 2 * dayMs;
  let known = from;
  while (known < end) {
    const change = changeBetween(offsetAt, known, known + dayMs);
    if (change !== undefined) {
      spans.push(spanOf(from, change, offsetAt(from)));
      from = change;
    }
    known = change ?? known + dayMs;
  }
  return [...spans, spanOf(from, Infinity, offsetAt(from))];
};

const timeMs = (local: string): number => {
  const second = local.length > 'YYYY-MM-DDTHH:mm'.length ? readTwo(local, 17) : 0;
  return (readTwo(local, 11) * 3600 + readTwo(local, 14) * 60 + second) * 1000;
};

type Spans = (year: number) => readonly Span[];

const createSpans = (zone: string): Spans => {
  const offsetAt = zoneOffsets(zone);
  const years = new Map<number, readonly Span[]>();
  return (year) => {
    const spans = years.get(year) ?? spansOf(year, offsetAt);
    years.set(year, spans);
    return spans;
  };
};

const zones = new Map<string, Spans>();

export const localTimes = (zone: string, ambiguous: Ambiguous): ((local: string) => string | Refusal) => {
  const spansIn = zones.get(zone) ?? createSpans(zone);
  zones.set(zone, spansIn);
  const refusalOf = (local: string, problem: string): Refusal =>
    refuse('range', `${quoted(local)} ${problem}`);
  const never = (local: string, localMs: number, spans: readonly Span[]): Refusal => {
    const next = spans.findIndex(({ to, offset }) => localMs - offset < to);
    const [one, other] = [spans[next - 1]!, spans[next]!];
    return refusalOf(local, `does not exist in ${zone}: clocks were set from ${one.text} to ${other.text}`);
  };
  return (local) => {
    // Date.UTC reads years below 100 as 19xx. The offset does not change before 1800.
    const year = Math.max(readDigits(local, 0, 4), yearOfFirstChange);
    const spans = spansIn(year);
    const localMs = Date.UTC(year, readTwo(local, 5) - 1, readTwo(local, 8)) + timeMs(local);
    const found = spans.filter(({ from, to, offset }) => from <= localMs - offset && localMs - offset < to);
    const [earlier, later] = found;
    if (earlier === undefined) return never(local, localMs, spans);
    if (later === undefined || ambiguous === 'earlier') return local + earlier.text;
    if (ambiguous === 'later') return local + later.text;
    return refusalOf(
      local,
      `occurs twice in ${zone}, with ${earlier.text} and ${later.text}; set ambiguous: 'earlier' or 'later'`,
    );
  };
};
