// notNull: no row has a null in the column.

import { quoteName } from '../../db/sql.ts';
import { columnOf, defineTest, row, type RowKind, type TestOptions } from './contract.ts';

export const notNull = {
  per: 'row',
  define: <const Name extends string>(column: Name, options: TestOptions = {}) =>
    defineTest('notNull', [column], {}, options),
  read: () => ({}),
  fails: ({ columns: [name] }, columns) => `${row}.${quoteName(columnOf(columns, name!).name)} is null`,
  problem: ({ columns }) => `${columns[0]} is null`,
} satisfies RowKind;
