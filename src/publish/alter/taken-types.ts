// Takes the types of an existing table for columns that the run declares narrower.

import { quoteName } from '../../db/sql.ts';
import { isOthers } from '../table/fitting.ts';
import type { ProductionTable } from '../table/production.ts';
import type { TableColumn } from '../table/table-state.ts';
import type { DeclaredTable, TakenType } from '../table/tables.ts';
import { holds, valueAs } from './widening.ts';

/** Returns the columns whose type in production holds every value of theirs. */
export const takenTypes = (
  columns: readonly TableColumn[],
  production: readonly TableColumn[],
): readonly TakenType[] =>
  columns.flatMap(({ name, type: from, filledBy }) => {
    const to = production.find((one) => one.name === name)?.type;
    return to === undefined || to === from || filledBy !== null || !holds(from, to)
      ? []
      : [{ name, from, to }];
  });

export const asTaken = (
  columns: readonly TableColumn[],
  production: readonly TableColumn[],
): readonly TableColumn[] => {
  const types = new Map(takenTypes(columns, production).map(({ name, to }) => [name, to]));
  return columns.map((column) => ({ ...column, type: types.get(column.name) ?? column.type }));
};

/** SQL: the columns of rows, with the types taken. */
export const selectTaken = (names: readonly string[], taken: readonly TakenType[]): string =>
  names
    .map((name) => {
      const type = taken.find((one) => one.name === name);
      return type === undefined ? quoteName(name) : `${valueAs(type)} as ${quoteName(name)}`;
    })
    .join(', ');

export const takenText = (taken: readonly TakenType[]): string =>
  taken.map(({ name, from, to }) => `${name} ${from} → ${to}`).join(', ');

/**
 * Adds a reason not to swap a table that no run made: its types would become those of the run. A
 * table that runs made gets the types of the declaration.
 */
export const keptForTypes = <Production extends ProductionTable | undefined>(
  { extent, partitionBy }: DeclaredTable,
  columns: readonly TableColumn[],
  production: Production,
): Production => {
  if (production === undefined || extent === 'part' || partitionBy !== undefined) return production;
  const isKept = isOthers(production) && takenTypes(columns, production.columns).length > 0;
  if (!isKept) return production;
  const reason = { kind: 'columns', name: 'of wider types' };
  return { ...production, dependents: [...production.dependents, reason] };
};
