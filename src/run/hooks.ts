// Runs the author's hooks, each on its own connection and with a time limit.

import { setHookPending, hookEnded } from '../ledger/run/hook-state.ts';
import { runQuery, runTogether, withClient, withOwnTransaction, type Client } from '../db/client.ts';
import { isRefusal } from '../db/connect/server-error.ts';
import { durable } from '../db/session/session-settings.ts';
import { quoteText, searchPath, storable } from '../db/sql.ts';
import { EtlError, codeOf, messageOf } from '../core/errors/errors.ts';
import type { FailedHookContext, HookError, HookName, HookTable } from '../core/hook.ts';
import { authorsPath } from '../db/names.ts';
import { placeInSql, type SqlText } from '../db/sql-file.ts';
import type { RunContext, Work } from './context.ts';
import { stopSignal } from '../core/stop.ts';
import { tablesOf } from '../report/notify/events.ts';
import type { PreparedRun } from './prepare.ts';

/** Time after which the server notices that the client of a hook's statement is gone. */
const connectionCheckMs = 5_000;

const hookError = (hook: HookName, where: string, problem: string, cause?: unknown): EtlError => {
  const state = hook === 'published' ? 'The run is published.' : 'Nothing was published.';
  return new EtlError('ETL_HOOK', { hook, where, problem, state }, { cause });
};

export const sqlError = (
  hook: HookName,
  { file, text }: SqlText,
  cause: unknown,
  prefixLength = 0,
): EtlError => {
  const offset = Number((cause as { position?: string }).position ?? 0) - 1 - prefixLength;
  const where = offset >= 0 ? placeInSql(text, offset) : '';
  return hookError(hook, ` ${file}${where}`, `${codeOf(cause)} ${messageOf(cause)}`, cause);
};

const runSql = async (client: Client, hook: HookName, sql: SqlText): Promise<void> => {
  await client.query(sql.text).catch((cause: unknown) => {
    throw isRefusal(cause) ? sqlError(hook, sql, cause) : cause;
  });
};

interface RunFacts {
  readonly runId: number | null;
  readonly tables: readonly HookTable[];
  readonly error?: HookError;
}

/** What a hook needs. The run's connection is not included, because it may be lost. */
type Calling = Pick<RunContext, 'address' | 'spec' | 'hookTexts' | 'report' | 'abort' | 'drain'>;

const runFunction = async (
  { spec, report }: Calling,
  client: Client,
  hook: HookName,
  facts: RunFacts,
  signal: AbortSignal,
): Promise<void> => {
  const given = {
    hook,
    pipeline: spec.name,
    ...facts,
    params: spec.params,
    query: async (sql: string, values: readonly unknown[] = []) =>
      (await client.query(sql, [...values])).rows,
    signal,
    logger: report.logger,
  };
  try {
    // Only the hook `failed` gets an error. It has no run if the failure came before the run.
    await (spec.hooks![hook] as (context: FailedHookContext) => unknown)(given as FailedHookContext);
  } catch (cause) {
    throw hookError(hook, '', messageOf(cause), cause);
  }
};

/** Sets facts that SQL files read: `current_setting('etl.error_code')`. */
const setFacts = async (client: Client, { runId, error }: RunFacts): Promise<void> => {
  await client.query(
    `select set_config('etl.run_id', $1, false), set_config('etl.error_code', $2, false), set_config('etl.error', $3, false)`,
    [String(runId ?? ''), error?.code ?? '', storable(error?.message ?? '')],
  );
};

const callHook = async (context: Calling, hook: HookName, facts: RunFacts): Promise<void> => {
  const { address, spec, hookTexts, report } = context;
  const { timeoutMs } = spec.hooks!;
  const stop = stopSignal(context);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([stop, timeout]);
  report.logger.info({ hook, run: facts.runId }, 'a hook begins');
  const before = report.enter('hooks');
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
  const work = withClient(
    address,
    async (client) => {
      if (facts.error !== undefined) await setFacts(client, facts);
      await client.query(`set statement_timeout = ${timeoutMs}; set client_connection_check_interval = ${connectionCheckMs};
        set search_path = ${searchPath(authorsPath(spec))}`);
      const sql = hookTexts.get(hook);
      if (sql === undefined) await runFunction(context, client, hook, facts, signal);
      else await runSql(client, hook, sql);
    },
    signal,
  );
  try {
    await Promise.race([work, aborted]);
  } catch (error) {
    stop.throwIfAborted();
    if (timeout.aborted) throw hookError(hook, '', `it took longer than ${timeoutMs} ms (timeoutMs)`, error);
    throw error;
  } finally {
    report.enter(before);
  }
};

/**
 * Calls a hook. Errors: ETL_HOOK if it fails or takes too long, the reason of a run that is
 * stopped, ETL_SERVER_LOST.
 */
export const runHook = async (context: RunContext, hook: HookName, runId: number): Promise<void> => {
  const { client, spec } = context;
  const call = spec.hooks?.[hook];
  if (call === undefined) return;
  const tables = typeof call === 'function' ? await tablesOf(client, spec, runId) : [];
  await callHook(context, hook, { runId, tables });
};

/** Calls the hook `failed`. Its own errors are only reported, because the run keeps its error. */
export const callFailed = async (
  { address, spec, hookTexts, report, settings: { abort, drain } }: PreparedRun,
  runId: number | undefined,
  { code, message, hint }: EtlError,
): Promise<void> => {
  if (spec.hooks?.failed === undefined || ['ETL_INTERRUPTED', 'ETL_RUN_CANCELLED'].includes(code)) return;
  try {
    const tables =
      runId === undefined ? [] : await withClient(address, (client) => tablesOf(client, spec, runId));
    const facts = { runId: runId ?? null, tables, error: { code, message, hint } };
    await callHook({ address, spec, hookTexts, report, abort, drain }, 'failed', facts);
  } catch (error) {
    report.logger.warn({ error }, 'the hook for failures failed');
    report.emit({ type: 'notice', message: messageOf(error) });
  }
};

/** SQLSTATE that marks an error of the hook `publishing`. Nobody else uses class ZH. */
const hookState = 'ZHOOK';

/**
 * Returns the hook `publishing`. `execute` keeps it from ending the transaction. Its errors get
 * their own SQLSTATE: otherwise publishing would take a lock timeout of the hook for its own, and
 * try again.
 */
export const publishingStatements = ({
  spec,
  hookTexts,
}: Pick<RunContext, 'spec' | 'hookTexts'>): readonly string[] => {
  const sql = hookTexts.get('publishing');
  if (sql === undefined) return [];
  const body = `begin
    execute ${quoteText(sql.text)};
  exception when query_canceled or others then
    raise exception using errcode = '${hookState}', message = sqlstate || ' ' || sqlerrm;
  end`;
  return [
    `set local statement_timeout = ${spec.hooks!.timeoutMs};`,
    `set local search_path = ${searchPath(authorsPath(spec))};`,
    `do ${quoteText(body)};`,
  ];
};

export const publishingError = ({ hookTexts }: Pick<RunContext, 'hookTexts'>, cause: unknown): unknown =>
  codeOf(cause) === hookState
    ? hookError('publishing', ` ${hookTexts.get('publishing')!.file}`, messageOf(cause), cause)
    : cause;

/** Records that the hook `published` must be called. Needs the publishing transaction. */
export const oweHook = async ({ client, spec }: Work, runId: number): Promise<void> => {
  if (spec.hooks?.published !== undefined) await runQuery(client, setHookPending(runId));
};

/**
 * Calls the hook `published`. Records its end even after an error, because only a hook whose
 * process died is called again.
 */
export const callPublished = async (context: RunContext, runId: number): Promise<void> => {
  const { client, spec } = context;
  const error = await runHook(context, 'published', runId).catch((cause: Error) => cause);
  const refusal = error instanceof EtlError && error.code === 'ETL_HOOK' ? error : undefined;
  if (error === refusal) {
    const ended = hookEnded(spec.name, runId, refusal);
    await withOwnTransaction(client, (begin, end) => runTogether(client, [begin, ...durable, ended, end]));
  }
  if (error !== undefined) throw error;
};

/**
 * Calls the hook `published` of an earlier run (`owed`) whose process died before the hook ended.
 * Its error does not end this run.
 */
export const callOwed = async (context: RunContext, owed: number | undefined): Promise<void> => {
  const { report } = context;
  if (owed === undefined) return;
  report.emit({
    type: 'notice',
    message: `the hook published of run ${owed} was cut off, and is called again`,
  });
  await callPublished(context, owed).catch((error: unknown) => {
    if (!(error instanceof EtlError) || error.code !== 'ETL_HOOK') throw error;
    report.emit({ type: 'notice', message: error.message });
  });
};
