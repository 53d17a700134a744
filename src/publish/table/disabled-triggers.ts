// Triggers of foreign keys that somebody has disabled, with `alter table … disable trigger all`: those of a new table are disabled, too.
//
// The server lets only superusers do that, so a run by another role leaves them enabled, as the server makes them. Proved by
// test/modes/foreign-keys.test.ts, "disabled".

import type { Client } from '../../db/client.ts';

/** A table that leaves and the one that takes its place, by their oids. */
export interface Replaced {
  readonly old: number;
  readonly by: number;
}

/** Statements, written by the server, for the tables and for their partitions of the same bounds. */
const selectStatements = `
  with pair as materialized (
    select p.old, p.new from unnest($1::oid[], $2::oid[]) as p (old, new) where current_setting('is_superuser')::boolean
  ),
  -- Bounds are written out once for each partition: compared in their join, they would be for each pair of them.
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

/** Called when the foreign keys of the new tables are made, before any lock that readers feel. */
export const keepDisabled = async (client: Client, replaced: readonly Replaced[]): Promise<void> => {
  const { rows } = await client.query<{ statement: string }>(selectStatements, [
    replaced.map(({ old }) => old),
    replaced.map(({ by }) => by),
  ]);
  if (rows.length > 0) await client.query(rows.map(({ statement }) => statement).join(';\n'));
};
