// Failures before a run began, recorded so that nobody has to search a machine's logs.

import { isThere, runQuery, withTransaction, type Client } from '../../db/client.ts';
import { storable, type Query } from '../../db/sql.ts';
import { isTrusted, readTrust } from '../../db/bookkeeping/trust.ts';
import type { RunFailure } from '../../core/model.ts';

/** Failures shown: enough for a bad night of a schedule. */
export const failuresShown = 10;

/** Failures stored: enough for weeks. */
const failuresKept = 1_000;

/**
 * Minutes in which the same failure is recorded only once, because jobs are retried, and schedules
 * are checked every two seconds.
 */
const sameFailureMinutes = 10;

type NewFailure = Omit<RunFailure, 'failedAt'>;

const insertFailure = (failure: NewFailure): Query => ({
  text: `insert into etl.failure (pipeline, job, queue, host, pid, error_code, error)
    select $1, $2, $3, $4, $5, $6, $7
    where not exists (
      select from etl.failure where pipeline is not distinct from $1 and job is not distinct from $2 and queue = $3
        and error_code = $6 and error = $7 and failed_at > clock_timestamp() - $8 * interval '1 minute')`,
  values: [
    failure.pipeline && storable(failure.pipeline),
    failure.job && storable(failure.job),
    failure.queue,
    failure.host,
    failure.pid,
    failure.errorCode,
    storable(failure.error),
    sameFailureMinutes,
  ],
});

const forgetOld: Query = {
  text: `delete from etl.failure where id <= (select max(id) from etl.failure) - $1`,
  values: [failuresKept],
};

/**
 * Records the failure, unless the same one was recorded recently. If recorded, calls `onNew` in
 * the same transaction.
 */
export const keepFailure = async (
  client: Client,
  failure: NewFailure,
  onNew: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> => {
  // Does not write if an untrusted role owns the table, which may be the failure itself.
  if (!isTrusted(await readTrust(client)) || !(await isThere(client, 'etl.failure'))) return;
  await withTransaction(client, async () => {
    const { rowCount } = await runQuery(client, insertFailure(failure));
    await runQuery(client, forgetOld);
    if (rowCount === 1) await onNew();
  });
};

interface FailuresWanted {
  readonly limit: number;
  readonly queue?: string | undefined;
  readonly pipeline?: string | undefined;
  readonly since?: Date | undefined;
  readonly ofJobs?: boolean;
}

export const listFailures = async (
  client: Client,
  { limit, queue, pipeline, since, ofJobs = false }: FailuresWanted,
): Promise<readonly RunFailure[]> => {
  if (!(await isThere(client, 'etl.failure'))) return [];
  const { rows } = await client.query(
    `select pipeline, job, queue, host, pid, error_code as "errorCode", error, failed_at as "failedAt"
      from etl.failure
      where ($2::text is null or queue = $2) and ($3::text is null or pipeline = $3)
        and ($4::timestamptz is null or failed_at >= $4)
        and (not $5 or job is not null)
      order by id desc limit $1`,
    [limit, queue, pipeline, since, ofJobs],
  );
  return rows;
};
