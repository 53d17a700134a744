// Copies privileges on a table, its columns and identity sequences to the table that replaces it.
//
// Only the grantor or the owner can revoke a grant, so each grant is made again by its grantor.
// `granted by` accepts only the current role, so the session switches to the grantor. If it may
// not, the table is kept (`selectForeignGrants`). Proved by test/modes/grants.test.ts.

import { runQuery, type Client } from '../../db/client.ts';
import { executing, quoteText, type Query } from '../../db/sql.ts';

export interface Heir {
  readonly oid: number;
  /** An oid or a quoted name. */
  readonly oldOid: number | string;
}

/** SQL: an array of the oids of the old tables. */
export const oldOids = (heirs: readonly Heir[]): string =>
  `array[${heirs.map(({ oldOid }) => (typeof oldOid === 'number' ? oldOid : `${quoteText(oldOid)}::regclass`)).join(', ')}]::oid[]`;

/** SQL: true for a superuser, whose grants the server records as the owner's. */
const isSuper = (role: string): string => `(select rolsuper from pg_roles where oid = ${role})`;

/** SQL: true if our own role can make the grants of this role. A superuser acts as the owner. */
const isOwn = (grantor: string, owner: string): string =>
  `(${grantor} = current_user::regrole or (${grantor} = ${owner} and ${isSuper('current_user::regrole')}))`;

/**
 * SQL: true if we can make this role's grants. Before PostgreSQL 16, any member may become the
 * role.
 */
const mayGrant = (grantor: string, owner: string, namespace: string): string => `
  (${isOwn(grantor, owner)} or (
    pg_has_role(session_user, ${grantor}, case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)
    and (${grantor} = ${owner} or not ${isSuper(grantor)}) and has_schema_privilege(${grantor}, ${namespace}, 'usage')))`;

const granted = (oid: string): string => `
  (select null::name as attname, ${oid} as oid
    union all
    select a.attname, d.objid from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
      where d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid = ${oid} and d.deptype = 'i')`;

export const selectForeignGrants = `
    select distinct t.oid, 'grant', format('by %s, which %s may not make again', pg_get_userbyid(a.grantor), current_user)
      from target t cross join lateral (
        select x.grantor from ${granted('t.oid')} g join pg_class c on c.oid = g.oid, aclexplode(c.relacl) x
        union all
        select x.grantor from pg_attribute c, aclexplode(c.attacl) x where c.attrelid = t.oid and c.attacl is not null and not c.attisdropped
      ) a
      where not ${mayGrant('a.grantor', 't.relowner', 't.namespace')}`;

/**
 * Revokes privileges that the old table does not have: default privileges or a restored version may
 * bring them back. The owner keeps all rights, unless somebody changed them on the old table.
 */
const strippedOf = `
  select distinct h.place, 0 as step, 0::bigint as nth, 0 as level, h.owner as grantor, h.owner,
      format('revoke all on %s from %s cascade', h.name, case when a.grantee = 0 then 'public' else a.grantee::regrole::text end) as statement
    from heir h cross join lateral (
        select grantee from aclexplode(coalesce(h.acl, acldefault(h.kind, h.owner)))
        union all
        select x.grantee from pg_attribute t, aclexplode(t.attacl) x where t.attrelid = h.oid
      ) a
    where a.grantee <> h.owner or h.old_acl is not null`;

const explodedAs = 'a (grantor, grantee, privilege, is_grantable, nth)';

/**
 * SQL for statements that make the grants, in order: grants with grant option before grants that
 * depend on them, grants on a table before grants on its columns. They switch to each grantor, and
 * back at the end.
 */
const selectGrants = (heirs: readonly Heir[]): Query => ({
  text: `
    with recursive heir as materialized (
      select h.place, n.oid, o.oid as old, n.relacl as acl, o.relacl as old_acl, n.relowner as owner, k.kind,
          format('%s %s', case k.kind when 's' then 'sequence' else 'table' end, n.oid::regclass) as name
        from unnest($1::oid[], ${oldOids(heirs)}) with ordinality as h (oid, old, place)
          cross join lateral ${granted('h.oid')} a join lateral ${granted('h.old')} b on b.attname is not distinct from a.attname
          join pg_class n on n.oid = a.oid join pg_class o on o.oid = b.oid
          cross join lateral (select case n.relkind when 'S' then 's' else 'r' end::"char" as kind) k
    ),
    acl as (
      select h.oid, h.place, h.name, h.owner, null::name as attname, a.*
        from heir h, aclexplode(h.old_acl) with ordinality ${explodedAs}
      union all
      select h.oid, h.place, h.name, h.owner, t.attname, a.*
        from heir h join pg_attribute t on t.attrelid = h.old, aclexplode(t.attacl) with ordinality ${explodedAs}
        where t.attnum > 0 and not t.attisdropped
          and exists (select from pg_attribute n where n.attrelid = h.oid and n.attname = t.attname)
    ),
    ranked as (
      select *, nth as rank, 0 as level from acl where grantor = owner
      union
      select a.*, greatest(a.nth, r.rank), r.level + 1 from ranked r join acl a on a.oid = r.oid and a.privilege = r.privilege
        and a.grantor = r.grantee and r.is_grantable and (r.attname is null or r.attname = a.attname)
    ),
    made as (
      select statement, row_number() over (order by place, step, nth, level) as at, current_setting('role') as own,
          case when ${isOwn('s.grantor', 's.owner')} then current_setting('role') else pg_get_userbyid(s.grantor) end as role
      from (
        ${strippedOf}
        union all
        select place, case when attname is null then 1 else 2 end, min(rank), min(level), grantor, owner, format('grant %s%s on %s to %s%s',
            privilege, ' (' || quote_ident(attname) || ')', name, case when grantee = 0 then 'public' else grantee::regrole::text end,
            case when is_grantable then ' with grant option' else '' end)
          from ranked group by place, attname, nth, name, grantor, grantee, owner, privilege, is_grantable
      ) s
    )
    select step.sql
      from (
        select m.*, lag(role, 1, own) over in_order as before, lead(at) over in_order is null as is_last
          from made m window in_order as (order by at)
      ) m cross join lateral (values
        (1, case when role <> before then format('set local role %L', role) end),
        (2, statement),
        (3, case when is_last and role <> own then format('set local role %L', own) end)) as step (place, sql)
      where step.sql is not null order by m.at, step.place`,
  values: [heirs.map(({ oid }) => oid)],
});

/**
 * Copies grants. Needs a transaction, and new tables with owners in a schema that grantors may use.
 */
export const inheritGrants = async (client: Client, heirs: readonly Heir[]): Promise<void> => {
  if (heirs.length > 0) await runQuery(client, executing(selectGrants(heirs)));
};
