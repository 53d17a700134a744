// Ends a run before it is published, from any process, and tells others why.

import type { Client } from '../../db/client.ts';
import { storable, type Query } from '../../db/sql.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { RunState } from '../../core/model.ts';

/** Codes of errors that mean that the bytes read were not the file's real content. */
const misread = new Set(['ETL_SOURCE_CORRUPT', 'ETL_SOURCE_CHANGED']);

/**
 * Ends a run with an error. Returns no row if the run was published, or taken over.
 *
 * A misread file loses its fingerprint, so that it is loaded again even if the intact file returns
 * (test/integration/decoded.test.ts, "what was read of a damaged file is loaded again"). On a full
 * disk, the error uses the space of `end_room`: a longer row would need another page
 * (test/fault/disk-full.test.ts).
 */
export const endRun = (
  runId: number,
  state: RunState,
  { code, message, details, hint }: Pick<EtlError, 'code' | 'message' | 'details' | 'hint'>,
  host: string,
  pid: number,
): Query => ({
  text: `with ended as (
      update etl.run
      set state = $2, error_code = $3, error = $4, hint = nullif($9, ''), finished_at = clock_timestamp(), end_room = null
      where id = $1 and state not in ('published', 'cancelled') and host = $5 and pid = $6
      returning id
    ), misread as (
      update etl.source_file f set fingerprint = ''
      from ended where f.run_id = ended.id and f.table_name = $7 and f.name = $8
    )
    select id from ended`,
  values: [
    runId,
    state,
    code,
    storable(message),
    host,
    pid,
    ...(misread.has(code) ? [details['table'], details['file']] : [null, null]),
    storable(hint),
  ],
});

/**
 * Cancels a run; its processes notice at their next chunk or step. Also cancels an ended run whose
 * job would be delivered again. Returns no row if the run has ended for good.
 */
export const cancelRun = (runId: number, { code, message }: { code: string; message: string }): Query => ({
  text: `update etl.run
    set state = 'cancelled', error_code = $2, error = $3, hint = null, finished_at = clock_timestamp(), end_room = null
    where id = $1 and (state in ('planned', 'loading', 'loaded', 'publishing')
      or job is not null and (state = 'failed' or error_code = 'ETL_INTERRUPTED'))
    returning id`,
  values: [runId, code, message],
});

interface RunOfJob {
  readonly id: number;
  readonly state: RunState;
  /** Of its newest coordinator. */
  readonly host: string;
  readonly errorCode: string | null;
  readonly definition: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Returns the newest run of a job; undefined before the job was first delivered. */
export const runOfJob = async (client: Client, jobId: string): Promise<RunOfJob | undefined> =>
  (
    await client.query(
      `select id::float8 as id, state, host, error_code as "errorCode", definition_hash as definition, pinned_params as params
        from etl.run where job = $1 order by id desc limit 1`,
      [jobId],
    )
  ).rows[0];

export const whyStopped = async (client: Client, runId: number): Promise<EtlError> => {
  const { rows } = await client.query('select error_code from etl.run where id = $1', [runId]);
  return rows[0]?.error_code === 'ETL_RUN_CANCELLED'
    ? new EtlError('ETL_RUN_CANCELLED', { run: runId })
    : new EtlError('ETL_RUN_TAKEN', { run: runId, other: 'another process' });
};
