// Runs the hooks of a pipeline: functions and SQL files of its author, each over a connection of its own and for a bounded time.

import { hasPendingHook, hookEnded, pendingHook } from '../checkpoint/hook-state.ts';
import { fileTotals } from '../checkpoint/ledger.ts';
import { runQuery, withClient, type Client } from '../db/client.ts';
import { isRefusal } from '../db/server-error.ts';
import { quoteText, searchPath } from '../db/sql.ts';
import { EtlError, codeOf, messageOf } from '../errors.ts';
import type { Hook, HookContext, HookName, HookTable } from '../hook.ts';
import { authorsPath } from '../publish/names.ts';
import { placeInSql, type SqlText } from '../transform/sql-file.ts';
import { stopSignal, type RunContext } from './context.ts';
import { addCounts, noCounts } from './load/counts.ts';

/** The server notices within this time that the connection of a hook has ended under its statement. */
const connectionCheckMs = 5_000;

const hookError = (hook: HookName, where: string, problem: string, cause?: unknown): EtlError => {
  const state = hook === 'published' ? 'The run is published.' : 'Nothing was published.';
  return new EtlError('ETL_HOOK', { hook, where, problem, state }, { cause });
};

/** What hooks are given of the tables: counts as far as they are known, rows once they are published. */
const tablesOf = async ({ client, spec }: RunContext, runId: number): Promise<readonly HookTable[]> => {
  const totals = await fileTotals(client, runId);
  const { rows: published } = await client.query(
    'select table_name as "table", rows_before::float8 as before, rows::float8 as after from etl.published_table where run_id = $1',
    [runId],
  );
  return spec.tables.map(({ name: table }) => {
    const files = totals.filter((one) => one.table === table);
    const { records, copied, rejected, filtered } = files.reduce(addCounts, noCounts);
    const { before = null, after = null } = published.find((one) => one.table === table) ?? {};
    return {
      table,
      schema: spec.schema,
      records,
      copied,
      rejected,
      filtered,
      rowsBefore: before,
      rows: after,
    };
  });
};

/** The server's refusal of a hook's SQL file; `prefixLength`: characters that we put before its text. */
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

const runFunction = async (
  context: RunContext,
  client: Client,
  hook: HookName,
  call: Exclude<Hook, { kind: 'sqlFile' }>,
  runId: number,
  signal: AbortSignal,
): Promise<void> => {
  const { spec, report } = context;
  const given: HookContext = {
    hook,
    pipeline: spec.name,
    runId,
    params: spec.params,
    tables: await tablesOf(context, runId),
    query: async (sql, values = []) => (await client.query(sql, [...values])).rows,
    signal,
    logger: report.logger,
  };
  try {
    await call(given);
  } catch (cause) {
    throw hookError(hook, '', messageOf(cause), cause);
  }
};

/**
 * Runs one hook of a run, if there is one. Errors: ETL_HOOK when it fails or takes too long, the reason of a run that is stopped,
 * ETL_SERVER_LOST.
 */
export const runHook = async (context: RunContext, hook: HookName, runId: number): Promise<void> => {
  const { address, spec, hookTexts, report } = context;
  const call = spec.hooks?.[hook];
  if (call === undefined) return;
  const { timeoutMs } = spec.hooks!;
  const stop = stopSignal(context);
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([stop, timeout]);
  report.logger.info({ hook, run: runId }, 'a hook begins');
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
  const work = withClient(
    address,
    async (client) => {
      await client.query(`set statement_timeout = ${timeoutMs}; set client_connection_check_interval = ${connectionCheckMs};
        set search_path = ${searchPath(authorsPath(spec))}`);
      const sql = hookTexts.get(hook);
      if (sql !== undefined) await runSql(client, hook, sql);
      else if (typeof call === 'function') await runFunction(context, client, hook, call, runId, signal);
    },
    signal,
  );
  try {
    await Promise.race([work, aborted]);
  } catch (error) {
    stop.throwIfAborted();
    if (timeout.aborted) throw hookError(hook, '', `it took longer than ${timeoutMs} ms (timeoutMs)`, error);
    throw error;
  }
};

/** SQLSTATE by which an error of the hook differs from other errors of the last message; nobody else uses its class. */
const hookState = 'ZHOOK';

/**
 * The hook within the publishing transaction, after the tables have changed places. As text of `execute` it cannot end the
 * transaction. Its errors get a code of their own: a lock that is not free would make publishing try again.
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

/** The error of that hook as ours; anything else as it is. */
export const publishingError = ({ hookTexts }: Pick<RunContext, 'hookTexts'>, cause: unknown): unknown =>
  codeOf(cause) === hookState
    ? hookError('publishing', ` ${hookTexts.get('publishing')!.file}`, messageOf(cause), cause)
    : cause;

/** In the publishing transaction: the hook after it is owed from now on. */
export const oweHook = async ({ client, spec }: RunContext, runId: number): Promise<void> => {
  if (spec.hooks?.published !== undefined) await runQuery(client, hasPendingHook(runId));
};

/** Calls the hook of a published run, and records that it has ended, well or not: only one that was cut off is called again. */
export const callPublished = async (context: RunContext, runId: number): Promise<void> => {
  const { client } = context;
  try {
    await runHook(context, 'published', runId);
  } catch (error) {
    if (error instanceof EtlError && error.code === 'ETL_HOOK')
      await runQuery(client, hookEnded(context.spec.name, runId, error));
    throw error;
  }
  await runQuery(client, hookEnded(context.spec.name, runId));
};

/** Calls the hook that the newest published run still owes, because its process was killed. A failure ends no later run. */
export const callOwed = async (context: RunContext): Promise<void> => {
  const { client, spec, report } = context;
  const owed = await pendingHook(client, spec.name);
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
