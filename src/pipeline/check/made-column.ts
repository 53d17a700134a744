// Columns that sluice adds to a table, such as those that say where rows are from.

import type { ColumnSpec } from '../../core/declaration/declaration.ts';

/** A column that sluice adds: it allows no nulls, and has nothing that a user may declare. */
export const madeColumn = (
  name: string,
  type: string,
  made: Pick<ColumnSpec, 'headers'> & Partial<ColumnSpec>,
): ColumnSpec => ({
  name,
  type,
  options: {},
  separator: ' ',
  nullable: false,
  nulls: [],
  tokens: {},
  default: undefined,
  map: undefined,
  rules: [],
  checks: [],
  schema: undefined,
  ...made,
});
