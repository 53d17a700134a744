// Queries and updates of etl.schedule.

import type { Query } from '../../db/sql.ts';
import { frozenMs } from '../../core/limits.ts';
import { readRunRequest } from '../../pipeline/job-payload.ts';
import type { RunJob } from '../../queue/run-queue.ts';
import type { Schedule, ScheduleOptions, SlotOutcome } from './contract.ts';

export interface ScheduleRow extends Omit<Schedule, 'next' | 'lastSlot'> {
  readonly definition: string;
  readonly pinnedParams: Readonly<Record<string, unknown>>;
  readonly nextSlot: Date;
  readonly lastSlot: Date | null;
  readonly jobQueue: string | null;
  readonly seen: string | null;
  readonly now: Date;
}

const columns = `name, pipeline, definition_hash as definition, params,
  pinned_params as "pinnedParams", cron, time_zone as "timeZone", priority,
  catch_up as "catchUp", paused, queue, late_after * 1000 as "lateAfterMs", next_slot as "nextSlot", last_slot as "lastSlot", last_outcome as "lastOutcome",
  job, job_queue as "jobQueue", job_state as "jobState", every * 1000 as "everyMs", seen, look_error as "lookError",
  clock_timestamp() as now`;

export const selectSchedules = (): Query => ({
  text: `select ${columns} from etl.schedule order by name`,
});

export const selectSchedule = (name: string): Query => ({
  text: `select ${columns} from etl.schedule where name = $1 for update`,
  values: [name],
});

export const selectNow = (): Query => ({ text: 'select clock_timestamp() as now' });

/** Locks a schedule that has been due for `ms` milliseconds. */
const selectDueFor = (ms: number, locked: string, except: readonly string[]): Query => ({
  text: `select ${columns} from etl.schedule
    where not paused and every is null and next_slot <= clock_timestamp() - $2 * interval '1 ms' and name <> all ($1)
    order by next_slot limit 1 for update${locked}`,
  values: [except, ms],
});

export const selectDue = (except: readonly string[]): Query => selectDueFor(0, ' skip locked', except);

/** Waits for the lock of an overdue schedule, because the watchdog ends a frozen lock holder. */
export const selectOverdue = (except: readonly string[]): Query => selectDueFor(frozenMs, '', except);

/** Since when workers have decided about slots without a pause of `ms` milliseconds, at most an hour ago. */
export const selectDecidingSince = (ms: number): Query => ({
  text: `select coalesce(min(decided_at), clock_timestamp()) as since from (
      select decided_at, bool_or(following - decided_at > $1 * interval '1 ms') over (order by decided_at desc) as "isBeforePause"
        from (select decided_at, lead(decided_at, 1, clock_timestamp()) over (order by decided_at) as following
          from etl.schedule_slot where decided_at > clock_timestamp() - interval '1 hour') as decision
    ) as decided where not "isBeforePause"`,
  values: [ms],
});

export const selectPending = (except: readonly string[]): Query => ({
  text: `select ${columns} from etl.schedule
    where job_state = 'pending' and name <> all ($1)
    order by name limit 1 for update skip locked`,
  values: [except],
});

export const selectEnqueued = (queues: readonly string[]): Query => ({
  text: `select ${columns} from etl.schedule where job_state = 'enqueued' and job_queue = any ($1)`,
  values: [queues],
});

type NewSchedule = Omit<
  ScheduleRow,
  | 'priority'
  | 'lateAfterMs'
  | 'paused'
  | 'lastSlot'
  | 'lastOutcome'
  | 'job'
  | 'jobQueue'
  | 'jobState'
  | 'seen'
  | 'lookError'
  | 'now'
> &
  Pick<ScheduleOptions, 'priority' | 'lateAfterMs'>;

/** A replaced schedule stays paused, and looks again. If cron and time zone do not change, a due slot stays due. */
export const upsertSchedule = (schedule: NewSchedule): Query => ({
  text: `insert into etl.schedule
      (name, pipeline, definition_hash, params, pinned_params, cron, time_zone, priority, catch_up, next_slot, queue,
        late_after, every)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::float8 / 1000, $13::float8 / 1000)
    on conflict (name) do update set
      (pipeline, definition_hash, params, pinned_params, cron, time_zone, priority, catch_up, queue, late_after, every, seen, look_error, looker,
        next_slot) =
      (excluded.pipeline, excluded.definition_hash, excluded.params, excluded.pinned_params, excluded.cron, excluded.time_zone,
        excluded.priority, excluded.catch_up, excluded.queue, excluded.late_after, excluded.every, null, null, null,
        case when (schedule.cron, schedule.time_zone) = (excluded.cron, excluded.time_zone)
          then least(schedule.next_slot, excluded.next_slot) else excluded.next_slot end)
    returning ${columns}`,
  values: [
    schedule.name,
    schedule.pipeline,
    schedule.definition,
    JSON.stringify(schedule.params),
    JSON.stringify(schedule.pinnedParams),
    schedule.cron,
    schedule.timeZone,
    schedule.priority,
    schedule.catchUp,
    schedule.nextSlot,
    schedule.queue,
    schedule.lateAfterMs,
    schedule.everyMs,
  ],
});

/**
 * Takes a schedule whose files are to be looked at, for `leaseMs`. After the server's clock was set
 * back, the next look is too far away, and so due.
 */
export const claimLook = (
  looker: string,
  leaseMs: number,
  pipelines: readonly string[],
  queues: readonly string[],
): Query => ({
  text: `update etl.schedule set looker = $1, next_slot = clock_timestamp() + $2 * interval '1 ms'
    where name = (
      select name from etl.schedule
        where every is not null and not paused and pipeline = any ($3) and queue = any ($4)
          and not next_slot between clock_timestamp() and clock_timestamp() + 2 * greatest(every * 1000, $2) * interval '1 ms'
        order by next_slot limit 1 for update skip locked)
    returning ${columns}`,
  values: [looker, leaseMs, pipelines, queues],
});

export const renewLooks = (lookers: readonly string[], leaseMs: number): Query => ({
  text: `update etl.schedule set next_slot = clock_timestamp() + $2 * interval '1 ms' where looker = any ($1)`,
  values: [lookers, leaseMs],
});

export interface Looked {
  readonly seen: string | null;
  readonly lookError: string | null;
  readonly pauseMs: number;
}

/** Ends a look, unless another worker looks by now. */
export const endLook = (name: string, looker: string, { seen, lookError, pauseMs }: Looked): Query => ({
  text: `update etl.schedule set looker = null, seen = $3, look_error = $4,
      next_slot = clock_timestamp() + $5 * interval '1 ms'
    where name = $1 and looker = $2 returning clock_timestamp() as now`,
  values: [name, looker, seen, lookError, pauseMs],
});

export const recordFilesSeen = (name: string, slot: Date): Query => ({
  text: `update etl.schedule set last_slot = $2, last_outcome = 'enqueued' where name = $1`,
  values: [name, slot],
});

export interface ComingSlot {
  readonly schedule: string;
  readonly slotSeconds: number;
  readonly lateSeconds: number;
}

export const selectComingSlots = (): Query => ({
  text: `select name as schedule, extract(epoch from next_slot)::float8 as "slotSeconds",
      greatest(0, extract(epoch from clock_timestamp() - next_slot))::float8 as "lateSeconds"
    from etl.schedule where not paused order by name`,
});

export const deleteSchedule = (name: string): Query => ({
  text: 'delete from etl.schedule where name = $1',
  values: [name],
});

export const pauseSchedule = (name: string): Query => ({
  text: 'update etl.schedule set paused = true where name = $1',
  values: [name],
});

export const resumeSchedule = (name: string, nextSlot: Date): Query => ({
  text: 'update etl.schedule set paused = false, next_slot = $2 where name = $1',
  values: [name, nextSlot],
});

export interface Decision {
  readonly name: string;
  readonly slot: Date;
  readonly first: Date | undefined;
  readonly outcome: SlotOutcome | 'asked for';
  /** Id of the job to add to the queue after the commit; undefined: no run. */
  readonly job: string | undefined;
}

const slotsKept = 1_000;

/** Records a slot's outcome. A run is set to pending, and added to the queue after the commit. */
export const recordDecision = ({ name, slot, first, outcome, job }: Decision): Query => ({
  text: `with decided as (
      insert into etl.schedule_slot (schedule, slot, first, outcome, job) values ($1, $2, $3, $4, $5)
    ), forgotten as (
      delete from etl.schedule_slot where schedule = $1 and id <= (
        select id from etl.schedule_slot where schedule = $1 order by id desc offset ${slotsKept - 1} limit 1)
    )
    update etl.schedule set job = $5, job_queue = queue, job_state = 'pending' where name = $1 and $5::text is not null`,
  values: [name, slot, first, outcome, job],
});

export const moveOn = (name: string, slot: Date, outcome: SlotOutcome, nextSlot: Date): Query => ({
  text: 'update etl.schedule set last_slot = $2, last_outcome = $3, next_slot = $4 where name = $1',
  values: [name, slot, outcome, nextSlot],
});

export const recordEnqueued = (name: string): Query => ({
  text: `update etl.schedule set job_state = 'enqueued' where name = $1`,
  values: [name],
});

const jobPrefix = 'schedule-';

/** All workers create the same id for a slot, so a queue accepts it only once. */
export const jobOfSlot = (name: string, slot: Date): string => {
  const [time = ''] = slot.toISOString().split('.');
  return `${jobPrefix}${name}-${time.replace(/:00$/, '').replaceAll(':', '')}Z`;
};

export const jobByHand = (name: string, id: string): string => `${jobPrefix}${name}-${id}`;

export const isScheduledJob = (job: string): boolean => job.startsWith(jobPrefix);

/**
 * Records how a job ended. Never replaces a success: a frozen worker whose job another worker has
 * done may report a failure later.
 */
export const recordJobEnd = (job: string, state: string): Query => ({
  text: `with slot as (
      update etl.schedule_slot set job_state = $2
        where job = $1 and ($2 in ('published', 'unchanged') or coalesce(job_state, '') not in ('published', 'unchanged'))
    )
    update etl.schedule set job_state = $2
      where job = $1 and ($2 in ('published', 'unchanged') or job_state not in ('published', 'unchanged'))`,
  values: [job, state],
});

export const selectSlots = (name: string, limit: number): Query => ({
  text: `select s.slot, s.first, s.outcome, s.job, s.job_state as state, r.id::float8 as run
    from etl.schedule_slot s
    left join lateral (select id from etl.run where job = s.job order by id desc limit 1) r on true
    where s.schedule = $1 order by s.id desc limit $2`,
  values: [name, limit],
});

export const runJobOf = (row: ScheduleRow): RunJob => {
  const { job, jobQueue, pipeline, definition, params, pinnedParams: definedBy, priority } = row;
  const options = { fresh: false, fullRefresh: false, resume: false, allowShrink: [] };
  const data = readRunRequest({ pipeline, definition, params, definedBy, options }, job!);
  return { job: job!, queue: jobQueue!, data, ...(priority !== null && { priority }) };
};
