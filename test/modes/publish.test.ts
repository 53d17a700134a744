// Publishing: what hangs on a table survives it, and nothing is half done.

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, type Pipeline } from '../../src/index.ts';
import { citiesPipeline, writeCities } from '../helpers/cities.ts';
import { failureOf } from '../helpers/failure.ts';
import { withPg } from '../helpers/own-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const runs = usePipelineRuns({ fullRefresh: true });
const { files, database, rowsOf } = runs;
const { write } = files;

const source = writeCities(files);

const cities = (change: object = {}, name?: string): Pipeline => citiesPipeline(source, change, name);

const run = (pipeline: Pipeline = cities(), options: object = {}) => runs.run(pipeline, options);

const query = (sql: string) => database.query(sql);

const beginAgain = async (): Promise<void> => {
  await query('drop schema if exists geo cascade');
  writeCities(files);
};

describe('a table without dependent objects', () => {
  beforeEach(beginAgain);

  it('has at first the default privileges of its schema', async () => {
    await query('create schema geo');
    await query(
      `do $$ begin if not exists (select from pg_roles where rolname = 'sluice_reader') then create role sluice_reader; end if; end $$`,
    );
    await query('alter default privileges in schema geo grant select on tables to sluice_reader');
    await run();
    expect(await rowsOf(`select has_table_privilege('sluice_reader', 'geo.city', 'select') as may`)).toEqual([
      { may: true },
    ]);
  });

  it('keeps indexes that people made by hand, and drops those that the declaration no longer has', async () => {
    await run();
    await query('create index by_hand on geo.city (people) where people > 1');
    const notices: string[] = [];
    await run(cities({ indexes: [] }), {
      onEvent: (event: { type: string; message?: string }) =>
        event.type === 'notice' && notices.push(event.message!),
    });
    await run(cities({ indexes: [] }));
    // In this schema: what an earlier run has built or moved away may be there for a while, under the same name.
    const indexes = `select indexname from pg_indexes where schemaname = 'geo' and tablename = 'city' order by 1`;
    expect(await rowsOf(indexes)).toEqual([{ indexname: 'by_hand' }, { indexname: 'city_pkey' }]);
    // A run on a loaded machine may have more to say, such as what it waits for, and may build a second time.
    expect(new Set(notices.filter((message) => message.includes('index')))).toEqual(
      new Set(['city: kept indexes made by hand: by_hand']),
    );
  });

  it('is published without the statistics of a column that the server cannot analyze, and a notice says so', async () => {
    const ranges = definePipeline({
      name: 'ranges',
      schema: 'geo',
      tables: {
        range: {
          source: csv('ranges.csv'),
          columns: { id: column.integer('id'), span: column.of('numrange', 'span') },
        },
      },
    });
    write('ranges.csv', 'id,span\n1,"[1,1e400]"\n2,"[1,2]"\n3,"[0,1e308]"\n');
    expect(await run(ranges)).toMatchObject({ outcome: 'published', tables: [{ rows: 3 }] });
    expect(runs.notices.join()).toMatch(
      /range: the server has no statistics of span, because `analyze` fails there: .*double precision/,
    );
    expect(
      await rowsOf(`select attname from pg_stats where schemaname = 'geo' and tablename = 'range'`),
    ).toEqual([{ attname: 'id' }]);
  });

  it('carries a declared comment', async () => {
    await run(cities({ comment: 'declared' }));
    expect(await rowsOf(`select obj_description('geo.city'::regclass) as comment`)).toEqual([
      { comment: 'declared' },
    ]);
  });
});

describe('a table that other objects depend on', () => {
  const dependents = [
    {
      kind: 'view',
      ddl: 'create view geo.names as select name from geo.city',
      shown: 'geo.names',
      undo: 'drop view geo.names',
    },
    {
      kind: 'materialized view',
      ddl: 'create materialized view geo.names as select name from geo.city',
      undo: 'drop materialized view geo.names',
    },
    {
      kind: 'foreign key',
      ddl: 'create table geo.visit (city integer references geo.city); insert into geo.visit values (1)',
      undo: 'drop table geo.visit',
    },
    {
      kind: 'publication',
      ddl: 'create publication sluice_test for table geo.city',
      undo: 'drop publication sluice_test',
    },
    {
      kind: 'trigger',
      ddl: `create function geo.f() returns trigger language plpgsql as 'begin return new; end'; create trigger t before update on geo.city for each row execute function geo.f()`,
      undo: 'drop function geo.f cascade',
    },
    {
      kind: 'policy',
      ddl: 'create policy p on geo.city using (true)',
      undo: 'drop policy p on geo.city',
    },
    {
      kind: 'check constraint',
      ddl: 'alter table geo.city add constraint positive check (people > 0)',
      undo: 'alter table geo.city drop constraint positive',
    },
    {
      kind: 'statistics',
      ddl: 'create statistics geo.s on name, people from geo.city',
      undo: 'drop statistics geo.s',
    },
    {
      kind: 'column of its row type',
      ddl: 'create table geo.log (was geo.city)',
      undo: 'drop table geo.log',
    },
    {
      kind: 'column of an array of its rows',
      ddl: 'create table geo.log (were geo.city[])',
      undo: 'drop table geo.log',
    },
    {
      kind: 'domain over its row type',
      ddl: 'create domain geo.kept as geo.city',
      undo: 'drop domain geo.kept',
    },
    {
      kind: 'function that gives its rows',
      ddl: `create function geo.latest() returns setof geo.city language sql stable as 'select * from geo.city'`,
      undo: 'drop function geo.latest',
    },
    {
      kind: 'function that takes its rows',
      ddl: `create function geo.label(geo.city) returns text language sql immutable as 'select ($1).name'`,
      undo: 'drop function geo.label',
    },
    {
      kind: 'function with a body in SQL',
      ddl: 'create function geo.size() returns bigint language sql begin atomic select count(*) from geo.city; end',
      undo: 'drop function geo.size',
    },
  ];

  describe('of the kind', () => {
    beforeAll(async () => {
      await beginAgain();
      await run();
    });

    it.each(dependents.map((dependent, place) => ({ ...dependent, people: 130_000 + place })))(
      '$kind: rows are replaced in place, the table stays the same',
      async ({ ddl, shown = 'geo.city', undo, people }) => {
        await query(ddl);
        const oid = await rowsOf(`select 'geo.city'::regclass::oid as oid`);
        write('city.csv', `id,name,people\n1,Ulm,${people}\n3,Jena,100000\n`);
        const result = await run();
        expect(result.tables[0]).toMatchObject({ strategy: 'in place', rows: 2 });
        expect(await rowsOf(`select 'geo.city'::regclass::oid as oid`)).toEqual(oid);
        expect(await rowsOf('select id, people::int from geo.city order by id')).toEqual([
          { id: 1, people },
          { id: 3, people: 100_000 },
        ]);
        expect(await rowsOf(`select name from ${shown} order by 1`)).toEqual([
          { name: 'Jena' },
          { name: 'Ulm' },
        ]);
        await query(undo);
      },
    );

    it('none of them any more: it is swapped', async () => {
      expect((await run()).tables[0]).toMatchObject({ strategy: 'swap' });
    });
  });

  describe('as a view or a foreign key does', () => {
    beforeEach(beginAgain);

    it('a row that a foreign key needs and the files no longer have stops the run, production unchanged', async () => {
      await run();
      await query(
        'create table geo.visit (city integer references geo.city); insert into geo.visit values (2)',
      );
      write('city.csv', 'id,name,people\n1,Ulm,1\n');
      const error = await failureOf(run(cities(), { allowShrink: ['big'] }));
      expect(error).toMatchObject({
        code: 'ETL_PUBLISH_REFUSED',
        details: { sqlstate: '23503', table: 'city' },
      });
      expect(await rowsOf('select count(*)::int as n from geo.city where people > 1')).toEqual([{ n: 2 }]);
    });

    it('a changed column stops the run and says what differs', async () => {
      await run();
      await query('create view geo.names as select name from geo.city');
      const renamed = {
        id: column.bigint('id'),
        name: column.text('name'),
        people: column.bigint('people'),
      };
      const shape = await failureOf(run(cities({ columns: renamed })));
      expect(shape).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
      expect(shape.message).toContain('view geo.names');
      expect(shape.message).toContain('declared id bigint, in the table id integer');
    });
  });
});

describe('a run that must not publish', () => {
  beforeEach(beginAgain);

  it('duplicate key: says which, production unchanged', async () => {
    await run();
    write('city.csv', 'id,name,people\n1,Ulm,5\n1,Ulm again,5\n');
    const error = await failureOf(run());
    expect(error).toMatchObject({
      code: 'ETL_DUPLICATE_KEY',
      details: { table: 'city', key: 'primary key (id)' },
    });
    expect(error.message).toContain('Key (id)=(1)');
    expect(await rowsOf('select count(*)::int as n from geo.city where people > 5')).toEqual([{ n: 2 }]);
  });

  it('keeps nothing that it has built, except rows that were loaded there, with which it goes on', async () => {
    const built = `select relname from pg_class where relnamespace = to_regnamespace('etl_build_cities') order by 1`;
    write('big.sql', 'select 1 as id from city');
    expect(await failureOf(run())).toMatchObject({ code: 'ETL_DUPLICATE_KEY', details: { table: 'big' } });
    expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl_build%'`)).toEqual([]);
    const direct = cities({ staging: 'none' });
    expect(await failureOf(run(direct))).toMatchObject({ details: { table: 'big' } });
    expect(await rowsOf(built)).toEqual([{ relname: 'city' }]);
    const events: object[] = [];
    const onEvent = (event: object) => events.push(event);
    await failureOf(run(direct, { fullRefresh: false, onEvent }));
    expect(events).toContainEqual(expect.objectContaining({ type: 'resumed', chunks: 1, records: 2 }));
    write('big.sql', 'select id, name from city where people > 115000');
    expect(await run(direct)).toMatchObject({ outcome: 'published' });
  });

  it('an error in SQL is placed in the user’s file', async () => {
    write('big.sql', '-- the largest\nselect id,\n  nmae from city\n');
    const error = await failureOf(run());
    write('big.sql', 'select id, name from city where people > 115000');
    expect(error).toMatchObject({
      code: 'ETL_TRANSFORM',
      details: { where: ':3:3', sqlstate: '42703', table: 'big' },
    });
    expect(await rowsOf(`select to_regclass('geo.city') as city`)).toEqual([{ city: null }]);
  });

  it('a byte order mark of a SQL file is no part of its SQL, nor of its first line', async () => {
    write('big.sql', '\uFEFFselect id, nmae from city');
    const error = await failureOf(run());
    write('big.sql', '\uFEFFselect id, name from city where people > 115000');
    expect(error).toMatchObject({ code: 'ETL_TRANSFORM', details: { where: ':1:12', sqlstate: '42703' } });
    expect(await run()).toMatchObject({ outcome: 'published' });
    write('big.sql', 'select id, name from city where people > 115000');
  });

  it('a SQL file with two statements is refused', async () => {
    write('big.sql', 'select 1 as id; drop schema geo cascade');
    const error = await failureOf(run());
    write('big.sql', 'select id, name from city where people > 115000');
    expect(error).toMatchObject({ code: 'ETL_TRANSFORM' });
  });

  it('a null in the key of a derived table is a clear error', async () => {
    write('big.sql', 'select null::integer as id');
    const error = await failureOf(run());
    write('big.sql', 'select id, name from city where people > 115000');
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_NULL', details: { table: 'big', column: 'id' } });
  });

  it('waits for a reader that holds the table, and publishes when it lets go', async () => {
    await run();
    const oid = `select 'geo.city'::regclass::oid as oid`;
    const before = await rowsOf(oid);
    await withPg(database.url, async (reader) => {
      await reader.query('begin; select * from geo.city');
      let whileHeld: unknown;
      const onEvent = async ({ type, message }: { type: string; message?: string }): Promise<void> => {
        if (type !== 'notice' || whileHeld !== undefined) return;
        whileHeld = { message, oid: (await reader.query(oid)).rows };
        await reader.query('commit');
      };
      expect(await run(cities(), { onEvent })).toMatchObject({ outcome: 'published' });
      expect(whileHeld).toEqual({ message: expect.stringContaining('waits'), oid: before });
    });
    expect(await rowsOf(oid)).not.toEqual(before);
  });

  it('an aborted run publishes nothing and leaves nothing open', async () => {
    await run();
    const stop = new AbortController();
    const aborted = run(cities(), {
      signal: stop.signal,
      onEvent: ({ type }: { type: string }) => type === 'building' && stop.abort(new Error('SIGINT')),
    });
    expect(await failureOf(aborted)).toMatchObject({
      code: 'ETL_INTERRUPTED',
      details: { signal: 'SIGINT' },
    });
    expect(await rowsOf(`select state from etl.run order by id desc limit 1`)).toEqual([
      { state: 'cancelled' },
    ]);
    const left = `select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    expect(await rowsOf(left)).toEqual([{ n: 0 }]);
  });
});

describe('all tables of a pipeline', () => {
  beforeEach(beginAgain);

  it('leave no staging, build schema or queue rows', async () => {
    await run();
    expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl_build%'`)).toEqual([]);
    expect(
      await rowsOf(
        `select relname from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = 'etl_staging'`,
      ),
    ).toEqual([]);
    expect(await rowsOf('select count(*)::int as n from etl_queue.job')).toEqual([{ n: 0 }]);
  });
});

describe('what in-place publishing must not touch', () => {
  beforeEach(beginAgain);

  it('rows of a table that inherits from ours', async () => {
    await run();
    await query('create table geo.archive () inherits (geo.city)');
    await query(`insert into geo.archive values (9, 'Xanten', 1)`);
    await run();
    expect(await rowsOf('select id from geo.archive')).toEqual([{ id: 9 }]);
    expect(await rowsOf('select count(*)::int as n from only geo.city')).toEqual([{ n: 2 }]);
  });

  it('the table under a view of its name', async () => {
    await query('create schema geo; create table geo.base (id integer, name text, people bigint)');
    await query(
      `insert into geo.base values (9, 'Xanten', 1); create view geo.city as select * from geo.base`,
    );
    expect(await failureOf(run())).toMatchObject({
      code: 'ETL_PUBLISH_REFUSED',
      details: { sqlstate: '42809' },
    });
    expect(await rowsOf('select id from geo.base')).toEqual([{ id: 9 }]);
  });

  it('a table whose trigger keeps the old rows: nothing is published', async () => {
    await run();
    await query(`create function geo.keep() returns trigger language plpgsql as 'begin return null; end';
      create trigger keep before delete on geo.city for each row execute function geo.keep()`);
    write('city.csv', 'id,name,people\n3,Jena,100000\n');
    const error = await failureOf(run(cities(), { allowShrink: ['big'] }));
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_WITHHELD', details: { table: 'city' } });
    expect(await rowsOf('select id from geo.city order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  });
});
