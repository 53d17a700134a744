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
  -- Hash of what shapes the staged rows of each table with files: a table whose hash is the same keeps what is loaded of it.
  staged_hashes   jsonb not null default '{}',
  -- How the files of each table are written, and the fields of its columns: rejected records are parsed again without the pipeline.
  formats         jsonb not null default '{}',
  -- The parameters as they are shown, and those that make the definition again, in another process or later.
  params          jsonb not null default '{}',
  pinned_params   jsonb not null default '{}',
  -- The job of the run queue that the run is for: a second delivery of the job finds the run of the first. Without a job, the workers
  -- of the default queue help.
  job             text,
  queue           text not null default 'default',
  host            text not null,
  pid             integer not null,
  workers         integer not null,
  -- The server process whose session holds the pipeline's lock for the run: every chunk's transaction asks whether it still does.
  session         integer,
  -- Tells the coordinators of one run apart: raised by each that takes the run over, compared in every chunk's transaction.
  generation      integer not null default 1,
  -- The crash epoch under which the run's chunks count; a crash of the server gives the run a new one.
  epoch           uuid not null,
  crashes_seen    integer not null default 0,
  -- Whether it loads everything again; so it does, too, when it is continued.
  full_refresh    boolean not null default false,
  -- Largest id of etl.correction that the run knows.
  corrections     bigint not null default 0,
  started_at      timestamptz not null default clock_timestamp(),
  -- How earlier attempts ended, oldest first (startedAt, endedAt, errorCode, error), and when the newest attempt began; null: the run
  -- was never continued.
  earlier         jsonb not null default '[]',
  continued_at    timestamptz,
  loaded_at       timestamptz,
  finished_at     timestamptz,
  error_code      text,
  error           text,
  -- The hook `published` has not ended yet: the next start of the pipeline calls it.
  hook_pending    boolean not null default false,
  -- Of a run that put earlier versions back: the run that it went back to; 0: no run loaded that version.
  rolled_back_to  bigint,
  -- Tables that the run has built and could not publish, because of sessions with older snapshots: the next attempt publishes them.
  -- Their `basis` says what they were made of.
  kept_build      jsonb,
  -- Sums of a published run's files and chunks, an element for each table with files, in declared order: adding them up takes as long
  -- as the run has chunks. Null: not published.
  totals          jsonb,
  -- Where the time went and what would change that, in sentences. Null: the run was short, or was not published.
  advice          text[],
  -- Room for the end of a run on a full disk: the row is as long from the beginning as with its error, so that nothing of it has to
  -- move elsewhere, and its page has room for another version of it.
  end_room        text default repeat('.', 700)
) with (fillfactor = 50);
alter table etl.run alter column end_room set storage plain;
create index run_pipeline on etl.run (pipeline, id desc);
create index run_job on etl.run (job) where job is not null;
-- Runs in the order in which they are listed.
create index run_newest on etl.run (finished_at desc nulls first, id desc);

-- What a run was going to do, and what it said on its way.
create table etl.run_plan (
  run_id   bigint primary key references etl.run on delete cascade,
  -- For each table: table, isDerived, and rows of label and text, as `etl plan` prints them.
  tables   jsonb not null default '[]',
  -- Rows that were too many to be kept.
  rows_cut integer not null default 0,
  -- at, text; oldest first, the newest of them all.
  notices  jsonb not null default '[]',
  -- How many were said.
  said     integer not null default 0,
  -- OpenTelemetry's number of the trace of the run; null: it was not traced.
  trace_id text
);

create table etl.source_file (
  id          bigint generated always as identity primary key,
  run_id      bigint not null references etl.run on delete cascade,
  table_name  text not null,
  ordinal     integer not null,
  -- A file is known by its source, its location there, and its member in an archive.
  source      text not null default 'file',
  location    text not null,
  member      text,
  name        text not null,
  -- Bytes as they are stored.
  bytes       bigint not null,
  fingerprint text not null,
  decoding    text,
  encoding    text not null default 'utf-8',
  -- Where a member is in its archive, as the archive's format says it.
  part        jsonb,
  -- Which of the dialects in etl.run.formats the file is read in.
  reading     integer not null default 0,
  header      text[] not null,
  -- How lines end, as the first one says: lf, crlf, cr.
  line_end    text not null default 'lf',
  -- Data in decoded bytes; its end is null until somebody has seen it.
  data_byte   bigint not null,
  data_line   bigint not null,
  data_end    bigint,
  -- Texts that hold for the whole file, and what its header has otherwise than the table names.
  constants   jsonb not null default '{}',
  differs     jsonb,
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
  -- Who loaded it.
  session      integer default pg_backend_pid(),
  committed_at timestamptz not null default clock_timestamp(),
  -- When an earlier load of it was committed, which a crash took.
  lost_at      timestamptz,
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
  last_line   bigint,
  record      bigint not null,
  -- The first fault of the record; the others are in more_faults.
  column_name text,
  code        text not null,
  reason      text not null,
  fault_count integer not null default 1,
  more_faults jsonb not null default '[]',
  raw         text not null,
  -- The correction that was tried in place of the record, and was refused as well.
  correction  bigint
);
create index reject_run on etl.reject (run_id, table_name, file_id, byte);
-- A file that is deleted takes its rejects along: without an index each looks through all of them.
create index reject_file on etl.reject (file_id);

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

create table etl.published_table (
  run_id        bigint not null references etl.run on delete cascade,
  schema_name   text not null,
  table_name    text not null,
  table_oid     oid not null,
  strategy      text not null,
  -- Rows that readers had before; null: there was no table.
  rows_before   bigint,
  rows          bigint not null,
  -- What became of records that are merged: inserted, updated, unchanged, deleted, superseded. Null: no rows were merged.
  changes       jsonb,
  -- Partitions that were replaced; null: all were. And those that the table had with the commit: if it has others, people have dropped,
  -- detached or attached some since, and `rows` does not say how many rows it has.
  partitions    text[],
  partition_oids oid[],
  seconds       double precision not null,
  -- What we made of the table: what else it has is somebody's own.
  columns       text[],
  not_null      text[],
  primary_key   text[],
  indexes       text[] not null,
  constraints   text[],
  -- The run that loaded the rows, if a later run put them back.
  version       bigint,
  published_at  timestamptz not null default clock_timestamp(),
  primary key (run_id, table_name)
);

-- Which version of which file is in production of which table, written in the transaction that publishes it. It does not refer to
-- etl.run: a file whose run was deleted is still in production, and must not be loaded twice.
create table etl.published_file (
  pipeline     text not null,
  schema_name  text not null,
  table_name   text not null,
  -- SHA-256 of source, location and member, which are too long for an index.
  file_key     bytea not null,
  -- The version: the id that it had in etl.source_file, which is in the column _file of its rows, if the table has that.
  file_id      bigint not null,
  source       text not null,
  location     text not null,
  member       text,
  name         text not null,
  fingerprint  text not null,
  bytes        bigint not null,
  run_id       bigint not null,
  records      bigint not null,
  rows         bigint not null,
  -- Rows that have left with replaced partitions.
  replaced     bigint not null default 0,
  -- Largest id of etl.correction that its run knew.
  corrections  bigint not null,
  -- Taken out on request: it is not loaded again before it changes.
  unloaded     boolean not null default false,
  -- When the run that loaded it began, before it looked at the file for the last time: a file that was changed long before is known
  -- again by its size and time alone.
  seen_at      timestamptz,
  published_at timestamptz not null default clock_timestamp(),
  primary key (pipeline, schema_name, table_name, file_key)
);
-- Finds copies among very many files: those of one size, the newest first.
create index published_file_size on etl.published_file (table_name, bytes, file_id);

-- Earlier versions of published tables, in the schema etl_kept: one row a table there.
create table etl.kept_table (
  id          bigint generated always as identity primary key,
  pipeline    text not null,
  schema_name text not null,
  table_name  text not null,
  -- The run that loaded these rows; 0: no run did.
  run_id      bigint not null,
  -- The run that replaced them.
  replaced_by bigint not null,
  kept_name   text not null,
  table_oid   oid not null,
  rows        bigint,
  -- Names that its indexes had in production, in the order of their names in etl_kept; null: its rows are a copy, without indexes.
  indexes     text[],
  kept_at     timestamptz not null default clock_timestamp(),
  unique (kept_name)
);
create index kept_table_pipeline on etl.kept_table (pipeline, id);

-- Emptied by the server whenever it empties unlogged staging: its one row is the crash epoch.
create unlogged table etl.canary (
  only_row boolean primary key default true check (only_row),
  epoch    uuid not null
);

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

-- Which runs are wanted when. Here and not on the queue, so that a queue that is emptied loses no schedule.
create table etl.schedule (
  name            text primary key,
  pipeline        text not null,
  -- The hash of the definition with pinned_params, the parameters as they were when the schedule was set.
  definition_hash text not null,
  params          jsonb not null default '{}',
  pinned_params   jsonb not null default '{}',
  cron            text not null,
  time_zone       text not null,
  queue           text not null default 'default',
  priority        integer,
  catch_up        boolean not null,
  paused          boolean not null default false,
  -- Seconds after which a slot without a published run is late; null: only when it was missed.
  late_after      double precision,
  -- The first slot that nobody has dealt with.
  next_slot       timestamptz not null,
  last_slot       timestamptz,
  last_outcome    text check (last_outcome in ('enqueued', 'skipped', 'missed')),
  -- Newest run asked for, by a slot or by hand, and the queue that it was asked for on. pending: it is decided on, and may not be on
  -- the queue yet.
  job             text,
  job_queue       text,
  job_state       text
);
create index schedule_job on etl.schedule (job) where job is not null;

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
  job_state  text,
  -- When it was found late.
  late_at    timestamptz
);
create index schedule_slot_schedule on etl.schedule_slot (schedule, id);
create index schedule_slot_job on etl.schedule_slot (job) where job is not null;

-- Queues of runs by name: a worker serves those that it is told to.
create table etl.queue (
  name text primary key
);
insert into etl.queue values ('default');

-- What this database has written into Redis beside its jobs, under each prefix: a copy of the database does not know what the
-- original wrote after the copy was made.
create table etl.queue_owner (
  prefix text not null,
  mark   text not null,
  at     timestamptz not null default clock_timestamp(),
  primary key (prefix, mark)
);

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

-- What visitors of the page did: a row is written before each action, and its outcome after that.
create table etl.audit (
  id         bigint generated always as identity primary key,
  -- The form that was sent: each is taken once.
  form       uuid not null unique,
  asked_at   timestamptz not null default clock_timestamp(),
  -- Null: its process did not live to say what became of it.
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
