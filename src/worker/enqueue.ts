// Enqueues runs for workers: new runs, and retries of runs that stopped.

import { resolve } from 'node:path';
import { failuresShown, listFailures } from '../ledger/run/failure.ts';
import { cancelRun } from '../ledger/run/run-end.ts';
import { runQuery, withClient } from '../db/client.ts';
import type { PipelineSpec } from '../core/declaration.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { readRunRequest, type RunRequest } from '../pipeline/job-payload.ts';
import type { AddedRun, RunQueueState } from '../queue/run-queue-state.ts';
import { addRun, bullNameOf, type AddRunOptions } from '../queue/run-queue.ts';
import { readDefinition } from '../pipeline/definition.ts';
import { findSummary } from '../ledger/history/history.ts';
import { refuseUnshared } from '../run/prepare.ts';
import { refuseUnknownTables } from '../run/options.ts';
import { traceSending } from '../report/job-trace.ts';
import { requestOfRun } from './request-of-run.ts';
import type { SiteOptions } from './options.ts';
import type { Site } from './find-site.ts';
import { openSite } from './site.ts';
import { checkQueueName, depthOfQueues, knownQueueNames } from './queues.ts';

/** Options of enqueue. */
export interface EnqueueOptions extends SiteOptions {
  /** Values for the pipeline's `params`. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Directory that SQL files are relative to. Default: the working directory. */
  readonly directory?: string;
  /** Earliest start. Default: now. */
  readonly at?: Date;
  /** 1 comes first. A run without a priority comes before all runs with a priority. */
  readonly priority?: number;
  /** While a run with the same key waits or runs, no other run is added. */
  readonly dedupe?: string;
  /** The queue whose workers run it. Default: `default`. */
  readonly queue?: string;
  /** Abandon an unfinished run of this pipeline instead of continuing it. Default: false. */
  readonly fresh?: boolean;
  /** Load everything again even if files and definition are unchanged. Default: false. */
  readonly fullRefresh?: boolean;
  /** Tables that are published even with fewer rows than their `guard` allows. */
  readonly allowShrink?: readonly string[];
}

/** Refuses secret parameters, because a queue shows its jobs to everybody with access. */
const refuseSecrets = ({ params, shownParams }: PipelineSpec, given: object): void => {
  const secret = Object.keys(given).find((name) => shownParams[name] !== params[name]);
  if (secret === undefined) return;
  const problem = `parameter \`${secret}\` is secret, and a queue would store it`;
  throw new EtlError('ETL_USAGE', {
    problem,
    hint: 'Take its default from the environment of the workers.',
  });
};

type RequestOptions = Pick<
  EnqueueOptions,
  'params' | 'directory' | 'dedupe' | 'fresh' | 'fullRefresh' | 'allowShrink'
>;

/** Errors: those of the declaration and its parameters, ETL_JOB_INVALID, ETL_USAGE. */
export const requestRun = async (pipeline: Pipeline, options: RequestOptions): Promise<RunRequest> => {
  const { params = {}, directory = '.', dedupe, fresh = false, fullRefresh = false } = options;
  const { allowShrink = [] } = options;
  const { hashes, spec } = await readDefinition(pipeline, { params, directory: resolve(directory) });
  refuseSecrets(spec, params);
  refuseUnshared(spec);
  refuseUnknownTables(
    spec.tables.map(({ name }) => name),
    allowShrink,
  );
  return readRunRequest(
    {
      pipeline: pipeline.name,
      definition: hashes.definition,
      params: { ...params, ...spec.pinnedParams },
      options: { fresh, fullRefresh, resume: false, allowShrink },
      ...(dedupe !== undefined && { dedupe }),
    },
    'to be added',
  );
};

const send = (
  { queues }: Site,
  { tracer }: SiteOptions,
  request: RunRequest,
  options: AddRunOptions,
): Promise<AddedRun> =>
  traceSending(
    { tracer, queueName: bullNameOf(options.queueName), pipeline: request.pipeline },
    (trace) => addRun(queues, { ...request, ...(trace && { trace }) }, options),
    ({ job }) => job,
  );

/**
 * Adds a run of the pipeline to the queue, for a worker that has the same definition in its folder.
 * Returns the job's id, and whether it is new. Errors: those of the declaration and its parameters,
 * ETL_JOB_INVALID (a parameter that JSON or PostgreSQL cannot hold), ETL_USAGE (a secret
 * parameter), those of server and queue.
 */
export const enqueue = async (pipeline: Pipeline, options: EnqueueOptions = {}): Promise<AddedRun> => {
  const { at, priority, dedupe } = options;
  const queueName = checkQueueName(options.queue);
  const request = await requestRun(pipeline, options);
  const site = await openSite(options, [queueName]);
  const delayMs = at === undefined ? 0 : Math.max(0, at.getTime() - Date.now());
  return send(site, options, request, { queueName, delayMs, priority, dedupe });
};

/**
 * Cancels a run: its processes stop at their next chunk or step, and nothing is published. Errors:
 * ETL_RUN_UNKNOWN, ETL_RUN_OVER.
 */
export const cancel = async (runId: number, options: SiteOptions = {}): Promise<void> => {
  const { address } = await openSite(options);
  await withClient(address, async (client) => {
    const { code, message } = new EtlError('ETL_RUN_CANCELLED', { run: runId });
    const { rowCount } = await runQuery(client, cancelRun(runId, { code, message }));
    if (rowCount !== 0) return;
    const { state } = await findSummary(client, runId);
    throw new EtlError('ETL_RUN_OVER', { run: runId, state, action: 'cancel' });
  });
};

/** Options of retry. */
export interface RetryOptions extends SiteOptions, Pick<EnqueueOptions, 'allowShrink'> {}

/**
 * Adds a failed or cancelled run to the queue again: it continues where it stopped. Errors:
 * ETL_RUN_UNKNOWN, ETL_RUN_OVER, ETL_USAGE (an unknown table).
 */
export const retry = async (runId: number, options: RetryOptions = {}): Promise<AddedRun> => {
  const site = await openSite(options);
  const { queueName, ...request } = await withClient(site.address, async (client) => {
    const { state } = await findSummary(client, runId);
    if (state !== 'failed' && state !== 'cancelled')
      throw new EtlError('ETL_RUN_OVER', { run: runId, state, action: 'retry' });
    const { rows } = await client.query(
      `select pipeline, definition_hash as definition, pinned_params as params, queue,
          array(select jsonb_object_keys(table_hashes)) as tables
        from etl.run where id = $1`,
      [runId],
    );
    const { allowShrink = [] } = options;
    refuseUnknownTables(rows[0].tables, allowShrink);
    return { ...requestOfRun(rows[0], 'to be added', allowShrink), queueName: rows[0].queue as string };
  });
  return send(site, options, request, { queueName, delayMs: 0, priority: undefined, dedupe: undefined });
};

/** Options of queueState. */
export interface QueueStateOptions extends SiteOptions {
  /** Default: all queues. */
  readonly queue?: string;
}

/** Counts the jobs of the run queues. Errors: ETL_USAGE (invalid name). */
export const queueState = async (options: QueueStateOptions = {}): Promise<RunQueueState> => {
  const named = options.queue === undefined ? undefined : [checkQueueName(options.queue)];
  const { address, queues } = await openSite(options);
  const { queueNames, failures } = await withClient(address, async (client) => ({
    queueNames: named ?? (await knownQueueNames(client)),
    failures: await listFailures(client, { limit: failuresShown, queue: named?.[0], ofJobs: true }),
  }));
  return { ...(await depthOfQueues(queues, queueNames)), failures };
};
