// Shape of the schema `etl` after all migrations, as trust.ts reads it. Written by
// test/integration/bookkeeping.test.ts.

export const bookkeepingShape: readonly string[] = `
audit: CHECK ((action = ANY (ARRAY['cancel'::text, 'retry'::text, 'run'::text, 'pause'::text, 'resume'::text, 'board'::text])))
audit: CHECK ((kind = ANY (ARRAY['run'::text, 'schedule'::text, 'pipeline'::text, 'queue'::text])))
audit: PRIMARY KEY (id)
audit: UNIQUE (form)
audit: action text not null
audit: address text
audit: asked_at timestamp with time zone not null default clock_timestamp()
audit: detail text
audit: ended_at timestamp with time zone
audit: error_code text
audit: form uuid not null
audit: id bigint not null identity a
audit: kind text not null
audit: person text
audit: subject text not null
audit: visitor text not null
canary: CHECK (only_row)
canary: PRIMARY KEY (only_row)
canary: epoch uuid not null
canary: only_row boolean not null default true
chunk: FOREIGN KEY {1} REFERENCES etl.source_file {1} ON DELETE c
chunk: PRIMARY KEY (file_id, byte_start)
chunk: byte_end bigint not null
chunk: byte_start bigint not null
chunk: committed_at timestamp with time zone not null default clock_timestamp()
chunk: copied bigint not null
chunk: epoch uuid not null
chunk: file_id bigint not null
chunk: filtered bigint not null
chunk: first_line bigint not null
chunk: first_record bigint not null
chunk: lines bigint not null
chunk: lost_at timestamp with time zone
chunk: records bigint not null
chunk: rejected bigint not null
chunk: session integer not null default pg_backend_pid()
corrected: CHECK ((outcome = ANY (ARRAY['copied'::text, 'filtered'::text])))
corrected: FOREIGN KEY {1} REFERENCES etl.source_file {1} ON DELETE c
corrected: PRIMARY KEY (file_id, byte)
corrected: byte bigint not null
corrected: correction bigint not null
corrected: file_id bigint not null
corrected: outcome text not null
correction: PRIMARY KEY (id)
correction: UNIQUE (pipeline, table_name, file_key, byte)
correction: byte bigint not null
correction: fields text[] not null
correction: file_key text not null
correction: fingerprint text not null
correction: from_file text not null
correction: from_line bigint not null
correction: header text[] not null
correction: id bigint not null identity a
correction: location text not null
correction: made_at timestamp with time zone not null default clock_timestamp()
correction: member text
correction: pipeline text not null
correction: source text not null
correction: table_name text not null
data_test: CHECK ((outcome = ANY (ARRAY['passed'::text, 'warned'::text, 'failed'::text])))
data_test: CHECK ((severity = ANY (ARRAY['warn'::text, 'error'::text])))
data_test: FOREIGN KEY {1} REFERENCES etl.run {1} ON DELETE c
data_test: PRIMARY KEY (run_id, place)
data_test: failures bigint not null
data_test: kind text not null
data_test: outcome text not null
data_test: place integer not null
data_test: problem text
data_test: rows json not null
data_test: run_id bigint not null
data_test: seconds double precision not null
data_test: severity text not null
data_test: table_name text not null
data_test: test text not null
data_test: tested_at timestamp with time zone not null default clock_timestamp()
failure: PRIMARY KEY (id)
failure: error text not null
failure: error_code text not null
failure: failed_at timestamp with time zone not null default clock_timestamp()
failure: host text not null
failure: id bigint not null identity a
failure: job text
failure: pid integer not null
failure: pipeline text
failure: queue text not null
held_file: file jsonb not null
held_file: held_at timestamp with time zone not null
held_file: pipeline text not null
kept_table: PRIMARY KEY (id)
kept_table: UNIQUE (kept_name)
kept_table: id bigint not null identity a
kept_table: indexes text[]
kept_table: kept_at timestamp with time zone not null default clock_timestamp()
kept_table: kept_name text not null
kept_table: pipeline text not null
kept_table: replaced_by bigint not null
kept_table: rows bigint
kept_table: run_id bigint not null
kept_table: schema_name text not null
kept_table: table_name text not null
kept_table: table_oid oid not null
migration: PRIMARY KEY (version)
migration: applied_at timestamp with time zone not null default clock_timestamp()
migration: file text not null
migration: version integer not null
notification: CHECK ((event = ANY (ARRAY['failed'::text, 'published'::text, 'rejects'::text, 'late'::text])))
notification: CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'given up'::text])))
notification: CREATE INDEX notification_pending ON etl.notification USING btree (next_at) WHERE (state = 'pending'::text)
notification: CREATE INDEX notification_run ON etl.notification USING btree (run_id) WHERE (run_id IS NOT NULL)
notification: FOREIGN KEY {5} REFERENCES etl.run {1} ON DELETE c
notification: PRIMARY KEY (id)
notification: attempts integer not null default 0
notification: channel text not null
notification: created_at timestamp with time zone not null default clock_timestamp()
notification: ended_at timestamp with time zone
notification: event text not null
notification: id bigint not null identity a
notification: message uuid not null default gen_random_uuid()
notification: next_at timestamp with time zone not null default clock_timestamp()
notification: payload json not null
notification: pipeline text
notification: problem text
notification: run_id bigint
notification: secret_name text
notification: state text not null default 'pending'::text
notification: url_name text not null
published_file: PRIMARY KEY (pipeline, schema_name, table_name, file_key)
published_file: bytes bigint not null
published_file: corrections bigint not null
published_file: file_id bigint not null
published_file: file_key bytea not null
published_file: fingerprint text not null
published_file: location text not null
published_file: member text
published_file: name text not null
published_file: pipeline text not null
published_file: published_at timestamp with time zone not null default clock_timestamp()
published_file: records bigint not null
published_file: replaced bigint not null default 0
published_file: rows bigint not null
published_file: run_id bigint not null
published_file: schema_name text not null
published_file: seen_at timestamp with time zone not null
published_file: source text not null
published_file: table_name text not null
published_file: unloaded boolean not null default false
published_table: FOREIGN KEY {1} REFERENCES etl.run {1} ON DELETE c
published_table: PRIMARY KEY (run_id, table_name)
published_table: changes jsonb
published_table: columns text[]
published_table: constraints text[]
published_table: indexes text[] not null
published_table: not_null text[]
published_table: partition_oids oid[]
published_table: partitions text[]
published_table: primary_key text[]
published_table: published_at timestamp with time zone not null default clock_timestamp()
published_table: rows bigint not null
published_table: rows_before bigint
published_table: run_id bigint not null
published_table: schema_name text not null
published_table: seconds double precision not null
published_table: strategy text not null
published_table: table_name text not null
published_table: table_oid oid not null
published_table: version bigint
queue: PRIMARY KEY (name)
queue: name text not null
queue_owner: PRIMARY KEY (prefix, mark)
queue_owner: at timestamp with time zone not null default clock_timestamp()
queue_owner: mark text not null
queue_owner: prefix text not null
reject: FOREIGN KEY {2} REFERENCES etl.run {1} ON DELETE c
reject: FOREIGN KEY {4} REFERENCES etl.source_file {1} ON DELETE c
reject: PRIMARY KEY (id)
reject: byte bigint not null
reject: code text not null
reject: column_name text
reject: correction bigint
reject: fault_count integer not null default 1
reject: file_id bigint not null
reject: id bigint not null identity a
reject: last_line bigint
reject: line bigint not null
reject: member text
reject: more_faults jsonb not null default '[]'::jsonb
reject: raw text not null
reject: reason text not null
reject: record bigint not null
reject: run_id bigint not null
reject: table_name text not null
run: CHECK ((state = ANY (ARRAY['planned'::text, 'loading'::text, 'loaded'::text, 'publishing'::text, 'published'::text, 'failed'::text, 'cancelled'::text])))
run: CREATE INDEX run_job ON etl.run USING btree (job) WHERE (job IS NOT NULL)
run: PRIMARY KEY (id)
run: advice text[]
run: continued_at timestamp with time zone
run: corrections bigint not null default 0
run: crashes_seen integer not null default 0
run: definition_hash text not null
run: directory text
run: earlier jsonb not null default '[]'::jsonb
run: end_room text default repeat('.'::text, 700)
run: epoch uuid not null
run: error text
run: error_code text
run: finished_at timestamp with time zone
run: formats jsonb not null default '{}'::jsonb
run: full_refresh boolean not null default false
run: generation integer not null default 1
run: hint text
run: hook_pending boolean not null default false
run: host text not null
run: id bigint not null identity a
run: job text
run: kept_build jsonb
run: loaded_at timestamp with time zone
run: params jsonb not null default '{}'::jsonb
run: pid integer not null
run: pinned_params jsonb not null default '{}'::jsonb
run: pipeline text not null
run: queue text not null default 'default'::text
run: rolled_back_to bigint
run: session integer
run: staged_hashes jsonb not null default '{}'::jsonb
run: started_at timestamp with time zone not null default clock_timestamp()
run: state text not null default 'planned'::text
run: table_hashes jsonb not null
run: totals jsonb
run: workers integer not null
run_plan: FOREIGN KEY {1} REFERENCES etl.run {1} ON DELETE c
run_plan: PRIMARY KEY (run_id)
run_plan: notices jsonb not null default '[]'::jsonb
run_plan: rows_cut integer not null default 0
run_plan: run_id bigint not null
run_plan: said integer not null default 0
run_plan: tables jsonb not null default '[]'::jsonb
run_plan: trace_id text
schedule: CHECK ((last_outcome = ANY (ARRAY['enqueued'::text, 'skipped'::text, 'missed'::text])))
schedule: CREATE INDEX schedule_due ON etl.schedule USING btree (next_slot) WHERE ((NOT paused) AND (every IS NULL))
schedule: CREATE INDEX schedule_job ON etl.schedule USING btree (job) WHERE (job IS NOT NULL)
schedule: CREATE INDEX schedule_pending ON etl.schedule USING btree (name) WHERE (job_state = 'pending'::text)
schedule: PRIMARY KEY (name)
schedule: catch_up boolean not null
schedule: cron text
schedule: definition_hash text not null
schedule: every double precision
schedule: job text
schedule: job_queue text
schedule: job_state text
schedule: last_outcome text
schedule: last_slot timestamp with time zone
schedule: late_after double precision
schedule: look_error text
schedule: looker text
schedule: name text not null
schedule: next_slot timestamp with time zone not null
schedule: params jsonb not null default '{}'::jsonb
schedule: paused boolean not null default false
schedule: pinned_params jsonb not null default '{}'::jsonb
schedule: pipeline text not null
schedule: priority integer
schedule: queue text not null default 'default'::text
schedule: seen text
schedule: time_zone text not null
schedule_slot: CHECK ((outcome = ANY (ARRAY['enqueued'::text, 'skipped'::text, 'missed'::text, 'asked for'::text])))
schedule_slot: CREATE INDEX schedule_slot_job ON etl.schedule_slot USING btree (job) WHERE (job IS NOT NULL)
schedule_slot: PRIMARY KEY (id)
schedule_slot: decided_at timestamp with time zone not null default clock_timestamp()
schedule_slot: first timestamp with time zone
schedule_slot: id bigint not null identity a
schedule_slot: job text
schedule_slot: job_state text
schedule_slot: late_at timestamp with time zone
schedule_slot: outcome text not null
schedule_slot: schedule text not null
schedule_slot: slot timestamp with time zone not null
source_file: FOREIGN KEY {2} REFERENCES etl.run {1} ON DELETE c
source_file: PRIMARY KEY (id)
source_file: UNIQUE (run_id, table_name, ordinal)
source_file: bytes bigint not null
source_file: constants jsonb not null default '{}'::jsonb
source_file: data_byte bigint not null
source_file: data_end bigint
source_file: data_line bigint not null
source_file: decoding text
source_file: differs jsonb
source_file: encoding text not null default 'utf-8'::text
source_file: fingerprint text not null
source_file: header text[] not null
source_file: id bigint not null identity a
source_file: line_end text not null default 'lf'::text
source_file: location text not null
source_file: member text
source_file: name text not null
source_file: ordinal integer not null
source_file: part jsonb
source_file: reading integer not null default 0
source_file: run_id bigint not null
source_file: source text not null default 'file'::text
source_file: table_name text not null
up_to_date: PRIMARY KEY (pipeline)
up_to_date: checked_at timestamp with time zone not null
up_to_date: pipeline text not null
`
  .trim()
  .split('\n');
