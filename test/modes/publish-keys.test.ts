// Keys and indexes of a table whose rows are replaced in place: what is declared is there, or the run says why not.

import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, index, runPipeline, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, notices, rowsOf, one, run: runIt } = usePipelineRuns();
const query = (sql: string) => database.query(sql);

const source = files.write('t.csv', '');
const setRows = (...rows: readonly string[]) => files.write('t.csv', ['id,v,code', ...rows, ''].join('\n'));

const table = (change: object = {}): Pipeline =>
  definePipeline({
    name: 'keys',
    schema: 'gen',
    tables: {
      t: {
        source: csv(source),
        columns: {
          id: column.integer('id'),
          v: column.text('v').nullable(),
          code: column.text('code').nullable(),
        },
        primaryKey: ['id'],
        ...change,
      },
    },
  });

const run = (change?: object, options: object = {}) => runIt(table(change), options);

/** Indexes of the table as people know them: name, unique or not, and the definition after USING. */
const indexes = async (): Promise<readonly string[]> => {
  const { rows } = await query(
    `select indexname as name, indexdef as ddl from pg_indexes where schemaname = 'gen' and tablename = 't' order by 1`,
  );
  return rows.map(
    ({ name, ddl }) => `${name}${/unique/i.test(ddl) ? ' unique' : ''} ${ddl.replace(/^.* USING /, '')}`,
  );
};
const recorded = () => one('select indexes from etl.published_table order by run_id desc limit 1');
const oid = () => one(`select 'gen.t'::regclass::oid as oid`);

beforeEach(async () => {
  await query('drop schema if exists gen cascade');
  setRows('1,a,x', '2,b,y');
});

describe('a table that a view depends on', () => {
  const columns = { id: column.integer('id'), v: column.text('v'), code: column.text('code').nullable() };
  const before = { primaryKey: ['id'], indexes: [index('v')] };
  const after = {
    columns,
    primaryKey: ['id', 'v'],
    indexes: [index(['v', 'id'], { unique: true })],
  };

  it('gets the primary key and the indexes that are declared now, and later files that only fit these', async () => {
    await run(before);
    await query('create view gen.vw as select * from gen.t');
    const was = await oid();
    expect((await run(after)).tables[0]).toMatchObject({ strategy: 'in place' });
    expect(await indexes()).toEqual(['t_pkey unique btree (id, v)', 't_v_id_idx unique btree (v, id)']);
    expect(await recorded()).toEqual(['t_v_id_idx']);
    expect(notices.join()).toContain('readers may also wait');
    setRows('1,a,x', '1,b,y');
    expect((await run(after)).tables[0]).toMatchObject({ strategy: 'in place', rows: 2 });
    expect(await oid()).toBe(was);
  });

  it('keeps an index made by hand, and gets one back that somebody dropped', async () => {
    await run(before);
    await query('create view gen.vw as select * from gen.t');
    await query('create index by_hand on gen.t (code) where code is not null; drop index gen.t_v_idx');
    await run(before, { fullRefresh: true });
    expect(await indexes()).toEqual([
      'by_hand btree (code) WHERE (code IS NOT NULL)',
      't_pkey unique btree (id)',
      't_v_idx btree (v)',
    ]);
  });

  it('loses keys and indexes that are no longer declared, and rebuilds an index whose declaration changed', async () => {
    await run({ ...before, indexes: [index('v'), index('code')] });
    await query('create view gen.vw as select * from gen.t');
    setRows('1,a,x', '1,b,y');
    await run({ primaryKey: [], indexes: [index('v', { using: 'hash' })] });
    expect(await indexes()).toEqual(['t_v_idx hash (v)']);
  });

  it('allows nulls as declared', async () => {
    const nulls = `select attname, attnotnull from pg_attribute where attrelid = 'gen.t'::regclass and attnum > 0 order by 1`;
    await run();
    await query('create view gen.vw as select * from gen.t; alter table gen.t alter code set not null');
    await run({ columns });
    expect(await rowsOf(nulls)).toEqual([
      // Somebody's own: it stays.
      { attname: 'code', attnotnull: true },
      { attname: 'id', attnotnull: true },
      { attname: 'v', attnotnull: true },
    ]);
    setRows('1,,x');
    await run();
    expect(await rowsOf('select id, v from gen.t')).toEqual([{ id: 1, v: null }]);
  });

  it('partitioned by hand, gets its indexes on every partition', async () => {
    await query(`create schema gen; create table gen.t (id integer, v text, code text) partition by range (id);
      create table gen.low partition of gen.t for values from (0) to (2);
      create table gen.high partition of gen.t for values from (2) to (9)`);
    const change = { indexes: [index('v')] };
    await run(change);
    expect(await indexes()).toEqual(['t_pkey unique btree (id)', 't_v_idx btree (v)']);
    const was = await rowsOf(`select 'gen.t_v_idx'::regclass::oid as oid`);
    setRows('1,a,x', '3,b,y');
    await run(change);
    expect(await rowsOf(`select 'gen.t_v_idx'::regclass::oid as oid`)).toEqual(was);
    expect(await rowsOf('select id from gen.high')).toEqual([{ id: 3 }]);
  });

  it('whose key a foreign key hangs on is not touched: the error names both and says what to do', async () => {
    await run(before);
    await query('create table gen.child (t integer constraint to_t references gen.t)');
    await query('insert into gen.child values (1)');
    const error = await failureOf(run(after));
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE', details: { table: 't' } });
    expect(error.message).toContain('primary key (id) cannot become (id, v)');
    expect(error.message).toContain('to_t');
    expect(error.hint).toContain('or keep the key');
    expect(await indexes()).toEqual(['t_pkey unique btree (id)', 't_v_idx btree (v)']);
    expect(await recorded()).toEqual(['t_v_idx']);
  });

  it('one view depends, two depend', async () => {
    await run();
    const changed = { columns: { id: column.integer('id'), v: column.varchar('v', { length: 5 }) } };
    await query('create view gen.vw as select * from gen.t');
    expect((await failureOf(run(changed))).message).toContain('view gen.vw depends on it');
    await query('create view gen.vx as select * from gen.t');
    expect((await failureOf(run(changed))).message).toContain('view gen.vw, view gen.vx depend on it');
  });
});

describe('a table that foreign keys refer to', () => {
  const unique = { indexes: [index('code', { unique: true })] };
  const child = `create table gen.child (t integer references gen.t); insert into gen.child values (1)`;
  const codes = 'select id, code from gen.t order by id';

  it('may have rows that trade the values of a declared unique index', async () => {
    await run(unique);
    await query(child);
    setRows('1,a,y', '2,b,x', '3,c,z');
    const result = await run(unique);
    expect(result.tables[0]).toMatchObject({ strategy: 'in place', rows: 3 });
    expect(await rowsOf(codes)).toEqual([
      { id: 1, code: 'y' },
      { id: 2, code: 'x' },
      { id: 3, code: 'z' },
    ]);
    expect(await indexes()).toEqual(['t_code_idx unique btree (code)', 't_pkey unique btree (id)']);
  });

  it('keeps its unique index where no values are traded', async () => {
    await run(unique);
    await query(child);
    const was = await rowsOf(`select 'gen.t_code_idx'::regclass::oid as oid`);
    setRows('1,a,z', '3,b,y');
    await run(unique);
    expect(await rowsOf(codes)).toEqual([
      { id: 1, code: 'z' },
      { id: 3, code: 'y' },
    ]);
    expect(await rowsOf(`select 'gen.t_code_idx'::regclass::oid as oid`)).toEqual(was);
  });

  it('may trade values while its foreign keys are deferred', async () => {
    await run(unique);
    await query('create table gen.child (t integer references gen.t deferrable initially deferred)');
    await query('insert into gen.child values (2)');
    setRows('1,a,y', '2,b,x');
    await run(unique);
    expect(await rowsOf(codes)).toEqual([
      { id: 1, code: 'y' },
      { id: 2, code: 'x' },
    ]);
  });

  it('may trade values of a unique index made by hand', async () => {
    await run();
    await query(`${child}; create unique index by_hand on gen.t (code) where code <> 'z'`);
    setRows('1,a,y', '2,b,x');
    await run();
    expect(await rowsOf(codes)).toEqual([
      { id: 1, code: 'y' },
      { id: 2, code: 'x' },
    ]);
    expect(await indexes()).toEqual([
      `by_hand unique btree (code) WHERE (code <> 'z'::text)`,
      't_pkey unique btree (id)',
    ]);
  });

  it('has its replica identity and cluster back with an index that was made again', async () => {
    const columns = { id: column.integer('id'), code: column.text('code') };
    const change = { ...unique, columns };
    await run(change);
    await query(`${child}; alter table gen.t cluster on t_code_idx, replica identity using index t_code_idx`);
    setRows('1,a,y', '2,b,x');
    await run(change);
    expect(
      await rowsOf(
        `select indisclustered, indisreplident from pg_index where indexrelid = 'gen.t_code_idx'::regclass`,
      ),
    ).toEqual([{ indisclustered: true, indisreplident: true }]);
  });

  it('may not trade values that a foreign key refers to: the error names both', async () => {
    await run(unique);
    await query('create table gen.child (code text constraint to_code references gen.t (code))');
    await query(`insert into gen.child values ('x')`);
    setRows('1,a,y', '2,b,x');
    const error = await failureOf(run(unique));
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE', details: { table: 't' } });
    expect(error.message).toContain('index t_code_idx cannot be replaced: constraint to_code');
    expect(await rowsOf(codes)).toEqual([
      { id: 1, code: 'x' },
      { id: 2, code: 'y' },
    ]);
  });

  it('may trade values of a constraint that is checked in the end', async () => {
    await run();
    await query(`${child}; alter table gen.t add constraint late unique (code) deferrable`);
    setRows('1,a,y', '2,b,x');
    await run();
    expect(await rowsOf(codes)).toEqual([
      { id: 1, code: 'y' },
      { id: 2, code: 'x' },
    ]);
  });

  it('is named when one of its deferred triggers raises an exception, and so is the function', async () => {
    await run();
    await query(`create function gen.no() returns void language plpgsql as $$
      begin raise exception 'not on a Sunday' using hint = 'Wait a day.'; end $$;
      create function gen.refuse() returns trigger language plpgsql as $$ begin perform gen.no(); return new; end $$`);
    await query(`create constraint trigger refuse after insert on gen.t deferrable initially deferred
      for each row execute function gen.refuse()`);
    setRows('3,c,z', '4,d,w');
    expect(await failureOf(run())).toMatchObject({
      code: 'ETL_PUBLISH_REFUSED',
      details: {
        table: 't',
        sqlstate: 'P0001',
        problem: 'not on a Sunday',
        hint: 'Wait a day. Context from the server: PL/pgSQL function no() line 2 at RAISE; …; PL/pgSQL function refuse() line 1 at PERFORM.',
      },
    });
  });

  it('with keys that change on both sides of a deferred foreign key, are published together', async () => {
    const children = files.write('child.csv', 'n,t\n1,1\n2,2\n');
    const both = (change: object) =>
      runPipeline(
        definePipeline({
          name: 'both',
          schema: 'gen',
          tables: {
            child: {
              source: csv(children),
              columns: { n: column.integer('n'), t: column.integer('t') },
              ...change,
            },
            t: {
              source: csv(source),
              columns: { id: column.integer('id'), code: column.text('code') },
              primaryKey: ['id'],
              ...unique,
            },
          },
        }),
        { databaseUrl: database.url, directory: files.directory },
      );
    await both({});
    await query('alter table gen.child add foreign key (t) references gen.t deferrable initially deferred');
    setRows('3,a,y', '1,b,z', '4,c,x');
    files.write('child.csv', 'n,t\n1,3\n3,4\n');
    const result = await both({ primaryKey: ['n'], indexes: [index('t')] });
    expect(result.tables.map(({ strategy }) => strategy)).toEqual(['in place', 'in place']);
    expect(await rowsOf(`select indexname from pg_indexes where tablename = 'child' order by 1`)).toEqual([
      { indexname: 'child_pkey' },
      { indexname: 'child_t_idx' },
    ]);
  });

  it('a unique constraint made by hand is in the way: the error names it, the table is as it was', async () => {
    await run();
    await query(`${child}; alter table gen.t add constraint one_code unique (code)`);
    setRows('1,a,y', '2,b,x');
    const error = await failureOf(run());
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_REFUSED', details: { table: 't', sqlstate: '23505' } });
    expect(error.message).toContain('constraint one_code');
    expect(error.hint).toContain(`index('code', { unique: true })`);
    expect(await rowsOf(codes)).toEqual([
      { id: 1, code: 'x' },
      { id: 2, code: 'y' },
    ]);
  });
});
