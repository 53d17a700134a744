// Errors of the server while publishing. Some are retried; the others become a refusal with advice.

import { retryOf } from '../db/retry.ts';
import { hintOf, isRefusal } from '../db/connect/server-error.ts';
import { EtlError, codeOf, messageOf } from '../core/errors/errors.ts';
import { TablesLocked } from './locks.ts';
import type { TableNames } from '../db/names.ts';
import { dependentsText } from './table/dependents.ts';
import { ProductionChanged, type ProductionTable } from './table/production.ts';

/** Errors that another attempt may avoid: a lock, a deadlock, a view that was just created. */
export const isPassing = (error: unknown): boolean =>
  error instanceof ProductionChanged || error instanceof TablesLocked || retryOf(error) === 'chunk';

export const adviceTaken =
  'A table that was renamed keeps the names of its indexes: rename these, too, or move the table to another schema.';

const advice: Readonly<Record<string, string>> = {
  '23503':
    'A row of another table refers to a row that these files no longer have, or the other way round: correct the files, or drop the foreign key for the duration of the run.',
  '23505': 'Two rows have the same key: correct the files, or the key.',
  '23514': 'A row breaks a check of the table: correct the files, or declare a check that rejects it.',
  '23502': 'A column of the table allows no nulls: declare it so in the pipeline, or correct the files.',
  '42P07': adviceTaken,
  '42501':
    'Grant the privilege to the user of the run, or to the role for which a trigger, view or policy of the table needs it.',
};
const adviceUnknown = 'Check the triggers, constraints and policies of the table: they also apply to a run.';

/** Returns other errors than a refusal unchanged. */
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

/** For rows that a trigger or rule skipped: fewer were written, without a server error. */
export const rowsWithheld = (table: string, production: ProductionTable, problem: string): EtlError => {
  const suspects = production.dependents.filter(({ kind }) => kind === 'trigger' || kind === 'rule');
  const cause =
    suspects.length === 0 ? 'look for triggers of its partitions' : `look at ${dependentsText(suspects)}`;
  return new EtlError('ETL_PUBLISH_WITHHELD', { table, problem, cause });
};

/** An error of a trigger does not say which table it concerns: then all tables are named. */
export const publishRefusalOfAny = (
  plans: readonly { readonly table: TableNames }[],
  cause: unknown,
): unknown => {
  const { table = plans.map((plan) => plan.table.table).join(', ') } = cause as { table?: string };
  return publishRefusal(table, cause);
};
