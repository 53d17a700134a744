// Begins a run: finds that there is nothing to do, continues the newest unfinished run, or writes a new one.

import { hostname } from 'node:os';
import { decideBeginning, type Beginning } from '../checkpoint/decide.ts';
import {
  abandonRuns,
  adoptRun,
  insertFiles,
  insertRun,
  latestRun,
  loadedChunks,
  renewEpoch,
  runFiles,
  type LatestRun,
} from '../checkpoint/ledger.ts';
import { whyStopped } from '../checkpoint/run-end.ts';
import { createStaging, dropStaging } from '../copy/staging.ts';
import { awaitBuildsEnd } from '../db/advisory-lock.ts';
import { runQuery, withTransaction } from '../db/client.ts';
import { EtlError } from '../errors.ts';
import type { RunEvent } from '../model.ts';
import { createLanding } from '../publish/build-schema.ts';
import { createBuildSchema, dropBuildSchema } from '../publish/names.ts';
import type { RunContext } from './context.ts';
import type { DefinitionHashes } from './definition.ts';
import { directTables, landingTable, landsDirectly, namesOf } from './landing.ts';
import { forgetJobs, type LoadingRun } from './load.ts';
import type { PlannedTable } from './plan.ts';

/** True when every staging table of the pipeline is there. */
const stagingIsThere = async (
  { client, spec }: RunContext,
  planned: readonly PlannedTable[],
): Promise<boolean> => {
  const tables = planned.map(({ table }) => landingTable(spec, table));
  const { rows } = await client.query(
    'select coalesce(bool_and(to_regclass(name) is not null), true) as there from unnest($1::text[]) as name',
    [tables],
  );
  return rows[0].there;
};

/** A run, and which of its coordinators this process is. */
type RunNumber = Pick<LoadingRun, 'runId' | 'generation'>;

/** Writes the run and its files into the ledger and makes empty staging tables, in one transaction. */
const insertNewRun = (
  context: RunContext,
  hashes: DefinitionHashes,
  planned: readonly PlannedTable[],
): Promise<RunNumber> =>
  withTransaction(context.client, async () => {
    const { client, spec, workers } = context;
    const { name: pipeline, shownParams: params, pinnedParams } = spec;
    await runQuery(client, abandonRuns(pipeline));
    const run = {
      pipeline,
      params,
      pinnedParams,
      workers,
      host: hostname(),
      pid: process.pid,
      job: context.job,
      queue: context.runQueue,
      definitionHash: hashes.definition,
      tableHashes: hashes.tables,
      epoch: context.epoch,
    };
    const { id: runId, generation } = (await runQuery(client, insertRun(run))).rows[0];
    await runQuery(
      client,
      insertFiles(
        runId,
        planned.flatMap(({ files }) => files),
      ),
    );
    await createLandings(context, planned);
    return { runId, generation };
  });

/** Makes the empty tables that the run's rows are loaded into, in place of those of an earlier run. */
const createLandings = async (
  { client, spec }: RunContext,
  planned: readonly PlannedTable[],
): Promise<void> => {
  if (directTables(spec).length > 0) {
    await runQuery(client, dropBuildSchema(spec.name));
    await runQuery(client, createBuildSchema(spec.name));
  }
  for (const { table, staging } of planned) {
    await runQuery(client, dropStaging(spec.name, table.name));
    if (!landsDirectly(table)) await runQuery(client, createStaging(spec.name, table.name, staging));
    else {
      const columns = table.columns.map(({ nullable }, index) => ({ ...staging[index]!, nullable }));
      await runQuery(client, createLanding(namesOf(spec, table), columns));
    }
  }
};

type Recovered = Extract<RunEvent, { type: 'recovered' }>;

/** Gives the run the server's epoch when it has crashed since, and says what that costs. */
const renewIfCrashed = async (
  context: RunContext,
  runId: number,
  epochBefore: string,
): Promise<Recovered> => {
  const crashed = epochBefore !== context.epoch;
  const lost = crashed
    ? await withTransaction(context.client, () =>
        renewEpoch(context.client, runId, context.epoch, directTables(context.spec)),
      )
    : { chunks: 0, records: 0 };
  return { type: 'recovered', crashed, ...lost };
};

/** Says where a continued run stands. */
const announceResume = async ({ client, emit }: RunContext, runId: number): Promise<void> => {
  const chunks = await loadedChunks(client, runId);
  const records = chunks.reduce((sum, chunk) => sum + chunk.records, 0);
  emit({ type: 'resumed', runId, chunks: chunks.length, records });
};

const announcePlan = ({ emit, spec, address, workers }: RunContext, { runId, planned }: LoadingRun): void => {
  emit({ type: 'started', runId, pipeline: spec.name, server: address.label, workers });
  const filesOf = (name: string) => planned.find(({ table }) => table.name === name)?.files ?? [];
  const tables = spec.tables.map(({ name, kind }) => ({
    table: name,
    kind,
    files: filesOf(name).length,
    bytes: filesOf(name).reduce((sum, { bytes }) => sum + bytes, 0),
  }));
  emit({ type: 'planned', tables });
};

/** Makes this process the run's coordinator. */
const adopt = async (
  { client, workers, job, runQueue: queue }: RunContext,
  runId: number,
): Promise<RunNumber> => {
  const { rows } = await runQuery(
    client,
    adoptRun(runId, { host: hostname(), pid: process.pid, workers, job, queue }),
  );
  if (rows.length === 0) throw await whyStopped(client, runId);
  return { runId, generation: rows[0].generation };
};

/** What a run begins as, and the newest run before it. */
export interface Outset {
  readonly latest: LatestRun | undefined;
  readonly beginning: Beginning;
}

/** Looks at the newest run of the pipeline; `fresh`: it is not to be continued. */
export const findOutset = async (
  context: RunContext,
  hashes: DefinitionHashes,
  planned: readonly PlannedTable[],
  fresh: boolean,
): Promise<Outset> => {
  const { client, spec } = context;
  const latest = await latestRun(client, spec.name);
  const beginning = decideBeginning({
    latest,
    before: isUnfinished(latest) ? await runFiles(client, latest.id) : [],
    now: planned.flatMap(({ files }) => files),
    definitionHash: hashes.definition,
    tableHashes: hashes.tables,
    stagingIsThere: isUnfinished(latest) && (await stagingIsThere(context, planned)),
    fresh,
  });
  return { latest, beginning };
};

const isUnfinished = (run: LatestRun | undefined): run is LatestRun =>
  run !== undefined && run.state !== 'published';

/**
 * Begins: continues the newest unfinished run of the pipeline, or writes a new one and says why.
 * `back` is told when the server was waited for, unless a crash cost more than it says.
 * Errors: ETL_RESUME_CHANGED when a file of the unfinished run has changed.
 */
export const beginRun = async (
  context: RunContext,
  hashes: DefinitionHashes,
  planned: readonly PlannedTable[],
  { latest, beginning }: Outset,
  back?: RunEvent,
): Promise<LoadingRun> => {
  const { client, spec, emit } = context;
  if (beginning.kind === 'changed file') {
    const { table, name: file } = beginning.file;
    throw new EtlError('ETL_RESUME_CHANGED', { table, file, run: beginning.runId });
  }
  if (beginning.kind === 'new' && beginning.why !== undefined)
    emit({ type: 'notice', message: beginning.why });
  const isNew = beginning.kind === 'new';
  // Rows go straight into the build schema: nobody may be building there any more.
  if (isNew && directTables(spec).length > 0) await awaitBuildsEnd(client, spec.name);
  const number = isNew ? await insertNewRun(context, hashes, planned) : await adopt(context, beginning.runId);
  const { runId } = number;
  if (isNew && isUnfinished(latest)) await forgetJobs(context, latest.id);
  const run = { ...number, planned, epoch: context.epoch, files: await runFiles(client, runId) };
  announcePlan(context, run);
  let news = back;
  if (beginning.kind === 'resume') {
    const recovered = await renewIfCrashed(context, runId, latest!.epoch);
    await announceResume(context, runId);
    if (recovered.crashed) news = recovered;
  }
  if (news !== undefined) emit(news);
  return run;
};

/** Goes on with a run of this process after its connections were lost. */
export const continueRun = async (context: RunContext, run: LoadingRun): Promise<LoadingRun> => {
  const latest = await latestRun(context.client, context.spec.name);
  if (latest?.id === run.runId && latest.state === 'cancelled')
    throw await whyStopped(context.client, run.runId);
  if (latest?.id !== run.runId)
    throw new EtlError('ETL_RUN_TAKEN', { run: run.runId, other: `run ${latest?.id ?? 'unknown'}` });
  const number = await adopt(context, run.runId);
  context.emit(await renewIfCrashed(context, run.runId, run.epoch));
  return { ...run, ...number, epoch: context.epoch };
};
