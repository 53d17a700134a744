// Declared foreign keys: the referenced table, the SQL, and the differences from production.

import type { ConstraintSpec, ForeignKeySpec } from '../../core/constraint.ts';
import { quoteName, quoteNames } from '../../db/sql.ts';
import { productionName, type TableNames } from '../../db/names.ts';
import type { TableConstraint } from './table-state.ts';

interface Constrained extends TableNames {
  readonly constraints: readonly ConstraintSpec[];
}

export const foreignKeysOf = ({ constraints }: Pick<Constrained, 'constraints'>): readonly ForeignKeySpec[] =>
  constraints.flatMap((one) => (one.kind === 'foreign key' ? [one] : []));

export const targetName = ({ schema }: TableNames, { references }: ForeignKeySpec): string =>
  quoteName(references.schema ?? schema, references.table);

/** Index of the referenced table in `tables`, or -1. */
export const targetAt = (
  { schema }: TableNames,
  { references }: ForeignKeySpec,
  tables: readonly TableNames[],
): number =>
  tables.findIndex(
    ({ table, schema: its }) => table === references.table && its === (references.schema ?? schema),
  );

/**
 * Writes a key as `constraintList` does: the server's text could name a table in the build schema.
 */
const foreignKeyText = (
  { schema }: TableNames,
  { columns, references, to, onDelete }: ForeignKeySpec,
): string =>
  [
    columns.join(','),
    `${references.schema ?? schema}.${references.table}`,
    to.join(','),
    { 'no action': 'a', cascade: 'c', 'set null': 'n' }[onDelete],
    'a s t f',
  ].join(' ');

export const missingKeys = (
  table: Constrained,
  constraints: readonly TableConstraint[],
): readonly ForeignKeySpec[] =>
  foreignKeysOf(table).filter(
    (key) =>
      !constraints.some(
        ({ name, isValid, definition }) =>
          name === key.name && isValid && definition === foreignKeyText(table, key),
      ),
  );

/**
 * Deferrable, so that publishing may write referencing and referenced tables in any order. Other
 * sessions check the key per statement.
 */
export const addForeignKey = ({ name, columns, to, onDelete }: ForeignKeySpec, target: string): string =>
  `add constraint ${quoteName(name)} foreign key (${quoteNames(columns)}) references ${target} (${quoteNames(to)}) on delete ${onDelete} deferrable`;

/**
 * Returns keys to drop and to create. Drops keys of earlier runs (`published`) that are no longer
 * declared, but none made by hand.
 */
export const foreignKeyChanges = (
  table: Constrained,
  constraints: readonly TableConstraint[],
  published: readonly string[] | null | undefined,
): { readonly drop: readonly string[]; readonly make: readonly string[] } => {
  const alter = (what: string): string => `alter table ${productionName(table)} ${what}`;
  const missing = missingKeys(table, constraints);
  const isObsolete = (name: string): boolean =>
    foreignKeysOf(table).some((key) => key.name === name)
      ? missing.some((key) => key.name === name)
      : published?.includes(name) === true;
  return {
    drop: constraints
      .filter(({ name, on }) => on !== null && isObsolete(name))
      .map(({ name }) => alter(`drop constraint ${quoteName(name)}`)),
    make: missing.map((key) => alter(addForeignKey(key, targetName(table, key)))),
  };
};
