// How another process takes over an unfinished run, unchanged or with the current definition and files.

import type { Client } from '../../db/client.ts';
import { storableJson, type Query } from '../../db/sql.ts';
import type { SourceFile } from '../../core/model.ts';
import type { NewRun } from './ledger.ts';

/** Ends unfinished runs that a new one replaces: their staging tables are about to be dropped. */
export const abandonRuns = (pipeline: string, why: string): Query => ({
  text: `update etl.run
    set state = 'cancelled', finished_at = coalesce(finished_at, clock_timestamp()),
      error_code = coalesce(error_code, 'ETL_INTERRUPTED'),
      error = coalesce(error, 'its process ended without a word; ' || $2), end_room = null
    where pipeline = $1 and state not in ('published', 'cancelled', 'failed')`,
  values: [pipeline, why],
});

/** Attempts whose ends are kept: a run that many workers hand on has few errors. */
const earlierMax = 20;

/** What is kept of the attempt that ended; nothing when its own process goes on after a lost connection. */
const earlierAttempts = `case when host = $2 and pid = $3 and finished_at is null then earlier else
        case when jsonb_array_length(earlier) >= ${earlierMax} then earlier - 0 else earlier end || jsonb_build_object(
          'startedAt', coalesce(continued_at, started_at), 'endedAt', finished_at, 'errorCode', error_code, 'error', error) end`;

/**
 * Continues an unfinished run, over the session that holds the pipeline's lock: as its next generation, so that
 * loaders of an earlier one stop. Waits for their chunks in flight, which hold the run's row. No row comes back when the run was cancelled for its own job:
 * only a new request continues it.
 */
export const adoptRun = (
  runId: number,
  { host, pid, workers, job, queue }: Pick<NewRun, 'host' | 'pid' | 'workers' | 'job' | 'queue'>,
): Query => ({
  text: `update etl.run
    set earlier = ${earlierAttempts}, continued_at = clock_timestamp(),
      state = 'loading', generation = generation + 1, host = $2, pid = $3, workers = $4, job = $5,
      queue = $6, session = pg_backend_pid(), finished_at = null, error_code = null, error = null, end_room = default
    where id = $1 and ($5::text is null or job is distinct from $5 or error_code is distinct from 'ETL_RUN_CANCELLED')
    returning generation`,
  values: [runId, host, pid, workers, job, queue],
});

/**
 * Shuts out all loaders of the run, after waiting for the chunks in flight: its loaded data can no longer change.
 * Only the holder of the pipeline's lock asks.
 */
export const fenceRun = (runId: number): Query => ({
  text: 'update etl.run set generation = generation + 1 where id = $1',
  values: [runId],
});

/** The run is one of this definition from now on. */
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

/** Forgets all files of the run but these, with their chunks and rejects. */
export const forgetOtherFiles = (runId: number, kept: readonly Pick<SourceFile, 'id'>[]): Query => ({
  text: 'delete from etl.source_file where run_id = $1 and id <> all ($2)',
  values: [runId, kept.map(({ id }) => id)],
});

/** Moves files out of the way of new places, each of which may be used once. */
export const freeOrdinals = (runId: number): Query => ({
  text: 'update etl.source_file set ordinal = -1 - ordinal where run_id = $1',
  values: [runId],
});

export const setOrdinals = (files: readonly Pick<SourceFile, 'id' | 'ordinal'>[]): Query => ({
  text: `update etl.source_file f set ordinal = n.ordinal
    from unnest($1::bigint[], $2::integer[]) as n (id, ordinal) where f.id = n.id`,
  values: [files.map(({ id }) => id), files.map(({ ordinal }) => ordinal)],
});

/** The loss by a crash: chunks of the run under its old epoch. */
export interface LostChunks {
  readonly chunks: number;
  readonly records: number;
}

/**
 * Gives a run the epoch of the server after a crash. Everything it had in unlogged staging is gone, so those chunks no
 * longer count, and their rejects will be found again with them. Chunks of the `kept` tables, which are logged, still count.
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
