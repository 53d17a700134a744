// Columns whose values no field of a file has as they are: where rows are from, and what their records say of them.

import type { ColumnSpec } from '../../declaration.ts';

/** A column that is made by us: it allows no nulls, and has nothing that a user may declare. */
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
