-- Corrections of rejected records, by pipeline, table, version of a file, and byte. A correction that is replaced gets a new id, so
-- the largest id that a run knows tells which ones it has not seen.
create table etl.correction (
  id          bigint generated always as identity primary key,
  pipeline    text not null,
  table_name  text not null,
  source      text not null,
  location    text not null,
  member      text,
  fingerprint text not null,
  -- SHA-256 of source, location, member and fingerprint, which are too long for an index.
  file_key    text not null,
  byte        bigint not null,
  header      text[] not null,
  fields      text[] not null,
  from_file   text not null,
  from_line   bigint not null,
  made_at     timestamptz not null default clock_timestamp(),
  unique (pipeline, table_name, file_key, byte)
);
-- Rejects that a correction took the place of, written in the transaction that loaded it.
create table etl.corrected (
  file_id    bigint not null references etl.source_file on delete cascade,
  byte       bigint not null,
  correction bigint not null,
  outcome    text not null check (outcome in ('copied', 'filtered')),
  primary key (file_id, byte)
);
-- The correction that was tried in place of the record, and was refused as well.
alter table etl.reject
  add column correction bigint;
alter table etl.run
  add column corrections bigint not null default 0;
