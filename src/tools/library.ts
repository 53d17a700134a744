// The tools as functions of the library. Types of these exports need no package:
// test/package/production.test.ts compiles them without packages.

import { existsSync } from 'node:fs';
import { namesServer, type ServerAddress } from '../db/connect/address.ts';
import { refuseEmbedded } from '../db/embedded/refuse.ts';
import { findEtlDirectory } from '../db/embedded/find-directory.ts';
import { findServer, onServer } from '../run/find-server.ts';
import type { RunPlan } from '../run/plan/contract.ts';
import { makePlan } from './make-plan.ts';
import type { FileState } from '../core/file-state.ts';
import { filesOf } from './file-states.ts';
import { testsOf } from './production-tests.ts';
import type { TestPipelineOptions, TestReport } from './test-report.ts';
import type { KeptVersion, PruneResult } from '../ledger/production/upkeep.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { RunOptions } from '../run/options.ts';
import { listVersionsOn } from './list-versions.ts';
import { prune } from './prune.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import type { VerifyOptions, VerifyReport } from './verify/report.ts';
import { verifyOn } from './verify/verify.ts';

/**
 * Compares the rows in production with their files, like `etl verify`. Reads whole files,
 * with csv-parse instead of sluice's parser. Nothing is written. A difference is a result, not an
 * error. The server is found as by runPipeline.
 *
 * @throws EtlError ETL_VERIFY_NOTHING: no file is in production · ETL_VERIFY_MOVED: other runs
 *   publish all the time · ETL_VERIFY_HASH: the server's hashes are different · ETL_SCHEMA_OLDER ·
 *   errors of the definition, its files, its functions and the server
 */
export const verifyPipeline = (pipeline: Pipeline, options: VerifyOptions = {}): Promise<VerifyReport> =>
  onServer(options, (client) => verifyOn(pipeline, options, client));

/** Options of listVersions. */
export type UpkeepOptions = Pick<RunOptions, 'databaseUrl' | 'connection'>;

/** Options of pruneRuns. */
export interface PruneOptions extends UpkeepOptions, Pick<RunOptions, 'signal'> {
  /** Delete runs that ended before this time, except data that is still needed. */
  readonly before: Date;
  /** Also drop kept versions of tables that were replaced before this time. Default: false. */
  readonly kept?: boolean;
  /** Only count what would be deleted. Default: false. */
  readonly dryRun?: boolean;
}

/**
 * Lists the kept versions of a pipeline's tables, like `etl rollback --list`, the last replaced
 * version first.
 *
 * @throws EtlError errors of the server
 */
export const listVersions = (
  pipeline: Pipeline,
  options: UpkeepOptions = {},
): Promise<readonly KeptVersion[]> => onServer(options, (client) => listVersionsOn(client, pipeline.name));

/**
 * Deletes old runs of all pipelines from the bookkeeping, like `etl prune`, in short transactions.
 *
 * @throws EtlError ETL_USAGE: `before` is not a valid Date · ETL_UNTRUSTED · ETL_SCHEMA_NEWER ·
 *   errors of the server · the reason of the signal
 */
export const pruneRuns = (options: PruneOptions): Promise<PruneResult> => {
  const {
    databaseUrl,
    connection,
    before,
    kept = false,
    dryRun = false,
    signal = new AbortController().signal,
  } = options;
  if (!(before instanceof Date) || Number.isNaN(before.getTime())) {
    const problem = 'before must be a Date';
    throw new EtlError('ETL_USAGE', { problem, hint: 'Example: new Date(Date.now() - 90 * 86_400_000).' });
  }
  // The signal is not given to onServer: it must stop the work between transactions, not in one.
  return onServer({ databaseUrl, connection }, (client) => prune(client, { before, kept, dryRun, signal }));
};

/**
 * Runs the data tests of a pipeline on production, like `etl test`. A failed test is a result, not
 * an error. The server is found as by runPipeline.
 *
 * @throws EtlError ETL_TEST_NO_TABLE: a table does not exist · ETL_TEST_REFUSED: the server refuses
 *   a test · errors of the definition and the server
 */
export const testPipeline = (pipeline: Pipeline, options: TestPipelineOptions = {}): Promise<TestReport> =>
  onServer(options, (client) => testsOf(pipeline, options, client));

/** Options of listFiles. */
export type ListOptions = Pick<
  RunOptions,
  'databaseUrl' | 'connection' | 'params' | 'directory' | 'workingDirectory'
>;

/**
 * Lists the files of a pipeline with their states, like `etl files`, including files in production
 * that no longer exist. The server is found as by runPipeline.
 *
 * @throws EtlError errors of the definition, its files and the server · ETL_SCHEMA_OLDER
 */
export const listFiles = (pipeline: Pipeline, options: ListOptions = {}): Promise<readonly FileState[]> =>
  onServer(options, (client) => filesOf(pipeline, options, client));

/** Options of planPipeline: the options of a run that influence its plan. */
export type PlanOptions = Pick<
  RunOptions,
  | 'databaseUrl'
  | 'connection'
  | 'params'
  | 'workers'
  | 'chunkBytes'
  | 'directory'
  | 'workingDirectory'
  | 'fresh'
  | 'fullRefresh'
  | 'reload'
  | 'unload'
  | 'allowShrink'
  | 'signal'
>;

/** Returns the server, or undefined if none is named and no embedded server was started here. */
const findExisting = async (options: PlanOptions): Promise<ServerAddress | undefined> => {
  const { databaseUrl, connection } = options;
  const isNamed = databaseUrl !== undefined || connection !== undefined || namesServer(process.env);
  if (!isNamed) refuseEmbedded(process.env);
  return isNamed || existsSync(findEtlDirectory(process.cwd())) ? findServer(options) : undefined;
};

/**
 * Plans a run of a pipeline, like `etl plan`, and changes nothing. The server is found as by
 * runPipeline. If the run would fail, the plan contains the error.
 *
 * @throws EtlError errors of the definition and its SQL files · ETL_USAGE · the reason of the
 *   signal
 */
export const planPipeline = async (pipeline: Pipeline, options: PlanOptions = {}): Promise<RunPlan> =>
  (await makePlan(pipeline, options, () => findExisting(options))).plan;
