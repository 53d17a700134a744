// Slots of each schedule, counted by day and outcome, for a calendar.

import { isThere, rowsOf, type Client } from '../../db/client.ts';

/** loaded: published, or nothing to do · under way: enqueued, and the run has not ended. */
export type SlotFate = 'loaded' | 'under way' | 'failed' | 'skipped' | 'missed';

export interface CalendarSlots {
  readonly schedule: string;
  /** `2026-11-23`, in the schedule's time zone. */
  readonly day: string;
  readonly fate: SlotFate;
  readonly slots: number;
  readonly run: number | null;
}

export const calendarOf = async (client: Client, days: number): Promise<readonly CalendarSlots[]> => {
  if (!(await isThere(client, 'etl.schedule_slot'))) return [];
  return rowsOf<CalendarSlots>(client, {
    text: `select k.schedule, k.day, k.fate, count(*)::float8 as slots, max(r.id)::float8 as run
      from (
        select t.schedule, t.job, to_char(t.slot at time zone s.time_zone, 'YYYY-MM-DD') as day,
          case when t.outcome in ('skipped', 'missed') then t.outcome when t.job_state in ('published', 'unchanged') then 'loaded'
            when t.job_state is null then 'under way' else 'failed' end as fate
        from etl.schedule s
        join etl.schedule_slot t on t.schedule = s.name and t.slot > now() - $1 * interval '1 day'
      ) k
      left join etl.run r on r.job = k.job
      group by k.schedule, k.day, k.fate
      order by k.schedule, k.day, k.fate`,
    values: [days],
  });
};
