// SQL fragments for merging a row of a run (n) with the row of the same key in production (o).

import { quoteName } from '../../../db/sql.ts';
import { mergeColumns } from '../../../db/names.ts';
import type { BuiltTable, MergeRules } from '../../table/tables.ts';
import type { TableIndex, TableState } from '../../table/table-state.ts';

type Merged = Pick<BuiltTable, 'primaryKey' | 'merge'>;

/** The declared key, as it is made on the table of the run's rows. */
export const keyOf = ({ indexes }: TableState): TableIndex => indexes.find(({ isPrimary }) => isPrimary)!;

/** Whether the record deletes the row of its key. */
export const isDeletion = ({ deletes }: MergeRules, alias: string): string =>
  deletes ? `${alias}.${quoteName(mergeColumns.deleted)}` : 'false';

/** Whether the existing row is newer. */
export const isOlder = ({ newer }: MergeRules): string => {
  if (newer === undefined) return 'false';
  const [n, o] = [`n.${quoteName(newer)}`, `o.${quoteName(newer)}`];
  return `coalesce(${n} < ${o}, ${n} is null and ${o} is not null)`;
};

/** Columns of an existing row that change, including those that say where it is from. */
export const changingColumns = (
  { primaryKey, merge }: Merged,
  names: readonly string[],
): readonly string[] => {
  const { update = names, lineage } = merge!;
  return names.filter(
    (name) => !primaryKey.includes(name) && (update.includes(name) || lineage.includes(name)),
  );
};

/**
 * Whether a row has to be written. It compares values byte by byte, so it takes any type, and sees what an equality may not: 'a' and
 * 'A' where a collation has them equal. PostgreSQL, "Composite Type Comparison".
 */
export const isDifferent = (table: Merged, names: readonly string[]): string => {
  const compared = changingColumns(table, names).filter((name) => !table.merge!.lineage.includes(name));
  if (compared.length === 0) return 'false';
  const row = (alias: string): string =>
    `row(${compared.map((name) => `${alias}.${quoteName(name)}`).join(', ')})::record`;
  return `${row('n')} operator(pg_catalog.*<>) ${row('o')}`;
};
