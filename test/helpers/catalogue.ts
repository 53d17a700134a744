// What `pg_dump --schema-only` would write of the schema `geo`, from the catalogue; and what people make there, of every kind.

import { serverMajor } from './major-server.ts';
import type { TestDatabase } from './server.ts';

/** Rows of kind, name and text of everything in the schema, without what a dump does not have, such as oids. */
const catalogueSql = (filter: string): string => `
  with target as (
    select c.*, t.reloptions as toast_options
      from pg_class c left join pg_class t on t.oid = c.reltoastrelid
      where c.relnamespace = 'geo'::regnamespace and c.relkind <> 'i'
  )
  select 'relation' as kind, relname::text as name,
      row(relkind, pg_get_userbyid(relowner), relacl::text, reloptions, toast_options, relpersistence, relreplident,
        relrowsecurity, relforcerowsecurity, reltablespace, nullif(reloftype, 0)::regtype, relispartition, relam,
        obj_description(oid, 'pg_class'), case when relkind in ('v', 'm') then pg_get_viewdef(oid) end)::text as text
    from target
  union all
  select 'column', concat(c.relname, ' ', attname),
      row(format_type(atttypid, atttypmod), attnotnull, attacl::text, attstattarget, attoptions, attstorage, attcompression,
        attcollation::regcollation, attidentity, attgenerated, attislocal, pg_get_expr(adbin, adrelid),
        col_description(c.oid, attnum))::text
    from target c join pg_attribute a on a.attrelid = c.oid left join pg_attrdef on adrelid = c.oid and adnum = attnum
    where attnum > 0 and not attisdropped
  union all
  select 'index', x.relname::text,
      row(pg_get_indexdef(x.oid), indisclustered, indisreplident, indisvalid, x.reltablespace, obj_description(x.oid, 'pg_class'),
        array(select attstattarget from pg_attribute where attrelid = x.oid order by attnum),
        array(select e.extname from pg_depend d join pg_extension e on e.oid = d.refobjid
          where d.objid = x.oid and d.refclassid = 'pg_extension'::regclass))::text
    from target c join pg_index on indrelid = c.oid join pg_class x on x.oid = indexrelid
  union all
  select 'constraint', concat(conrelid::regclass, '.', conname),
      row(pg_get_constraintdef(k.oid), condeferrable, condeferred, convalidated, obj_description(k.oid, 'pg_constraint'))::text
    from target c join pg_constraint k on k.conrelid = c.oid
  union all
  select 'trigger', concat(c.relname, '.', tgname),
      row(pg_get_triggerdef(g.oid), tgenabled, obj_description(g.oid, 'pg_trigger'))::text
    from target c join pg_trigger g on g.tgrelid = c.oid where not tgisinternal
  union all
  select 'rule', concat(c.relname, '.', rulename), row(pg_get_ruledef(r.oid), ev_enabled)::text
    from target c join pg_rewrite r on r.ev_class = c.oid where c.relkind = 'r'
  union all
  select 'policy', concat(c.relname, '.', polname),
      row(polcmd, polpermissive, polroles::regrole[], pg_get_expr(polqual, c.oid), pg_get_expr(polwithcheck, c.oid))::text
    from target c join pg_policy on polrelid = c.oid
  union all
  select 'statistics', stxname::text, row(pg_get_statisticsobjdef(s.oid), stxstattarget, pg_get_userbyid(stxowner))::text
    from target c join pg_statistic_ext s on s.stxrelid = c.oid
  union all
  select 'publication', concat(p.pubname, ' ', c.relname), row(${filter})::text
    from target c join pg_publication_rel on prrelid = c.oid join pg_publication p on p.oid = prpubid
  union all
  select 'inheritance', concat(inhparent::regclass, ' ', inhrelid::regclass), row(inhseqno)::text
    from target c join pg_inherits on inhrelid = c.oid
  union all
  select 'owner of a sequence', c.relname::text, row(d.refobjid::regclass, d.refobjsubid, d.deptype)::text
    from target c join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refobjsubid > 0
    where c.relkind = 'S'
  union all
  select 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid)
    from pg_proc p where p.pronamespace = 'geo'::regnamespace
  union all
  select 'default privileges', defaclobjtype::text, defaclacl::text
    from pg_default_acl where defaclnamespace = 'geo'::regnamespace
  order by 1, 2`;

/** One text for each object, and for each column, so that a failure shows which differs. */
export const catalogueOf = async (database: TestDatabase): Promise<readonly string[]> => {
  // PostgreSQL 14 publishes whole tables.
  const filter = serverMajor < 15 ? 'null' : 'pg_get_expr(prqual, c.oid), prattrs';
  const { rows } = await database.query(catalogueSql(filter));
  return rows.map(({ kind, name, text }) => `${kind} ${name}: ${text}`);
};

/** What people set on geo.city, which is not an object of its own. */
export const settings = `
  grant select on geo.city to pg_monitor with grant option;
  grant update (name) on geo.city to public;
  grant usage on schema geo to pg_monitor;
  set role pg_monitor;
  grant select on geo.city to pg_read_all_stats;
  grant select (name) on geo.city to pg_signal_backend;
  reset role;
  comment on table geo.city is 'it''s cities';
  comment on column geo.city.people is 'who live there';
  comment on constraint city_pkey on geo.city is 'the key';
  comment on index geo.city_name_idx is 'by name';
  alter index geo.city_name_idx set (fillfactor = 50, deduplicate_items = off);
  alter table geo.city set (fillfactor = 90, toast.autovacuum_enabled = false);
  alter table geo.city alter people set default 7, alter name set statistics 7, alter name set (n_distinct = 5);
  alter table geo.city alter name set storage external, alter name set compression pglz, alter name type text collate "C";
  create index by_hand on geo.city (people) where people > 1;
  comment on index geo.by_hand is 'made by hand';
  create index by_expression on geo.city ((people + 1)) with (fillfactor = 60);
  alter index geo.by_expression alter column 1 set statistics 9;
  alter table geo.city cluster on city_name_idx, replica identity full;
  alter default privileges in schema geo grant insert on tables to pg_monitor;`;

/** Objects that depend on geo.city, so that it has to stay; it needs a row 2, people more than 0, and the owner sluice_owner. */
export const dependents = `
  create view geo.seen as select name from geo.city;
  create view geo.initials as select left(name, 1) as initial from geo.seen;
  create materialized view geo.counts as select count(*) from geo.city;
  create table geo.visit (city integer references geo.city);
  insert into geo.visit values (2);
  create table geo.town (id integer primary key);
  insert into geo.town select generate_series(1, 9);
  alter table geo.city add foreign key (id) references geo.town;
  create function geo.touch() returns trigger language plpgsql as 'begin return new; end';
  create trigger touched before update on geo.city for each row execute function geo.touch();
  alter table geo.city disable trigger touched;
  create rule noted as on delete to geo.city where old.id < 0 do also nothing;
  create policy own on geo.city for select to pg_monitor using (people > 0);
  alter table geo.city enable row level security;
  create statistics geo.both on name, people from geo.city;
  alter statistics geo.both set statistics 11;
  alter table geo.city add constraint positive check (people > 0), add constraint named unique (name);
  comment on constraint positive on geo.city is 'nobody lives in none';
  create sequence geo.ids;
  alter sequence geo.ids owner to sluice_owner;
  alter sequence geo.ids owned by geo.city.id;
  create table geo.village () inherits (geo.city);
  create publication dumped for table geo.city ${serverMajor < 15 ? '' : 'where (people > 0)'};
  create function geo.label(geo.city) returns text language sql immutable as 'select ($1).name';
  create table geo.log (was geo.city);
  grant all on all tables in schema geo to sluice_owner;`;
