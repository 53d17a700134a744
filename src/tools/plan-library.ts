// The plan of a run, for the library.
//
// The types of what it exports need no package: test/package/production.test.ts compiles them without any.

import { existsSync } from 'node:fs';
import { namesServer, type ServerAddress } from '../db/connect/address.ts';
import { refuseEmbedded } from '../db/embedded/refuse.ts';
import { findEtlDirectory } from '../db/embedded/find-directory.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { findServer } from '../run/find-server.ts';
import type { RunOptions } from '../run/options.ts';
import type { RunPlan } from '../run/plan/contract.ts';
import { makePlan } from './make-plan.ts';

/** Those of a run that say what it would do. */
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

/** Undefined: none is named, and no embedded one was ever started here. A plan sets up none. */
const findExisting = async (options: PlanOptions): Promise<ServerAddress | undefined> => {
  const { databaseUrl, connection } = options;
  const isNamed = databaseUrl !== undefined || connection !== undefined || namesServer(process.env);
  if (!isNamed) refuseEmbedded(process.env);
  return isNamed || existsSync(findEtlDirectory(process.cwd())) ? findServer(options) : undefined;
};

/**
 * Plans a run of a pipeline as `etl plan` does, and changes nothing. The server is found as by runPipeline. What the run would end with
 * is in the plan. Errors: those of the definition and its SQL files, ETL_USAGE, the signal's reason.
 */
export const planPipeline = async (pipeline: Pipeline, options: PlanOptions = {}): Promise<RunPlan> =>
  (await makePlan(pipeline, options, () => findExisting(options))).plan;
