// Schedules as people see them.

import { runQuery, type Client } from '../../db/client.ts';
import { slotsShown } from '../../limits.ts';
import type { Schedule } from './contract.ts';
import { readCalendar } from './slots.ts';
import * as store from './store.ts';

/** One schedule, with its next slots. */
export const scheduleOf = (row: store.ScheduleRow): Schedule => {
  const { name, pipeline, params, cron, timeZone, priority, catchUp, paused, queue } = row;
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
    next,
    lastSlot: lastSlot && calendar.show(lastSlot.getTime()),
    lastOutcome,
    job,
    jobState,
  };
};

/** Over the caller's connection; a database without bookkeeping has no schedules. */
export const listSchedules = async (client: Client): Promise<readonly Schedule[]> => {
  if (!(await runQuery(client, store.selectHasSchedules())).rows[0].there) return [];
  return (await runQuery(client, store.selectSchedules())).rows.map(scheduleOf);
};

/** The next slots of all schedules that are not paused. */
export const comingSlots = async (client: Client): Promise<readonly store.ComingSlot[]> =>
  (await runQuery(client, store.selectComingSlots())).rows;
