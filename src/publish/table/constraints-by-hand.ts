// Copies constraints that people made on a partitioned table to the new table that replaces it.
//
// This happens in the publishing transaction, where nobody can change production's constraints, but
// before any lock that blocks readers. Foreign keys are made last (make-foreign-keys.ts), because
// they block writers of the referenced table. Proved by test/modes/partition-constraints.test.ts.

import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import type { BuiltOver } from './built-over.ts';
import { builtName } from '../../db/names.ts';
import { ProductionChanged, type ProductionTable } from './production.ts';
import type { TableConstraint } from './table-state.ts';

/**
 * True if a constraint cannot be created while the old table exists. A foreign key to the table
 * itself would reference the old table. For a partitioned target, the server creates one constraint
 * per partition, and their names are taken.
 */
export const isBound = (
  { oid }: Pick<ProductionTable, 'oid'>,
  { on, isTargetPartitioned }: TableConstraint,
): boolean => on === oid || isTargetPartitioned;

export const madeByHand = (production: ProductionTable): readonly TableConstraint[] => {
  const { constraints, dependents } = production;
  const names = new Set(dependents.flatMap(({ kind, name }) => (kind === 'constraint' ? [name] : [])));
  return constraints.filter((one) => names.has(one.name) && !isBound(production, one));
};

export const addConstraint = ({ name, clause }: TableConstraint): string =>
  `add constraint ${quoteName(name)} ${clause}`;

/** Copies constraints. One `alter table` per table, so that the server reads its rows once. */
export const makeOwnByHand = async (client: Client, tables: readonly BuiltOver[]): Promise<void> => {
  for (const { table, production } of tables) {
    const made = madeByHand(production!).filter(({ kind }) => kind !== 'f');
    if (made.length > 0)
      await client.query(`alter table ${builtName(table)} ${made.map(addConstraint).join(', ')}`);
  }
};

/** SQL for comments on foreign keys of partitions, which are matched by their bounds. */
const selectComments = `
  select format('comment on constraint %I on %s is %L', n.conname, n.conrelid::regclass, d.description) as statement
    from pg_inherits i join pg_class p on p.oid = i.inhrelid join pg_constraint o on o.conrelid = p.oid and o.contype = 'f'
      join pg_description d on d.classoid = 'pg_constraint'::regclass and d.objoid = o.oid
      join pg_inherits j on j.inhparent = $2
      join pg_class q on q.oid = j.inhrelid and pg_get_expr(q.relpartbound, q.oid) = pg_get_expr(p.relpartbound, p.oid)
      join pg_constraint n on n.conrelid = q.oid and n.conname = o.conname
    where i.inhparent = $1`;

const selectUnlike = `
  select from pg_constraint o left join pg_constraint n
      on n.conrelid = $2 and n.conname = o.conname and n.convalidated = o.convalidated
        and pg_get_constraintdef(n.oid) = pg_get_constraintdef(o.oid)
    where o.conrelid = $1 and o.conname = any ($3) and n.oid is null`;

/**
 * Copies comments, and compares checks, which may now call another function with the same name.
 * Errors: ProductionChanged.
 */
export const completeByHand = async (
  client: Client,
  production: ProductionTable,
  oid: number,
): Promise<void> => {
  const made = madeByHand(production);
  if (made.length === 0) return;
  if (made.some(({ kind }) => kind === 'f')) {
    const { rows } = await client.query(selectComments, [production.oid, oid]);
    if (rows.length > 0) await client.query(rows.map(({ statement }) => statement).join(';'));
  }
  const names = made.map(({ name }) => name);
  const unlike = await client.query(selectUnlike, [production.oid, oid, names]);
  if (unlike.rows.length > 0) throw new ProductionChanged();
};
