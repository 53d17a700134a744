-- What failed before there was a run: newest rows only, so that a schedule that fails every minute does not fill a disk.
create table etl.failure (
  id         bigint generated always as identity primary key,
  -- Null when the job could not be read.
  pipeline   text,
  job        text,
  queue      text not null,
  host       text not null,
  pid        integer not null,
  error_code text not null,
  error      text not null,
  failed_at  timestamptz not null default clock_timestamp()
);
