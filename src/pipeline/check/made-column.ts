// Makes columns that sluice adds to a table, such as the columns of `lineage`.

import type { ColumnSpec } from '../../core/declaration.ts';

/** A column that is not null and has no declared rules. `made` overrides the defaults. */
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
