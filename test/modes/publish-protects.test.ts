// What people have in the production schema, and what a run may not take away without a word.

import { rmSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, hash, index, list, sqlFile, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { runWhile, type FaultProxy } from '../helpers/fault-proxy.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { forgetRuns } from '../helpers/server.ts';

const runs = usePipelineRuns({ fullRefresh: true });
const { files, database, rowsOf } = runs;
const query = (sql: string) => database.query(sql);

const source = files.write('t.csv', '');

const table = (change: object = {}, name = 'guarded'): Pipeline =>
  definePipeline({
    name,
    schema: 'precious',
    tables: {
      t: {
        source: csv(source),
        columns: { id: column.integer('id'), name: column.text('name').nullable() },
        primaryKey: ['id'],
        ...change,
      },
    },
  });

const run = (pipeline: Pipeline = table(), options: object = {}) => runs.run(pipeline, options);

const oid = async () => (await rowsOf(`select 'precious.t'::regclass::oid as oid`))[0]!['oid'];
const chunks = async () => (await rowsOf('select count(*)::int as n from etl.chunk'))[0]!['n'] as number;

/** A definition that is published already is rehearsed only if loading may take long. */
const refusedWhen = [
  { when: 'before anything is loaded', options: { chunkBytes: 1 }, loads: 0 },
  { when: 'after a brief load', options: {}, loads: 1 },
];

/** Executes the statements of a hint, word for word. */
const doAsSaid = async ({ hint }: { readonly hint: string }): Promise<void> => {
  await query(/`(create schema earlier; .*;)`/.exec(hint)![1]!);
};

beforeEach(async () => {
  await query(`drop schema if exists precious, earlier cascade; ${forgetRuns}`);
  files.write('t.csv', 'id,name\n1,a\n2,b\n');
});

describe('a table that no run has made', () => {
  it('is refused before anything is loaded when its columns differ from the declaration', async () => {
    await query(`create schema precious; create table precious.t (id integer primary key, secret text)`);
    await query(`insert into precious.t values (7, 'gold')`);
    const error = await failureOf(run());
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE', details: { table: 't' } });
    expect(error.message).toContain('declared name text, in the table secret text');
    expect(error.hint).toBe(
      "Production tables are unchanged. Declare what the table has: `secret: column.text('secret').nullable()`. " +
        'Leave out name: no run made the table, so none changes it.',
    );
    expect(await rowsOf('select * from precious.t')).toEqual([{ id: 7, secret: 'gold' }]);
    expect(await chunks()).toBe(0);
  });

  it('is refused when it was made of text staging, too, and when rows go straight into the new table', async () => {
    await query('create schema precious; create table precious.t (id integer, secret text)');
    files.write('t.sql', 'select id::integer, name from t_staging');
    const text = { staging: 'text', columns: undefined, transform: { kind: 'sqlFile', path: 't.sql' } };
    for (const change of [text, { staging: 'none' }])
      expect(await failureOf(run(table(change)))).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
    expect(await rowsOf('select * from precious.t')).toEqual([]);
  });

  it('is replaced when its columns are those of the declaration', async () => {
    await query('create schema precious; create table precious.t (name text, id integer primary key)');
    expect((await run()).tables[0]).toMatchObject({ strategy: 'swap', rows: 2 });
  });
});

describe('a published table', () => {
  it('may have other columns when its declaration has', async () => {
    await run();
    await run(table({ columns: { id: column.bigint('id') } }));
    expect(await rowsOf('select * from precious.t order by id')).toEqual([{ id: '1' }, { id: '2' }]);
  });

  it.each(refusedWhen)('with columns that somebody added is refused $when', async ({ options, loads }) => {
    await run();
    await query(`alter table precious.t add note text, add more integer`);
    await query(`update precious.t set note = 'kept by hand'`);
    const loaded = await chunks();
    const error = await failureOf(run(table(), options));
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE', details: { table: 't' } });
    expect(error.message).toContain('columns note, more were added by hand');
    expect(await rowsOf('select distinct note from precious.t')).toEqual([{ note: 'kept by hand' }]);
    expect(await chunks()).toBe(loaded + loads);
    // Declared since then, or gone, they are in nobody's way.
    await query('alter table precious.t drop more');
    files.write('t.csv', 'id,name,note\n1,a,x\n');
    const columns = { id: column.integer('id'), name: column.text('name'), note: column.text('note') };
    expect(await run(table({ columns }))).toMatchObject({ outcome: 'published' });
  });

  it('keeps defaults, statistics targets, toast options, replica identity and cluster', async () => {
    const change = { indexes: [index('name')] };
    await run(table(change));
    await query(`alter table precious.t alter name set default 'none', alter name set statistics 7,
      alter name set (n_distinct = 5), set (toast.autovacuum_enabled = false), replica identity full, cluster on t_name_idx`);
    const look = `select a.attname, a.attstattarget, a.attoptions, pg_get_expr(d.adbin, d.adrelid) as "default",
        c.relreplident, t.reloptions,
        (select indexrelid::regclass::text from pg_index where indrelid = c.oid and indisclustered) as cluster
      from pg_class c join pg_class t on t.oid = c.reltoastrelid join pg_attribute a on a.attrelid = c.oid
        left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.oid = 'precious.t'::regclass and a.attnum > 0 order by a.attnum`;
    const before = await rowsOf(look);
    const was = await oid();
    expect((await run(table(change))).tables[0]).toMatchObject({ strategy: 'swap' });
    expect(await oid()).not.toBe(was);
    expect(await rowsOf(look)).toEqual(before);
    await query('alter table precious.t replica identity using index t_pkey');
    await run(table(change));
    expect(await rowsOf(look)).toEqual(before.map((row) => ({ ...row, relreplident: 'i' })));
  });

  it('loses a default whose column has another type now', async () => {
    await run();
    await query(`alter table precious.t alter id set default 5, alter name set default 'none'`);
    files.write('t.csv', 'id,name\n1,2020-01-01\n');
    await run(table({ columns: { id: column.integer('id'), name: column.date('name').nullable() } }));
    expect(await rowsOf(`insert into precious.t default values returning *`)).toEqual([
      { id: 5, name: null },
    ]);
  });

  const inPlace = [
    { name: 'an identity', ddl: 'alter table precious.t alter id add generated always as identity' },
    {
      name: 'a sequence of its own',
      ddl: `create sequence precious.s owned by precious.t.id; alter table precious.t alter id set default nextval('precious.s')`,
    },
    { name: 'no log', ddl: 'alter table precious.t set unlogged' },
    {
      name: 'a type of its own',
      ddl: 'create type precious.thing as (id integer, name text); alter table precious.t of precious.thing',
    },
    { name: 'a primary key that is not declared', ddl: 'alter table precious.t add primary key (id)' },
  ];

  it.each(inPlace)('with $name stays, and its rows are replaced', async ({ ddl }) => {
    const bare = table({ primaryKey: [] });
    await run(bare);
    await query(ddl);
    const was = await oid();
    const result = await run(bare);
    expect(result.tables[0]).toMatchObject({ strategy: 'in place', rows: 2 });
    expect(await oid()).toBe(was);
  });

  it.runIf(serverMajor >= 15)(
    'that is replicated with its schema stays, and may get another key',
    async () => {
      await run();
      await query('create publication guarded for tables in schema precious');
      const was = await oid();
      const change = {
        columns: { id: column.integer('id'), name: column.text('name') },
        primaryKey: ['name'],
      };
      try {
        expect((await run()).tables[0]).toMatchObject({ strategy: 'in place', rows: 2 });
        expect((await run(table(change))).tables[0]).toMatchObject({ strategy: 'in place', rows: 2 });
      } finally {
        await query('drop publication guarded');
      }
      expect(await oid()).toBe(was);
    },
  );

  it('that a policy of another table reads stays, and so does the policy', async () => {
    await run();
    await query(`create table precious.secret (id integer);
      create policy seen on precious.secret as restrictive using (exists (select from precious.t where t.id = secret.id))`);
    const policies = `select pg_get_expr(polqual, polrelid) as condition from pg_policy`;
    const [made, before] = [await oid(), await rowsOf(policies)];
    expect(await run()).toMatchObject({ tables: [{ strategy: 'in place' }] });
    expect(runs.notices.join()).toContain('policy seen of precious.secret');
    expect(await oid()).toBe(made);
    expect(before).toHaveLength(1);
    expect(await rowsOf(policies)).toEqual(before);
  });

  it('that a default and checks of others name stays, and so do they', async () => {
    await run();
    await query(`create domain precious.ours as regclass check (value = 'precious.t'::regclass);
      create table precious.log (about regclass default 'precious.t', constraint named check (about = 'precious.t'::regclass))`);
    const rules = `select (select string_agg(pg_get_expr(adbin, adrelid), ',') from pg_attrdef where adrelid = 'precious.log'::regclass) as defaults,
      (select string_agg(pg_get_constraintdef(oid), ',' order by conrelid) from pg_constraint
        where conrelid = 'precious.log'::regclass or contypid = 'precious.ours'::regtype) as checks`;
    const [made, before] = [await oid(), await rowsOf(rules)];
    expect(await run()).toMatchObject({ tables: [{ strategy: 'in place' }] });
    const said = 'check precious.log.named, check precious.ours.ours_check, default precious.log.about';
    expect(runs.notices.join()).toContain(said);
    expect(await oid()).toBe(made);
    expect(before[0]!['checks']).toMatch(/^CHECK .*,CHECK /);
    expect(await rowsOf(rules)).toEqual(before);
  });

  it.runIf(serverMajor >= 15)('is made in a schema that is replicated', async () => {
    await query('create schema precious; create publication guarded for tables in schema precious');
    const result = await run();
    await query('drop publication guarded');
    expect(result.tables[0]).toMatchObject({ strategy: 'swap', rows: 2 });
  });
});

describe('a table that is to be made again is moved away as the hint says, and the next run makes it', () => {
  const columns = { id: column.integer('id'), name: column.text('name') };
  const byName = { columns, primaryKey: ['id', 'name'], indexes: [index('name')], partitionBy: list('name') };
  it.each([
    ['without partitions', { ...byName, partitionBy: undefined }, byName, 'has no partitions'],
    [
      'of other partitions',
      byName,
      { ...byName, partitionBy: hash('id', 2) },
      'is partitioned by LIST (name)',
    ],
    [
      'that stays with its partitions, and has other columns',
      byName,
      { ...byName, columns: { id: column.bigint('id'), name: column.text('name') } },
      'is kept when its partitions are replaced',
    ],
  ])('%s', async (_, before, after, problem) => {
    await run(table(before));
    const error = await failureOf(run(table(after)));
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE', message: expect.stringContaining(problem) });
    await doAsSaid(error);
    expect(await run(table(after), { fullRefresh: false })).toMatchObject({ outcome: 'published' });
    expect(await rowsOf('select id::int from precious.t order by id')).toEqual([{ id: 1 }, { id: 2 }]);
    expect(await rowsOf('select id from earlier.t order by id')).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it.each(refusedWhen)(
    'one that was only renamed keeps the names of its indexes, and the error says so $when',
    async ({ options, loads }) => {
      await run(table({ indexes: [index('name')] }));
      await query('alter table precious.t rename to was');
      const loaded = await chunks();
      const error = await failureOf(run(table({ indexes: [index('name')] }), options));
      expect(error).toMatchObject({
        code: 'ETL_PUBLISH_REFUSED',
        details: { table: 't', sqlstate: '42P07' },
      });
      expect(error.message).toContain(
        'names that are taken: index t_name_idx of precious.was, index t_pkey of precious.was',
      );
      expect(error.hint).toContain('A table that was renamed keeps the names of its indexes');
      expect(error.hint).not.toContain('triggers');
      expect(await chunks()).toBe(loaded + loads);
      await query(
        'alter index precious.t_pkey rename to was_pkey; alter index precious.t_name_idx rename to was_name_idx',
      );
      expect(await run(table({ indexes: [index('name')] }))).toMatchObject({ outcome: 'published' });
    },
  );
});

describe('a table that somebody moves, renames or drops while a run works', () => {
  const moves = {
    moved: [
      'create schema earlier; alter table precious.t set schema earlier',
      'alter table earlier.t set schema precious',
    ],
    renamed: ['alter table precious.t rename to was', 'alter table precious.was rename to t'],
  } as const;
  /** States of a run that is about to build, and to publish. */
  const [building, publishing] = [2, 3];
  /** Runs the pipeline, and does something before the first statement that matches, once the run has this state. */
  const runChanged = async (pipeline: Pipeline, state: number, at: RegExp, sql: string): Promise<unknown> => {
    const changes: string[] = [];
    const change = async (): Promise<'forward'> => {
      changes.push(sql);
      await query(sql);
      return 'forward';
    };
    let states = 0;
    const isState = (effect: Effect): boolean =>
      effect.sql.startsWith('update etl.run set state = $2, loaded_at') && (states += 1) === state;
    const armChange = async (proxy: FaultProxy): Promise<void> =>
      proxy.arm({ name: 'change', when: 'before', nth: 1, matches: (effect) => at.test(effect.sql) }, change);
    const end = await runWhile(database.url, isState, armChange, (databaseUrl) =>
      run(pipeline, { databaseUrl, fullRefresh: false }).catch((error: unknown) => error),
    );
    expect(changes).toEqual([sql]);
    return end;
  };

  files.write('derived.sql', 'select count(*)::int as n from t');
  const parts = (publish: object | string, change: object = {}): Pipeline =>
    definePipeline({
      name: 'guarded',
      schema: 'precious',
      tables: {
        t: {
          source: csv('parts/*.csv'),
          columns: { id: column.integer('id'), name: column.text('name') },
          primaryKey: ['id', 'name'],
          publish: publish as 'append',
          guard: false,
          ...change,
        },
        derived: { from: ['t'], transform: sqlFile('derived.sql') },
      },
    });
  const lock = /lock table/;
  const merge = parts({ mode: 'merge', by: 'upsert' });
  const rebuild = parts({ mode: 'merge', by: 'rebuild' });
  const append = parts('append');
  const touched = parts({ mode: 'replace', only: 'touched' }, { partitionBy: list('name') });

  // The table is known by its number: which of the two happens makes no difference, and each way of
  // publishing meets one.
  it.each([
    ['a merge that looks for differences', merge, publishing, /create unlogged table .*__diff/, 'moved'],
    ['a merge', merge, publishing, lock, 'renamed'],
    ['a merge by rebuild, before it reads', rebuild, publishing, /bit_xor/, 'renamed'],
    ['a merge by rebuild', rebuild, publishing, lock, 'moved'],
    ['an append', append, publishing, lock, 'renamed'],
    ['a history', parts({ mode: 'history', from: 'since' }), publishing, lock, 'moved'],
    ['partitions that are replaced', touched, publishing, lock, 'renamed'],
    ['SQL that reads all rows', append, building, /./, 'moved'],
  ] as const)(
    '%s: the error says so, and all is well when it is back',
    async (_, pipeline, state, at, what) => {
      const [change, back] = moves[what];
      rmSync(`${files.directory}/parts`, { recursive: true, force: true });
      files.write('parts/a.csv', 'id,name\n1,a\n');
      await run(pipeline);
      files.write('parts/b.csv', 'id,name\n2,b\n');
      const end = await runChanged(pipeline, state, at, change);
      expect(end).toMatchObject({
        code: 'ETL_PUBLISH_OVERTAKEN',
        message: expect.stringContaining('it was dropped, renamed or moved to another schema'),
      });
      await query(back);
      expect(await run(pipeline, { fullRefresh: false })).toMatchObject({ outcome: 'published' });
      expect(await rowsOf('select id from precious.t order by id')).toEqual([{ id: 1 }, { id: 2 }]);
    },
  );

  it.each([
    ['whose rows are replaced', 'create view precious.seen as select id from precious.t'],
    ['that is swapped', 'select'],
  ])('%s: a new one has all rows', async (_, ddl) => {
    await run(table({ primaryKey: [] }));
    await query(ddl);
    files.write('t.csv', 'id,name\n3,c\n');
    for (const [change] of Object.values(moves)) {
      expect(await runChanged(table({ primaryKey: [] }), publishing, lock, change)).toMatchObject({
        outcome: 'published',
      });
      expect(await rowsOf('select id from precious.t')).toEqual([{ id: 3 }]);
      files.write('t.csv', 'id,name\n3,d\n');
    }
  });
});

describe('a table that somebody has emptied', () => {
  const notices: string[] = [];
  const again = (options: object = {}) =>
    run(table(), {
      fullRefresh: false,
      onEvent: (event: { type: string; message?: string }) =>
        event.type === 'notice' && notices.push(event.message!),
      ...options,
    });

  it('is loaded again though no file has changed, and the run says why', async () => {
    await again();
    expect(await again()).toMatchObject({ outcome: 'unchanged' });
    for (const sql of ['truncate precious.t', 'delete from precious.t']) {
      notices.length = 0;
      const { runId: last } = await again();
      await query(sql);
      expect(await again()).toMatchObject({ outcome: 'published' });
      expect(notices).toEqual([
        `precious.t is empty, though run ${last} published 2 rows; it is loaded again`,
      ]);
      expect(await rowsOf('select count(*)::int as n from precious.t')).toEqual([{ n: 2 }]);
    }
  });

  it('stays empty when it was published without rows', async () => {
    files.write('t.csv', 'id,name\n');
    await again();
    expect(await again()).toMatchObject({ outcome: 'unchanged' });
  });
});

describe('the name of an index', () => {
  it('goes from one table of a run to another', async () => {
    const columns = { id: column.integer('id'), name: column.text('name').nullable() };
    const named = index('name', { name: 'by_name' });
    const both = (first: object, second: object): Pipeline =>
      definePipeline({
        name: 'handover',
        schema: 'precious',
        tables: {
          a: { source: csv(source), columns, ...first },
          b: { source: csv(source), columns, ...second },
        },
      });
    const tableOfIndex = () => rowsOf(`select tablename as name from pg_indexes where indexname = 'by_name'`);
    await run(both({}, { indexes: [named] }));
    expect(await tableOfIndex()).toEqual([{ name: 'b' }]);
    await run(both({ indexes: [named] }, {}));
    expect(await tableOfIndex()).toEqual([{ name: 'a' }]);
  });
});
