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

/** The column that holds the values. Leave `schema` out for a table of this pipeline. */
export interface ReferencedColumn {
  /** Schema of the other table. Default: `table` is a table of this pipeline. */
  readonly schema?: string;
  /** Name of the other table. */
  readonly table: string;
  /** Column of the other table that must have the values. */
  readonly column: string;
}

const columnOfText = (to: string): ReferencedColumn | undefined => {
  const parts = to.split('.');
  const [column = '', table = '', schema] = parts.toReversed();
  if (parts.length > 3 || parts.includes('') || table === '') return undefined;
  return schema === undefined ? { table, column } : { schema, table, column };
};

const isColumn = (to: unknown): to is ReferencedColumn => {
  const { schema, table, column, ...more } = (
    typeof to === 'object' && to !== null ? to : {}
  ) as Partial<ReferencedColumn>;
  const isText = [schema ?? '', table, column].every((one) => typeof one === 'string');
  return isText && Object.keys(more).length === 0;
};

/** `table` of the result: a table of this pipeline, or the quoted name of another. */
const targetOf = (to: unknown, { tables, add }: Asked): Readonly<Record<string, unknown>> | undefined => {
  const target = typeof to === 'string' ? columnOfText(to) : to;
  if (!isColumn(target)) {
    const written = typeof to === 'string' ? `'${to}'` : 'something else';
    add(
      `refers to ${written}, which must be 'table.column', 'schema.table.column' or { schema, table, column }`,
    );
    return undefined;
  }
  const { schema, table, column } = target;
  const shown = [...(schema === undefined ? [] : [schema]), table, column].join('.');
  if (schema !== undefined) return { table: quoteName(schema, table), column, shown, isOurs: false };
  const known = tables.get(table);
  if (!tables.has(table))
    add(
      `refers to \`${table}\`, which is not a table of this pipeline; write 'schema.table.column' for another`,
    );
  else if (known?.includes(column) === false)
    add(`refers to \`${column}\`, which is not a column of ${table}`);
  else return { table, column, shown, isOurs: true };
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
  define: <const Name extends string>(
    column: Name,
    to: string | ReferencedColumn,
    options: TestOptions = {},
  ) => defineTest('references', [column], { to }, options),
  read: ({ of: { to } }, asked) => targetOf(to, asked),
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
