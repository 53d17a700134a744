// Computes how many rejects a run may still have.

import { addCounts, noCounts } from '../core/counts.ts';
import type { Counts } from '../core/model.ts';
import { rejectsKeptMax, stopIfHopeless, type Limited } from '../ledger/rejects/store.ts';
import type { LoadPlan } from './load-plan.ts';

/** Errors: ETL_REJECT_LIMIT if a table, or all tables together, are certainly over their limit. */
export const rejectsAllowed = (
  { lease, rejectLimit, tables }: LoadPlan,
  names: readonly string[],
  countsOf: (table: string) => Counts,
): number => {
  const room = (limited: Limited, counts: Counts): number => {
    stopIfHopeless(lease.runId, limited, counts);
    return rejectsKeptMax(limited.rejectLimit) - counts.rejected;
  };
  const own = tables
    .filter(({ table }) => names.includes(table.name))
    .map(({ table }) => room(table, countsOf(table.name)));
  if (rejectLimit === undefined) return Math.min(...own);
  const all = tables.map(({ table }) => countsOf(table.name)).reduce(addCounts, noCounts);
  return Math.min(...own, room({ rejectLimit }, all));
};
