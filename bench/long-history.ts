// A bookkeeping as it is after years of nightly loads, made by SQL alone: runs, files, chunks, rejects, slots and all the rest.

import { bindPipeline } from '../src/pipeline/bind.ts';
import { recordedFormats } from '../src/pipeline/definition.ts';
import { column, csv, definePipeline } from '../src/index.ts';

export interface HistorySize {
  readonly runs: number;
  readonly chunks: number;
  readonly rejects: number;
  /** Chunks of the largest run. */
  readonly largest: number;
}

/** Pipelines that take turns. */
const pipelines = 20;
const filesOfRun = 4;
/** Files of the largest run. */
const filesOfLargest = 200;

/** What one `insert … select` fills, in the order in which it has to happen. */
export interface HistoryStep {
  readonly what: string;
  readonly sql: string;
}

const csvTable = {
  source: csv('data/*.csv'),
  columns: {
    id: column.text('id'),
    name: column.text('name'),
    amount: column.numeric('amount', { precision: 12, scale: 2 }),
    day: column.date('day'),
  },
};

/** What a run records of its pipeline, as JSON: the page splits rejects into fields with it. */
const formats = JSON.stringify(
  recordedFormats(
    bindPipeline(
      definePipeline({ name: 'sales', schema: 'sales', tables: { fact: csvTable, detail: csvTable } }),
      {
        directory: '/data',
      },
    ),
  ),
);

const runs = ({ runs: count }: HistorySize): string => `
  insert into etl.run (pipeline, state, definition_hash, table_hashes, formats, params, host, pid, workers, epoch, started_at, loaded_at,
      finished_at, error_code, error, generation, crashes_seen)
    overriding system value
  select 'pipeline_' || g % ${pipelines}, s.state, repeat('a', 64), jsonb_build_object('fact', 'a', 'detail', 'b', 'summary', 'c'),
      '${formats}', jsonb_build_object('day', (date '2020-01-01' + (g / ${pipelines})::integer)::text), 'loader-1', 1, 4,
      '00000000-0000-4000-8000-000000000001', t.at, t.at + interval '4 minutes',
      case when s.state <> 'loading' then t.at + interval '5 minutes' + g % 60 * interval '1 second' end,
      case s.state when 'failed' then 'ETL_REJECT_LIMIT' when 'cancelled' then 'ETL_CANCELLED' end,
      case s.state when 'failed' then 'table fact has too many rejects' when 'cancelled' then 'cancelled' end,
      1, case when g % 1000 = 0 or g >= ${count} - 1 then 1 else 0 end
    from generate_series(1, ${count}) g
      cross join lateral (select clock_timestamp() - (${count} - g) * interval '10 minutes' as at) t
      cross join lateral (select case when g = ${count} then 'loading' when g % 50 = 0 then 'failed' when g % 77 = 0
        then 'cancelled' else 'published' end as state) s
    order by g`;

/** Four a run, and those of the two largest. */
const files = ({ runs: count }: HistorySize): string => `
  insert into etl.source_file (run_id, table_name, ordinal, location, name, bytes, fingerprint, header, data_byte, data_line, data_end)
  select r.id, case when n % 2 = 0 then 'fact' else 'detail' end, n / 2, '/data/in/' || r.id || '/part-' || n || '.csv',
      'in/' || r.id || '/part-' || n || '.csv', 800000000, repeat('f', 40), array['id', 'name', 'amount', 'day'], 24, 2, 800000000
    from etl.run r
      cross join lateral generate_series(0, case when r.id >= ${count} - 1 then ${filesOfLargest} else ${filesOfRun} end - 1) n
    order by r.id, n`;

/** Spread over all files but those of the two largest runs, of which every tenth chunk was loaded before a crash: lost, or loaded again. */
const chunks = ({ runs: count, chunks: wanted, largest }: HistorySize): string => {
  const each = Math.max(1, Math.round((wanted - 2 * largest) / (count * filesOfRun)));
  const ofLargest = Math.round(largest / filesOfLargest);
  return `
  insert into etl.chunk (file_id, byte_start, byte_end, first_line, first_record, lines, records, copied, rejected, filtered, epoch,
      committed_at, session, lost_at)
  select f.id, 24 + c.n * 32000000::bigint, 24 + (c.n + 1) * 32000000::bigint, 2 + c.n * 300000, 1 + c.n * 300000, 300000, 300000,
      299990, 10, 0,
      case when r.id = ${count} and c.n % 10 = 9 then '00000000-0000-4000-8000-000000000000'::uuid
        else '00000000-0000-4000-8000-000000000001' end,
      r.started_at + c.n * interval '2 seconds' + f.ordinal * interval '1 second', 1000 + f.ordinal % 4,
      case when r.id = ${count} - 1 and c.n % 10 = 9 then r.started_at end
    from etl.source_file f join etl.run r on r.id = f.run_id
      cross join lateral (select r.id >= ${count} - 1 as is_largest) k
      cross join lateral generate_series(0, case when k.is_largest then ${ofLargest} else ${each} end - 1) c(n)
    order by f.id, c.n`;
};

/** Half of them in the largest run, the others in every tenth. */
const rejects = ({ runs: count, rejects: wanted }: HistorySize): string => {
  const ofLargest = Math.ceil(wanted / 2 / filesOfLargest);
  const each = Math.max(1, Math.round(wanted / 2 / (Math.ceil(count / 10) * filesOfRun)));
  return `
  insert into etl.reject (run_id, table_name, file_id, byte, line, record, column_name, code, reason, raw, last_line)
  select f.run_id, f.table_name, f.id, 24 + c.n * 1000, 2 + c.n * 10, 1 + c.n * 10,
      (array['amount', 'day', 'name', null])[1 + c.n % 4],
      (array['not_a_number', 'not_a_date', 'null', 'field_count'])[1 + c.n % 4],
      (array['12,50 is no number', '31.02.2026 is no date', 'name may not be empty', '5 fields instead of 4'])[1 + c.n % 4],
      'id' || c.n || ',Meyer & Söhne "GmbH",' || repeat('12,50 ', 8) || ',31.02.2026', 2 + c.n * 10
    from etl.source_file f
      cross join lateral generate_series(0, case when f.run_id = greatest(${count} - 1, 1) then ${ofLargest}
        when f.run_id % 10 = 0 then ${each} else 0 end - 1) c(n)
    order by f.id, c.n`;
};

/** As a run that is published leaves them. */
const totals = `
  update etl.run r set totals = t.totals from (
    select run_id, jsonb_agg(to_jsonb(t) - 'run_id') as totals
    from (
      select f.run_id, f.table_name, count(*) as files, sum(f.bytes) as bytes, sum(c.bytes) as bytes_read, sum(c.records) as records,
        sum(c.copied) as copied, sum(c.rejected) as rejected, sum(c.filtered) as filtered
      from etl.source_file f
      join (
        select file_id, sum(byte_end - byte_start) as bytes, sum(records) as records, sum(copied) as copied, sum(rejected) as rejected,
          sum(filtered) as filtered from etl.chunk group by file_id
      ) c on c.file_id = f.id
      group by f.run_id, f.table_name
    ) t group by run_id
  ) t where t.run_id = r.id and r.state = 'published'`;

const published = `
  insert into etl.published_table (run_id, schema_name, table_name, table_oid, strategy, rows, seconds, indexes, columns, not_null,
      primary_key, rows_before, published_at)
  select r.id, 'sales', t.name, 16384, 'swap', 7500000, 42.5, '{}', '{id,name,amount,day}', '{id}', '{id}', 7400000, r.finished_at
    from etl.run r cross join unnest(array['fact', 'detail', 'summary']) t(name) where r.state = 'published'`;

/** Of every pipeline the files of its newest fifteen hundred runs or so. */
const inProduction = ({ runs: count }: HistorySize): string => `
  insert into etl.published_file (pipeline, schema_name, table_name, file_key, file_id, source, location, name, fingerprint, bytes,
      run_id, records, rows, corrections, published_at, seen_at)
  select r.pipeline, 'sales', f.table_name, sha256(convert_to(f.location, 'UTF8')), f.id, f.source, f.location, f.name, f.fingerprint,
      f.bytes, r.id, 7500000, 7499750, 0, r.finished_at, r.started_at
    from etl.run r join etl.source_file f on f.run_id = r.id
    where r.state = 'published' and r.id > ${Math.floor(count / 3)}`;

/** Of tables with some sixty columns. */
const plans = `
  insert into etl.run_plan (run_id, tables, notices, said)
  select id, (select jsonb_agg(jsonb_build_object('table', 'sales.' || name, 'isDerived', false, 'rows', jsonb_build_array(
        jsonb_build_array('files', 'all of 4 files to load, 3.2 GB'), jsonb_build_array('publish', 'swap, because it has no rows yet'),
        jsonb_build_array('ddl', 'create table sales.' || name || ' (' || repeat('"amount" numeric(12, 2) not null, ', 60) || ')'))))
      from unnest(array['fact', 'detail', 'summary']) t(name)),
    jsonb_build_array(jsonb_build_object('at', started_at, 'text', 'data test test_1: 1 row twice')), 1
    from etl.run`;

const dataTests = `
  insert into etl.data_test (run_id, place, table_name, test, kind, severity, outcome, failures, problem, rows, seconds, tested_at)
  select r.id, n, 'fact', 'test_' || n, 'unique', 'warn', case when r.id % 100 = 0 then 'warned' else 'passed' end, r.id % 2,
      case when r.id % 100 = 0 then '1 row twice' end, '[]', 0.1, r.finished_at
    from etl.run r cross join generate_series(1, 3) n where r.state = 'published'`;

const schedules = `
  insert into etl.schedule (name, pipeline, definition_hash, cron, time_zone, catch_up, next_slot, last_slot, last_outcome)
  select 'nightly_' || g, 'pipeline_' || g, repeat('a', 64), '0 3 * * *', 'Europe/Berlin', true, date_trunc('day', now()) + interval '1 day',
      date_trunc('day', now()), 'enqueued' from generate_series(0, ${pipelines - 1}) g;
  insert into etl.schedule_slot (schedule, slot, outcome, decided_at, job_state)
  select s.name, s.last_slot - n * interval '1 day', (array['enqueued', 'enqueued', 'enqueued', 'skipped', 'missed'])[1 + n % 5],
      s.last_slot - n * interval '1 day', case when n % 5 < 3 then 'published' end
    from etl.schedule s cross join generate_series(0, 999) n order by n desc;
  insert into etl.failure (pipeline, queue, host, pid, error_code, error, failed_at)
  select 'pipeline_' || g % ${pipelines}, 'default', 'loader-1', 1, 'ETL_SOURCE_NOT_FOUND', 'no file matches in/*.csv',
      clock_timestamp() - g * interval '1 hour' from generate_series(1, 1000) g`;

/** Statements that fill an empty bookkeeping of this size; the last two runs are the largest, and the last one is under way. */
export const historySteps = (size: HistorySize): readonly HistoryStep[] => [
  // What they refer to is there: looking at it would take longer than all the rest.
  { what: 'without triggers', sql: 'set session_replication_role = replica' },
  { what: 'runs', sql: runs(size) },
  { what: 'files', sql: files(size) },
  { what: 'chunks', sql: chunks(size) },
  { what: 'totals', sql: totals },
  { what: 'rejects', sql: rejects(size) },
  { what: 'published tables', sql: published },
  { what: 'files in production', sql: inProduction(size) },
  { what: 'plans', sql: plans },
  { what: 'data tests', sql: dataTests },
  { what: 'schedules', sql: schedules },
  { what: 'with triggers', sql: 'set session_replication_role = origin' },
  // As autovacuum leaves it.
  { what: 'vacuum', sql: 'vacuum (analyze)' },
];
