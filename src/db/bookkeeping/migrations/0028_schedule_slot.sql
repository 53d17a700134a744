-- Each slot of a schedule, or run that somebody asked for, and what became of it. The newest ones of a schedule; they outlive it.
create table etl.schedule_slot (
  id         bigint generated always as identity primary key,
  schedule   text not null,
  -- When it was due; of a run that was asked for: when that was.
  slot       timestamptz not null,
  -- The first of the slots since the one before that nobody dealt with, and that are not caught up one by one.
  first      timestamptz,
  outcome    text not null check (outcome in ('enqueued', 'skipped', 'missed', 'asked for')),
  decided_at timestamptz not null default clock_timestamp(),
  job        text,
  -- How its run ended: published, unchanged or the code of an error. Null: it has not.
  job_state  text
);
create index schedule_slot_schedule on etl.schedule_slot (schedule, id);
create index schedule_slot_job on etl.schedule_slot (job) where job is not null;
