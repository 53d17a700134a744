// Disables triggers of foreign keys on a new table if somebody disabled them on the old one (`alter
// table … disable trigger all`).
//
// Only superusers may do so. In a run by another role, the triggers of the new table are enabled.
// Proved by test/modes/foreign-keys.test.ts, "disabled".

import type { Client } from '../../db/client.ts';

/** Oids of an old table and of the new table that replaces it. */
export interface Replaced {
  readonly old: number;
  readonly by: number;
}

/** Statements for the tables, and for their partitions with the same bounds. */
const selectStatements = `
  with pair as materialized (
    select p.old, p.new from unnest($1::oid[], $2::oid[]) as p (old, new) where current_setting('is_superuser')::boolean
  ),
  -- Materialized: written in the join itself, bounds would be computed for each pair of partitions.
  part as materialized (
    select p.old as replaced, i.inhparent = p.new as is_new, c.oid, pg_get_expr(c.relpartbound, c.oid) as bound
      from pair p join pg_inherits i on i.inhparent in (p.old, p.new) join pg_class c on c.oid = i.inhrelid
  ),
  replaced as materialized (
    select old, new from pair
    union all
    select a.oid, b.oid from part a join part b on b.replaced = a.replaced and b.bound = a.bound where not a.is_new and b.is_new
  ),
  disabled as materialized (
    select r.new, k.conname, g.tgrelid, g.tgfoid, g.tgenabled
      from replaced r join pg_constraint k on k.conrelid = r.old and k.contype = 'f'
        join pg_trigger g on g.tgconstraint = k.oid and g.tgenabled <> 'O'
  )
  select format('alter table only %s %s trigger %I', g.tgrelid::regclass,
      case d.tgenabled when 'D' then 'disable' when 'R' then 'enable replica' else 'enable always' end, g.tgname) as statement
    from disabled d join pg_constraint k on k.conrelid = d.new and k.contype = 'f' and k.conname = d.conname
      join pg_trigger g on g.tgconstraint = k.oid and g.tgfoid = d.tgfoid
    where g.tgrelid = d.tgrelid or exists (select from replaced r where r.old = d.tgrelid and r.new = g.tgrelid)`;

/** Call this once the new tables have their foreign keys, before any lock that blocks readers. */
export const keepDisabled = async (client: Client, replaced: readonly Replaced[]): Promise<void> => {
  const { rows } = await client.query<{ statement: string }>(selectStatements, [
    replaced.map(({ old }) => old),
    replaced.map(({ by }) => by),
  ]);
  if (rows.length > 0) await client.query(rows.map(({ statement }) => statement).join(';\n'));
};
