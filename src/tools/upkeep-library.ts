// The library's upkeep: earlier versions of tables that are kept, and old runs that are deleted.
//
// The types of what it exports need no package: test/package/production.test.ts compiles them without any.

import type { KeptVersion, PruneResult } from '../ledger/production/upkeep.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import type { RunOptions } from '../run/options.ts';
import { listVersionsOn } from './list-versions.ts';
import { onServer } from '../run/find-server.ts';
import { prune } from './prune.ts';

export type UpkeepOptions = Pick<RunOptions, 'databaseUrl' | 'connection'>;

export interface PruneOptions extends UpkeepOptions, Pick<RunOptions, 'signal'> {
  /** Runs that ended before this are deleted, but what anything still needs. */
  readonly before: Date;
  /** Also drop versions of tables that left production before it. Default: false. */
  readonly kept?: boolean;
  /** Only count. Default: false. */
  readonly dryRun?: boolean;
}

/** Earlier versions of a pipeline's tables, those that left production last first. Errors: those of the server. */
export const listVersions = (
  pipeline: Pipeline,
  options: UpkeepOptions = {},
): Promise<readonly KeptVersion[]> => onServer(options, (client) => listVersionsOn(client, pipeline.name));

/**
 * Deletes old runs of all pipelines from the bookkeeping, in short transactions and beside runs that are going on. Errors: ETL_USAGE
 * (no date), ETL_UNTRUSTED, ETL_SCHEMA_NEWER, those of the server, the signal's reason.
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
  // The signal stops it between two transactions, not in one.
  return onServer({ databaseUrl, connection }, (client) => prune(client, { before, kept, dryRun, signal }));
};
