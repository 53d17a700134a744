-- What visitors of the page did: a row is written before each action, and its outcome after that.
create table etl.audit (
  id         bigint generated always as identity primary key,
  -- The form that was sent: each is taken once.
  form       uuid not null unique,
  asked_at   timestamptz not null default clock_timestamp(),
  -- null: its process did not live to say what became of it.
  ended_at   timestamptz,
  action     text not null check (action in ('cancel', 'retry', 'run', 'pause', 'resume', 'board')),
  kind       text not null check (kind in ('run', 'schedule', 'pipeline', 'queue')),
  subject    text not null,
  -- Who, as the service says in which the page is mounted.
  person     text,
  -- Of the connection; behind a proxy the proxy's.
  address    text,
  -- A browser with the token, by a few letters.
  visitor    text not null,
  error_code text,
  -- What was done, or why not.
  detail     text
);
create index audit_subject on etl.audit (kind, subject);
