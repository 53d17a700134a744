// The ledger: runs, their files, and one row for every chunk in staging.

import { rowsOf, type Client } from '../../db/client.ts';
import { storableJson, type Query } from '../../db/sql.ts';
import type { RecordedFormats } from '../../core/declaration.ts';
import type { Counts, Position, RunState, SourceFile } from '../../core/model.ts';

export interface NewRun {
  readonly pipeline: string;
  readonly definitionHash: string;
  readonly tableHashes: Readonly<Record<string, string>>;
  readonly stagedHashes: Readonly<Record<string, string>>;
  readonly formats: Readonly<Record<string, RecordedFormats>>;
  readonly epoch: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** Values with which another process gets the same parameters. */
  readonly pinnedParams: Readonly<Record<string, unknown>>;
  readonly host: string;
  readonly pid: number;
  readonly workers: number;
  readonly job?: string | undefined;
  readonly queue: string;
  readonly isFullRefresh: boolean;
  /** Folder of the pipeline file. */
  readonly directory: string;
}

export type NewFile = Omit<SourceFile, 'id' | 'runId' | 'runStarted' | 'ordinal'>;

const startOf = (run: string): string =>
  `to_char(${run}.started_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US+00')`;

export const insertRun = (run: NewRun): Query => ({
  text: `insert into etl.run (pipeline, definition_hash, table_hashes, params, pinned_params, epoch, host, pid, workers, job, queue,
      staged_hashes, formats, full_refresh, directory, corrections, session)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, (select coalesce(max(id), 0) from etl.correction), pg_backend_pid())
    returning id::float8 as id, generation, ${startOf('run')} as "runStarted"`,
  values: [
    run.pipeline,
    run.definitionHash,
    JSON.stringify(run.tableHashes),
    storableJson(run.params),
    storableJson(run.pinnedParams),
    run.epoch,
    run.host,
    run.pid,
    run.workers,
    run.job ?? null,
    run.queue,
    JSON.stringify(run.stagedHashes),
    storableJson(run.formats),
    run.isFullRefresh,
    run.directory,
  ],
});

/**
 * `newestOf`: the newest run of a pipeline, whose lock this session holds. Returns the `id` of each
 * file with its place in `files`.
 */
export const insertFiles = (
  run: { readonly id: number } | { readonly newestOf: string },
  files: readonly (NewFile & Pick<SourceFile, 'ordinal'>)[],
): Query => ({
  text: `insert into etl.source_file
      (run_id, table_name, ordinal, source, location, member, name, bytes, fingerprint, decoding, encoding, reading, part, header, data_byte,
        data_line, data_end, line_end, constants, differs)
    select coalesce($1::bigint, (select max(id) from etl.run where pipeline = $3)), f."table", f.ordinal, f.source, f.location, f.member, f.name, f.bytes, f.fingerprint, f.decoding, f.encoding, f.reading,
      f.part, f.header, f."dataByte", f."dataLine", f."dataEnd", f."lineEnd", f.constants, f.differs
    from jsonb_to_recordset($2::jsonb) as f ("table" text, ordinal integer, source text, location text, member text, name text,
      bytes bigint, fingerprint text, decoding text, encoding text, reading integer, part jsonb, header text[], "dataByte" bigint, "dataLine" bigint,
      "dataEnd" bigint, "lineEnd" text, constants jsonb, differs jsonb)
    returning id::float8 as id, table_name as "table", ordinal`,
  values: 'id' in run ? [run.id, JSON.stringify(files), null] : [null, JSON.stringify(files), run.newestOf],
});

/**
 * Sets a run's state, also back from `publishing` to `loaded` if its tables must be built again.
 * Changes no row if the run was cancelled.
 */
export const advanceRun = (runId: number, state: 'loading' | 'loaded' | 'publishing'): Query => ({
  text: `update etl.run
    set state = $2, loaded_at = case when $2 = 'loaded' and state = 'loading' then clock_timestamp() else loaded_at end
    where id = $1 and state <> 'cancelled'`,
  values: [runId, state],
});

export interface TableTotals extends Counts {
  readonly table: string;
  readonly files: number;
  readonly bytes: number;
  readonly bytesRead: number;
}

/** Changes no row if another process has taken over or cancelled the run. */
export const markPublished = (runId: number, totals: readonly TableTotals[]): Query => ({
  text: `update etl.run
    set state = 'published', finished_at = clock_timestamp(), error_code = null, error = null, end_room = null, totals = $2
    where id = $1 and state = 'publishing'`,
  values: [
    runId,
    JSON.stringify(
      totals.map(({ table, files, bytes, bytesRead, records, copied, rejected, filtered }) => ({
        table_name: table,
        bytes_read: bytesRead,
        files,
        bytes,
        records,
        copied,
        rejected,
        filtered,
      })),
    ),
  ],
});

export interface LatestRun {
  readonly id: number;
  readonly state: RunState;
  readonly definitionHash: string;
  /** By table: hash of the definition of its staged rows. */
  readonly stagedHashes: Readonly<Record<string, string>>;
  readonly epoch: string;
  readonly generation: number;
  readonly isFullRefresh: boolean;
  readonly errorCode: string | null;
  readonly directory: string | null;
}

export const latestRun = async (client: Client, pipeline: string): Promise<LatestRun | undefined> =>
  (
    await client.query(
      `select id::float8 as id, state, definition_hash as "definitionHash", staged_hashes as "stagedHashes", epoch,
          generation, full_refresh as "isFullRefresh", error_code as "errorCode", directory
        from etl.run where pipeline = $1 order by id desc limit 1`,
      [pipeline],
    )
  ).rows[0];

/**
 * Reads a run's state: after a connection was lost during a commit, tells if it succeeded. Returns
 * undefined if the server that was found again is a promoted standby that did not get the run.
 */
export const runStanding = async (
  client: Client,
  runId: number,
): Promise<{ readonly state: RunState; readonly generation: number } | undefined> =>
  (await client.query('select state, generation from etl.run where id = $1', [runId])).rows[0];

export const runFiles = (client: Client, runId: number): Promise<readonly SourceFile[]> =>
  rowsOf(client, {
    text: `select f.id::float8 as id, f.run_id::float8 as "runId",
          ${startOf('r')} as "runStarted", f.table_name as "table", f.ordinal,
          f.source, f.location, f.member, f.name, f.bytes::float8 as bytes, f.fingerprint, f.decoding, f.encoding,
          f.reading, f.part, f.header, f.data_byte::float8 as "dataByte", f.data_line::float8 as "dataLine", f.data_end::float8 as "dataEnd",
          f.line_end as "lineEnd", f.constants, f.differs
        from etl.run r join etl.source_file f on f.run_id = r.id where r.id = $1 order by f.id`,
    values: [runId],
  });

export const selectUnfinished = (pipeline: string): Query => ({
  text: `select id::int as run, host, pid, to_char(started_at, 'YYYY-MM-DD HH24:MI:SS TZ') as started
    from etl.run
    where pipeline = $1 and state in ('planned', 'loading', 'loaded', 'publishing')
      and id = (select max(id) from etl.run where pipeline = $1)`,
  values: [pipeline],
});

/**
 * Inserts a chunk's row before its first byte is copied. A second loader of the chunk waits for
 * this transaction, then gets no row. Reuses the row of an earlier epoch.
 */
export const claimChunk = (fileId: number, start: Position, epoch: string): Query => ({
  text: `insert into etl.chunk as c
      (file_id, byte_start, byte_end, first_line, first_record, lines, records, copied, rejected, filtered, epoch)
    values ($1, $2, $2, $3, $4, 0, 0, 0, 0, 0, $5)
    on conflict (file_id, byte_start) do update
      set byte_end = excluded.byte_end, lines = 0, records = 0, copied = 0, rejected = 0, filtered = 0,
        first_line = excluded.first_line, first_record = excluded.first_record, epoch = excluded.epoch,
        session = excluded.session, lost_at = c.committed_at
      where c.epoch <> excluded.epoch
    returning true as claimed`,
  values: [fileId, start.byte, start.line, start.record, epoch],
});

export const completeChunk = (fileId: number, start: Position, end: Position, counts: Counts): Query => ({
  text: `update etl.chunk
    set byte_end = $3, lines = $4, records = $5, copied = $6, rejected = $7, filtered = $8,
      committed_at = clock_timestamp()
    where file_id = $1 and byte_start = $2`,
  values: [
    fileId,
    start.byte,
    end.byte,
    end.line - start.line,
    counts.records,
    counts.copied,
    counts.rejected,
    counts.filtered,
  ],
});

export const endFile = (fileId: number, dataEnd: number): Query => ({
  text: 'update etl.source_file set data_end = $2 where id = $1 and data_end is null',
  values: [fileId, dataEnd],
});

export const selectChunk = (fileId: number, byteStart: number): Query => ({
  text: `select byte_end::float8 as byte, (first_line + lines)::float8 as line,
      (first_record + records)::float8 as record, records::float8, copied::float8, rejected::float8, filtered::float8
    from etl.chunk where file_id = $1 and byte_start = $2`,
  values: [fileId, byteStart],
});

export interface LoadedChunkRow extends Counts {
  readonly fileId: number;
  readonly start: number;
  readonly end: Position;
}

/** Returns, in file order, the chunks that have the run's epoch. */
export const loadedChunks = async (
  client: Client,
  runId: number,
  fileId?: number,
): Promise<readonly LoadedChunkRow[]> => {
  const { rows } = await client.query(
    `select c.file_id::float8 as "fileId", c.byte_start::float8 as start, c.byte_end::float8 as byte,
        (c.first_line + c.lines)::float8 as line, (c.first_record + c.records)::float8 as record,
        c.records::float8, c.copied::float8, c.rejected::float8, c.filtered::float8
      from etl.chunk c join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id
      where r.id = $1 and c.epoch = r.epoch and ($2::bigint is null or f.id = $2)
      order by c.file_id, c.byte_start`,
    [runId, fileId],
  );
  return rows.map(({ byte, line, record, ...row }) => ({ ...row, end: { byte, line, record } }));
};

/** Totals of a table's chunks in staging. */
export interface LoadedTotals extends TableTotals {
  /** Files that chunks do not cover from their first byte to their last, without gap or overlap. */
  readonly uncovered: number;
  /** The first file that is not covered, or of which not every record has been counted. */
  readonly faulty: (Counts & { readonly name: string; readonly covered: boolean }) | null;
}

/**
 * Returns the totals of tables that have files. Looks up chunks by key: statistics do not know a new
 * run, so a plain join would take minutes.
 */
export const loadedTotals = (client: Client, runId: number): Promise<readonly LoadedTotals[]> =>
  rowsOf(client, {
    text: `select "table", count(*)::float8 as files, sum(bytes) as bytes, sum("bytesRead") as "bytesRead", sum(records) as records,
      sum(copied) as copied, sum(rejected) as rejected, sum(filtered) as filtered,
      (count(*) filter (where not covered))::float8 as uncovered,
      (array_agg(to_jsonb(file) order by ordinal) filter (where not covered or records <> copied + rejected + filtered))[1] as faulty
    from (
      select f.table_name as "table", f.ordinal, f.name, f.bytes::float8, c.bytes_read as "bytesRead",
        c.records, c.copied, c.rejected, c.filtered,
        coalesce(c.first_byte, f.data_byte) = f.data_byte
          and coalesce(c.end_byte, f.data_byte) is not distinct from f.data_end
          and coalesce(c.follow_each_other, true) as covered
      from etl.run r join etl.source_file f on f.run_id = r.id
        cross join lateral (
          select coalesce(sum(records), 0)::float8 as records, coalesce(sum(copied), 0)::float8 as copied,
            coalesce(sum(rejected), 0)::float8 as rejected, coalesce(sum(filtered), 0)::float8 as filtered,
            coalesce(sum(byte_end - byte_start), 0)::float8 as bytes_read, min(byte_start) as first_byte, max(byte_end) as end_byte,
            bool_and(next_start is null or next_start = byte_end) as follow_each_other
          from (
            select *, lead(byte_start) over (order by byte_start) as next_start
            from etl.chunk where file_id = f.id and epoch = r.epoch
          ) own
        ) c
      where r.id = $1
    ) file
    group by "table"
    order by "table"`,
    values: [runId],
  });
