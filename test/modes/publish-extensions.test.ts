// Tables that an extension knows of stay the tables that they are. The extensions are not here: tables of the names and columns
// of their catalogues take their place, and a trigger does what a hypertable does with its rows.

import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline } from '../../src/index.ts';
import { fakeDistPartition } from '../helpers/fake-citus.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, notices, rowsOf, one, run: runIt } = usePipelineRuns({ fullRefresh: true });
const query = (sql: string) => database.query(sql);
const source = files.write('t.csv', 'id,v\n1,new\n2,new\n');

const pipeline = definePipeline({
  name: 'extended',
  schema: 'gen',
  tables: {
    t: {
      source: csv(source),
      columns: { id: column.integer('id'), v: column.text('v') },
      primaryKey: ['id'],
    },
  },
});

const run = () => runIt(pipeline);
const oid = () => one(`select 'gen.t'::regclass::oid as oid`);
const fresh = [
  { id: 1, v: 'new' },
  { id: 2, v: 'new' },
];

const hypertables = `create schema _timescaledb_catalog;
  create table _timescaledb_catalog.hypertable (id serial primary key, schema_name name, table_name name);
  insert into _timescaledb_catalog.hypertable (schema_name, table_name) values ('gen', 't')`;
const citusTables = `set allow_system_table_mods = on;
  ${fakeDistPartition};
  insert into pg_dist_partition values ('gen.t', 'h')`;
const citusSchemas = `${citusTables}; create table pg_catalog.pg_dist_schema (schemaid oid primary key, colocationid int);
  insert into pg_dist_schema values ('gen'::regnamespace, 1)`;

beforeEach(async () => {
  await query(`set allow_system_table_mods = on;
    drop extension if exists autoinc cascade; create extension autoinc;
    drop schema if exists gen, _timescaledb_catalog cascade;
    drop table if exists pg_catalog.pg_dist_partition, pg_catalog.pg_dist_schema;
    drop access method if exists pile;
    delete from pg_seclabel; reset allow_system_table_mods`);
  await query(`create schema gen; create table gen.t (id integer not null primary key, v text not null);
    insert into gen.t values (1, 'old'), (3, 'old')`);
});

describe('a table that stays, though nothing else depends on it', () => {
  it.each([
    { because: 'TimescaleDB hypertable', sql: hypertables },
    { because: 'Citus table', sql: citusTables },
    { because: 'extension autoinc', sql: 'alter extension autoinc add table gen.t' },
    { because: 'extension autoinc', sql: 'alter index gen.t_pkey depends on extension autoinc' },
    {
      because: 'access method pile',
      sql: `create access method pile type table handler heap_tableam_handler; drop table gen.t;
        create table gen.t (id integer not null primary key, v text not null) using pile`,
    },
    {
      because: 'security label masks',
      sql: `set allow_system_table_mods = on;
        insert into pg_seclabel values ('gen.t'::regclass, 'pg_class'::regclass, 0, 'masks', 'MASKED')`,
    },
    {
      because: 'trigger watch',
      sql: `create function gen.watch() returns trigger language plpgsql as 'begin return new; end';
        create trigger watch before insert on gen.t for each row execute function gen.watch();
        set allow_system_table_mods = on; update pg_trigger set tgisinternal = true where tgname = 'watch'`,
    },
  ])('because of $because', async ({ because, sql }) => {
    await query(sql);
    const before = await oid();
    const { tables } = await run();
    expect(tables).toMatchObject([{ strategy: 'in place' }]);
    expect(notices.join()).toContain(`because of ${because};`);
    expect(await oid()).toBe(before);
    expect(await rowsOf('select * from gen.t order by id')).toEqual(fresh);
  });

  it('because it is partitioned, without a partition as yet: the server refuses rows, and it is there still', async () => {
    await query(`drop table gen.t;
      create table gen.t (id integer not null primary key, v text not null) partition by range (id)`);
    const before = await oid();
    expect(await failureOf(run())).toMatchObject({ code: 'ETL_PUBLISH_REFUSED' });
    expect(await oid()).toBe(before);
  });
});

it('a hypertable whose rows are in its chunks loses the old ones and has the new ones once', async () => {
  await query(`${hypertables}; truncate gen.t;
    create table gen.chunk () inherits (gen.t); insert into gen.chunk values (1, 'old'), (3, 'old');
    create function gen.to_chunk() returns trigger language plpgsql as
      'begin insert into gen.chunk values (new.*); return null; end';
    create trigger to_chunk before insert on gen.t for each row execute function gen.to_chunk()`);
  await run();
  expect(await rowsOf('select * from gen.chunk order by id')).toEqual(fresh);
});

it('a table of a distributed schema is swapped, as whatever comes into that schema is distributed', async () => {
  await query(citusSchemas);
  expect((await run()).tables).toMatchObject([{ strategy: 'swap' }]);
});

it('a catalogue that no superuser owns is not looked at', async () => {
  await query(`do $$ begin create role sluice_planter; exception when duplicate_object then end $$;
    ${hypertables}; alter table _timescaledb_catalog.hypertable rename to real;
    create function _timescaledb_catalog.spring() returns setof _timescaledb_catalog.real language plpgsql as
      $$ begin raise 'a stranger''s function was called'; end $$;
    create view _timescaledb_catalog.hypertable as select * from _timescaledb_catalog.spring();
    alter view _timescaledb_catalog.hypertable owner to sluice_planter`);
  expect((await run()).tables).toMatchObject([{ strategy: 'swap' }]);
});

it('what the server does not do with such a table is refused by name, and nothing is changed', async () => {
  await query(`${citusTables};
    create function gen.refuse() returns trigger language plpgsql as
      $$ begin raise 'complex joins are only supported when all distributed tables are co-located' using errcode = '0A000'; end $$;
    create trigger refuse before delete on gen.t for each row execute function gen.refuse()`);
  const error = await failureOf(run());
  expect(error).toMatchObject({ code: 'ETL_PUBLISH_REFUSED', details: { table: 't', sqlstate: '0A000' } });
  expect(error.message).toContain('rows of gen.t cannot be replaced in place: complex joins');
  expect(error.hint).toContain('because of Citus table');
  expect(await rowsOf('select * from gen.t order by id')).toEqual([
    { id: 1, v: 'old' },
    { id: 3, v: 'old' },
  ]);
});
