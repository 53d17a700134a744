// Rolls a pipeline's tables back to an earlier version: those that one run had published, all in one transaction.

import { keptTables, tablesInProduction, tablesOfRun, withdrawnBy } from '../ledger/production/kept.ts';
import { latestRun } from '../ledger/run/ledger.ts';
import { publishedTables } from '../ledger/production/published-tables.ts';
import { withClient } from '../db/client.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { dropStaleStaging } from '../run/begin/make-landings.ts';
import { isUnfinished } from '../run/begin/outset.ts';
import type { RunContext } from '../run/context.ts';
import { callOwed, callPublished } from '../run/hooks.ts';
import { forgetJobs } from '../run/begin/open-queue.ts';
import { deliverOwed } from '../run/publish/at-end.ts';
import { refuseUnknownTables, type RunOptions } from '../run/options.ts';
import { coordinatorContext, prepareRun } from '../run/prepare.ts';
import { dropReplaced } from '../run/publish/tidy-up.ts';
import { takeLock } from '../run/take-lock.ts';
import { chooseVersions, runBefore, sayBack } from './choose.ts';
import { goBack } from './go-back.ts';

export interface RollbackOptions extends Pick<
  RunOptions,
  | 'databaseUrl'
  | 'connection'
  | 'redis'
  | 'params'
  | 'directory'
  | 'workingDirectory'
  | 'signal'
  | 'onEvent'
  | 'logger'
> {
  /** The run to go back to. Default: that of the version which the newest load has replaced; a second time nothing is done. */
  readonly to?: number;
  /** Tables that go back. Default: all that the run has published. */
  readonly tables?: readonly string[];
}

/** What a rollback has put into production, and what it has taken out. */
export interface RollbackResult {
  readonly pipeline: string;
  /** The run that rolled back; null: production was like that already. */
  readonly runId: number | null;
  /** The run that production is as of now; 0: as before the first run. */
  readonly to: number;
  readonly tables: readonly {
    readonly table: string;
    readonly schema: string;
    readonly rowsBefore: number | null;
    readonly rows: number;
    readonly strategy: string;
  }[];
  /** The run whose rows were taken out; null: none, because `to` is newer than it. The next run refuses to load them again. */
  readonly undone: number | null;
  /** Files that only that run had. */
  readonly withdrawn: readonly string[];
}

const resultOf = async (
  { client, spec }: RunContext,
  runId: number | null,
  to: number,
): Promise<RollbackResult> => {
  const published = runId === null ? [] : await publishedTables(client, runId);
  const withdrawn = runId === null ? undefined : await withdrawnBy(client, spec.name);
  return {
    pipeline: spec.name,
    runId,
    to,
    tables: published.map(({ table, schema, rowsBefore, rows, strategy }) => ({
      table,
      schema,
      rowsBefore,
      rows,
      strategy,
    })),
    withdrawn: withdrawn?.files.map(({ name }) => name) ?? [],
    undone: withdrawn?.undone ?? null,
  };
};

/** Goes back over one connection, which holds the pipeline's lock. */
const rollBack = async (
  context: RunContext,
  { to: asked, tables: named }: Pick<RollbackOptions, 'to' | 'tables'>,
): Promise<RollbackResult> => {
  const { client, spec } = context;
  const tables = named ?? spec.tables.map(({ name }) => name);
  const kept = await keptTables(client, spec.name);
  const inProduction = await tablesInProduction(client, spec.name, spec.schema);
  const choice = { spec, kept, inProduction, tables };
  const to = asked ?? runBefore(choice);
  const ofRun = await tablesOfRun(client, spec.name, to);
  const backs = chooseVersions(choice, to, ofRun);
  if (asked === undefined && backs.length === 0) sayBack(context, choice);
  const latest = await latestRun(client, spec.name);
  const runId = backs.length === 0 ? null : await goBack(context, to, backs);
  if (runId !== null && isUnfinished(latest)) await forgetJobs(context, latest.id);
  // A process killed right after its commit leaves them.
  if (runId !== null || !isUnfinished(latest)) {
    await dropReplaced(context);
    await dropStaleStaging(context, []);
  }
  if (runId !== null) await callPublished(context, runId);
  return resultOf(context, runId, to);
};

/**
 * Puts an earlier version of a pipeline's tables into production, all of them in one step; the version that is replaced is kept. The
 * next run refuses to load the withdrawn files again before they, or the definition, have changed. Errors: ETL_ROLLBACK when not
 * all tables have that version, ETL_RUN_LOCKED, those of publishing.
 */
export const rollbackPipeline = async (
  pipeline: Pipeline,
  { to, tables, ...options }: RollbackOptions = {},
): Promise<RollbackResult> => {
  const prepared = await prepareRun(pipeline, options, {}, 'coordinator');
  const { address, settings, spec } = prepared;
  const names = spec.tables.map(({ name }) => name);
  refuseUnknownTables(names, tables, 'tables');
  const result = await withClient(
    address,
    async (client) => {
      const context = await coordinatorContext(prepared, client);
      await takeLock(context, false);
      await callOwed(context);
      return rollBack(context, { ...(to !== undefined && { to }), ...(tables && { tables }) });
    },
    settings.abort,
  );
  await deliverOwed(prepared);
  return result;
};
