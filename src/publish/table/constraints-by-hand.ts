// Constraints that somebody made on a partitioned table: a table that takes its place gets the same.
//
// They are made in the publishing transaction, where nobody can change those of production, and before any lock that readers feel.
// Checks and unique constraints come first, while the table is aside. A foreign key closes the table that it refers to for writers until the
// commit, so it comes last (make-foreign-keys.ts). Proved by test/modes/partition-constraints.test.ts.

import type { Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import type { BuiltOver } from './built-over.ts';
import { builtName } from '../../db/names.ts';
import { ProductionChanged, type ProductionTable } from './production.ts';
import type { TableConstraint } from './table-state.ts';

/**
 * Whether a new table cannot be given it while the old one is there. A foreign key to itself would refer to the old one, and the server calls
 * what it makes for each partition of the table that a foreign key refers to after names that are free.
 */
export const isBound = (
  { oid }: Pick<ProductionTable, 'oid'>,
  { on, isTargetPartitioned }: TableConstraint,
): boolean => on === oid || isTargetPartitioned;

/** Those that a new table can be given. */
export const madeByHand = (production: ProductionTable): readonly TableConstraint[] => {
  const { constraints, dependents } = production;
  const names = new Set(dependents.flatMap(({ kind, name }) => (kind === 'constraint' ? [name] : [])));
  return constraints.filter((one) => names.has(one.name) && !isBound(production, one));
};

/** The clause of `alter table` that makes one. */
export const addConstraint = ({ name, clause }: TableConstraint): string =>
  `add constraint ${quoteName(name)} ${clause}`;

/** Makes the checks and unique constraints on new tables aside, and on all their partitions: every partition is read once. */
export const makeOwnByHand = async (client: Client, tables: readonly BuiltOver[]): Promise<void> => {
  for (const { table, production } of tables) {
    const made = madeByHand(production!).filter(({ kind }) => kind !== 'f');
    if (made.length > 0)
      await client.query(`alter table ${builtName(table)} ${made.map(addConstraint).join(', ')}`);
  }
};

/** Comments on foreign keys of partitions, for those in their places. */
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
 * When all of them are made on the new table with this oid: errors with ProductionChanged unless they are those of production. A function
 * may have taken the name of one that a check calls, since the text of the check was read.
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
