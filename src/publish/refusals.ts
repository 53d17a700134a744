// Errors of the server while tables are published: a reason to try again, or a refusal to explain.

import { retryOf } from '../db/retry.ts';
import { hintOf, isRefusal } from '../db/server-error.ts';
import { EtlError, codeOf, messageOf } from '../errors.ts';
import { TablesLocked } from './locks.ts';
import type { TableNames } from './names.ts';
import { ProductionChanged } from './production/production.ts';

/** Errors that another attempt may not meet: a lock, a deadlock, a new view. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ProductionChanged || error instanceof TablesLocked || retryOf(error) === 'chunk';

/** The server's refusal as our error; anything else as it is. */
export const refusalOf = (table: string, cause: unknown): unknown => {
  if (isPassing(cause) || !isRefusal(cause)) return cause;
  const details = {
    table,
    sqlstate: codeOf(cause),
    problem: messageOf(cause),
    hint: hintOf(cause),
  };
  return new EtlError('ETL_PUBLISH_REFUSED', details, { cause });
};

/** For a statement on several tables: the server names one, or we name all; an error of a trigger names none. */
export const refusalOfAny = (plans: readonly { readonly table: TableNames }[], cause: unknown): unknown => {
  const { table = plans.map((plan) => plan.table.table).join(', ') } = cause as { table?: string };
  return refusalOf(table, cause);
};
