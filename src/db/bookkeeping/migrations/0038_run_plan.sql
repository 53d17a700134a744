-- What a run was going to do, and what it said on its way, for those who look at it later: its process alone knew.
create table etl.run_plan (
  run_id    bigint primary key references etl.run on delete cascade,
  -- For each table: table, isDerived, and rows of label and text, as `etl plan` prints them.
  tables    jsonb not null default '[]',
  -- Rows that were too many to be kept.
  rows_cut  integer not null default 0,
  -- at, text; oldest first, the newest of them all.
  notices   jsonb not null default '[]',
  -- How many were said.
  said      integer not null default 0,
  -- OpenTelemetry's number of the trace that its spans are in; null: it was not traced.
  trace_id  text
);
