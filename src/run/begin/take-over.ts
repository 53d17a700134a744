// Takes over an unfinished run: unchanged, or with the current definition and files.

import { hostname } from 'node:os';
import { fileKey, isSameFile, type TableChange } from '../../ledger/run/decide.ts';
import { insertFiles, runFiles } from '../../ledger/run/ledger.ts';
import { whyStopped } from '../../ledger/run/run-end.ts';
import {
  adoptRun,
  forgetOtherFiles,
  freeOrdinals,
  redefineRun,
  setOrdinals,
} from '../../ledger/run/take-over.ts';
import { awaitBuildsEnd } from '../../db/session/advisory-lock.ts';
import { runQuery, withTransaction } from '../../db/client.ts';
import type { Lease } from '../../core/model.ts';
import type { RunContext, Work } from '../context.ts';
import { recordedFormats } from '../../pipeline/definition.ts';
import { landsDirectly, sourceNames } from '../../db/landing.ts';
import { dropStaleStaging, createTrustedLandings } from './make-landings.ts';
import type { PlannedTable } from '../files/planned-table.ts';

/** Makes this process the run's coordinator. */
export const adopt = async (
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

/**
 * Replaces the files of the run by the planned files. `lost`: tables whose files are all forgotten,
 * together with what was loaded from them.
 */
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
  if (added.length > 0) await runQuery(client, insertFiles(runId, added));
};

/**
 * Makes this process the coordinator of a run whose definition or files have changed, in one
 * transaction. Tables that cannot keep their loaded rows are emptied. Proved by
 * test/fault/resume.test.ts.
 */
export const adoptChanged = async (
  context: RunContext,
  planned: readonly PlannedTable[],
  runId: number,
  changes: readonly TableChange[],
): Promise<Lease> => {
  const { client, spec, hashes } = context;
  const lost = new Set(changes.filter(({ isKept }) => !isKept).map(({ table }) => table));
  const empty = planned.filter(({ table }) => lost.has(table.name));
  // Rows are loaded straight into the build schema, so no session may still be building there.
  if (empty.some(({ table }) => landsDirectly(table))) await awaitBuildsEnd(client, spec.name);
  return withTransaction(client, async () => {
    const lease = await adopt(context, runId);
    // Done before `redefineRun`, while the run still records which tables it had.
    await dropStaleStaging(context, sourceNames(spec));
    const { definition: definitionHash, tables: tableHashes, staged: stagedHashes } = hashes;
    const formats = recordedFormats(spec);
    await runQuery(client, redefineRun(runId, { definitionHash, tableHashes, stagedHashes, formats }));
    await replaceFiles(context, runId, planned, lost);
    await createTrustedLandings(context, empty);
    return lease;
  });
};
