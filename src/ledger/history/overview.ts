// Pipelines with their newest attempts, and the newest runs of some pipelines.

import { rowsOf, type Client } from '../../db/client.ts';
import { succeededAt } from '../run/failure.ts';
import { listFailing, type FailingPipeline } from './failing.ts';
import {
  hasHistory,
  isConnected,
  pipelinesWithRuns,
  runColumns,
  type RunHead,
  type RunSummary,
} from './history.ts';
import { totalsOfRun } from './totals.ts';

/** Runs shown per pipeline: two weeks of nightly runs. */
const trendRuns = 14;

/** Pipelines whose state is read. More would take seconds. */
const pipelinesMax = 5_000;

export interface PipelineHead {
  readonly pipeline: string;
  /** The newest run; null: no run of the pipeline has begun. */
  readonly run: RunHead | null;
  /** The newest failure, since which the pipeline has not succeeded and no run is under way. */
  readonly failing: FailingPipeline | null;
  /** Files held back by the newest run. */
  readonly held: number;
  /** End of the last run that published, or that found nothing to do. */
  readonly succeededAt: Date | null;
  /** End of the newest attempt; start if it has not ended. */
  readonly attemptAt: Date;
}

interface HeadRow extends RunHead, Pick<PipelineHead, 'succeededAt' | 'attemptAt'> {
  readonly pipeline: string;
}

const selectHeads = async (client: Client): Promise<HeadRow[]> =>
  rowsOf<HeadRow>(client, {
    text: `with recursive ${pipelinesWithRuns}
      select n.pipeline, r.id::float8 as id, r.state, r.host, r.pid, ${isConnected},
        r.finished_at as "finishedAt", r.error_code as "errorCode", r.rolled_back_to::float8 as "rolledBackTo", ${await succeededAt(client, 'n.pipeline')} as "succeededAt",
        coalesce(r.finished_at, r.continued_at, r.started_at) as "attemptAt"
      from run_name n
      cross join lateral (
        select * from etl.run where pipeline = n.pipeline order by id desc limit 1
      ) r
      where n.pipeline is not null
      order by n.pipeline limit $1`,
    values: [pipelinesMax],
  });

const heldCounts = async (client: Client): Promise<ReadonlyMap<string, number>> => {
  const counts = await rowsOf<{ pipeline: string; files: number }>(client, {
    text: 'select pipeline, count(*)::int as files from etl.held_file group by 1',
  });
  return new Map(counts.map(({ pipeline, files }) => [pipeline, files]));
};

const latest = (...times: readonly (Date | null | undefined)[]): Date =>
  new Date(Math.max(...times.map((time) => time?.getTime() ?? 0)));

export const listPipelines = async (client: Client): Promise<readonly PipelineHead[]> => {
  if (!(await hasHistory(client))) return [];
  const heads = await selectHeads(client);
  const failures = await listFailing(client, pipelinesMax);
  const held = await heldCounts(client);
  const failingOf = new Map(failures.map((failure) => [failure.pipeline, failure]));
  const begun = heads.map(({ pipeline, succeededAt: success, attemptAt, ...run }): PipelineHead => {
    const found = failingOf.get(pipeline);
    failingOf.delete(pipeline);
    const isRetried = found !== undefined && run.finishedAt === null && attemptAt > found.failedAt;
    return {
      pipeline,
      run,
      succeededAt: success,
      failing: isRetried ? null : (found ?? null),
      held: held.get(pipeline) ?? 0,
      attemptAt: latest(attemptAt, success, found?.failedAt),
    };
  });
  const others = [...failingOf.values()].map((failing): PipelineHead => {
    const { pipeline, failedAt } = failing;
    return { pipeline, run: null, failing, held: 0, succeededAt: null, attemptAt: failedAt };
  });
  return [...begun, ...others];
};

/** Returns the newest runs of each pipeline, the newest first. */
export const newestRuns = async (
  client: Client,
  pipelines: readonly string[],
): Promise<ReadonlyMap<string, readonly RunSummary[]>> => {
  // There may be no table to read.
  if (pipelines.length === 0) return new Map();
  const runs = await rowsOf<RunSummary>(client, {
    text: `select ${runColumns}
      from unnest($1::text[]) n (pipeline)
      cross join lateral (select * from etl.run where pipeline = n.pipeline order by id desc limit $2) r
      cross join lateral ${totalsOfRun} t
      order by r.id desc`,
    values: [pipelines, trendRuns],
  });
  return new Map(pipelines.map((name) => [name, runs.filter(({ pipeline }) => pipeline === name)]));
};
