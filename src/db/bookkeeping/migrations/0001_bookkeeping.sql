-- The bookkeeping schema: what was planned, what is loaded, what was refused, what is published.
-- Documented column by column in docs/reference/schema.md.

-- Staging tables of all pipelines.
create schema if not exists etl_staging;

create table etl.run (
  id              bigint generated always as identity primary key,
  pipeline        text not null,
  state           text not null default 'planned'
                  check (state in ('planned', 'loading', 'loaded', 'publishing', 'published', 'failed', 'cancelled')),
  definition_hash text not null,
  -- Hash of each table's declaration: tells which one changed.
  table_hashes    jsonb not null,
  params          jsonb not null default '{}',
  host            text not null,
  pid             integer not null,
  workers         integer not null,
  -- The crash epoch under which this run's chunks count; a crash of the server gives the run a new one.
  epoch           uuid not null,
  crashes_seen    integer not null default 0,
  started_at      timestamptz not null default clock_timestamp(),
  loaded_at       timestamptz,
  finished_at     timestamptz,
  error_code      text,
  error           text
);
create index run_pipeline on etl.run (pipeline, id desc);

create table etl.source_file (
  id          bigint generated always as identity primary key,
  run_id      bigint not null references etl.run on delete cascade,
  table_name  text not null,
  ordinal     integer not null,
  path        text not null,
  name        text not null,
  bytes       bigint not null,
  fingerprint text not null,
  header      text[] not null,
  data_byte   bigint not null,
  data_line   bigint not null,
  unique (run_id, table_name, ordinal)
);

-- One row a chunk, written in the transaction of its COPY: the proof that these bytes are in staging.
create table etl.chunk (
  file_id      bigint not null references etl.source_file on delete cascade,
  byte_start   bigint not null,
  byte_end     bigint not null,
  first_line   bigint not null,
  first_record bigint not null,
  lines        bigint not null,
  records      bigint not null,
  copied       bigint not null,
  rejected     bigint not null,
  filtered     bigint not null,
  epoch        uuid not null,
  committed_at timestamptz not null default clock_timestamp(),
  primary key (file_id, byte_start)
);

create table etl.reject (
  id          bigint generated always as identity primary key,
  run_id      bigint not null references etl.run on delete cascade,
  table_name  text not null,
  file_id     bigint not null references etl.source_file on delete cascade,
  member      text,
  byte        bigint not null,
  line        bigint not null,
  record      bigint not null,
  column_name text,
  code        text not null,
  reason      text not null,
  raw         text not null
);
create index reject_run on etl.reject (run_id, table_name, file_id, byte);

create table etl.published_table (
  run_id       bigint not null references etl.run on delete cascade,
  schema_name  text not null,
  table_name   text not null,
  table_oid    oid not null,
  strategy     text not null check (strategy in ('swap', 'in place')),
  rows         bigint not null,
  seconds      double precision not null,
  -- Indexes that we made: what else the table has is somebody's own and is carried over.
  indexes      text[] not null,
  published_at timestamptz not null default clock_timestamp(),
  primary key (run_id, table_name)
);

-- Emptied by the server whenever it empties unlogged staging: its one row is the crash epoch.
create unlogged table etl.canary (
  only_row boolean primary key default true check (only_row),
  epoch    uuid not null
);
