-- The bookkeeping schema: planned runs, loaded chunks, rejects, published tables.
-- docs/reference/schema.md describes all columns.

create table etl.run (
  id              bigint generated always as identity primary key,
  pipeline        text not null,
  state           text not null default 'planned'
                  check (state in ('planned', 'loading', 'loaded', 'publishing', 'published', 'failed', 'cancelled')),
  definition_hash text not null,
  -- Hash of each table's declaration: tells which table changed.
  table_hashes    jsonb not null,
  -- By table: hash of the definition of its staged rows. While it is unchanged, loaded rows are
  -- kept.
  staged_hashes   jsonb not null default '{}',
  -- Dialects of each table's files, and the fields of its columns, to parse rejected records
  -- without the pipeline.
  formats         jsonb not null default '{}',
  -- The parameters as displayed. pinned_params: values that reproduce the definition later, or in
  -- another process.
  params          jsonb not null default '{}',
  pinned_params   jsonb not null default '{}',
  -- The run's job on the run queue: a second delivery of the job finds this run. Without a job,
  -- workers of the default queue help.
  job             text,
  queue           text not null default 'default',
  host            text not null,
  pid             integer not null,
  workers         integer not null,
  -- Pid of the session that holds the pipeline's lock for the run. Every chunk's transaction checks
  -- that this session still holds the lock.
  session         integer,
  -- Increased by each coordinator that takes over the run, and compared in every chunk's
  -- transaction.
  generation      integer not null default 1,
  -- Crash epoch under which the run's chunks count. After a crash of the server, the run gets the
  -- new epoch.
  epoch           uuid not null,
  crashes_seen    integer not null default 0,
  -- True if the run loads everything again, also when it is continued.
  full_refresh    boolean not null default false,
  -- Largest id in etl.correction that the run knows.
  corrections     bigint not null default 0,
  started_at      timestamptz not null default clock_timestamp(),
  -- Earlier attempts, oldest first (startedAt, endedAt, errorCode, error). continued_at: when the
  -- newest attempt started; null: the run was never continued.
  earlier         jsonb not null default '[]',
  continued_at    timestamptz,
  loaded_at       timestamptz,
  finished_at     timestamptz,
  error_code      text,
  error           text,
  -- True until the hook `published` has ended: the next start of the pipeline calls it.
  hook_pending    boolean not null default false,
  -- For a rollback: the run whose tables it restored. 0: tables from before the first run.
  rolled_back_to  bigint,
  -- Tables that the run built and could not publish because of older snapshots, for its next
  -- attempt. `basis` identifies what they were built from.
  kept_build      jsonb,
  -- Sums of a published run's files and chunks, one element for each table with files, in declared
  -- order. Stored, because adding up takes as long as the run has chunks. Null: not published.
  totals          jsonb,
  -- Sentences that say where the time went and what would change that. Null: the run was short, or
  -- was not published.
  advice          text[],
  -- Reserves space to record the end of the run on a full disk: the error replaces this text, so
  -- the row gets no longer, and the fillfactor leaves space for its new version.
  end_room        text default repeat('.', 700)
) with (fillfactor = 50);
alter table etl.run alter column end_room set storage plain;
create index run_pipeline on etl.run (pipeline, id desc);
create index run_job on etl.run (job) where job is not null;
create index run_newest on etl.run (finished_at desc nulls first, id desc);

create table etl.run_plan (
  run_id   bigint primary key references etl.run on delete cascade,
  -- For each table: table, isDerived, and rows of label and text, as `etl plan` prints them.
  tables   jsonb not null default '[]',
  -- Number of rows that were not stored because there were too many.
  rows_cut integer not null default 0,
  -- Notices (at, text), oldest first; only the newest are stored.
  notices  jsonb not null default '[]',
  -- Number of all notices.
  said     integer not null default 0,
  -- OpenTelemetry's trace id; null: the run was not traced.
  trace_id text
);

create table etl.source_file (
  id          bigint generated always as identity primary key,
  run_id      bigint not null references etl.run on delete cascade,
  table_name  text not null,
  ordinal     integer not null,
  -- Identify the file: source, location there, and member of an archive.
  source      text not null default 'file',
  location    text not null,
  member      text,
  name        text not null,
  -- Size of the file as stored, possibly compressed.
  bytes       bigint not null,
  fingerprint text not null,
  decoding    text,
  encoding    text not null default 'utf-8',
  -- Where the archive has the member; the form depends on the archive format.
  part        jsonb,
  -- Index of the file's dialect in etl.run.formats.
  reading     integer not null default 0,
  header      text[] not null,
  -- How the first line ends: lf, crlf or cr.
  line_end    text not null default 'lf',
  -- Where the data begins and ends, in decoded bytes; data_end is null until a loader has found it.
  data_byte   bigint not null,
  data_line   bigint not null,
  data_end    bigint,
  -- Constant values for the whole file, and how its header differs from the table's.
  constants   jsonb not null default '{}',
  differs     jsonb,
  unique (run_id, table_name, ordinal)
);

-- One row per chunk, written in the transaction of its COPY: the proof that these bytes are in
-- staging.
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
  -- Server process that loaded the chunk.
  session      integer not null default pg_backend_pid(),
  committed_at timestamptz not null default clock_timestamp(),
  -- When an earlier load of the chunk was committed, if a crash emptied its rows.
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
  -- The first fault of the record; other faults are in more_faults.
  column_name text,
  code        text not null,
  reason      text not null,
  fault_count integer not null default 1,
  more_faults jsonb not null default '[]',
  raw         text not null,
  -- A correction of the record that was tried and refused.
  correction  bigint
);
create index reject_run on etl.reject (run_id, table_name, file_id, byte);
-- Without this index, deleting a file would search all rejects.
create index reject_file on etl.reject (file_id);

-- Corrections of rejected records. A replaced correction gets a new id, so corrections with an id
-- above a run's `corrections` are new to it.
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

-- Rejects that were replaced by a correction, written in the transaction that loaded the
-- correction.
create table etl.corrected (
  file_id    bigint not null references etl.source_file on delete cascade,
  byte       bigint not null,
  correction bigint not null,
  outcome    text not null check (outcome in ('copied', 'filtered')),
  primary key (file_id, byte)
);

-- Results of a run's data tests; rows: the first failing rows.
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
  -- Rows before the publication; null: there was no table.
  rows_before   bigint,
  rows          bigint not null,
  -- Number of merged records by outcome: inserted, updated, unchanged, deleted, superseded. Null:
  -- no rows were merged.
  changes       jsonb,
  -- Names of the replaced partitions; null: all were replaced. partition_oids: all partitions at
  -- the commit. If the table has other partitions now, somebody has dropped, detached or attached
  -- some, and `rows` is not the table's number of rows.
  partitions    text[],
  partition_oids oid[],
  seconds       double precision not null,
  -- Columns, constraints and indexes that the run created. Any others were added by somebody else.
  columns       text[],
  not_null      text[],
  primary_key   text[],
  indexes       text[] not null,
  constraints   text[],
  -- For a rollback: the run that loaded the restored rows. Otherwise null.
  version       bigint,
  published_at  timestamptz not null default clock_timestamp(),
  primary key (run_id, table_name)
);

-- Which version of which file is in production of which table, written in the publishing
-- transaction. No foreign key to etl.run: a file whose run was deleted is still in production, and
-- must not be loaded twice.
create table etl.published_file (
  pipeline     text not null,
  schema_name  text not null,
  table_name   text not null,
  -- SHA-256 of source, location and member, which are too long for an index.
  file_key     bytea not null,
  -- The file's id in etl.source_file, and value of the column _file of its rows.
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
  -- Rows that were deleted with replaced partitions.
  replaced     bigint not null default 0,
  -- Largest id in etl.correction that the file's run knew.
  corrections  bigint not null,
  -- True if removed on request: the file is not loaded again before it changes.
  unloaded     boolean not null default false,
  -- When the run that loaded the file started. A file modified long before is recognized by size
  -- and modification time alone.
  seen_at      timestamptz not null,
  published_at timestamptz not null default clock_timestamp(),
  primary key (pipeline, schema_name, table_name, file_key)
);
create index published_file_size on etl.published_file (table_name, bytes, file_id);

-- Earlier versions of published tables, each a table in the schema etl_kept.
create table etl.kept_table (
  id          bigint generated always as identity primary key,
  pipeline    text not null,
  schema_name text not null,
  table_name  text not null,
  -- The run that loaded these rows; 0: they existed before the first run.
  run_id      bigint not null,
  -- The run that replaced these rows in production.
  replaced_by bigint not null,
  kept_name   text not null,
  table_oid   oid not null,
  rows        bigint,
  -- Names that the table's indexes had in production, in the order of their names in etl_kept;
  -- null: the rows are a copy, without indexes.
  indexes     text[],
  kept_at     timestamptz not null default clock_timestamp(),
  unique (kept_name)
);
create index kept_table_pipeline on etl.kept_table (pipeline, id);

-- The server empties this table when it empties unlogged staging tables. The row is the crash
-- epoch.
create unlogged table etl.canary (
  only_row boolean primary key default true check (only_row),
  epoch    uuid not null
);

-- Failures before a run started. Only the newest are stored, so that a schedule that fails every
-- minute does not fill a disk.
create table etl.failure (
  id         bigint generated always as identity primary key,
  -- Null if the job could not be read.
  pipeline   text,
  job        text,
  queue      text not null,
  host       text not null,
  pid        integer not null,
  error_code text not null,
  error      text not null,
  failed_at  timestamptz not null default clock_timestamp()
);

-- Schedules are stored here and not on the queue, so that an emptied queue loses no schedule.
create table etl.schedule (
  name            text primary key,
  pipeline        text not null,
  -- Hash of the pipeline's definition when the schedule was set, with pinned_params.
  definition_hash text not null,
  params          jsonb not null default '{}',
  pinned_params   jsonb not null default '{}',
  cron            text not null,
  time_zone       text not null,
  queue           text not null default 'default',
  priority        integer,
  catch_up        boolean not null,
  paused          boolean not null default false,
  -- Seconds after which a slot without a published run is late; null: only missed slots are late.
  late_after      double precision,
  -- The first slot that was not handled yet.
  next_slot       timestamptz not null,
  last_slot       timestamptz,
  last_outcome    text check (last_outcome in ('enqueued', 'skipped', 'missed')),
  -- Job of the newest run, and its queue. job_state pending: it may not be on the queue yet.
  job             text,
  job_queue       text,
  job_state       text
);
create index schedule_job on etl.schedule (job) where job is not null;

-- Slots of schedules and runs requested by hand, with their outcomes. Only the newest rows of each
-- schedule are stored, also after the schedule was deleted.
create table etl.schedule_slot (
  id         bigint generated always as identity primary key,
  schedule   text not null,
  -- When the slot was due, or when the run was requested.
  slot       timestamptz not null,
  -- If earlier slots were missed and are not caught up: the first of these slots.
  first      timestamptz,
  outcome    text not null check (outcome in ('enqueued', 'skipped', 'missed', 'asked for')),
  decided_at timestamptz not null default clock_timestamp(),
  job        text,
  -- How the job's run ended: published, unchanged or an error code. Null: it has not ended.
  job_state  text,
  -- When a notification reported that the slot is late.
  late_at    timestamptz
);
create index schedule_slot_schedule on etl.schedule_slot (schedule, id);
create index schedule_slot_job on etl.schedule_slot (job) where job is not null;

-- Names of the run queues that were ever used.
create table etl.queue (
  name text primary key
);
insert into etl.queue values ('default');

-- Marks that this database has written into Redis, by key prefix. A copy of the database does not
-- know marks that the original writes later.
create table etl.queue_owner (
  prefix text not null,
  mark   text not null,
  at     timestamptz not null default clock_timestamp(),
  primary key (prefix, mark)
);

-- Notifications, one row for each receiver, written in the transaction of the reported event.
create table etl.notification (
  id          bigint generated always as identity primary key,
  -- Id of the message for the receiver, the same in each attempt.
  message     uuid not null default gen_random_uuid(),
  event       text not null check (event in ('failed', 'published', 'rejects', 'late')),
  pipeline    text,
  run_id      bigint references etl.run on delete cascade,
  channel     text not null,
  -- Names of the environment variables with the receiver's URL and its secret.
  url_name    text not null,
  secret_name text,
  payload     json not null,
  created_at  timestamptz not null default clock_timestamp(),
  state       text not null default 'pending' check (state in ('pending', 'delivered', 'given up')),
  attempts    integer not null default 0,
  -- Earliest time of the next attempt, if pending.
  next_at     timestamptz not null default clock_timestamp(),
  ended_at    timestamptz,
  problem     text
);
create index notification_pending on etl.notification (next_at) where state = 'pending';
create index notification_run on etl.notification (run_id) where run_id is not null;

-- Actions of the page's visitors. A row is written before each action, and its outcome afterwards.
create table etl.audit (
  id         bigint generated always as identity primary key,
  -- Id of the form that was sent: each form is accepted once.
  form       uuid not null unique,
  asked_at   timestamptz not null default clock_timestamp(),
  -- Null: the action is under way, or its process was killed.
  ended_at   timestamptz,
  action     text not null check (action in ('cancel', 'retry', 'run', 'pause', 'resume', 'board')),
  kind       text not null check (kind in ('run', 'schedule', 'pipeline', 'queue')),
  subject    text not null,
  -- The person's name, if the program around the page provides it.
  person     text,
  -- Address of the visitor's connection; behind a proxy, the address of the proxy.
  address    text,
  -- A few letters that identify the browser.
  visitor    text not null,
  error_code text,
  -- What the action did, or why it did nothing.
  detail     text
);
create index audit_subject on etl.audit (kind, subject);
