// Lists schedules with their next slots and last outcomes.

import { isThere, rowsOf, type Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { slotsShown } from '../../core/limits.ts';
import { nearest } from '../../core/nearest.ts';
import type { Schedule, ScheduleSlot } from './contract.ts';
import { readCalendar, type Calendar } from './slots.ts';
import * as store from './store.ts';

/** The next slots of a schedule's times. Schedules that share their times are asked for them once. */
const comingSince = (now: Date) => {
  const known = new Map<string, Pick<Schedule, 'next'> & Pick<Calendar, 'show'>>();
  return (name: string, cron: string, timeZone: string) => {
    const key = JSON.stringify([cron, timeZone]);
    const found = known.get(key);
    if (found !== undefined) return found;
    const calendar = readCalendar(name, cron, timeZone);
    const next: string[] = [];
    for (let slot = now.getTime(); next.length < slotsShown;) {
      slot = calendar.next(slot);
      next.push(calendar.show(slot));
    }
    const coming = { next, show: calendar.show };
    known.set(key, coming);
    return coming;
  };
};

/** The rows are of one query. */
export const schedulesOf = (rows: readonly store.ScheduleRow[]): readonly Schedule[] => {
  const comingTo = comingSince(rows[0]?.now ?? new Date());
  return rows.map((row) => {
    const { name, pipeline, params, cron, everyMs, timeZone, priority, catchUp, paused, queue } = row;
    const { lateAfterMs, lastSlot, lastOutcome, job, jobState, lookError } = row;
    const coming = cron === null ? undefined : comingTo(name, cron, timeZone);
    return {
      name,
      pipeline,
      params,
      cron,
      everyMs,
      timeZone,
      priority,
      catchUp,
      paused,
      queue,
      lateAfterMs,
      next: coming?.next ?? [],
      lastSlot: lastSlot && (coming?.show(lastSlot.getTime()) ?? lastSlot.toISOString()),
      lastOutcome,
      job,
      jobState,
      lookError,
    };
  });
};

export const listSchedules = async (client: Client): Promise<readonly Schedule[]> => {
  if (!(await isThere(client, 'etl.schedule'))) return [];
  return schedulesOf(await rowsOf<store.ScheduleRow>(client, store.selectSchedules()));
};

export const unknownSchedule = async (client: Client, name: string): Promise<EtlError> => {
  const names = (await listSchedules(client)).map((schedule) => schedule.name);
  const near = nearest(name, names);
  const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
  return new EtlError('ETL_SCHEDULE_UNKNOWN', { schedule: name, suggestion });
};

const slotsListed = 20;

export const listSlots = async (
  client: Client,
  name: string,
  limit = slotsListed,
): Promise<readonly ScheduleSlot[]> => {
  const isKept = await isThere(client, 'etl.schedule_slot');
  const slots: readonly ScheduleSlot[] = isKept ? await rowsOf(client, store.selectSlots(name, limit)) : [];
  const isKnown =
    slots.length > 0 || (await listSchedules(client)).some((schedule) => schedule.name === name);
  if (!isKnown) throw await unknownSchedule(client, name);
  return slots;
};

export const comingSlots = (client: Client): Promise<readonly store.ComingSlot[]> =>
  rowsOf(client, store.selectComingSlots());
