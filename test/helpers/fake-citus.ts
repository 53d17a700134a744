// What publishing asks of Citus, on an ordinary server: tables and functions of the same names in pg_catalog.

export const noCitus = `set allow_system_table_mods = on;
  drop schema if exists gen_citus cascade;
  drop table if exists pg_catalog.pg_dist_partition, pg_catalog.pg_dist_schema;
  drop function if exists pg_catalog.create_distributed_table(regclass, text, text, text);
  drop function if exists pg_catalog.create_reference_table(regclass);
  reset allow_system_table_mods`;

/** The columns of the catalogue that are read. */
export const fakeDistPartition = `create table pg_catalog.pg_dist_partition (
  logicalrelid regclass primary key, partmethod "char", partkey text, colocationid int default 1, repmodel "char" default 's')`;

/**
 * Each call is written down, with the persistence of the table, which must be empty. As with Citus, the table gets a trigger, and
 * leaves the catalogue when it is dropped.
 */
export const fakeCitus = `set allow_system_table_mods = on;
  create schema gen_citus;
  create table gen_citus.asked (id serial, what text);
  ${fakeDistPartition};
  create function gen_citus.keep() returns trigger language plpgsql as 'begin return null; end';
  create function gen_citus.note(of regclass, what text) returns void language plpgsql as $$
    declare is_empty boolean;
    begin
      execute format('select not exists (select from %s)', of) into is_empty;
      if not is_empty then raise 'rows are in %', of; end if;
      insert into gen_citus.asked (what) select c.relpersistence::text || ' ' || note.what from pg_class c where oid = of;
      execute format('create trigger truncate_trigger_%s after truncate on %s execute function gen_citus.keep()', of::oid, of);
    end $$;
  create function pg_catalog.create_distributed_table(of regclass, by text, how text default 'hash', colocate_with text default 'default')
    returns void language plpgsql as $$
    begin
      perform gen_citus.note(of, by || ' like ' || colocate_with);
      insert into pg_catalog.pg_dist_partition
        select of, 'h', '{VAR :varno 1 :varattno ' || attnum || ' :vartype 25}' from pg_attribute where attrelid = of and attname = by;
    end $$;
  create function pg_catalog.create_reference_table(of regclass) returns void language plpgsql as $$
    begin
      perform gen_citus.note(of, 'everywhere');
      insert into pg_catalog.pg_dist_partition values (of, 'n', null, 9, 't');
    end $$;
  reset allow_system_table_mods`;
