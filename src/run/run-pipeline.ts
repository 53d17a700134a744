// The composer: one run of a pipeline from files to published tables, as a list of steps.

import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import {
  closeAbandonedRuns,
  insertFiles,
  insertRun,
  selectHolder,
  updateRunState,
} from '../checkpoint/ledger.ts';
import { createStaging, dropStaging } from '../copy/staging.ts';
import type { PipelineSpec } from '../declaration.ts';
import { resolveServer, type ServerAddress } from '../db/address.ts';
import { tryLockPipeline } from '../db/advisory-lock.ts';
import { runQuery, withClient, withTransaction } from '../db/client.ts';
import { migrate } from '../db/migrate.ts';
import { asServerError } from '../db/server-error.ts';
import { EtlError } from '../errors.ts';
import { chunkBytesDefault } from '../limits.ts';
import { silentLogger } from '../logger.ts';
import type { RunResult, SourceFile } from '../model.ts';
import { bindPipeline } from '../pipeline/bind.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { definitionHash } from '../pipeline/hash.ts';
import { dropBuildSchema } from '../publish/names.ts';
import { migrateQueue } from '../queue/backend.ts';
import { removeQueue } from '../queue/load-queue.ts';
import { readSqlFile, type SqlText } from '../transform/sql-file.ts';
import { buildTables } from './build.ts';
import { checkRejects } from './completeness.ts';
import { secondsSince, step, type RunContext } from './context.ts';
import { loadFiles } from './load.ts';
import type { RunOptions } from './options.ts';
import { planSources, type PlannedTable } from './plan.ts';
import { publishTables } from './publish.ts';
import { standingRun, tableResults } from './results.ts';

const readSqlFiles = async (spec: PipelineSpec): Promise<ReadonlyMap<string, SqlText>> => {
  const texts = new Map<string, SqlText>();
  for (const { name, transform } of spec.tables)
    if (transform !== undefined) texts.set(name, await readSqlFile(name, transform, spec.directory));
  return texts;
};

/** Only the holder of the lock goes on; it closes the runs of processes that died, and their queues. */
const takeOver = async (context: RunContext): Promise<void> => {
  const { client, spec } = context;
  if (!(await tryLockPipeline(client, spec.name))) {
    const { rows } = await runQuery(client, selectHolder(spec.name));
    throw new EtlError('ETL_RUN_LOCKED', { pipeline: spec.name, ...rows[0] });
  }
  const { rows: abandoned } = await runQuery(client, closeAbandonedRuns(spec.name));
  if (abandoned.length > 0) await migrateQueue(context.address);
  for (const { id } of abandoned) await removeQueue(context.address, id, context.logger);
};

/** Writes the run and its files into the ledger and makes empty staging tables, in one transaction. */
const beginRun = (
  context: RunContext,
  hash: string,
  planned: readonly PlannedTable[],
): Promise<{ runId: number; files: readonly SourceFile[] }> =>
  withTransaction(context.client, async () => {
    const { client, spec, workers } = context;
    const { name: pipeline, params } = spec;
    const run = { pipeline, params, workers, definitionHash: hash, host: hostname(), pid: process.pid };
    const runId = Number((await runQuery(client, insertRun(run))).rows[0].id);
    const files = planned.flatMap((table) => table.files);
    const ids = (await runQuery(client, insertFiles(runId, files))).rows;
    for (const { table, staging } of planned) {
      await runQuery(client, dropStaging(spec.name, table.name));
      await runQuery(client, createStaging(spec.name, table.name, staging));
    }
    const idOf = ({ table, ordinal }: { table: string; ordinal: number }): number =>
      Number(ids.find((row) => row.table_name === table && row.ordinal === ordinal).id);
    return { runId, files: files.map((file) => ({ ...file, runId, id: idOf(file) })) };
  });

/** Drops what only the run needed. Production is published by now: a failure here must not say otherwise. */
const tidyUp = async (context: RunContext, planned: readonly PlannedTable[]): Promise<void> => {
  const { client, spec, keepStaging, logger } = context;
  try {
    await runQuery(client, dropBuildSchema(spec.name));
    if (!keepStaging) for (const { table } of planned) await runQuery(client, dropStaging(spec.name, table.name));
  } catch (error) {
    logger.warn({ error }, 'staging could not be dropped; the next run will');
  }
};

/** load -> check rejects -> build -> publish, with the run's state in the ledger at every step. */
const loadAndPublish = async (
  context: RunContext,
  hash: string,
  planned: readonly PlannedTable[],
  sqlTexts: ReadonlyMap<string, SqlText>,
): Promise<number> => {
  const { client } = context;
  const { runId, files } = await beginRun(context, hash, planned);
  try {
    announce(context, runId, planned);
    await runQuery(client, updateRunState(runId, 'loading'));
    const loadSeconds = await step(context, 'load', () => loadFiles(context, runId, planned, files)).catch(
      // A table over its limit stops the load early; the error that names its rejects is made below.
      (error: unknown) => {
        if (!(error instanceof EtlError) || error.code !== 'ETL_REJECT_LIMIT') throw error;
        return new Map<string, number>();
      },
    );
    await checkRejects(context, runId);
    await runQuery(client, updateRunState(runId, 'loaded'));
    const built = await step(context, 'build', () => buildTables(context, sqlTexts, loadSeconds));
    await runQuery(client, updateRunState(runId, 'publishing'));
    await step(context, 'publish', () => publishTables(context, runId, built));
    return runId;
  } catch (error) {
    throw await recordFailure(context, runId, error);
  }
};

const announce = ({ emit, spec, address, workers }: RunContext, runId: number, planned: readonly PlannedTable[]): void => {
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

/** Writes why a run ended into the ledger, if the server can still be reached; returns the error to throw. */
const recordFailure = async ({ client, signal, logger, address }: RunContext, runId: number, thrown: unknown): Promise<EtlError> => {
  const error = signal?.aborted
    ? new EtlError('ETL_INTERRUPTED', { signal: String(signal.reason?.message ?? signal.reason) }, { cause: thrown })
    : asServerError(address, thrown);
  const { code, message } = error;
  const state = signal?.aborted ? 'cancelled' : 'failed';
  await runQuery(client, updateRunState(runId, state, { code, message })).catch((cause: unknown) =>
    logger.warn({ error: cause }, 'the end of the run could not be recorded'),
  );
  return error;
};

const runOn = async (
  address: ServerAddress,
  spec: PipelineSpec,
  sqlTexts: ReadonlyMap<string, SqlText>,
  options: RunOptions,
): Promise<RunResult> =>
  withClient(address, async (client) => {
    const start = performance.now();
    const context: RunContext = {
      spec,
      address,
      client,
      workers: options.workers ?? availableParallelism(),
      chunkBytes: options.chunkBytes ?? chunkBytesDefault,
      keepStaging: options.keepStaging ?? false,
      emit: options.onEvent ?? (() => undefined),
      logger: options.logger ?? silentLogger,
      signal: options.signal,
      steps: [],
    };
    const finish = async (runId: number, outcome: RunResult['outcome']): Promise<RunResult> => {
      const tables = await tableResults(client, spec, runId);
      const { steps } = context;
      const result = { runId, pipeline: spec.name, outcome, tables, steps, seconds: secondsSince(start) };
      context.emit({ type: 'finished', result });
      return result;
    };
    const hash = definitionHash(spec, new Map([...sqlTexts].map(([table, { text }]) => [table, text])));
    const planned = await step(context, 'plan', async () => {
      await migrate(client);
      await takeOver(context);
      return planSources(spec, resolve(options.workingDirectory ?? '.'));
    });
    const standing = options.fullRefresh ? undefined : await standingRun(client, spec, hash, planned);
    if (standing !== undefined) return finish(standing, 'unchanged');
    const runId = await loadAndPublish(context, hash, planned, sqlTexts);
    await tidyUp(context, planned);
    return finish(runId, 'published');
  });

/**
 * Runs a pipeline once: plans, loads, checks, builds and publishes; production changes in one step or not at all.
 *
 * Without `databaseUrl` or `server` the server is found as on the command line: DATABASE_URL, PG*, embedded.
 * Returns what was done to each table. Errors: EtlError, with the codes of docs/reference/errors.md; the run's end and
 * its error are recorded in etl.run.
 */
export const runPipeline = async (
  pipeline: Pipeline,
  options: RunOptions & { readonly server?: ServerAddress } = {},
): Promise<RunResult> => {
  const directory = resolve(options.directory ?? '.');
  const spec = bindPipeline(pipeline, { params: options.params ?? {}, directory });
  const sqlTexts = await readSqlFiles(spec);
  const { databaseUrl, server } = options;
  const address = server ?? (await resolveServer({ databaseUrl, env: process.env, etlDirectory: resolve('.etl') }));
  return runOn(address, spec, sqlTexts, options).catch((thrown: unknown) => {
    throw asServerError(address, thrown);
  });
};
