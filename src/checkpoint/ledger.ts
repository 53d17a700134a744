// The ledger: runs, their files, and one row for every chunk that is in staging.

import { runQuery, type Client } from '../db/client.ts';
import type { Query } from '../db/sql.ts';
import type { Counts, Position, RunState, SourceFile } from '../model.ts';

/** What a new run says of itself. */
export interface NewRun {
  readonly pipeline: string;
  readonly definitionHash: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly host: string;
  readonly pid: number;
  readonly workers: number;
}

export type NewFile = Omit<SourceFile, 'id' | 'runId'>;

export const insertRun = (run: NewRun): Query => ({
  text: `insert into etl.run (pipeline, definition_hash, params, host, pid, workers)
    values ($1, $2, $3, $4, $5, $6)
    returning id`,
  values: [run.pipeline, run.definitionHash, JSON.stringify(run.params), run.host, run.pid, run.workers],
});

export const insertFiles = (runId: number, files: readonly NewFile[]): Query => ({
  text: `insert into etl.source_file
      (run_id, table_name, ordinal, path, name, bytes, fingerprint, header, data_byte, data_line)
    select $1, f.table_name, f.ordinal, f.path, f.name, f.bytes, f.fingerprint, f.header, f.data_byte, f.data_line
    from jsonb_to_recordset($2::jsonb) as f (table_name text, ordinal integer, path text, name text,
      bytes bigint, fingerprint text, header text[], data_byte bigint, data_line bigint)
    returning id, table_name, ordinal`,
  values: [
    runId,
    JSON.stringify(
      files.map(({ table, dataByte, dataLine, ...file }) => ({
        ...file,
        table_name: table,
        data_byte: dataByte,
        data_line: dataLine,
      })),
    ),
  ],
});

const stateTimes: Partial<Record<RunState, string>> = {
  loaded: ', loaded_at = clock_timestamp()',
  published: ', finished_at = clock_timestamp()',
  failed: ', finished_at = clock_timestamp()',
  cancelled: ', finished_at = clock_timestamp()',
};

export const updateRunState = (runId: number, state: RunState, error?: { code: string; message: string }): Query => ({
  text: `update etl.run
    set state = $2, error_code = $3, error = $4 ${stateTimes[state] ?? ''}
    where id = $1`,
  values: [runId, state, error?.code ?? null, error?.message ?? null],
});

/** Runs whose process is gone without a word: whoever holds the pipeline's lock may say so. */
export const closeAbandonedRuns = (pipeline: string): Query => ({
  text: `update etl.run
    set state = 'failed', finished_at = clock_timestamp(),
      error_code = 'ETL_INTERRUPTED', error = 'the process ended without a word'
    where pipeline = $1 and state not in ('published', 'failed', 'cancelled')
    returning id::float8 as id`,
  values: [pipeline],
});

/** The run that holds a pipeline: the newest unfinished one. */
export const selectHolder = (pipeline: string): Query => ({
  text: `select id::int as run, host, pid, to_char(started_at, 'YYYY-MM-DD HH24:MI:SS TZ') as started
    from etl.run
    where pipeline = $1 and state not in ('published', 'failed', 'cancelled')
    order by id desc limit 1`,
  values: [pipeline],
});

/**
 * Claims a chunk: the row goes in before the first byte is copied, so that a second delivery of the same work waits for
 * this transaction and then finds it done. No row comes back when the chunk is loaded already.
 */
export const claimChunk = (fileId: number, start: Position, epoch: string): Query => ({
  text: `insert into etl.chunk
      (file_id, byte_start, byte_end, first_line, first_record, lines, records, copied, rejected, filtered, epoch)
    values ($1, $2, $2, $3, $4, 0, 0, 0, 0, 0, $5)
    on conflict (file_id, byte_start) do nothing
    returning true as claimed`,
  values: [fileId, start.byte, start.line, start.record, epoch],
});

/** Completes a claimed chunk, in the same transaction. */
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

/** The end and counts of a chunk that is already loaded. */
export const selectChunk = (fileId: number, byteStart: number): Query => ({
  text: `select byte_end::float8 as byte, (first_line + lines)::float8 as line,
      (first_record + records)::float8 as record, records::float8, copied::float8, rejected::float8, filtered::float8
    from etl.chunk where file_id = $1 and byte_start = $2`,
  values: [fileId, byteStart],
});

/** What the chunks of one file add up to, and whether they cover its data without gap or overlap. */
export interface FileTotals extends Counts {
  readonly fileId: number;
  readonly table: string;
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  readonly fingerprint: string;
  readonly covered: boolean;
}

const selectFileTotals = (runId: number): Query => ({
  text: `with chunks as (
      select c.*, lead(byte_start) over (partition by file_id order by byte_start) as next_start
      from etl.chunk c join etl.source_file f on f.id = c.file_id
      where f.run_id = $1
    )
    select f.id::float8 as "fileId", f.table_name as "table", f.name, f.path, f.bytes::float8, f.fingerprint,
      coalesce(sum(c.records), 0)::float8 as records, coalesce(sum(c.copied), 0)::float8 as copied,
      coalesce(sum(c.rejected), 0)::float8 as rejected, coalesce(sum(c.filtered), 0)::float8 as filtered,
      coalesce(min(c.byte_start), f.data_byte) = f.data_byte
        and coalesce(max(c.byte_end), f.data_byte) = f.bytes
        and coalesce(bool_and(c.next_start is null or c.next_start = c.byte_end), true) as covered
    from etl.source_file f left join chunks c on c.file_id = f.id
    where f.run_id = $1
    group by f.id
    order by f.table_name, f.ordinal`,
  values: [runId],
});

/** Totals of every file of a run, from the ledger: what is proved to be in staging. */
export const fileTotals = async (client: Client, runId: number): Promise<readonly FileTotals[]> => {
  return (await runQuery(client, selectFileTotals(runId))).rows;
};
