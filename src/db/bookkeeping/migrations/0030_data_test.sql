-- What the data tests of a run found in what it was about to publish; rows: the first failing ones.
create table etl.data_test (
  run_id     bigint not null references etl.run on delete cascade,
  place      integer not null,
  table_name text not null,
  test       text not null,
  kind       text not null,
  severity   text not null check (severity in ('warn', 'error')),
  outcome    text not null check (outcome in ('passed', 'warned', 'failed')),
  failures   bigint not null,
  problem    text,
  rows       json not null,
  seconds    double precision not null,
  tested_at  timestamptz not null default clock_timestamp(),
  primary key (run_id, place)
);
