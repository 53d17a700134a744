// references: every value of the column exists in a column of another table.

import { quoteName } from '../../db/sql.ts';
import type { TestSpec } from '../../core/data-test.ts';
import { equalityOf } from './accepted.ts';
import {
  columnOf,
  defineTest,
  row,
  type Asked,
  type SetKind,
  type TestOptions,
  type TestedColumn,
} from './contract.ts';

const targetOf = (to: string, { tables, add }: Asked): Readonly<Record<string, unknown>> | undefined => {
  const parts = to.split('.');
  if (parts.length === 3 && !parts.includes(''))
    return { table: `${parts[0]}.${parts[1]}`, column: parts[2], shown: to, isOurs: false };
  const [table = '', column = ''] = parts;
  if (parts.length !== 2 || column === '') {
    add(`refers to '${to}', which must be 'table.column' or 'schema.table.column'`);
    return undefined;
  }
  const known = tables.get(table);
  if (!tables.has(table))
    add(
      `refers to \`${table}\`, which is not a table of this pipeline; write 'schema.table.column' for another`,
    );
  else if (known?.includes(column) === false)
    add(`refers to \`${column}\`, which is not a column of ${table}`);
  else return { table, column, shown: to, isOurs: true };
  return undefined;
};

/** Columns of one type are compared by its own `=`: citext ignores case. */
const equalityBetween = (one: TestedColumn, other: TestedColumn): string =>
  one.type === other.type ? equalityOf(one) : 'operator(pg_catalog.=)';

/**
 * If the referenced table is in the pipeline, its rows may have been deleted, so all rows are
 * tested.
 */
const over = ({ of: { isOurs } }: Pick<TestSpec, 'of'>) => (isOurs === true ? 'all' : 'brought');

export const references = {
  per: 'set',
  /** Every value exists there; null passes: `expect.references('wban', 'station.wban')`. */
  define: <const Name extends string>(column: Name, to: string, options: TestOptions = {}) =>
    defineTest('references', [column], { to }, options),
  read: ({ of: { to } }, asked) => {
    if (typeof to === 'string') return targetOf(to, asked);
    asked.add("needs a text such as 'station.wban'");
    return undefined;
  },
  other: ({ of: { table } }) => [table as string],
  over,
  failing: (spec, { rows, brought, columns, others }) => {
    const {
      columns: [name],
      of: { table, column },
    } = spec;
    const target = others.get(table as string)!;
    const equals = equalityBetween(columnOf(columns, name!), columnOf(target.columns, column as string));
    const value = `${row}.${quoteName(name!)}`;
    return `select ${row}.* from ${over(spec) === 'all' ? rows : brought} ${row} where ${value} is not null
      and not exists (select from ${target.rows} o where ${value} ${equals} o.${quoteName(column as string)})`;
  },
  problem: ({ columns, of: { shown } }) => `${columns[0]} is not in ${String(shown)}`,
} satisfies SetKind;
