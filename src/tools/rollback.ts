// rollbackPipeline(): returns tables to the versions of an earlier run, in one transaction.

import { keptTables, tablesInProduction, tablesOfRun, withdrawnBy } from '../ledger/production/kept.ts';
import { pendingHook } from '../ledger/run/hook-state.ts';
import { latestRun } from '../ledger/run/ledger.ts';
import { publishedTables } from '../ledger/production/published-tables.ts';
import { withClient } from '../db/client.ts';
import type { Pipeline } from '../pipeline/define-pipeline.ts';
import { dropStaleStaging } from '../db/staging.ts';
import { isUnfinished } from '../run/outset.ts';
import type { RunContext, Work } from '../run/context.ts';
import { callOwed, callPublished } from '../run/hooks.ts';
import { forgetJobs } from '../run/open-queue.ts';
import { deliverOwed } from '../run/publish/at-end.ts';
import { refuseUnknownTables, type RunOptions } from '../run/options.ts';
import { coordinate, prepareRun } from '../run/prepare.ts';
import { dropReplaced } from '../run/publish/tidy-up.ts';
import { chooseVersions, runBefore, sayBack } from './choose.ts';
import { goBack } from './go-back.ts';

/** Options of rollbackPipeline. */
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
  /**
   * The run to return to. Default: the run before the newest load. If that load is already rolled
   * back, nothing is changed.
   */
  readonly to?: number;
  /** Tables to roll back. Default: all tables that the run published. */
  readonly tables?: readonly string[];
}

/** The result of a rollback: the published tables, and the run and files that it undid. */
export interface RollbackResult {
  /** Name of the pipeline whose tables were rolled back. */
  readonly pipeline: string;
  /** Id of the rollback's own run; null if production already was in the wanted state. */
  readonly runId: number | null;
  /** The run whose tables are in production now; 0 means the state before the first run. */
  readonly to: number;
  /** The tables that were published again. */
  readonly tables: readonly {
    /** Name of the table in the pipeline and in its schema. */
    readonly table: string;
    /** Schema of the table in production. */
    readonly schema: string;
    /** Rows in production before the rollback; null if not known. */
    readonly rowsBefore: number | null;
    /** Rows in production after the rollback. */
    readonly rows: number;
    /** How the table was published; docs/reference/events.md has the names. */
    readonly strategy: string;
  }[];
  /**
   * The run that was undone. The next run refuses to load its files again. Null: no run was undone,
   * because the rollback went forward to a newer run.
   */
  readonly undone: number | null;
  /** Files that only the undone run had loaded. */
  readonly withdrawn: readonly string[];
}

const resultOf = async (
  { client, spec }: Work,
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
  // Drops replaced tables, also of a process that was killed right after its commit.
  if (runId !== null || !isUnfinished(latest)) {
    await dropReplaced(context);
    await dropStaleStaging(context, []);
  }
  if (runId !== null) await callPublished(context, runId);
  return resultOf(context, runId, to);
};

/**
 * Returns a pipeline's tables to the versions of an earlier run, like `etl rollback`, in one
 * transaction. The replaced versions are kept. The next run refuses to load the files of the undone
 * run again, until these files or the definition change.
 *
 * @throws EtlError ETL_ROLLBACK: a table has no such version · ETL_RUN_LOCKED · errors of
 *   publishing
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
      const { context } = await coordinate(prepared, client, () => Promise.resolve());
      await callOwed(context, await pendingHook(client, spec.name));
      return rollBack(context, { ...(to !== undefined && { to }), ...(tables && { tables }) });
    },
    settings.abort,
  );
  await deliverOwed(prepared);
  return result;
};
