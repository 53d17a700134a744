// Lets the server parse the SQL of hooks without executing it.

import { withRollback, withPath, type Client } from '../db/client.ts';
import { isRefusal } from '../db/connect/server-error.ts';
import { codeOf } from '../core/errors/errors.ts';
import { hookNames, type HookName } from '../core/declaration/hook.ts';
import { authorsPath } from '../db/names.ts';
import type { SqlText } from '../db/sql-file.ts';
import type { RunContext } from './context.ts';
import { sqlError } from './hooks.ts';

/** SQLSTATE of the error that `stopFirst` raises. Nobody else uses its class. */
const readState = 'ZREAD';

/**
 * Precedes the SQL of a hook: the server parses a whole message before it executes the first
 * statement, and this first statement fails.
 */
const stopFirst = `do $etl$ begin raise exception using errcode = '${readState}'; end $etl$;\n`;

const readStatements = async (client: Client, hook: HookName, sql: SqlText): Promise<void> => {
  await withRollback(client, () => client.query(stopFirst + sql.text)).catch((cause: unknown) => {
    if (codeOf(cause) !== readState)
      throw isRefusal(cause) ? sqlError(hook, sql, cause, stopFirst.length) : cause;
  });
};

const prefix = 'prepare etl_rehearsal as ';

/**
 * Lets the server also resolve names, if the file is a single statement that can be prepared. Only
 * for the hook `before`: later hooks may use what an earlier hook, or the publication, creates.
 */
const readNames = async (client: Client, path: readonly string[], sql: SqlText): Promise<void> => {
  // The extended protocol accepts only one statement: with several, none is executed.
  const query = { text: prefix + sql.text, queryMode: 'extended' };
  try {
    await withRollback(client, () => withPath(client, path, () => client.query(query)));
  } catch (cause) {
    // 42601: several statements, or a statement that cannot be prepared.
    if (codeOf(cause) === '42601' || !isRefusal(cause)) return;
    throw sqlError('before', sql, cause, prefix.length);
  }
  await client.query('deallocate etl_rehearsal');
};

/**
 * Rehearses all hooks inside the caller's transaction. Errors: ETL_HOOK with file, line and column.
 */
export const rehearseHooks = async ({
  client,
  spec,
  hookTexts,
}: Pick<RunContext, 'client' | 'spec' | 'hookTexts'>): Promise<void> => {
  for (const hook of hookNames) {
    const sql = hookTexts.get(hook);
    if (sql !== undefined) await readStatements(client, hook, sql);
  }
  const before = hookTexts.get('before');
  if (before !== undefined) await readNames(client, authorsPath(spec), before);
};
