// Lists schedules with their next slots and last outcomes.

import { runQuery, type Client } from '../../db/client.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { slotsShown } from '../../core/limits.ts';
import { nearest } from '../../core/nearest.ts';
import type { Schedule, ScheduleSlot } from './contract.ts';
import { readCalendar } from './slots.ts';
import * as store from './store.ts';

/** One schedule, with its next slots. */
export const scheduleOf = (row: store.ScheduleRow): Schedule => {
  const { name, pipeline, params, cron, timeZone, priority, catchUp, paused, queue, lateAfterMs } = row;
  const { lastSlot, lastOutcome, job, jobState } = row;
  const calendar = readCalendar(name, cron, timeZone);
  const next: string[] = [];
  for (let slot = row.now.getTime(); next.length < slotsShown;) {
    slot = calendar.next(slot);
    next.push(calendar.show(slot));
  }
  return {
    name,
    pipeline,
    params,
    cron,
    timeZone,
    priority,
    catchUp,
    paused,
    queue,
    lateAfterMs,
    next,
    lastSlot: lastSlot && calendar.show(lastSlot.getTime()),
    lastOutcome,
    job,
    jobState,
  };
};

/** Over the caller's connection; a database without bookkeeping has no schedules. */
export const listSchedules = async (client: Client): Promise<readonly Schedule[]> => {
  if (!(await runQuery(client, store.selectIsThere('schedule'))).rows[0].there) return [];
  return (await runQuery(client, store.selectSchedules())).rows.map(scheduleOf);
};

/** With the schedule that was meant, if there is one like it. */
export const unknownSchedule = async (client: Client, name: string): Promise<EtlError> => {
  const names = (await listSchedules(client)).map((schedule) => schedule.name);
  const near = nearest(name, names);
  const suggestion = near === undefined ? '' : `; did you mean ${near}?`;
  return new EtlError('ETL_SCHEDULE_UNKNOWN', { schedule: name, suggestion });
};

/** Slots that are shown unless another number is asked for. */
const slotsListed = 20;

/** Over the caller's connection. Errors: ETL_SCHEDULE_UNKNOWN when there is neither such a schedule nor was one. */
export const listSlots = async (
  client: Client,
  name: string,
  limit = slotsListed,
): Promise<readonly ScheduleSlot[]> => {
  const isKept = (await runQuery(client, store.selectIsThere('schedule_slot'))).rows[0].there;
  const slots: readonly ScheduleSlot[] = isKept
    ? (await runQuery(client, store.selectSlots(name, limit))).rows
    : [];
  const isKnown =
    slots.length > 0 || (await listSchedules(client)).some((schedule) => schedule.name === name);
  if (!isKnown) throw await unknownSchedule(client, name);
  return slots;
};

/** The next slots of all schedules that are not paused. */
export const comingSlots = async (client: Client): Promise<readonly store.ComingSlot[]> =>
  (await runQuery(client, store.selectComingSlots())).rows;
