// SQL fragments to merge a row of a run (n) with the existing row of the same key (o).

import { quoteName } from '../../../db/sql.ts';
import { mergeColumns } from '../../../db/names.ts';
import type { Meaning } from '../../table/meaning.ts';
import type { DeclaredTable } from '../../table/tables.ts';
import type { TableIndex, TableState } from '../../table/table-state.ts';

type Merged = Pick<DeclaredTable, 'primaryKey' | 'mode' | 'declared'>;

export const keyOf = ({ indexes }: TableState): TableIndex => indexes.find(({ isPrimary }) => isPrimary)!;

export const isDeletion = ({ deletes = false }: Meaning, alias: string): string =>
  deletes ? `${alias}.${quoteName(mergeColumns.deleted)}` : 'false';

export const isOlder = ({ merge }: Meaning): string => {
  const newer = merge?.newer;
  if (newer === undefined) return 'false';
  const [n, o] = [`n.${quoteName(newer)}`, `o.${quoteName(newer)}`];
  return `coalesce(${n} < ${o}, ${n} is null and ${o} is not null)`;
};

/** Columns with the file and line of a row. If only these change, the row counts as unchanged. */
export const lineageOf = ({ declared }: Pick<DeclaredTable, 'declared'>): readonly string[] =>
  declared.flatMap(({ name, lineage }) => (lineage === undefined ? [] : [name]));

export const changingColumns = (table: Merged, names: readonly string[]): readonly string[] => {
  const { primaryKey, mode } = table;
  const changing = new Set([...(mode.merge?.update ?? names), ...lineageOf(table)]);
  return names.filter((name) => !primaryKey.includes(name) && changing.has(name));
};

/**
 * SQL: true if values differ. Compares bytes, which works for any type and finds changes that `=`
 * ignores, such as 'a' and 'A' in a case-insensitive collation. PostgreSQL, "Composite Type
 * Comparison".
 */
export const isDifferent = (table: Merged, names: readonly string[]): string => {
  const lineage = lineageOf(table);
  const compared = changingColumns(table, names).filter((name) => !lineage.includes(name));
  if (compared.length === 0) return 'false';
  const row = (alias: string): string =>
    `row(${compared.map((name) => `${alias}.${quoteName(name)}`).join(', ')})::record`;
  return `${row('n')} operator(pg_catalog.*<>) ${row('o')}`;
};
