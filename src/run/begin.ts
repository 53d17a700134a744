// Begins a run: continues the newest unfinished run, or writes a new one.

import { takeCorrections } from '../ledger/rejects/corrections.ts';
import { insertFiles, insertRun, latestRun, loadedChunks, runFiles } from '../ledger/run/ledger.ts';
import {
  abandonRuns,
  renewEpoch,
  adoptRun,
  forgetOtherFiles,
  freeOrdinals,
  redefineRun,
  setOrdinals,
} from '../ledger/run/take-over.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { Lease, SourceFile } from '../core/model.ts';
import type { RunEvent } from '../core/run-event.ts';
import { dropBuildSchema } from '../publish/aside/build-schema.ts';
import { refuseStrangers } from '../db/session/access.ts';
import { directTables, sourceNames, landsDirectly } from '../db/landing.ts';
import { forgetJobs } from './open-queue.ts';
import { isUnfinished, reasonsOf, type Outset } from './outset.ts';
import type { Judging } from './files/sieve.ts';
import { hostname } from 'node:os';
import { fileKey, isSameFile, type Beginning, type TableChange } from '../ledger/run/decide.ts';
import { whyStopped } from '../ledger/run/run-end.ts';
import { awaitBuildsEnd } from '../db/session/advisory-lock.ts';
import { runQuery, runTogether, withOwnTransaction, withTransaction } from '../db/client.ts';
import { askTogether } from '../db/ask-together.ts';
import type { RunContext, Work } from './context.ts';
import { recordedFormats } from '../pipeline/definition.ts';
import { dropStaleStaging } from '../db/staging.ts';
import { createTrustedLandings } from './make-landings.ts';
import type { PlannedTable } from './files/planned-table.ts';

const adopt = async (
  { client, epoch, workers, jobId: job, queueName: queue }: RunContext,
  runId: number,
): Promise<Lease> => {
  const { rows } = await runQuery(
    client,
    adoptRun(runId, { host: hostname(), pid: process.pid, workers, job, queue }),
  );
  if (rows.length === 0) throw await whyStopped(client, runId);
  return { runId, epoch, generation: rows[0].generation };
};

/** Files in one statement: as one JSON text, 100,000 files take some 300 MB on their way to the server. */
const filesAtOnce = 2_000;

type NewRunFile = PlannedTable['files'][number];
type Inserted = Pick<SourceFile, 'id' | 'table' | 'ordinal'>;

/** Returns the ids of files in their order. */
const idsOf = (files: readonly NewRunFile[], rows: readonly Inserted[]): readonly number[] => {
  const ids = new Map(rows.map(({ id, table, ordinal }) => [`${ordinal} ${table}`, id]));
  return files.map(({ ordinal, table }) => ids.get(`${ordinal} ${table}`)!);
};

/** Inserts the files from this place on, and returns their ids. */
const insertOthers = async (
  { client }: Pick<Work, 'client'>,
  runId: number,
  files: readonly NewRunFile[],
  from: number,
): Promise<readonly number[]> => {
  const ids: number[] = [];
  for (let at = from; at < files.length; at += filesAtOnce) {
    const some = files.slice(at, at + filesAtOnce);
    ids.push(...idsOf(some, (await runQuery(client, insertFiles({ id: runId }, some))).rows));
  }
  return ids;
};

/** `lost`: tables whose files are all forgotten, together with the rows loaded from them. */
const replaceFiles = async (
  { client }: Work,
  runId: number,
  planned: readonly PlannedTable[],
  lost: ReadonlySet<string>,
): Promise<void> => {
  const before = (await runFiles(client, runId)).filter(({ table }) => !lost.has(table));
  const now = planned.flatMap(({ files }) => files);
  const known = new Map(before.map((file) => [fileKey(file), file]));
  const paired = now.map((file) => {
    const old = known.get(fileKey(file));
    return { file, id: old !== undefined && isSameFile(old, file) ? old.id : undefined };
  });
  const kept = paired.flatMap(({ file, id }) => (id === undefined ? [] : [{ id, ordinal: file.ordinal }]));
  await runQuery(client, forgetOtherFiles(runId, kept));
  await runQuery(client, freeOrdinals(runId));
  await runQuery(client, setOrdinals(kept));
  const added = paired.flatMap(({ file, id }) => (id === undefined ? [file] : []));
  await insertOthers({ client }, runId, added, 0);
};

/**
 * Continues a changed run. Empties tables that cannot keep their loaded rows. Proved by
 * test/fault/resume.test.ts.
 */
const adoptChanged = async (
  context: RunContext,
  planned: readonly PlannedTable[],
  runId: number,
  changes: readonly TableChange[],
): Promise<Lease> => {
  const { client, spec, hashes } = context;
  const lost = new Set(changes.filter(({ isKept }) => !isKept).map(({ table }) => table));
  const empty = planned.filter(({ table }) => lost.has(table.name));
  // These rows are loaded into the build schema, so no session may still be building there.
  if (empty.some(({ table }) => landsDirectly(table))) await awaitBuildsEnd(client, spec.name);
  return withTransaction(client, async () => {
    const lease = await adopt(context, runId);
    // Before `redefineRun`, which makes the run forget which tables it had.
    await dropStaleStaging(context, sourceNames(spec));
    const { definition: definitionHash, tables: tableHashes, staged: stagedHashes } = hashes;
    const formats = recordedFormats(spec);
    await runQuery(client, redefineRun(runId, { definitionHash, tableHashes, stagedHashes, formats }));
    await replaceFiles(context, runId, planned, lost);
    await createTrustedLandings(context, empty);
    return lease;
  });
};

export interface BegunRun {
  readonly lease: Lease;
  /** True if no process has loaded anything for this run. */
  readonly isNew: boolean;
  /** True if the newest run before this one has published the same definition. */
  readonly isAsPublished: boolean;
  readonly files: readonly SourceFile[];
}

type BeginContext = RunContext & Pick<Judging, 'isFullRefresh'>;

type Leased = Pick<BegunRun, 'lease' | 'files'>;

const insertNewRun = (
  context: BeginContext,
  planned: readonly PlannedTable[],
  why: string,
): Promise<Leased> => {
  const { client, spec, hashes, workers, epoch } = context;
  const { name: pipeline, shownParams: params, pinnedParams } = spec;
  const run = {
    pipeline,
    params,
    pinnedParams,
    workers,
    host: hostname(),
    pid: process.pid,
    job: context.jobId,
    queue: context.queueName,
    definitionHash: hashes.definition,
    tableHashes: hashes.tables,
    stagedHashes: hashes.staged,
    formats: recordedFormats(spec),
    isFullRefresh: context.isFullRefresh,
    directory: context.directory,
    epoch,
  };
  const files = planned.flatMap((one) => one.files);
  const isDirect = directTables(spec).length > 0;
  return withOwnTransaction(client, async (beginning, ending) => {
    const [[, , inserted], first] = await askTogether(client, () => [
      runTogether(client, [beginning, abandonRuns(pipeline, why), insertRun(run)]),
      runQuery(client, insertFiles({ newestOf: pipeline }, files.slice(0, filesAtOnce))),
      dropStaleStaging(context, sourceNames(spec)),
      ...(isDirect ? [] : [createTrustedLandings(context, planned)]),
    ]);
    if (isDirect) {
      await dropBuildSchema(client, pipeline);
      await createTrustedLandings(context, planned);
    }
    const { id: runId, generation, runStarted } = inserted!.rows[0];
    const ids = idsOf(files.slice(0, filesAtOnce), first.rows);
    const all = [...ids, ...(await insertOthers(context, runId, files, filesAtOnce))];
    await runQuery(client, ending);
    // A second list of 100,000 files would take as much memory again.
    const stored = files.map((file, at) => Object.assign(file, { id: all[at]!, runId, runStarted }));
    return { lease: { runId, epoch, generation }, files: stored };
  });
};

type Recovered = Extract<RunEvent, { type: 'recovered' }>;

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

/**
 * Continues an unchanged run. Checks owners again, because another role may have created tables
 * after preflight.
 */
const adoptAsItWas = async (context: RunContext, runId: number): Promise<Lease> => {
  await refuseStrangers(context.client, context.spec.name);
  return adopt(context, runId);
};

const adoptAny = async (
  context: RunContext,
  planned: readonly PlannedTable[],
  { runId, changes }: Extract<Beginning, { kind: 'resume' }>,
  isAsItWas: boolean,
): Promise<Leased> => {
  const { client } = context;
  const lease = await (isAsItWas
    ? adoptAsItWas(context, runId)
    : adoptChanged(context, planned, runId, changes));
  await runQuery(client, takeCorrections(runId));
  return { lease, files: await runFiles(client, runId) };
};

const announceResume = async ({ client, report }: Work, runId: number): Promise<void> => {
  const chunks = await loadedChunks(client, runId);
  const records = chunks.reduce((sum, chunk) => sum + chunk.records, 0);
  report.emit({ type: 'resumed', runId, chunks: chunks.length, records });
};

const announcePlan = (
  { report, spec, address, workers }: RunContext,
  runId: number,
  planned: readonly PlannedTable[],
): void => {
  report.emit({ type: 'started', runId, pipeline: spec.name, server: address.label, workers });
  const filesOf = (name: string) => planned.find(({ table }) => table.name === name)?.files ?? [];
  const tables = spec.tables.map(({ name, kind }) => ({
    table: name,
    kind,
    files: filesOf(name).length,
    bytes: filesOf(name).reduce((sum, { bytes }) => sum + bytes, 0),
  }));
  report.emit({ type: 'planned', tables });
};

/** Two pipelines of one name in two folders replace each other's tables. */
const otherFolder = (
  { spec: { name }, hashes, directory }: RunContext,
  latest: Outset['latest'],
): readonly string[] => {
  const before = latest?.directory ?? directory;
  if (before === directory || latest?.definitionHash === hashes.definition) return [];
  return [
    `pipeline ${name} in ${directory} is another than the one in ${before} that ran last; if both are in use, each replaces what the other published: rename one`,
  ];
};

/**
 * Begins the chosen run. `back`: an event to report, unless a crash lost rows: that is reported
 * instead.
 */
export const beginRun = async (
  context: BeginContext,
  planned: readonly PlannedTable[],
  { latest, beginning, isAsItWas }: Outset,
  back?: RunEvent,
): Promise<BegunRun> => {
  const { client, spec, hashes, report } = context;
  for (const message of [...reasonsOf(beginning), ...otherFolder(context, latest)])
    report.emit({ type: 'notice', message });
  const isNew = beginning.kind === 'new';
  // These rows are loaded into the build schema, so no session may still be building there.
  if (isNew && directTables(spec).length > 0) await awaitBuildsEnd(client, spec.name);
  const { lease, files } = await (beginning.kind === 'new'
    ? insertNewRun(context, planned, beginning.why ?? 'a new run took its place')
    : adoptAny(context, planned, beginning, isAsItWas));
  const { runId } = lease;
  if (isNew && isUnfinished(latest)) await forgetJobs(context, latest.id);
  announcePlan(context, runId, planned);
  let news = back;
  if (beginning.kind === 'resume') {
    const recovered = await renewIfCrashed(context, runId, latest!.epoch);
    await announceResume(context, runId);
    if (recovered.crashed) news = recovered;
  }
  if (news !== undefined) report.emit(news);
  const isAsPublished = latest?.state === 'published' && latest.definitionHash === hashes.definition;
  return { lease, isNew, isAsPublished, files };
};

export const continueRun = async (context: RunContext, run: BegunRun): Promise<BegunRun> => {
  const { runId, epoch } = run.lease;
  const latest = await latestRun(context.client, context.spec.name);
  if (latest?.id === runId && latest.state === 'cancelled') throw await whyStopped(context.client, runId);
  if (latest?.id !== runId)
    throw new EtlError('ETL_RUN_TAKEN', { run: runId, other: `run ${latest?.id ?? 'unknown'}` });
  const lease = await adoptAsItWas(context, runId);
  context.report.emit(await renewIfCrashed(context, runId, epoch));
  return { ...run, lease, isNew: false };
};
