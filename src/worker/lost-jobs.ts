// Restores the jobs of unfinished runs and schedules on a queue that was emptied.

import { runQuery, type Client } from '../db/client.ts';
import { lostJobsCheckMs } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { restoreRuns } from '../queue/run-queue.ts';
import { requestOfRun, type RunRow } from './request-of-run.ts';
import type { Site } from './find-site.ts';
import { runJobOf, selectEnqueued } from './schedule/store.ts';
import type { Look } from './watch.ts';

/** Unfinished runs that can continue: only a pipeline's newest run can. */
const selectUnfinished = `
  select job, queue, pipeline, definition_hash as definition, pinned_params as params
    from etl.run r
    where job is not null and queue = any ($1)
      and (state in ('planned', 'loading', 'loaded', 'publishing') or error_code = 'ETL_INTERRUPTED')
      and state <> 'published' and id = (select max(id) from etl.run where pipeline = r.pipeline)`;

/**
 * Adding a job whose worker is still alive is harmless: the next worker finds the pipeline locked,
 * and later the run published.
 */
const restoreLostJobs = async (
  client: Client,
  { queues }: Site,
  queueNames: readonly string[],
): Promise<readonly string[]> => {
  await queues.backend.claim(client, queues.namespace);
  const begun = await client.query<RunRow & { readonly job: string; readonly queue: string }>(
    selectUnfinished,
    [queueNames],
  );
  const scheduled = await runQuery(client, selectEnqueued(queueNames));
  const jobs = [
    ...begun.rows.map((row) => ({ job: row.job, queue: row.queue, data: requestOfRun(row, row.job) })),
    ...scheduled.rows.map(runJobOf),
  ];
  return jobs.length === 0 ? [] : restoreRuns(queues, jobs);
};

export const lookForLostJobs = (site: Site, queueNames: readonly string[], logger: Logger): Look => ({
  everyMs: lostJobsCheckMs,
  problem: 'the queue cannot be queried for lost jobs',
  look: async (client) => {
    for (const job of await restoreLostJobs(client, site, queueNames))
      logger.warn({ job }, 'the queue had lost a job');
  },
});
