// planPipeline() of the library. The types of its exports do not need any package:
// test/package/production.test.ts compiles them without packages.

import { existsSync } from 'node:fs';
import { namesServer, type ServerAddress } from '../db/connect/address.ts';
import { refuseEmbedded } from '../db/embedded/refuse.ts';
import { findEtlDirectory } from '../db/embedded/find-directory.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { findServer } from '../run/find-server.ts';
import type { RunOptions } from '../run/options.ts';
import type { RunPlan } from '../run/plan/contract.ts';
import { makePlan } from './make-plan.ts';

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

/** Finds the server; undefined if none is named and no embedded server was ever started here. */
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
