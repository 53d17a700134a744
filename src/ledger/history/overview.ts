// Pipelines, with their newest runs and last publication.

import { rowsOf, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';
import { hasHistory, selectRunsOf, type RunSummary } from './history.ts';

/** Runs shown per pipeline: two weeks of nightly runs. */
const trendRuns = 14;

/** Pipelines shown. A user with more pipelines uses the list of runs. */
const pipelinesMax = 200;

export interface PipelineSummary {
  readonly pipeline: string;
  readonly runs: readonly RunSummary[];
  readonly publishedAt: Date | null;
}

interface NewestRow {
  readonly pipeline: string;
  readonly ids: readonly number[];
  readonly publishedAt: Date | null;
}

/** Uses a few index look-ups, instead of reading all runs. */
const selectNewest = (): Query => ({
  text: `with recursive name (pipeline) as (
      (select pipeline from etl.run order by pipeline limit 1)
      union all
      select (select r.pipeline from etl.run r where r.pipeline > n.pipeline order by r.pipeline limit 1)
      from name n where n.pipeline is not null
    )
    select n.pipeline, newest.ids, published.at as "publishedAt"
    from name n
    cross join lateral (
      select array_agg(id::float8 order by id desc) as ids
      from (select id from etl.run where pipeline = n.pipeline order by id desc limit $1) newest
    ) newest
    left join lateral (
      select finished_at as at from etl.run
      where pipeline = n.pipeline and state = 'published' order by id desc limit 1
    ) published on true
    where n.pipeline is not null
    order by n.pipeline limit $2`,
  values: [trendRuns, pipelinesMax],
});

export const listPipelines = async (client: Client): Promise<readonly PipelineSummary[]> => {
  if (!(await hasHistory(client))) return [];
  const newest = await rowsOf<NewestRow>(client, selectNewest());
  const runs = await rowsOf<RunSummary>(client, selectRunsOf(newest.flatMap(({ ids }) => ids)));
  const runOf = new Map(runs.map((run) => [run.id, run]));
  return newest.map(({ pipeline, ids, publishedAt }) => ({
    pipeline,
    publishedAt,
    runs: ids.flatMap((id) => runOf.get(id) ?? []),
  }));
};
