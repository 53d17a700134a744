// Applies a person's choice for a column that `etl init` left open.

import type { Decision } from './infer/contract.ts';
import type { WrittenTable } from './infer/write-pipeline.ts';

/** The table with another decision of a column: blanks are trimmed if it needs that, and a key that does not hold any more is gone. */
export const settleColumn = (table: WrittenTable, place: number, decision: Decision): WrittenTable => {
  const { dialect, key } = table;
  const isInKey = key?.includes(place) === true && decision.missing === 0 && decision.isOneToOne;
  return {
    ...table,
    decisions: table.decisions.with(place, decision),
    dialect: decision.isPadded && dialect.trim === false ? { ...dialect, trim: true } : dialect,
    key: key?.includes(place) === true && !isInKey ? undefined : key,
  };
};
