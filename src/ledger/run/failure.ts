// Failures before a run began, recorded so that nobody has to search a machine's logs.

import { isThere, runQuery, withTransaction, type Client } from '../../db/client.ts';
import { storable, type Query } from '../../db/sql.ts';
import { isTrusted, readTrust } from '../../db/bookkeeping/trust.ts';
import type { RunFailure } from '../../core/model.ts';

/** Failures shown: enough for a bad night of a schedule. */
export const failuresShown = 10;

/** Failures stored, in all and per pipeline: one that fails every minute hides no other one. */
const failuresKept = 5_000;
const failuresKeptEach = 50;

/**
 * Minutes in which the same failure is one piece of news: jobs are retried, and schedules are
 * checked every two seconds.
 */
const sameFailureMinutes = 10;

type NewFailure = Omit<RunFailure, 'failedAt'>;

const valuesOf = (failure: NewFailure): readonly unknown[] => [
  failure.pipeline && storable(failure.pipeline),
  failure.job && storable(failure.job),
  failure.queue,
  failure.errorCode,
  storable(failure.error),
];

const selectSame = (failure: NewFailure): Query => ({
  text: `select from etl.failure where pipeline is not distinct from $1 and job is not distinct from $2 and queue = $3
      and error_code = $4 and error = $5 and failed_at > clock_timestamp() - $6 * interval '1 minute' limit 1`,
  values: [...valuesOf(failure), sameFailureMinutes],
});

const insertFailure = (failure: NewFailure): Query => ({
  text: `insert into etl.failure (pipeline, job, queue, error_code, error, host, pid)
    values ($1, $2, $3, $4, $5, $6, $7)`,
  values: [...valuesOf(failure), failure.host, failure.pid],
});

const forgetOld = ({ pipeline }: NewFailure): Query => ({
  text: `delete from etl.failure where id <= (select max(id) from etl.failure) - $1
    or pipeline = $2 and id <= (select id from etl.failure where pipeline = $2 order by id desc limit 1 offset $3)`,
  values: [failuresKept, pipeline && storable(pipeline), failuresKeptEach],
});

/**
 * Records the failure. If it was not recorded recently, calls `onNew` in the same transaction; if
 * it was, and nothing was attempted since (`isPolled`), records nothing.
 */
export const keepFailure = async (
  client: Client,
  failure: NewFailure,
  onNew: () => Promise<unknown>,
  isPolled = false,
): Promise<void> => {
  // Does not write if an untrusted role owns the table, which may be the failure itself.
  if (!isTrusted(await readTrust(client)) || !(await isThere(client, 'etl.failure'))) return;
  await withTransaction(client, async () => {
    const isNew = (await runQuery(client, selectSame(failure))).rowCount === 0;
    if (!isNew && isPolled) return;
    await runQuery(client, insertFailure(failure));
    await runQuery(client, forgetOld(failure));
    if (isNew) await onNew();
  });
};

/** Records that the pipeline succeeded without a run: there was nothing to do. */
export const markUpToDate = (pipeline: string): Query => ({
  text: `insert into etl.up_to_date values ($1, clock_timestamp())
    on conflict (pipeline) do update set checked_at = excluded.checked_at`,
  values: [pipeline],
});

/**
 * Gives failures of a pipeline file that could not be loaded, which are recorded under the file's
 * name, the name of its pipeline, now that it is known.
 */
export const nameFailures = (fileName: string, pipeline: string): Query => ({
  text: `update etl.failure set pipeline = $2
    where pipeline = $1 and not exists (select from etl.run where pipeline = $1)`,
  values: [fileName, pipeline],
});

/**
 * Returns SQL for the time of the last success of the pipeline `name`, an SQL expression. A
 * bookkeeping of an earlier version has no `etl.up_to_date`.
 */
export const succeededAt = async (client: Client, name: string): Promise<string> => `greatest(
    (select finished_at from etl.run where pipeline = ${name} and state = 'published' order by id desc limit 1),
    ${(await isThere(client, 'etl.up_to_date')) ? `(select checked_at from etl.up_to_date where pipeline = ${name})` : 'null'})`;

interface FailuresWanted {
  readonly limit: number;
  readonly queue?: string | undefined;
  readonly pipeline?: string | undefined;
  readonly since?: Date | undefined;
  readonly ofJobs?: boolean;
  /** Leaves out failures before the last success of their pipeline. */
  readonly areCurrent?: boolean;
}

export const listFailures = async (
  client: Client,
  { limit, queue, pipeline, since, ofJobs = false, areCurrent = false }: FailuresWanted,
): Promise<readonly RunFailure[]> => {
  if (!(await isThere(client, 'etl.failure'))) return [];
  const { rows } = await client.query(
    `select pipeline, job, queue, host, pid, error_code as "errorCode", error, failed_at as "failedAt"
      from etl.failure f
      where ($2::text is null or queue = $2) and ($3::text is null or pipeline = $3)
        and ($4::timestamptz is null or failed_at >= $4)
        and (not $5 or job is not null)
        and (not $6 or not coalesce(failed_at < ${await succeededAt(client, 'f.pipeline')}, false))
      order by id desc limit $1`,
    [limit, queue, pipeline, since, ofJobs, areCurrent],
  );
  return rows;
};
