// Notifies receivers of late slots (run not published in the declared time) and missed slots.

import { isThere, rowsOf, runQuery, withTransaction, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import { scheduleCheckMs } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Receiver } from '../../core/notification.ts';
import { insertNotifications } from '../../report/notify/outbox.ts';
import { lateSlot } from '../../report/notify/events.ts';
import type { Look } from '../watch.ts';

type ReceiversOf = (pipeline: string) => readonly Receiver[];

/** Hours after which a late slot is not reported: nobody watched the schedule at the time. */
const newsHours = 24;

interface LateSlot {
  readonly id: string;
  readonly schedule: string;
  readonly pipeline: string;
  readonly slot: Date;
  readonly outcome: string;
  readonly state: string | null;
  readonly run: number | null;
  readonly now: Date;
}

const selectLate = (except: readonly string[]): Query => ({
  text: `select s.id::text as id, s.schedule, c.pipeline, s.slot, s.outcome, s.job_state as state, clock_timestamp() as now,
      (select max(id) from etl.run where job = s.job)::float8 as run
    from etl.schedule_slot s join etl.schedule c on c.name = s.schedule
    where s.late_at is null and s.outcome <> 'asked for' and coalesce(s.job_state, '') not in ('published', 'unchanged')
      and c.pipeline <> all ($1)
      and case when c.late_after is null then s.outcome = 'missed'
        else s.slot + c.late_after * interval '1 second' <= clock_timestamp() end
      and greatest(s.decided_at, s.slot + coalesce(c.late_after, 0) * interval '1 second')
        > clock_timestamp() - interval '${newsHours} hours'
    order by s.id limit 1 for update of s skip locked`,
  values: [except],
});

/** Workers handle a slot within seconds; after this time, no worker serves the schedule. */
const unhandledSeconds = 60;

export interface SlotsSeen {
  readonly pipeline: string;
  readonly paused: boolean;
  readonly next: Date;
  /** The newest slot if it is late, or the next slot if no worker has handled it; null: neither. */
  readonly late: Date | null;
}

/** Returns the slots of every schedule, without computing any from its times. */
export const listSlotsSeen = async (client: Client): Promise<readonly SlotsSeen[]> => {
  if (!(await isThere(client, 'etl.schedule_slot'))) return [];
  return rowsOf<SlotsSeen>(client, {
    text: `select c.pipeline, c.paused, c.next_slot as next, case when not c.paused then coalesce(s.slot,
        case when c.next_slot < clock_timestamp() - ${unhandledSeconds} * interval '1 second' then c.next_slot end) end as late
      from etl.schedule c
      left join lateral (
        select * from (select * from etl.schedule_slot where schedule = c.name order by id desc limit 1) newest
        where coalesce(job_state, '') not in ('published', 'unchanged')
          and outcome <> 'asked for' and case when c.late_after is null then outcome = 'missed'
            else slot + c.late_after * interval '1 second' <= clock_timestamp() end
      ) s on true
      order by c.next_slot`,
  });
};

const recordLate = (id: string): Query => ({
  text: 'update etl.schedule_slot set late_at = clock_timestamp() where id = $1',
  values: [id],
});

/** Returns undefined if no slot is late. `isNotified` is false if this worker has no receivers. */
const notifyOne = (
  client: Client,
  receiversOf: ReceiversOf,
  except: readonly string[],
): Promise<{ readonly slot: LateSlot; readonly isNotified: boolean } | undefined> =>
  withTransaction(client, async () => {
    const slot: LateSlot | undefined = (await runQuery(client, selectLate(except))).rows[0];
    if (slot === undefined) return undefined;
    const { id, schedule: name, pipeline, outcome, state, run, now } = slot;
    const receivers = receiversOf(pipeline).filter(({ on }) => on.includes('late'));
    // The slot is left for other workers, which may have receivers.
    if (receivers.length === 0) return { slot, isNotified: false };
    const facts = { pipeline, run, state: state ?? outcome, name, slot: slot.slot.toISOString(), outcome };
    await runQuery(client, insertNotifications(receivers, lateSlot(now, facts)));
    await runQuery(client, recordLate(id));
    return { slot, isNotified: true };
  });

export const lookForLate = (receiversOf: ReceiversOf, logger: Logger): Look => ({
  everyMs: scheduleCheckMs,
  problem: 'the server cannot be queried for late slots',
  look: async (client) => {
    const withoutReceivers: string[] = [];
    for (;;) {
      const found = await notifyOne(client, receiversOf, withoutReceivers);
      if (found === undefined) return;
      const { slot, isNotified } = found;
      if (isNotified)
        logger.warn({ schedule: slot.schedule, slot: slot.slot.toISOString() }, 'a slot is late');
      else withoutReceivers.push(slot.pipeline);
    }
  },
});
