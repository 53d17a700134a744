-- Notifications and their deliveries, a row for each receiver: written in the transaction of what they tell.
create table etl.notification (
  id          bigint generated always as identity primary key,
  -- What the receiver knows it by, the same in each attempt.
  message     uuid not null default gen_random_uuid(),
  event       text not null check (event in ('failed', 'published', 'rejects', 'late')),
  pipeline    text,
  run_id      bigint references etl.run on delete cascade,
  channel     text not null,
  -- Names of the environment variables that hold the receiver's URL and its secret.
  url_name    text not null,
  secret_name text,
  payload     json not null,
  created_at  timestamptz not null default clock_timestamp(),
  state       text not null default 'pending' check (state in ('pending', 'delivered', 'given up')),
  attempts    integer not null default 0,
  -- Of a pending one: not before this.
  next_at     timestamptz not null default clock_timestamp(),
  ended_at    timestamptz,
  -- Why the last attempt failed.
  problem     text
);
create index notification_pending on etl.notification (next_at) where state = 'pending';
create index notification_run on etl.notification (run_id) where run_id is not null;
-- Seconds after which a slot without a published run is late; null: only when it was missed.
alter table etl.schedule
  add column late_after double precision;
-- When it was found late.
alter table etl.schedule_slot
  add column late_at timestamptz;
