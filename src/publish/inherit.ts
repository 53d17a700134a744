// What the new table takes over from the old one: grants, comments, defaults, settings; and its owner.

import { runQuery, type Client } from '../db/client.ts';
import { quoteText, type Query } from '../db/sql.ts';
import { builtName, productionName, type TableNames } from './names.ts';

/**
 * Statements that give the built table what the table with this oid has, written by the server itself.
 * What belongs to columns and indexes follows their names; a default only fits the type that it was made for.
 */
const selectStatements = (oid: number, names: TableNames, comment: string | undefined): Query => ({
  text: `
    with target as (select $2::text as name, ($2::text)::regclass as oid),
    grantees as (
      select 1 as place, null::name as attname, a.* from pg_class c, aclexplode(c.relacl) a where c.oid = $1
      union all
      select 2, t.attname, a.* from pg_attribute t, aclexplode(t.attacl) a
        where t.attrelid = $1 and t.attnum > 0 and not t.attisdropped
          and exists (select from pg_attribute n, target where n.attrelid = target.oid and n.attname = t.attname)
    )
    select statement from (
      select place, format('grant %s%s on table %s to %s%s', privilege_type,
          case when attname is null then '' else format(' (%I)', attname) end, target.name,
          case when grantee = 0 then 'public' else quote_ident(pg_get_userbyid(grantee)) end,
          case when is_grantable then ' with grant option' else '' end) as statement
        from grantees, target
      union all
      select 3, format('comment on table %s is %L', target.name, coalesce($3, obj_description($1, 'pg_class')))
        from target where coalesce($3, obj_description($1, 'pg_class')) is not null
      union all
      select 4, format('comment on column %s.%I is %L', target.name, n.attname, col_description($1, o.attnum))
        from target, pg_attribute o join pg_attribute n on n.attname = o.attname
        where o.attrelid = $1 and n.attrelid = target.oid and o.attnum > 0 and not o.attisdropped
          and col_description($1, o.attnum) is not null
      union all
      select 5, format('alter table %s set (%s)', target.name, array_to_string(c.reloptions, ', '))
        from target, pg_class c where c.oid = $1 and c.reloptions is not null
      union all
      select 6, format('alter table %s set (toast.%s)', target.name, array_to_string(t.reloptions, ', toast.'))
        from target, pg_class c join pg_class t on t.oid = c.reltoastrelid where c.oid = $1 and t.reloptions is not null
      union all
      select 7, format('alter table %s alter column %I set default %s',
          target.name, n.attname, pg_get_expr(d.adbin, d.adrelid))
        from target, pg_attrdef d join pg_attribute o on o.attrelid = d.adrelid and o.attnum = d.adnum
          join pg_attribute n on n.attname = o.attname and n.atttypid = o.atttypid
        where d.adrelid = $1 and n.attrelid = target.oid and o.attgenerated = ''
      union all
      select 8, format('alter table %s replica identity %s', target.name,
          case c.relreplident when 'f' then 'full' else 'nothing' end)
        from target, pg_class c where c.oid = $1 and c.relreplident in ('f', 'n')
      union all
      select 9, format('alter table %s %s %I', target.name, what.verb, n.relname)
        from target, pg_index i join pg_class o on o.oid = i.indexrelid
          cross join lateral (values ('cluster on', i.indisclustered), ('replica identity using index', i.indisreplident))
            as what (verb, wanted)
          join pg_class n on n.relname = o.relname
          join pg_index j on j.indexrelid = n.oid
        where i.indrelid = $1 and j.indrelid = target.oid and what.wanted
    ) statements
    order by place`,
  values: [oid, builtName(names), comment ?? null],
});

/** Gives the built table what the table with this oid has; a declared comment goes before an old one. */
export const inherit = async (
  client: Client,
  oid: number,
  names: TableNames,
  comment: string | undefined,
): Promise<void> => {
  const { rows } = await runQuery(client, selectStatements(oid, names, comment));
  for (const { statement } of rows) await client.query(statement);
};

const selectStatistics = (names: TableNames): Query => ({
  text: `
    select format('alter table %s alter column %I set statistics %s', $2::text, n.attname, o.attstattarget) as statement
      from pg_attribute o join pg_attribute n on n.attname = o.attname
      where o.attrelid = to_regclass($1) and n.attrelid = to_regclass($2) and n.attnum > 0 and o.attstattarget >= 0
    union all
    select format('alter table %s alter column %I set (%s)', $2::text, n.attname, array_to_string(o.attoptions, ', '))
      from pg_attribute o join pg_attribute n on n.attname = o.attname
      where o.attrelid = to_regclass($1) and n.attrelid = to_regclass($2) and n.attnum > 0 and o.attoptions is not null`,
  values: [productionName(names), builtName(names)],
});

/** Gives the columns of the built table the statistics targets that they have in production: before it is analyzed. */
export const inheritStatistics = async (client: Client, names: TableNames): Promise<void> => {
  const { rows } = await runQuery(client, selectStatistics(names));
  for (const { statement } of rows) await client.query(statement);
};

/** The owner of a table when it is not the current user; undefined when it is. */
export const foreignOwner = async (client: Client, oid: number): Promise<string | undefined> =>
  (
    await client.query(
      `select pg_get_userbyid(relowner) as owner from pg_class where oid = $1 and pg_get_userbyid(relowner) <> current_user`,
      [oid],
    )
  ).rows[0]?.owner;

/** Sets a declared comment on a table that stays. */
export const setComment = (table: string, comment: string): Query => ({
  text: `comment on table ${table} is ${quoteText(comment)}`,
});
