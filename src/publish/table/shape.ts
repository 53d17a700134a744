// Differences in columns between a built table and production, and the errors about them.

import { quoteName, quoteText } from '../../db/sql.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { DeclaredTable } from './tables.ts';
import type { ProductionTable } from './production.ts';
import { numbered, type TableColumn } from './table-state.ts';

const written = ({ name, type }: TableColumn): string => `${name} ${type}`;

const filled = (column: TableColumn): string => {
  const { filledBy } = column;
  if (filledBy === null) return written(column);
  return `${written(column)} ${filledBy === numbered ? numbered : `generated as ${filledBy}`}`;
};

/** Lists the columns that only one table has. Empty: the rows of each table fit the other. */
export const differenceOf = (
  declared: readonly TableColumn[],
  production: readonly TableColumn[],
): string => {
  const isFilled = (column: TableColumn): boolean =>
    declared.some(({ name, filledBy }) => name === column.name && filledBy !== null);
  const are = declared.map(filled);
  const were = production.map((column) => (isFilled(column) ? filled(column) : written(column)));
  return [
    ...are.filter((column) => !were.includes(column)).map((column) => `declared ${column}`),
    ...were.filter((column) => !are.includes(column)).map((column) => `in the table ${column}`),
  ].join(', ');
};

export const refuseShape = (table: string, problem: string, hint: string): never => {
  throw new EtlError('ETL_PUBLISH_SHAPE', { table, problem, hint });
};

/**
 * Schema to which users are told to move a table. Its indexes move with it, which frees their
 * names.
 */
const elsewhere = 'earlier';

export const movingAway = (
  { schema, table }: Pick<DeclaredTable, 'schema' | 'table'>,
  { kind }: Pick<ProductionTable, 'kind'>,
): string => {
  const name = quoteName(schema, table);
  const move =
    kind === 'p'
      ? `do $$ declare t regclass; begin for t in select relid from pg_partition_tree(${quoteText(name)}) loop execute format('alter table %s set schema ${elsewhere}', t); end loop; end $$;`
      : `alter table ${name} set schema ${elsewhere};`;
  return `move it to another schema, so that the next run creates it again, without the grants, indexes and other properties that people gave it: \`create schema ${elsewhere}; ${move}\``;
};

/** Refuses a view or other object that has the table's name. Errors: ETL_PUBLISH_REFUSED. */
export const refuseOther = ({ schema, table }: DeclaredTable, { kind }: ProductionTable): void => {
  if (['r', 'p'].includes(kind)) return;
  const problem = `${schema}.${table} is a view or another object that is not a table`;
  throw new EtlError('ETL_PUBLISH_REFUSED', { table, sqlstate: '42809', problem, hint: 'Rename it.' });
};
