// Lists schedules with their next slots and last outcomes.

import { isThere, rowsOf, type Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { slotsShown } from '../../core/limits.ts';
import { nearest } from '../../core/nearest.ts';
import type { Schedule, ScheduleSlot } from './contract.ts';
import { readCalendar } from './slots.ts';
import * as store from './store.ts';

export const scheduleOf = (row: store.ScheduleRow): Schedule => {
  const { name, pipeline, params, cron, everyMs, timeZone, priority, catchUp, paused, queue } = row;
  const { lateAfterMs, lastSlot, lastOutcome, job, jobState, lookError } = row;
  const calendar = cron === null ? undefined : readCalendar(name, cron, timeZone);
  const next: string[] = [];
  for (let slot = row.now.getTime(); calendar !== undefined && next.length < slotsShown;) {
    slot = calendar.next(slot);
    next.push(calendar.show(slot));
  }
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
    next,
    lastSlot: lastSlot && (calendar?.show(lastSlot.getTime()) ?? lastSlot.toISOString()),
    lastOutcome,
    job,
    jobState,
    lookError,
  };
};

export const listSchedules = async (client: Client): Promise<readonly Schedule[]> => {
  if (!(await isThere(client, 'etl.schedule'))) return [];
  return (await rowsOf<store.ScheduleRow>(client, store.selectSchedules())).map(scheduleOf);
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
