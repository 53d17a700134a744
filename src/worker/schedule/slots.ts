// Computes the times at which a schedule is due (slots) from a cron expression and a time zone.
// cron-parser computes in UTC; this file adds the zone's offset.
//
// A time that the clock skips is due when the clock changes. A time that the clock repeats is due
// only the first time. An hourly schedule is due once in every hour that passes.

import { createRequire } from 'node:module';
import type * as CronParser from 'cron-parser';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import { changeBetween, zoneOffsets, type OffsetAt } from '../../core/zone-offsets.ts';

/** Finds slots; all times are milliseconds since 1970. */
export interface Calendar {
  readonly next: (afterMs: number) => number;
  /** Returns the last slot up to `nowMs`; `firstMs` is an earlier slot. */
  readonly newest: (firstMs: number, nowMs: number) => number;
  /** Formats an instant in the zone's time: '2026-03-29T03:00:00+02:00'. */
  readonly show: (instantMs: number) => string;
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** A zone changes its clock at most once within this time. */
const stepMsMax = 36 * hourMs;

/** No zone sets its clock back by more than this. */
const setBackMsMax = 3 * hourMs;

interface Rule {
  readonly offsetAt: OffsetAt;
  /** Returns the expression's next time after `wallMs`, as if the clock never changed. */
  readonly wallAfter: (wallMs: number) => number;
  readonly isEveryHour: boolean;
}

/** Where a search for slots starts; if `isIncluded`, this instant itself may be a slot. */
interface Start {
  readonly at: number;
  readonly isIncluded: boolean;
}

/** Start after a clock change: skips the times that it repeats, except for an hourly schedule. */
const startAt = ({ offsetAt, isEveryHour }: Rule, change: number, offsetBefore: number): Start => ({
  at: change + (isEveryHour ? 0 : Math.max(0, offsetBefore - offsetAt(change))),
  isIncluded: true,
});

const startAfter = (rule: Rule, after: number): Start => {
  const earlier = after - setBackMsMax;
  const change = changeBetween(rule.offsetAt, earlier, after);
  const start = change === undefined ? undefined : startAt(rule, change, rule.offsetAt(earlier));
  return start !== undefined && start.at > after ? start : { at: after, isIncluded: false };
};

const nextSlot = (rule: Rule, after: number): number => {
  const { offsetAt, wallAfter, isEveryHour } = rule;
  let start = startAfter(rule, after);
  for (;;) {
    const { at, isIncluded } = start;
    const offset = offsetAt(at);
    const wall = wallAfter(at + offset - (isIncluded ? 1 : 0));
    const slot = wall - offset;
    const isFar = slot - at > stepMsMax;
    const change = isFar ? undefined : changeBetween(offsetAt, at, slot);
    if (isFar) start = { at: slot - stepMsMax, isIncluded: false };
    else if (change === undefined) return slot;
    else if (!isEveryHour && wall < change + offsetAt(change)) return change;
    else start = startAt(rule, change, offset);
  }
};

/** Finds the newest slot. Looks back in growing steps: a frequent schedule may be a year behind. */
const newestSlot = (rule: Rule, first: number, now: number): number => {
  let slot = first;
  for (let backMs = minuteMs; now - backMs > first; backMs *= 24) {
    const found = nextSlot(rule, now - backMs);
    if (found > now) continue;
    slot = found;
    break;
  }
  for (let next = slot; next <= now; next = nextSlot(rule, slot)) slot = next;
  return slot;
};

const showInstant = (offsetAt: OffsetAt, instantMs: number): string => {
  const offset = offsetAt(instantMs);
  const iso = (ms: number, from: number, to: number): string => new Date(ms).toISOString().slice(from, to);
  return `${iso(instantMs + offset, 0, 19)}${offset < 0 ? '-' : '+'}${iso(Math.abs(offset), 11, 16)}`;
};

/** Loads cron-parser on demand, because it also loads luxon. */
const loadCronParser = (): typeof CronParser =>
  createRequire(import.meta.url)('cron-parser') as typeof CronParser;

const readCron = (cron: string): CronParser.CronExpression => {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5 && fields.length !== 6)
    throw new Error(
      'it must have five fields: minute, hour, day of month, month, day of week; or six with seconds first',
    );
  if (fields.some((field) => /\bH\b/.test(field))) throw new Error('H, a random time, is not supported');
  return loadCronParser().CronExpressionParser.parse(cron, { tz: 'UTC', currentDate: new Date(0) });
};

/** Errors: ETL_SCHEDULE_INVALID. */
export const readCalendar = (schedule: string, cron: string, timeZone: string): Calendar => {
  const readOrRefuse = <T>(what: string, read: () => T): T => {
    try {
      return read();
    } catch (cause) {
      const problem = `${what}: ${messageOf(cause)}`;
      throw new EtlError('ETL_SCHEDULE_INVALID', { schedule, problem }, { cause });
    }
  };
  const expression = readOrRefuse(`cron '${cron}'`, () => {
    const read = readCron(cron);
    // Fails for a time that never comes, such as the 30th of February.
    read.next();
    return read;
  });
  const offsetAt = readOrRefuse('time zone', () => zoneOffsets(timeZone));
  const wallAfter = (wallMs: number): number => {
    expression.reset(new Date(wallMs));
    return expression.next().getTime();
  };
  const rule: Rule = { offsetAt, wallAfter, isEveryHour: expression.fields.hour.values.length === 24 };
  return {
    next: (afterMs) => nextSlot(rule, afterMs),
    newest: (firstMs, nowMs) => newestSlot(rule, firstMs, nowMs),
    show: (instantMs) => showInstant(offsetAt, instantMs),
  };
};
