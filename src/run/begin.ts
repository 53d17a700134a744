// Begins a run: finds that there is nothing to do, continues the newest unfinished run, or writes a new one.

import { hostname } from 'node:os';
import { decideBeginning, type Beginning, type KnownFile } from '../checkpoint/decide.ts';
import {
  insertFiles,
  insertRun,
  latestRun,
  loadedChunks,
  runFiles,
  type LatestRun,
} from '../checkpoint/ledger.ts';
import { whyStopped } from '../checkpoint/run-end.ts';
import { abandonRuns, fenceRun, renewEpoch } from '../checkpoint/take-over.ts';
import { awaitBuildsEnd } from '../db/advisory-lock.ts';
import { runQuery, withTransaction } from '../db/client.ts';
import { EtlError } from '../errors.ts';
import type { RunEvent } from '../model.ts';
import { dropBuildSchema } from '../publish/names.ts';
import type { RunContext } from './context.ts';
import type { DefinitionHashes } from './definition.ts';
import { directTables } from './landing.ts';
import { forgetJobs, type LoadingRun } from './load.ts';
import { landingsThere, makeLandings } from './make-landings.ts';
import type { PlannedTable } from './plan.ts';
import { adopt, adoptChanged, type RunNumber } from './take-over.ts';

/** Writes the run and its files into the ledger and makes empty staging tables, in one transaction. */
const insertNewRun = (
  context: RunContext,
  hashes: DefinitionHashes,
  planned: readonly PlannedTable[],
  why: string,
): Promise<RunNumber> =>
  withTransaction(context.client, async () => {
    const { client, spec, workers } = context;
    const { name: pipeline, shownParams: params, pinnedParams } = spec;
    await runQuery(client, abandonRuns(pipeline, why));
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
      stagedHashes: hashes.staged,
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
    if (directTables(spec).length > 0) await runQuery(client, dropBuildSchema(spec.name));
    await makeLandings(context, planned);
    return { runId, generation };
  });

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

/** What a run begins as, and the newest run before it. */
export interface Outset {
  readonly latest: LatestRun | undefined;
  readonly beginning: Beginning;
  /** Definition and files are those of the run before, which is continued. */
  readonly isAsItWas: boolean;
}

/** Files of an unfinished run, and of which of them something is in staging that counts. */
const knownFiles = async (
  { client, spec, epoch }: RunContext,
  run: LatestRun,
): Promise<readonly KnownFile[]> => {
  const loaded = new Set((await loadedChunks(client, run.id)).map(({ fileId }) => fileId));
  const direct = directTables(spec);
  // A crash has emptied what is unlogged.
  return (await runFiles(client, run.id)).map((file) => ({
    ...file,
    isLoaded: loaded.has(file.id) && (run.epoch === epoch || direct.includes(file.table)),
  }));
};

/** Looks at the newest run of the pipeline; `fresh`: it is not to be continued. */
export const findOutset = async (
  context: RunContext,
  hashes: DefinitionHashes,
  planned: readonly PlannedTable[],
  fresh: boolean,
): Promise<Outset> => {
  const { client, spec } = context;
  const latest = await latestRun(client, spec.name);
  const decide = async (): Promise<Beginning> =>
    decideBeginning({
      latest,
      before: isUnfinished(latest) ? await knownFiles(context, latest) : [],
      now: planned.flatMap(({ files }) => files),
      stagedHashes: hashes.staged,
      landings: isUnfinished(latest) ? await landingsThere(client, spec, planned) : new Set(),
      fresh,
    });
  let beginning = await decide();
  if (beginning.kind === 'resume' && beginning.changes.length > 0) {
    // A chunk in flight may be the first of a file that has changed.
    await runQuery(client, fenceRun(beginning.runId));
    beginning = await decide();
  }
  const isAsItWas =
    beginning.kind === 'resume' &&
    beginning.changes.length === 0 &&
    latest?.definitionHash === hashes.definition;
  return { latest, beginning, isAsItWas };
};

const isUnfinished = (run: LatestRun | undefined): run is LatestRun =>
  run !== undefined && run.state !== 'published';

/** Why a run is not simply continued, a line each. */
const reasonsOf = (beginning: Beginning): readonly string[] => {
  if (beginning.kind === 'new') return beginning.why === undefined ? [] : [beginning.why];
  return beginning.changes.map(({ table, isKept, why }) =>
    isKept
      ? `run ${beginning.runId} goes on with the files of table ${table} as they are now: ${why}`
      : `run ${beginning.runId} goes on, but table ${table} is loaded again, because ${why}`,
  );
};

/**
 * Begins: continues the newest unfinished run of the pipeline, or writes a new one and says why.
 * `back` is told when the server was waited for, unless a crash cost more than it says.
 */
export const beginRun = async (
  context: RunContext,
  hashes: DefinitionHashes,
  planned: readonly PlannedTable[],
  { latest, beginning, isAsItWas }: Outset,
  back?: RunEvent,
): Promise<LoadingRun> => {
  const { client, spec, emit } = context;
  for (const message of reasonsOf(beginning)) emit({ type: 'notice', message });
  const isNew = beginning.kind === 'new';
  // Rows go straight into the build schema: nobody may be building there any more.
  if (isNew && directTables(spec).length > 0) await awaitBuildsEnd(client, spec.name);
  const number = await (beginning.kind === 'new'
    ? insertNewRun(context, hashes, planned, beginning.why ?? 'a new run took its place')
    : isAsItWas
      ? adopt(context, beginning.runId)
      : adoptChanged(context, hashes, planned, beginning.runId, beginning.changes));
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
