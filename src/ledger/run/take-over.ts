// Takes over an unfinished run, with the same or another definition and files.

import type { Client } from '../../db/client.ts';
import { storableJson, type Query } from '../../db/sql.ts';
import type { SourceFile } from '../../core/model.ts';
import type { NewRun } from './ledger.ts';

/** Ends unfinished runs, because their staging tables will be dropped. */
export const abandonRuns = (pipeline: string, why: string): Query => ({
  text: `update etl.run
    set state = 'cancelled', finished_at = coalesce(finished_at, clock_timestamp()),
      error_code = coalesce(error_code, 'ETL_INTERRUPTED'),
      error = coalesce(error, 'its process ended without a word; ' || $2), end_room = null
    where pipeline = $1 and state not in ('published', 'cancelled', 'failed')`,
  values: [pipeline, why],
});

/** Earlier attempts stored. */
const earlierMax = 20;

/** SQL: the same process goes on with its attempt, after it had lost the server. */
const isSameAttempt = 'host = $2 and pid = $3 and finished_at is null';

/**
 * SQL: `earlier` plus the last attempt, unless that goes on. `lastChunkAt`: how long an attempt
 * worked that ended without a word.
 */
const earlierAttempts = `case when ${isSameAttempt} then earlier else
        case when jsonb_array_length(earlier) >= ${earlierMax} then earlier - 0 else earlier end || jsonb_build_object(
          'startedAt', coalesce(continued_at, started_at), 'endedAt', finished_at, 'errorCode', error_code, 'error', error,
          'lastChunkAt', case when finished_at is null then (
            select max(c.committed_at) from etl.chunk c join etl.source_file f on f.id = c.file_id where f.run_id = run.id) end) end`;

/**
 * Takes over a run for the session that holds the pipeline's lock. Waits for current chunks of
 * other loaders, whose transactions lock the run's row. Raises `generation`, so that these loaders
 * stop. Returns no row if the run was cancelled for the same job: only a new job continues it.
 */
export const adoptRun = (
  runId: number,
  { host, pid, workers, job, queue }: Pick<NewRun, 'host' | 'pid' | 'workers' | 'job' | 'queue'>,
): Query => ({
  text: `update etl.run
    set earlier = ${earlierAttempts},
      continued_at = case when ${isSameAttempt} then continued_at else clock_timestamp() end,
      state = 'loading', generation = generation + 1, host = $2, pid = $3, workers = $4, job = $5,
      queue = $6, session = pg_backend_pid(), finished_at = null, error_code = null, error = null, hint = null, end_room = default
    where id = $1 and ($5::text is null or job is distinct from $5 or error_code is distinct from 'ETL_RUN_CANCELLED')
    returning generation`,
  values: [runId, host, pid, workers, job, queue],
});

/**
 * Waits for current chunks and stops all loaders: the loaded data can no longer change. Called only
 * by the holder of the pipeline's lock.
 */
export const fenceRun = (runId: number): Query => ({
  text: 'update etl.run set generation = generation + 1 where id = $1',
  values: [runId],
});

export const redefineRun = (
  runId: number,
  {
    definitionHash,
    tableHashes,
    stagedHashes,
    formats,
  }: Pick<NewRun, 'definitionHash' | 'tableHashes' | 'stagedHashes' | 'formats'>,
): Query => ({
  text: `update etl.run set definition_hash = $2, table_hashes = $3, staged_hashes = $4, formats = $5 where id = $1`,
  values: [
    runId,
    definitionHash,
    JSON.stringify(tableHashes),
    JSON.stringify(stagedHashes),
    storableJson(formats),
  ],
});

export const forgetOtherFiles = (runId: number, kept: readonly Pick<SourceFile, 'id'>[]): Query => ({
  text: 'delete from etl.source_file where run_id = $1 and id <> all ($2)',
  values: [runId, kept.map(({ id }) => id)],
});

/** Makes all ordinals negative, so that new ones can be set without violating uniqueness. */
export const freeOrdinals = (runId: number): Query => ({
  text: 'update etl.source_file set ordinal = -1 - ordinal where run_id = $1',
  values: [runId],
});

export const setOrdinals = (files: readonly Pick<SourceFile, 'id' | 'ordinal'>[]): Query => ({
  text: `update etl.source_file f set ordinal = n.ordinal
    from unnest($1::bigint[], $2::integer[]) as n (id, ordinal) where f.id = n.id`,
  values: [files.map(({ id }) => id), files.map(({ ordinal }) => ordinal)],
});

interface LostChunks {
  readonly chunks: number;
  readonly records: number;
}

/**
 * Gives a run the server's new epoch after a crash. Its chunks no longer count, except chunks of
 * the tables in `kept`, which are logged. Deletes rejects that will be found again.
 */
export const renewEpoch = async (
  client: Client,
  runId: number,
  epoch: string,
  kept: readonly string[],
): Promise<LostChunks> => {
  const { rows } = await client.query(
    `with counted as (
        select c.file_id, c.byte_start, c.records, f.table_name = any ($3) as is_kept
        from etl.chunk c join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id
        where r.id = $1 and c.epoch = r.epoch
      ),
      renewed as (
        update etl.run set epoch = $2, crashes_seen = crashes_seen + 1 where id = $1 and epoch <> $2 returning id
      ),
      carried as (
        update etl.chunk c set epoch = $2 from counted k, renewed
        where k.is_kept and c.file_id = k.file_id and c.byte_start = k.byte_start
      ),
      forgotten as (
        delete from etl.reject where run_id in (select id from renewed) and table_name <> all ($3)
      ),
      uncorrected as (
        delete from etl.corrected x using etl.source_file f, renewed
        where f.id = x.file_id and f.run_id = renewed.id and f.table_name <> all ($3)
      )
    select count(*)::int as chunks, coalesce(sum(records), 0)::float8 as records from counted where not is_kept`,
    [runId, epoch, kept],
  );
  return rows[0];
};
