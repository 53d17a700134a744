// Pipelines whose newest attempt failed, with their run or before a run began.

import { rowsOf, type Client } from '../../db/client.ts';
import { succeededAt } from '../run/failure.ts';
import { hasHistory, pipelinesWithRuns } from './history.ts';

export interface FailingPipeline {
  readonly pipeline: string;
  /** null: the attempt failed before a run began. */
  readonly run: number | null;
  readonly failedAt: Date;
  readonly errorCode: string;
  readonly error: string;
}

/** Pipelines returned. */
const failingMax = 200;

/** Newest runs of a pipeline that are looked at, in case the newest ones were stopped. */
const runsSeen = 5;

/** Newest failure first. */
export const listFailing = async (
  client: Client,
  limit = failingMax,
): Promise<readonly FailingPipeline[]> => {
  if (!(await hasHistory(client))) return [];
  return rowsOf<FailingPipeline>(client, {
    text: `with recursive ${pipelinesWithRuns},
      before as (
        select distinct on (pipeline) pipeline, failed_at, error_code, error
        from etl.failure where pipeline is not null order by pipeline, id desc
      ),
      name as (
        select pipeline from run_name where pipeline is not null union select pipeline from before
      )
      select n.pipeline, f.run, f.at as "failedAt", f.error_code as "errorCode", f.error
      from name n
      cross join lateral (
        select * from (
          select null::float8 as run, failed_at as at, error_code, error from before where pipeline = n.pipeline
          union all
          select id::float8, finished_at, error_code, error from (
            select id, state, finished_at, error_code, error
            from etl.run where pipeline = n.pipeline order by id desc limit $1
          ) newest where state = 'failed'
        ) failed order by at desc limit 1
      ) f
      where not coalesce(f.at < ${await succeededAt(client, 'n.pipeline')}, false)
      order by f.at desc limit $2`,
    values: [runsSeen, limit],
  });
};
