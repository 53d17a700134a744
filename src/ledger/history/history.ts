// Reads earlier runs: the queries of `etl status`.

import { testsOfRun } from '../run/data-tests.ts';
import { storyOfRun, type RunStory } from '../run/run-story.ts';
import type { DataTestResult } from '../../core/data-test.ts';
import { isThere, rowsOf, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import type { RecordedFormats } from '../../core/declaration.ts';
import { ownOptions, type Dialect } from '../../core/dialect.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { Counts, HeaderDifferences, RunState } from '../../core/model.ts';
import { noPipeline, refuseUnknown, selectPipelineNames } from './names.ts';
import { totalsOfFile, totalsOfRun, totalsOfTables } from './totals.ts';

export interface FilesWanted {
  readonly first: number;
  readonly limit: number | null;
}

export interface RunSummary extends Counts {
  readonly id: number;
  readonly pipeline: string;
  readonly state: RunState;
  readonly host: string;
  readonly pid: number;
  readonly workers: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  readonly seconds: number | null;
  readonly files: number;
  readonly bytes: number;
  readonly errorCode: string | null;
  readonly error: string | null;
  /** False: the run has not ended, and its session is gone: its process, or only its connection. */
  readonly isConnected: boolean;
  /** For a rollback: the run whose tables it restored. 0: tables from before the first run. */
  readonly rolledBackTo: number | null;
}

/** Fields from which `run-words.ts` and the page derive the state of a run. */
export type RunHead = Pick<
  RunSummary,
  'id' | 'state' | 'host' | 'pid' | 'isConnected' | 'finishedAt' | 'errorCode' | 'rolledBackTo'
>;

/** `rowsBefore`, `rows`, `strategy` and `schema` are null if the run did not publish the table. */
export interface TableSummary extends Counts {
  readonly table: string;
  readonly schema: string | null;
  readonly files: number;
  readonly bytes: number;
  readonly bytesRead: number;
  readonly rowsBefore: number | null;
  readonly rows: number | null;
  readonly strategy: string | null;
  /** Replaced partitions; null if all were replaced, or the table is not partitioned. */
  readonly partitions: readonly string[] | null;
  readonly seconds: number | null;
}

export interface FileSummary extends Counts {
  readonly table: string;
  readonly file: string;
  readonly location: string;
  readonly differs: HeaderDifferences | null;
  readonly decoding: string | null;
  readonly encoding: string;
  /** Dialect options that differ from most files of the table; null: none. */
  readonly dialect: Partial<Dialect> | null;
  readonly bytes: number;
}

/** An attempt that was continued later. Without an error, its process was killed. */
interface EarlierAttempt {
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly errorCode: string | null;
  readonly error: string | null;
}

export interface RunDetails extends RunStory {
  readonly run: RunSummary;
  readonly tables: readonly TableSummary[];
  readonly files: readonly FileSummary[];
  readonly tests: readonly DataTestResult[];
  readonly earlier: readonly EarlierAttempt[];
  /** Says where the time went and what would change that. */
  readonly advice: readonly string[];
  /** What to do about the error; null: none, or the run ended before hints were recorded. */
  readonly hint: string | null;
}

const noTotals = '0 as files, 0 as bytes, 0 as records, 0 as copied, 0 as rejected, 0 as filtered';

/** SQL, of a run r. Sessions on the primary are not seen from a standby. */
export const isConnected = `(r.finished_at is not null or r.session is null or pg_is_in_recovery()
  or exists (select from pg_stat_activity a where a.pid = r.session)) as "isConnected"`;

/** SQL: how long the attempts of an ended run `r` took together, without the pauses between them. */
export const workedTime = `(r.finished_at - coalesce(r.continued_at, r.started_at) + (
    select coalesce(sum(greatest(coalesce("endedAt", "lastChunkAt"), "startedAt") - "startedAt"), interval '0')
    from jsonb_to_recordset(r.earlier) as attempt ("startedAt" timestamptz, "endedAt" timestamptz, "lastChunkAt" timestamptz)))`;

export const runColumns = `
  r.id::float8 as id, r.pipeline, r.state, r.host, r.pid, r.workers,
  r.started_at as "startedAt", r.finished_at as "finishedAt",
  round(extract(epoch from ${workedTime}), 3)::float8 as seconds,
  t.files, t.bytes, t.records, t.copied, t.rejected, t.filtered,
  r.error_code as "errorCode", r.error, r.rolled_back_to::float8 as "rolledBackTo",
  ${isConnected}`;

/**
 * SQL: a recursive query with the pipelines that have runs, as `run_name`; its last row is null.
 * Uses a few index look-ups, instead of reading all runs.
 */
export const pipelinesWithRuns = `run_name (pipeline) as (
    (select pipeline from etl.run order by pipeline limit 1)
    union all
    select (select r.pipeline from etl.run r where r.pipeline > n.pipeline order by r.pipeline limit 1)
    from run_name n where n.pipeline is not null
  )`;

/** SQL conditions. A stopped run was interrupted and can continue; a cancelled run cannot. */
export const shownStates = {
  running: `r.state not in ('published', 'failed', 'cancelled')`,
  published: `r.state = 'published'`,
  failed: `r.state = 'failed'`,
  stopped: `r.state = 'cancelled' and r.error_code = 'ETL_INTERRUPTED'`,
  cancelled: `r.state = 'cancelled' and r.error_code is distinct from 'ETL_INTERRUPTED'`,
} as const;
export type ShownState = keyof typeof shownStates;

export interface RunsWanted {
  readonly limit: number;
  readonly pipeline?: string | undefined;
  readonly state?: ShownState | undefined;
  readonly since?: Date | undefined;
}

/** Selects runs under way, then ended runs by end: a run may end weeks after its start. */
const selectRuns = ({ limit, pipeline, state, since }: RunsWanted): Query => ({
  text: `select ${runColumns}
    from (
      select * from etl.run r
      where ($2::text is null or r.pipeline = $2) and ($3::timestamptz is null or r.started_at >= $3)
        and ${state === undefined ? 'true' : shownStates[state]}
      order by r.finished_at desc nulls first, r.id desc limit $1
    ) r
    cross join lateral ${totalsOfRun} t
    order by r.finished_at desc nulls first, r.id desc`,
  values: [limit, pipeline, since],
});

export const selectRunsOf = (runIds: readonly number[]): Query => ({
  text: `select ${runColumns} from etl.run r cross join lateral ${totalsOfRun} t where r.id = any ($1)`,
  values: [runIds],
});

const selectRow = (runId: number): Query => ({
  text: `select ${runColumns} from etl.run r cross join (select ${noTotals}) t where r.id = $1`,
  values: [runId],
});

const selectTables = (runId: number): Query => ({
  text: `with loaded as (select t.* from etl.run r cross join lateral ${totalsOfTables} t where r.id = $1),
    published as (select * from etl.published_table where run_id = $1),
    declared as (
      select jsonb_object_keys(table_hashes) as table_name from etl.run where id = $1
    )
    select table_name as table, p.schema_name as schema,
      coalesce(l.files, 0) as files, coalesce(l.bytes, 0) as bytes, coalesce(l.bytes_read, 0) as "bytesRead",
      coalesce(l.records, 0) as records, coalesce(l.copied, 0) as copied,
      coalesce(l.rejected, 0) as rejected, coalesce(l.filtered, 0) as filtered,
      p.rows_before::float8 as "rowsBefore", p.rows::float8 as rows, p.strategy,
      p.partitions,
      round(p.seconds::numeric, 3)::float8 as seconds
    from loaded l
    full join published p using (table_name)
    full join declared using (table_name)
    order by l.place nulls last, p.published_at, 1`,
  values: [runId],
});

const selectFiles = (runId: number, { first, limit }: FilesWanted): Query => ({
  text: `select f.table_name as table, f.name as file, f.location, f.differs, f.decoding, f.encoding, f.reading, f.bytes::float8 as bytes,
      c.records, c.copied, c.rejected, c.filtered
    from etl.run r
    join lateral (
      select * from etl.source_file where run_id = r.id order by table_name, ordinal offset $2 limit $3
    ) f on true
    cross join lateral ${totalsOfFile} c
    where r.id = $1
    order by f.table_name, f.ordinal`,
  values: [runId, first, limit],
});

const selectKept = (runId: number): Query => ({
  // A bookkeeping of an earlier version has no column `hint`.
  text: `select earlier, coalesce(advice, '{}') as advice, formats, to_jsonb(r) ->> 'hint' as hint
    from etl.run r where id = $1`,
  values: [runId],
});

export const hasHistory = (client: Client): Promise<boolean> => isThere(client, 'etl.run');

export const listRuns = async (client: Client, wanted: RunsWanted): Promise<RunSummary[]> => {
  if (!(await hasHistory(client))) return [];
  await refuseUnknown(client, wanted.pipeline ?? null, selectPipelineNames, noPipeline);
  return rowsOf<RunSummary>(client, selectRuns(wanted));
};

const findRow = async (client: Client, runId: number, query: Query): Promise<RunSummary> => {
  const [run] = (await hasHistory(client)) ? await rowsOf<RunSummary>(client, query) : [];
  if (!run) throw new EtlError('ETL_RUN_UNKNOWN', { run: runId });
  return run;
};

/** Errors: ETL_RUN_UNKNOWN. */
export const findSummary = (client: Client, runId: number): Promise<RunSummary> =>
  findRow(client, runId, selectRunsOf([runId]));

const summed = ['files', 'bytes', 'records', 'copied', 'rejected', 'filtered'] as const;

/** Adds up the totals of a run's tables; SQL would read all chunks again. */
const sumsOf = (tables: readonly TableSummary[]): Pick<RunSummary, (typeof summed)[number]> => {
  const sums = { files: 0, bytes: 0, records: 0, copied: 0, rejected: 0, filtered: 0 };
  for (const table of tables) for (const key of summed) sums[key] += table[key];
  return sums;
};

/** `reading`: index of the file's dialect among its table's dialects. */
interface ReadFile extends Omit<FileSummary, 'dialect'> {
  readonly reading: number;
}

interface KeptOfRun extends Pick<RunDetails, 'earlier' | 'advice' | 'hint'> {
  readonly formats: Readonly<Record<string, RecordedFormats>>;
}

const withDialects = (files: readonly ReadFile[], formats: KeptOfRun['formats']): readonly FileSummary[] => {
  const own = new Map(Object.entries(formats).map(([name, { dialects }]) => [name, ownOptions(dialects)]));
  return files.map(({ reading, ...file }) => {
    const ofTable = own.get(file.table) ?? [];
    return { ...file, dialect: ofTable.length > 1 ? (ofTable[reading] ?? null) : null };
  });
};

/** Errors: ETL_RUN_UNKNOWN. */
export const findRun = async (
  client: Client,
  runId: number,
  wanted: FilesWanted = { first: 0, limit: null },
): Promise<RunDetails> => {
  const row = await findRow(client, runId, selectRow(runId));
  const tables = await rowsOf<TableSummary>(client, selectTables(runId));
  const run = { ...row, ...sumsOf(tables) };
  const read = await rowsOf<ReadFile>(client, selectFiles(runId, wanted));
  const [kept] = await rowsOf<KeptOfRun>(client, selectKept(runId));
  const { formats, ...more } = kept!;
  const files = withDialects(read, formats);
  const tests = await testsOfRun(client, runId);
  return { run, tables, files, tests, ...more, ...(await storyOfRun(client, runId)) };
};
