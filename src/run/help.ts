// Loads segments for a run that another process coordinates.

import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { currentEpoch } from '../ledger/run/epoch.ts';
import { latestRun, loadedChunks, runFiles, runStanding, type LatestRun } from '../ledger/run/ledger.ts';
import { missingSegments } from '../ledger/run/resume.ts';
import { withClient, type Client } from '../db/client.ts';
import { EtlError } from '../core/errors/errors.ts';
import { queuePollMs } from '../core/limits.ts';
import { sourceNamed } from '../input/sources/registry.ts';
import type { Lease, SourceFile } from '../core/model.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { serveQueue, type ServeOptions } from '../queue/load-queue.ts';
import { createContext, prepareRun } from './prepare.ts';
import { withRoomForCorrections } from '../load/apply-corrections.ts';
import { byId, withSegmentWork } from '../load/load.ts';
import { makeLoadPlan, type LoadPlan } from '../load/load-plan.ts';
import { existingLandings } from './make-landings.ts';
import type { FromWorker, RunOptions } from './options.ts';
import { stagingColumns } from './files/planned-table.ts';
import { refuseStrangers } from '../db/session/access.ts';
import type { RunContext, Work } from './context.ts';

const findRun = async ({ client, spec, hashes }: RunContext): Promise<LatestRun> => {
  const pipeline = spec.name;
  const latest = await latestRun(client, pipeline);
  if (latest?.state !== 'loading')
    throw new EtlError('ETL_JOIN_REFUSED', { pipeline, problem: 'it has no run that is loading' });
  if (latest.definitionHash !== hashes.definition)
    throw new EtlError('ETL_JOIN_REFUSED', { pipeline, problem: `run ${latest.id} has another definition` });
  return latest;
};

const hasNoQueue = (pipeline: string, { id }: LatestRun): EtlError =>
  new EtlError('ETL_JOIN_REFUSED', { pipeline, problem: `run ${id} is loaded by its coordinator alone` });

const planRun = (
  context: RunContext,
  { id, epoch, generation }: LatestRun,
  files: readonly SourceFile[],
): LoadPlan => {
  const sources = context.spec.tables.filter((table) => table.kind === 'source');
  const planned = sources.flatMap((table) => {
    const own = files.filter((file) => file.table === table.name);
    return own.length === 0 ? [] : [{ table, staging: stagingColumns(table, own) }];
  });
  return makeLoadPlan(context, { runId: id, epoch, generation }, planned);
};

/**
 * Checks the owners of all tables. They must exist: a table that is created later is not checked.
 */
const refuseStrangersTables = async ({ client, spec }: Work, { tables }: LoadPlan): Promise<void> => {
  const there = await existingLandings(client, spec, tables);
  await refuseStrangers(client, spec.name);
  if (tables.some(({ table }) => !there.has(table.name)))
    throw new EtlError('ETL_JOIN_REFUSED', {
      pipeline: spec.name,
      problem: 'its tables do not exist any more',
    });
};

/** Checks the files of each job before it is loaded: this host may have none or others under their paths. */
const checkingFiles = (serving: ServeOptions, files: readonly SourceFile[]): ServeOptions => {
  const filesById = byId(files);
  return {
    ...serving,
    load: async (job, leave) => {
      for (const id of new Set(job.segments.map(({ fileId }) => fileId))) {
        const { table, source, location, fingerprint } = filesById.get(id)!;
        const problem = await sourceNamed(source).problemHere?.({ location, fingerprint });
        if (problem !== undefined)
          throw new EtlError('ETL_SOURCE_ELSEWHERE', { table, host: hostname(), file: location, problem });
      }
      return serving.load(job, leave);
    },
  };
};

const isLoading = async (client: Client, { runId, generation }: Lease): Promise<boolean> => {
  const standing = await runStanding(client, runId);
  if (standing?.generation !== generation) throw new EtlError('ETL_RUN_SUPERSEDED', { run: runId });
  return standing.state === 'loading';
};

/** Like `joinRun`, for a worker. */
export const loadForWorker = async (
  pipeline: Pipeline,
  options: RunOptions,
  fromWorker: FromWorker,
): Promise<void> => {
  const prepared = await prepareRun(pipeline, options, fromWorker, 'helper');
  await withClient(prepared.address, async (client) => {
    await refuseStrangers(client, pipeline.name);
    const context = await createContext(prepared, client, await currentEpoch(client));
    const latest = await findRun(context);
    const { backend, namespace } = context.queues;
    // Nobody has ever needed a queue in this database.
    if (!(await backend.isThere(client))) throw hasNoQueue(pipeline.name, latest);
    const files = await runFiles(client, latest.id);
    const declared = planRun(context, latest, files);
    await refuseStrangersTables(context, declared);
    const plan = await withRoomForCorrections(client, declared);
    const chunks = await loadedChunks(client, latest.id);
    await backend.claim(client, namespace);
    const missing = missingSegments(files, chunks);
    await withSegmentWork(context, plan, files, chunks, missing, async (serving) => {
      const service = await serveQueue(checkingFiles(serving, files));
      try {
        while (!context.drain?.aborted && (await isLoading(client, plan.lease)))
          await Promise.race([sleep(queuePollMs, undefined, { signal: context.abort }), service.failed]);
      } finally {
        await service.close();
      }
    });
  });
};

/**
 * Loads segments of the run of this pipeline that is being loaded now, beside its coordinator,
 * until loading is over. The sources must be reachable under the same paths. If this process is
 * killed, other processes load its segments.
 *
 * Errors: ETL_JOIN_REFUSED if there is no such run, or nothing to help with; ETL_LOCK_LOST if its coordinator is gone;
 * ETL_SOURCE_ELSEWHERE if this host does not have the files; ETL_RUN_SUPERSEDED if another coordinator has taken the run over, and it may be joined again;
 * those of loading.
 */
export const joinRun = (pipeline: Pipeline, options: RunOptions = {}): Promise<void> =>
  loadForWorker(pipeline, options, {});
