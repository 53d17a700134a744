-- Which runs are wanted when. Here and not on the queue, so that a queue that is emptied loses no schedule.
create table etl.schedule (
  name            text primary key,
  pipeline        text not null,
  definition_hash text not null,
  params          jsonb not null default '{}',
  cron            text not null,
  time_zone       text not null,
  priority        integer,
  catch_up        boolean not null,
  paused          boolean not null default false,
  -- The first slot that nobody has dealt with.
  next_slot       timestamptz not null,
  last_slot       timestamptz,
  last_outcome    text check (last_outcome in ('enqueued', 'skipped', 'missed')),
  -- Newest run asked for, by a slot or by hand. pending: it is decided on, and may not be on the queue yet.
  job             text,
  job_state       text
);
create index schedule_job on etl.schedule (job) where job is not null;
