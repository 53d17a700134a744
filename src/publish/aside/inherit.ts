// Copies comments, defaults and settings of a production table to the new table.
//
// Storage and compression of columns affect only rows that are written later.

import { runQuery, type Client } from '../../db/client.ts';
import { executing, type Query } from '../../db/sql.ts';
import { builtName, productionName, type TableNames } from '../../db/names.ts';
import { oldOids, type Heir } from '../table/grants.ts';

const storage = `
      select h.place, 10, format('alter table %s alter column %I set %s', h.name, n.attname, what.setting)
        from heir h join pg_attribute o on o.attrelid = h.old
          join pg_attribute n on n.attrelid = h.oid and n.attname = o.attname and n.atttypid = o.atttypid
          cross join lateral (values
              (o.attstorage <> n.attstorage, 'storage ' || case o.attstorage
                when 'p' then 'plain' when 'e' then 'external' when 'm' then 'main' else 'extended' end),
              (o.attcompression <> n.attcompression, 'compression ' || case o.attcompression
                when 'p' then 'pglz' when 'l' then 'lz4' else 'default' end))
            as what (differs, setting)
        where o.attnum > 0 and not o.attisdropped and what.differs`;

/**
 * SQL that copies comments. Starts from the comments, which are few, because hundreds of partitions
 * have constraints of the same name.
 */
const commentsOnParts = `
      select h.place, 11, format('comment on index %s is %L', j.indexrelid::regclass, d.description)
        from commented d join pg_class o on d.classoid = 'pg_class'::regclass and o.oid = d.objoid
          join pg_index i on i.indexrelid = o.oid join heir h on h.old = i.indrelid
          join pg_index j on j.indrelid = h.oid join pg_class n on n.oid = j.indexrelid and n.relname = o.relname
      union all
      select h.place, 12, format('comment on constraint %I on %s is %L', n.conname, h.name, d.description)
        from commented d join pg_constraint o on d.classoid = 'pg_constraint'::regclass and o.oid = d.objoid
          join heir h on h.old = o.conrelid
          join pg_constraint n on n.conrelid = h.oid and n.contypid = 0 and n.conname = o.conname
      union all
      select h.place, 13, format('comment on sequence %s is %L', pg_get_serial_sequence(h.name, n.attname), d.description)
        from commented d join pg_depend o on o.classid = 'pg_class'::regclass and o.objid = d.objoid and o.deptype = 'i'
          join heir h on h.old = o.refobjid join pg_attribute a on a.attrelid = o.refobjid and a.attnum = o.refobjsubid
          join pg_attribute n on n.attrelid = h.oid and n.attname = a.attname and n.attidentity <> ''
        where d.classoid = 'pg_class'::regclass`;

const options = `
      select h.place, 5, format('alter table %s set (%s)', h.name, array_to_string(c.reloptions, ', '))
        from heir h join pg_class c on c.oid = h.old where c.reloptions is not null
      union all
      select h.place, 6, format('alter table %s set (toast.%s)', h.name, array_to_string(t.reloptions, ', toast.'))
        from heir h join pg_class c on c.oid = h.old join pg_class t on t.oid = c.reltoastrelid
        where t.reloptions is not null`;

/** Copies properties. Columns and indexes match by name, defaults also by type. */
const selectStatements = (heirs: readonly Heir[]): Query => ({
  text: `
    with heir as materialized (
      select h.place, h.oid::regclass::text as name, h.oid, h.old
        from unnest($1::oid[], ${oldOids(heirs)}) with ordinality as h (oid, old, place)
    ),
    commented as materialized (
      select classoid, objoid, description from pg_description
        where classoid in ('pg_class'::regclass, 'pg_constraint'::regclass) and objsubid = 0
    )
    select statement from (
      select h.place, 3 as step, format('comment on table %s is %L', h.name, d.description) as statement
        from heir h join commented d on d.classoid = 'pg_class'::regclass and d.objoid = h.old
      union all
      select h.place, 4, format('comment on column %s.%I is %L', h.name, n.attname, d.description)
        from heir h join pg_description d on d.objoid = h.old and d.classoid = 'pg_class'::regclass and d.objsubid > 0
          join pg_attribute o on o.attrelid = h.old and o.attnum = d.objsubid
          join pg_attribute n on n.attrelid = h.oid and n.attname = o.attname
      union all ${options}
      union all
      select h.place, 7, format('alter table %s alter column %I set default %s',
          h.name, n.attname, pg_get_expr(d.adbin, d.adrelid))
        from heir h join pg_attrdef d on d.adrelid = h.old
          join pg_attribute o on o.attrelid = d.adrelid and o.attnum = d.adnum
          join pg_attribute n on n.attrelid = h.oid and n.attname = o.attname and n.atttypid = o.atttypid
        where o.attgenerated = '' and n.attgenerated = '' and n.attidentity = ''
      union all
      select h.place, 8, format('alter table %s replica identity %s', h.name,
          case c.relreplident when 'f' then 'full' else 'nothing' end)
        from heir h join pg_class c on c.oid = h.old where c.relreplident in ('f', 'n')
      union all
      -- Without policies and before row security is enabled, this setting has no effect and does
      -- not prevent a swap.
      select h.place, 8, format('alter table %s force row level security', h.name)
        from heir h join pg_class c on c.oid = h.old where c.relforcerowsecurity
      union all
      select h.place, 9, format('alter table %s %s %I', h.name, what.verb, n.relname)
        from heir h join pg_index i on i.indrelid = h.old join pg_class o on o.oid = i.indexrelid
          cross join lateral (values ('cluster on', i.indisclustered), ('replica identity using index', i.indisreplident))
            as what (verb, wanted)
          join pg_index j on j.indrelid = h.oid join pg_class n on n.oid = j.indexrelid and n.relname = o.relname
        where what.wanted
      union all ${storage}
      union all ${commentsOnParts}
    ) statements
    order by place, step`,
  values: [heirs.map(({ oid }) => oid)],
});

export const inherit = async (client: Client, heirs: readonly Heir[]): Promise<void> => {
  if (heirs.length > 0) await runQuery(client, executing(selectStatements(heirs)));
};

const selectStatistics = (names: TableNames): Query => ({
  text: `
    select format('alter table %s alter column %I set statistics %s', $2::text, n.attname, coalesce(o.attstattarget, -1)) as statement
      from pg_attribute o join pg_attribute n on n.attname = o.attname
      where o.attrelid = to_regclass($1) and n.attrelid = to_regclass($2) and n.attnum > 0
        and coalesce(o.attstattarget, -1) <> coalesce(n.attstattarget, -1)
    union all
    select format('alter table %s alter column %I reset (n_distinct, n_distinct_inherited)', $2::text, n.attname)
        || coalesce(', alter column ' || quote_ident(n.attname) || ' set (' || array_to_string(o.attoptions, ', ') || ')', '')
      from pg_attribute o join pg_attribute n on n.attname = o.attname
      where o.attrelid = to_regclass($1) and n.attrelid = to_regclass($2) and n.attnum > 0
        and o.attoptions is distinct from n.attoptions
    union all
    -- Statistics targets of expressions in indexes, by position.
    select format('alter index %s alter column %s set statistics %s', j.indexrelid::regclass, n.attnum, o.attstattarget)
      from pg_index i join pg_class x on x.oid = i.indexrelid
        join pg_class y on y.relname = x.relname join pg_index j on j.indexrelid = y.oid
        join pg_attribute o on o.attrelid = x.oid join pg_attribute n on n.attrelid = y.oid and n.attnum = o.attnum
      where i.indrelid = to_regclass($1) and j.indrelid = to_regclass($2) and o.attstattarget >= 0
    union all
    select format('alter index %s set tablespace %I', j.indexrelid::regclass, s.spcname)
      from pg_index i join pg_class x on x.oid = i.indexrelid
        join pg_class y on y.relname = x.relname join pg_index j on j.indexrelid = y.oid
        join pg_tablespace s on s.oid = coalesce(nullif(x.reltablespace, 0),
          (select dattablespace from pg_database where datname = current_database()))
      where i.indrelid = to_regclass($1) and j.indrelid = to_regclass($2) and x.reltablespace <> y.reltablespace and not $3`,
  values: [productionName(names), builtName(names), names.attributes?.tablespace !== undefined],
});

/** Copies statistics targets, which `analyze` needs. */
export const inheritStatistics = async (client: Client, names: TableNames): Promise<void> => {
  await runQuery(client, executing(selectStatistics(names)));
};

/** Copies collations. A new partition gets those of its table, `whole`. */
export const inheritCollations = async (
  client: Client,
  names: TableNames,
  whole: TableNames = names,
): Promise<void> => {
  const select: Query = {
    text: `select format('alter table %s %s', $3::text, string_agg(format('alter column %I type %s collate %s', n.attname,
          format_type(n.atttypid, n.atttypmod), o.attcollation::regcollation), ', ')) as statement
      from pg_attribute o join pg_attribute n on n.attname = o.attname and n.atttypid = o.atttypid and n.atttypmod = o.atttypmod
      where o.attrelid = coalesce(to_regclass($1), to_regclass($2)) and n.attrelid = to_regclass($3)
        and n.attnum > 0 and not o.attisdropped and o.attcollation <> n.attcollation
      having count(*) > 0`,
    values: [productionName(names), productionName(whole), builtName(names)],
  };
  await runQuery(client, executing(select));
};
