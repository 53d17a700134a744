// listVersions() and pruneRuns() of the library. The types of their exports do not need any
// package: test/package/production.test.ts compiles them without packages.

import type { KeptVersion, PruneResult } from '../ledger/production/upkeep.ts';
import { EtlError } from '../core/errors/errors.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import type { RunOptions } from '../run/options.ts';
import { listVersionsOn } from './list-versions.ts';
import { onServer } from '../run/find-server.ts';
import { prune } from './prune.ts';

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
 * Deletes old runs of all pipelines from the bookkeeping, like `etl prune`. Uses short
 * transactions, so other runs can continue.
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
