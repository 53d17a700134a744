// Turns errors of the server while publishing into refusals with advice, unless another attempt may
// succeed.

import { retryOf } from '../db/retry.ts';
import { hintOf, isRefusal } from '../db/connect/server-error.ts';
import { EtlError, codeOf, messageOf } from '../core/errors/errors.ts';
import { TablesLocked } from './locks.ts';
import type { TableNames } from '../db/names.ts';
import { dependentsText } from './table/dependents.ts';
import { ProductionChanged, type ProductionTable } from './table/production.ts';

/** Returns true if another attempt may succeed: after a lock, a deadlock, a view just created. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ProductionChanged || error instanceof TablesLocked || retryOf(error) === 'chunk';

export const adviceTaken =
  'A table that was renamed keeps the names of its indexes: rename these, too, or move the table to another schema.';

const advice: Readonly<Record<string, string>> = {
  '23503':
    'A row of another table refers to a row that these files no longer have, or the other way round: correct the files, or load both tables in one pipeline.',
  '23505': 'Two rows have the same key: correct the files, or the key.',
  '23514': 'A row breaks a check of the table: correct the files, or declare a check that rejects it.',
  '23502': 'A column of the table allows no nulls: declare it so in the pipeline, or correct the files.',
  '42P07': adviceTaken,
  '42501':
    'Grant the privilege to the user of the run, or to the role for which a trigger, view or policy of the table needs it.',
};
const adviceUnknown = 'Check the triggers, constraints and policies of the table: they also apply to a run.';

/** Turns a refusal into our error; returns other errors unchanged. */
export const publishRefusal = (table: string, cause: unknown): unknown => {
  if (isPassing(cause) || !isRefusal(cause)) return cause;
  const details = {
    table,
    sqlstate: codeOf(cause),
    problem: messageOf(cause),
    hint: [hintOf(cause), advice[codeOf(cause) ?? ''] ?? (hintOf(cause) === '' ? adviceUnknown : '')]
      .filter(Boolean)
      .join(' '),
  };
  return new EtlError('ETL_PUBLISH_REFUSED', details, { cause });
};

/** Returns the error for rows that a trigger or rule skipped: the server reports none. */
export const rowsWithheld = (table: string, production: ProductionTable, problem: string): EtlError => {
  const suspects = production.dependents.filter(({ kind }) => kind === 'trigger' || kind === 'rule');
  const cause =
    suspects.length === 0 ? 'look for triggers of its partitions' : `look at ${dependentsText(suspects)}`;
  return new EtlError('ETL_PUBLISH_WITHHELD', { table, problem, cause });
};

/**
 * Names all tables if the error does not say which table it concerns, such as an error of a
 * trigger.
 */
export const publishRefusalOfAny = (
  plans: readonly { readonly table: TableNames }[],
  cause: unknown,
): unknown => {
  const { table = plans.map((plan) => plan.table.table).join(', ') } = cause as { table?: string };
  return publishRefusal(table, cause);
};
