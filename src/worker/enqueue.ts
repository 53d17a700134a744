// Enqueues runs for workers: new ones, and retries of runs that stopped.

import { resolve } from 'node:path';
import { failuresShown, listFailures } from '../ledger/run/failure.ts';
import { cancelRun } from '../ledger/run/run-end.ts';
import { runQuery, withClient } from '../db/client.ts';
import type { PipelineSpec } from '../core/declaration/declaration.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { readRunRequest, type RunRequest } from '../pipeline/job-payload.ts';
import type { AddedRun, RunQueueState } from '../queue/run-queue-state.ts';
import { addRun, bullNameOf, type AddRunOptions } from '../queue/run-queue.ts';
import { readDefinition } from '../pipeline/definition.ts';
import { findRun } from '../ledger/history/history.ts';
import { refuseUnshared } from '../run/prepare.ts';
import { refuseUnknownTables } from '../run/options.ts';
import { traceSending } from '../report/job-trace.ts';
import { requestOfRun } from './request-of-run.ts';
import type { SiteOptions } from './options.ts';
import { openSite, type Site } from './site.ts';
import { checkQueueName, depthOfQueues, knownQueueNames } from './queues.ts';

export interface EnqueueOptions extends SiteOptions {
  /** Values for the pipeline's `params`. */
  readonly params?: Readonly<Record<string, unknown>>;
  /** Directory that SQL files are relative to. Default: the working directory. */
  readonly directory?: string;
  /** Not before this moment. Default: at once. */
  readonly at?: Date;
  /** From 1, which comes first; runs without one go before all that have one. */
  readonly priority?: number;
  /** While a run with the same key waits or runs, another one is not added. */
  readonly dedupe?: string;
  /** The queue whose workers run it. Default: `default`. */
  readonly queue?: string;
  readonly fresh?: boolean;
  readonly fullRefresh?: boolean;
  /** Tables that are published even with fewer rows than their `guard` allows. */
  readonly allowShrink?: readonly string[];
}

/** A queue stores its jobs, and shows them to everybody with access. Errors: ETL_USAGE. */
const refuseSecrets = ({ params, shownParams }: PipelineSpec, given: object): void => {
  const secret = Object.keys(given).find((name) => shownParams[name] !== params[name]);
  if (secret === undefined) return;
  const problem = `parameter \`${secret}\` is secret, and a queue would store it`;
  throw new EtlError('ETL_USAGE', {
    problem,
    hint: 'Take its default from the environment of the workers.',
  });
};

/** What is to be run, apart from when. */
type RequestOptions = Pick<
  EnqueueOptions,
  'params' | 'directory' | 'dedupe' | 'fresh' | 'fullRefresh' | 'allowShrink'
>;

/**
 * A request for workers: the pipeline's name, its current parameters, and the hash of its definition here. Errors: those of the
 * declaration and its parameters, ETL_JOB_INVALID, ETL_USAGE (a parameter that is secret).
 */
export const requestRun = async (pipeline: Pipeline, options: RequestOptions): Promise<RunRequest> => {
  const { params = {}, directory = '.', dedupe, fresh = false, fullRefresh = false, allowShrink } = options;
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
      options: { fresh, fullRefresh, resume: false, ...(allowShrink && { allowShrink }) },
      ...(dedupe !== undefined && { dedupe }),
    },
    'to be added',
  );
};

/** Puts a run on the queue, within the caller's trace. */
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
 * Puts a run of the pipeline on the queue, for a worker that has the same definition in its folder.
 *
 * Returns the number of the job, and whether it is a new one. Errors: those of the declaration and its parameters,
 * ETL_JOB_INVALID (a parameter that JSON or PostgreSQL cannot hold), ETL_USAGE (one that is secret), those of server and queue.
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
 * Cancels a run wherever it is worked on: its processes stop at their next chunk or step, and nothing is published.
 * Errors: ETL_RUN_UNKNOWN, ETL_RUN_OVER.
 */
export const cancel = async (runId: number, options: SiteOptions = {}): Promise<void> => {
  const { address } = await openSite(options);
  await withClient(address, async (client) => {
    const { code, message } = new EtlError('ETL_RUN_CANCELLED', { run: runId });
    const { rowCount } = await runQuery(client, cancelRun(runId, { code, message }));
    if (rowCount !== 0) return;
    const { state } = (await findRun(client, runId)).run;
    throw new EtlError('ETL_RUN_OVER', { run: runId, state, action: 'cancel' });
  });
};

export interface RetryOptions extends SiteOptions, Pick<EnqueueOptions, 'allowShrink'> {}

/**
 * Puts a failed or cancelled run on the queue again: it continues where it stopped. Errors: ETL_RUN_UNKNOWN, ETL_RUN_OVER, ETL_USAGE
 * (an unknown table).
 */
export const retry = async (runId: number, options: RetryOptions = {}): Promise<AddedRun> => {
  const site = await openSite(options);
  const { queueName, ...request } = await withClient(site.address, async (client) => {
    const { state } = (await findRun(client, runId)).run;
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

export interface QueueStateOptions extends SiteOptions {
  /** Default: all. */
  readonly queue?: string;
}

/** Counts of the run queues, together and each. Errors: ETL_USAGE (the name). */
export const queueState = async (options: QueueStateOptions = {}): Promise<RunQueueState> => {
  const named = options.queue === undefined ? undefined : [checkQueueName(options.queue)];
  const { address, queues } = await openSite(options);
  const { queueNames, failures } = await withClient(address, async (client) => ({
    queueNames: named ?? (await knownQueueNames(client)),
    failures: await listFailures(client, { limit: failuresShown, queue: named?.[0], ofJobs: true }),
  }));
  return { ...(await depthOfQueues(queues, queueNames)), failures };
};
