// Data tests: what each kind finds, what production will be in every mode of publishing, and what a run, `etl test` and `etl status`
// make of it.

import { rmSync } from 'node:fs';
import pg from 'pg';
import { words } from '../helpers/words.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  enqueue,
  expect as expected,
  loadPipelineFile,
  queueState,
  range,
  retry,
  sqlFile,
  testPipeline,
  type Pipeline,
} from '../../src/index.ts';
import type { TestDefinition, TestOptions } from '../../src/publish/data-tests/contract.ts';
import { serverPattern } from '../../src/publish/data-tests/matches.ts';
import { testKinds } from '../../src/publish/data-tests/registry.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { forgetRuns } from '../helpers/server.ts';

import { until, useWorkers } from '../helpers/workers.ts';

const { files, database, notices, rowsOf, run, etl } = usePipelineRuns();

const hostile = `a'b"c\\d; --\n$1 $$ {x} é😀`;
files.write('negative.sql', `select * from item where amount < 0 -- 'none'`);

const item = (tests: readonly TestDefinition<any>[], change: object = {}): Pipeline =>
  definePipeline({
    name: 'items',
    schema: 'shop',
    tables: {
      item: {
        source: csv('items/*.csv'),
        columns: {
          id: column.integer('id').nullable(),
          code: column.text('code').nullable(),
          amount: column.numeric('amount').nullable(),
          at: column.timestamptz('at').nullable(),
        },
        tests,
        guard: false,
        ...change,
      },
      kind: { source: csv('kinds.csv'), columns: { code: column.text('code') }, guard: false },
    },
  });

const test = (pipeline: Pipeline, options: object = {}) =>
  testPipeline(pipeline, { databaseUrl: database.url, directory: files.directory, ...options });

const make = `drop schema if exists shop cascade; create schema shop;
  create table shop.item (id integer, code text, amount numeric, at timestamptz); create table shop.kind (code text);`;
const literal = (text: string): string => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

interface Case {
  readonly kind: string;
  readonly build: (options?: TestOptions) => TestDefinition<any>;
  readonly good: string;
  /** One more row, or instead of all. */
  readonly bad: string;
  readonly problem: RegExp;
  readonly empty?: 'failed';
  readonly nulls?: 'failed';
  readonly isWhole?: true;
}

const cases: readonly Case[] = [
  {
    kind: 'unique',
    build: (options) => expected.unique('id', options),
    good: '(1), (2)',
    bad: '(1)',
    problem: /^2 rows of 3: another row has the same id$/,
  },
  {
    kind: 'notNull',
    build: (options) => expected.notNull('id', options),
    good: '(1), (2)',
    bad: '(null)',
    problem: /^1 row of 3: id is null$/,
    nulls: 'failed',
  },
  {
    kind: 'accepted',
    build: (options) => expected.accepted('code', ['A', hostile], options),
    good: `(1, 'A'), (2, ${literal(hostile)})`,
    bad: `(3, 'a')`,
    problem: /^1 row of 3: code is not one of A, a'b"c/,
  },
  {
    kind: 'between',
    build: (options) => expected.between('amount', -1, 1e6, options),
    good: `(1, null, -1), (2, null, 1000000.0)`,
    bad: `(3, null, 'NaN')`,
    problem: /^1 row of 3: amount is not between -1 and 1000000$/,
  },
  {
    kind: 'matches',
    build: (options) => expected.matches('code', /^\d{5}$/, options),
    good: `(1, '12345'), (2, '00000')`,
    bad: `(3, E'12345\\n')`,
    problem: /^1 row of 3: code does not match \/\^\\d\{5\}\$\/$/,
  },
  {
    kind: 'references',
    build: (options) => expected.references('code', 'kind.code', options),
    good: `(1, 'A'), (2, ${literal(hostile)})`,
    bad: `(3, 'B')`,
    problem: /^1 row(?: of 3)?: code is not in kind.code$/,
  },
  {
    kind: 'rows',
    build: (options) => expected.rows({ min: 2, max: 2 }, options),
    good: '(1), (2)',
    bad: '(3)',
    problem: /^3 rows, more than 2$/,
    empty: 'failed',
    nulls: 'failed',
    isWhole: true,
  },
  {
    kind: 'fresh',
    build: (options) => expected.fresh('at', '2 days', options),
    good: `(1, null, 0, now() - interval '1 day'), (2, null, 0, now() - interval '1 year')`,
    bad: '',
    problem: /^the newest at is \d.*, and must not be older than 2 days$/,
    empty: 'failed',
    nulls: 'failed',
    isWhole: true,
  },
  {
    kind: 'sql',
    build: (options) => expected.sql('negative.sql', options),
    good: '(1, null, 1), (2, null, 2)',
    bad: '(3, null, -3)',
    problem: /^1 row(?: of 3)?: the query selects it$/,
  },
];

describe('each kind of test', () => {
  it('is tried here', () => expect(cases.map(({ kind }) => kind)).toEqual(Object.keys(testKinds)));

  it.each(cases)(
    '$kind passes, warns, fails, tolerates, and judges an empty table and nulls',
    async (given) => {
      const { build, good, bad, problem, empty = 'passed', nulls = 'passed', isWhole } = given;
      const name = `${hostile} ${'x'.repeat(100)}`;
      const tolerant = [build({ max: 2, name: 'few' }), build({ max: '1%', name: 'share' })];
      const tests = [build(), build({ severity: 'warn', name }), ...(isWhole ? [] : tolerant)];
      const outcomes = async () => (await test(item(tests))).tests.map(({ outcome }) => outcome);
      const all = (outcome: string): readonly string[] =>
        outcome === 'passed'
          ? tests.map(() => 'passed')
          : ['failed', 'warned', 'passed', 'failed'].slice(0, tests.length);
      await database.query(`${make} insert into shop.kind values ('A'), (${literal(hostile)})`);
      expect({ empty: await outcomes() }).toEqual({ empty: all(empty) });
      await database.query('insert into shop.item values (null)');
      expect({ nulls: await outcomes() }).toEqual({ nulls: all(nulls) });
      await database.query(`truncate shop.item; insert into shop.item values ${good}`);
      expect(await test(item(tests))).toMatchObject({
        outcome: 'passed',
        tests: tests.map(() => ({ outcome: 'passed', failures: 0, problem: null, rows: [] })),
      });
      await database.query(
        bad === ''
          ? `update shop.item set at = at - interval '4 days'`
          : `insert into shop.item values ${bad}`,
      );
      const found = await test(item(tests));
      expect(found.tests.map(({ outcome }) => outcome)).toEqual(all('failed'));
      expect(found.outcome).toBe('failed');
      expect(found.tests[0]!.problem).toMatch(problem);
      expect(found.tests[1]!.test).toBe(name);
      expect(found.tests[0]!.rows.length).toBe(isWhole ? 0 : found.tests[0]!.failures);
    },
  );

  it.each([
    {
      what: 'a column that is not there',
      sql: 'select wrong\n  from item',
      says: '2.sql:1:8: 42703 column "wrong" does not exist',
    },
    {
      what: 'a second statement',
      sql: 'select 1) select 1; drop table item; with x as (select 1',
      says: '42601 cannot insert multiple',
    },
    {
      what: 'a function that writes',
      sql: `select * from item where spoil()`,
      says: '25006 cannot execute CREATE TABLE',
    },
    {
      what: 'a setting',
      sql: `select set_config('transaction_read_only', 'off', true) from item`,
      says: '25001 ',
    },
  ])('refuses SQL with $what', async ({ sql, says }) => {
    await database.query(`${make} create function shop.spoil() returns bool language plpgsql as
      'begin create table shop.spoilt (); return true; end'; insert into shop.item values (1)`);
    files.write('2.sql', sql);
    const error = await failureOf(test(item([expected.sql('2.sql')])));
    expect(error).toMatchObject({ code: 'ETL_TEST_REFUSED', exit: 1 });
    expect(error.message).toContain(says);
  });

  it('finds its way among hostile names and types of extensions', async () => {
    await database.query(`${make} create extension if not exists citext schema public;
      create table shop."st""art; --" ("va'l""ue" public.citext, "${'_'.repeat(60)}" text);
      insert into shop."st""art; --" values ('A', ''), ('b', ''); alter table shop.item alter code type public.citext;
      insert into shop.item values (1, 'a'), (2, 'B'), (3, 'c'), (4, 'C')`);
    const target = `shop.st"art; --.va'l"ue`;
    const { tests } = await test(
      item([
        expected.references('code', target),
        expected.unique('code'),
        expected.accepted('code', ['A', 'B', 'C']),
      ]),
    );
    expect(tests).toMatchObject([
      { failures: 2, rows: [{ values: { id: '3', code: 'c' } }, { values: { code: 'C' } }] },
      { failures: 2 },
      { failures: 0 },
    ]);
  });
});

describe('a pattern', () => {
  const patterns = [
    /^\d{5}$/,
    /^[A-Z]{2}-\d+(?:\.\d*)?$/,
    /a|b||c$/,
    /^(?:foo|ba[rz])*?$/i,
    /^\w+\s\w+$/,
    /[^\w\s-]/,
    /^[\W\d]+$/,
    /^.$/u,
    /^.$/s,
    /^[^]$/,
    /^[\]\\^[-]+$/,
    /[&~/-]/,
    /é{2}/,
    /^(?<year>\d{4})-\d\d$/,
    /\x41\u0042|\u{1f600}/u,
    /[k-m\u00e0-\u00ff]/,
    /\t|\v|\f|\r|\n|\$|\.|\//,
    /(a*)*b{0,3}$/,
    /^$/,
    /[s-u]$/i,
    /\S\D\W/,
    /[\Wk]\s?$/i,
    /\*\*\*=a|\(\?i\)A/,
  ];
  const texts = [
    `|12345|12345\n|\n12345|١٢٣٤٥|AB-12|AB-12.|ab-12|foobarBAZ|a b|a\u00a0b|a\u2003b|é|éé|É|😀|ſ|\u212a|ı|ß|\u2028|\r|x\ty|]^|\\[-|&`,
    `AB|2024-05|a_1 ÿ|bbb|***=a|(?i)a|$1|S|s| |\ufeff|\u0085|\u180e|ǅ|'|"|a\\b|${'long'.repeat(200)}`,
  ].flatMap((some) => some.split('|'));

  it('means on the server what it means in JavaScript, as JavaScript does', async () => {
    const found = await database.query(
      `select array(select t collate "C" ~ p from unnest($2::text[]) with ordinality u (t, place) order by place) as found
        from unnest($1::text[]) with ordinality q (p, at) order by at`,
      [patterns.map(serverPattern), texts],
    );
    for (const [at, pattern] of patterns.entries()) {
      const reading = new RegExp(
        pattern.source,
        pattern.flags.replace('u', '') + (pattern.flags.includes('i') ? '' : 'u'),
      );
      expect({ pattern, found: found.rows[at]!.found }).toEqual({
        pattern,
        found: texts.map((text) => reading.test(text)),
      });
    }
  });
});

const nightly = (tests: readonly TestDefinition<any>[], change: object = {}, more: object = {}): Pipeline =>
  definePipeline({
    name: 'nightly',
    schema: 'night',
    tables: {
      sale: {
        source: csv('in/*.csv'),
        columns: { id: column.integer('id'), code: column.text('code').nullable(), day: column.date('day') },
        primaryKey: ['id'],
        tests,
        guard: false,
        ...change,
      },
      ...more,
    },
  });
const night = (name: string, ...sales: string[]): string =>
  files.write(`in/${name}`, ['id,code,day', ...sales, ''].join('\n'));
const sales = () => rowsOf('select id, code from night.sale order by 1, 2');
const fresh = async () => {
  rmSync(`${files.directory}/in`, { recursive: true, force: true });
  await database.query(`drop schema if exists night cascade; ${forgetRuns}`);
  night('1.csv', '1,a,2024-01-01', '2,b,2024-01-02');
};

describe('a run', () => {
  beforeEach(fresh);
  const pipeline = () =>
    nightly(
      [
        expected.accepted('code', ['a', 'b', 'c'], { name: 'codes' }),
        expected.between('day', '2024-01-01', '2024-12-31', { severity: 'warn' }),
        expected.rows({ change: '100%' }),
        expected.unique('id'),
      ],
      { lineage: ['_file', '_line'] },
    );

  it('publishes nothing when a test fails, keeps the rows with file and line, and goes on when the files are right', async () => {
    expect(await run(pipeline())).toMatchObject({
      outcome: 'published',
      steps: words('connect plan load build test publish finish').map((step) => ({ step })),
      tests: ['codes', 'between(day)', 'rows', 'unique(id)'].map((name) => ({
        test: name,
        outcome: 'passed',
      })),
    });
    night('2.csv', '3,x,2025-01-01', '4,c,2024-01-01', '5,y,2024-01-01');
    const error = await failureOf(run(pipeline()));
    expect(error).toMatchObject({ code: 'ETL_TEST_FAILED', exit: 4, retry: 'never', run: 2 });
    expect(error.message).toBe(
      `data tests failed, and nothing was published:\n  sale, codes: 2 rows of 5: code is not one of a, b, c\n  sale, rows: 5 rows, 150% more than the 2 before`,
    );
    expect(notices).toEqual([
      'data test sale, between(day): 1 row of 5: day is not between 2024-01-01 and 2024-12-31',
    ]);
    expect(await sales()).toEqual([
      { id: 1, code: 'a' },
      { id: 2, code: 'b' },
    ]);
    expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl_build%'`)).toEqual([]);
    const { out: status } = await etl('status', '2', '--json');
    expect(JSON.parse(status)).toMatchObject({
      run: { state: 'failed', errorCode: 'ETL_TEST_FAILED' },
      tests: [
        {
          table: 'sale',
          test: 'codes',
          outcome: 'failed',
          failures: 2,
          rows: [
            { file: 'in/2.csv', line: 2, values: { id: '3', code: 'x', day: '2025-01-01' } },
            { file: 'in/2.csv', line: 4, values: { code: 'y' } },
          ],
        },
        { test: 'between(day)', outcome: 'warned', rows: [{ file: 'in/2.csv', line: 2 }] },
        { test: 'rows', outcome: 'failed', rows: [] },
        { test: 'unique(id)', outcome: 'passed' },
      ],
    });
    const { out: page } = await etl('status', '2');
    expect(page).toContain(
      'failed  sale  codes         2 rows of 5: code is not one of a, b, c\n  in/2.csv:2 id=3, code=x,',
    );
    night('2.csv', '3,c,2024-01-01', '4,c,2024-01-01');
    expect(await run(pipeline())).toMatchObject({ tests: [{ outcome: 'passed' }, {}, {}, {}] });
    expect(await sales()).toHaveLength(4);
    expect(await run(pipeline())).toMatchObject({
      outcome: 'unchanged',
      tests: [{ test: 'codes' }, {}, {}, {}],
    });
  });
});

describe('what is tested is what production will be', () => {
  beforeEach(fresh);
  const outcomesOf = async (pipeline: Pipeline) =>
    (await run(pipeline)).tests!.map(({ test: name, failures, problem }) => ({ name, failures, problem }));
  const warn = { severity: 'warn' } as const;

  it('of a table that is appended to: its rows that come, against all that will be there', async () => {
    const tests = [
      expected.accepted('code', ['b', 'c', 'd'], warn),
      expected.unique('code', warn),
      expected.rows({ max: 3 }, warn),
      expected.fresh('day', '1 week', warn),
      expected.sql('all.sql', warn),
    ];
    files.write('all.sql', `select * from sale where id = 1 union all select * from sale_new where id = 4`);
    const pipeline = nightly(tests, { publish: { mode: 'append', gone: 'unload' } });
    expect((await outcomesOf(pipeline)).map(({ failures }) => failures)).toEqual([1, 0, 0, 1, 1]);
    const today = new Date().toISOString().slice(0, 10);
    night('2.csv', `3,b,${today}`, `4,d,${today}`);
    expect((await outcomesOf(pipeline)).map(({ failures }) => failures)).toEqual([0, 1, 1, 0, 2]);
    rmSync(`${files.directory}/in/1.csv`);
    night('3.csv', `5,a,${today}`);
    expect((await outcomesOf(pipeline)).map(({ failures }) => failures)).toEqual([1, 0, 0, 0, 0]);
    expect(await sales()).toHaveLength(3);
  });

  it('of a table that is merged into: rows as they will be', async () => {
    const tests = [
      expected.accepted('code', ['a', 'b', 'c'], warn),
      expected.unique('code', warn),
      expected.rows({ max: 3 }, warn),
      expected.unique('id'),
    ];
    const pipeline = nightly(tests, { publish: { mode: 'merge', newer: 'day' } });
    expect((await outcomesOf(pipeline)).map(({ failures }) => failures)).toEqual([0, 0, 0, 0]);
    // The first loses against the row that is there.
    night('2.csv', '1,zzz,2023-01-01', '2,a,2024-02-02', '3,d,2024-01-03');
    expect((await outcomesOf(pipeline)).map(({ failures }) => failures)).toEqual([1, 1, 0, 0]);
    expect(await sales()).toEqual([
      { id: 1, code: 'a' },
      { id: 2, code: 'a' },
      { id: 3, code: 'd' },
    ]);
  });

  it('of a table that keeps versions: those that come, and of keys those that count now', async () => {
    const tests = [
      expected.accepted('code', ['a', 'b', 'c'], warn),
      expected.unique('code', warn),
      expected.unique('id'),
      expected.rows({ max: 3 }, warn),
    ];
    const pipeline = nightly(tests, { publish: { mode: 'history', at: 'day' } });
    expect((await outcomesOf(pipeline)).map(({ failures }) => failures)).toEqual([0, 0, 0, 0]);
    // The late one is a version that is over.
    night('2.csv', '1,zzz,2023-01-01', '2,c,2024-02-02', '3,c,2024-02-02', '4,b,2024-03-01');
    expect((await outcomesOf(pipeline)).map(({ failures }) => failures)).toEqual([1, 2, 0, 1]);
    expect(await sales()).toHaveLength(6);
  });

  it('of tables that refer to each other: rows that stay miss those that go', async () => {
    files.write('code.csv', 'code\na\nb\n');
    const code = { source: csv('code.csv'), columns: { code: column.text('code') }, guard: false };
    const pipeline = nightly([expected.references('code', 'code.code')], { publish: 'append' }, { code });
    await database.query(`create schema night; create function night.spoil() returns bool language plpgsql as
      'begin create table night.spoilt (); return true; end'`);
    files.write('spoil.sql', 'select code\n  from code where spoil()');
    const spoiling = nightly([expected.sql('spoil.sql')], { publish: 'append' }, { code });
    expect((await failureOf(run(spoiling))).message).toContain(
      'spoil.sql: 25006 cannot execute CREATE TABLE',
    );
    await run(pipeline);
    night('2.csv', '3,b,2024-01-01');
    files.write('code.csv', 'code\nb\n');
    const error = await failureOf(run(pipeline));
    expect(error.message).toContain('sale, references(code): 1 row: code is not in code.code');
    expect(await rowsOf('select code from night.code order by 1')).toEqual([{ code: 'a' }, { code: 'b' }]);
  });

  it('of partitions that files touch, and of tables that SQL makes, while readers read', async () => {
    files.write('count.sql', 'select code, count(*)::int as n from sale group by code');
    const made = {
      from: ['sale'],
      transform: sqlFile('count.sql'),
      tests: [expected.between('n', 1, 1), expected.unique('code')],
    };
    const pipeline = nightly(
      [expected.rows({ min: 2 }), expected.notNull('code', { max: '40%' })],
      {
        publish: { mode: 'replace', only: 'touched' },
        primaryKey: ['id', 'day'],
        partitionBy: range('day', 'month'),
      },
      { made },
    );
    await run(pipeline);
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    try {
      await reader.query('begin; lock table night.sale, night.made in access share mode');
      night('2.csv', '3,a,2024-02-01', '4,,2024-03-01');
      const error = await failureOf(run(pipeline));
      expect(error.message).toBe(
        'data tests failed, and nothing was published:\n  sale, notNull(code): 1 row of 2: code is null\n  made, between(n): 1 row of 3: n is not between 1 and 1',
      );
    } finally {
      await reader.end();
    }
  });
});

describe('etl test', () => {
  beforeEach(fresh);
  const declared = (tests: string): string =>
    files.write(
      'night.ts',
      `
    import { column, csv, definePipeline, expect } from 'sluice';
    export default definePipeline({ name: 'nightly', schema: 'night', tables: { sale: {
      source: csv('in/*.csv'), columns: { id: column.integer('id'), code: column.text('code').nullable(), day: column.date('day') },
      primaryKey: ['id'], guard: false, tests: [${tests}] } } });`,
    );

  it('tests production as it is now, takes no lock that lasts, and ends with 4 when a test fails', async () => {
    const file = declared(
      `expect.notNull('code'), expect.rows({ change: '50%' }, { severity: 'warn' }), expect.unique('id')`,
    );
    expect(await etl('test', file)).toMatchObject({
      exit: 1,
      out: '',
      err: expect.stringContaining('ETL_TEST_NO_TABLE') as string,
    });
    await run(nightly([]));
    expect(await etl('test', file)).toEqual({
      exit: 0,
      out: 'passed  sale  notNull(code)\npassed  sale  rows\npassed  sale  unique(id)\n\n3 tests: 3 passed, 0 warned, 0 failed\n',
      err: '',
    });
    await database.query(
      `alter table night.sale drop constraint sale_pkey; insert into night.sale values (1, null, now()), (1, null, now())`,
    );
    night('2.csv', '3,c,2024-01-03');
    const { exit, out, err } = await etl('test', file, '--json');
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect({ exit, lines }).toMatchObject({
      exit: 4,
      lines: [
        { type: 'test', test: 'notNull(code)', outcome: 'failed', failures: 2 },
        { type: 'test', test: 'rows', outcome: 'passed' },
        {
          type: 'test',
          test: 'unique(id)',
          outcome: 'failed',
          failures: 3,
          rows: [{ values: { id: '1' } }, {}, {}],
        },
        { type: 'error', code: 'ETL_TEST_FAILED' },
      ],
    });
    expect(err).toContain('sale, unique(id): 3 rows of 4: another row has the same id');
    expect(await rowsOf('select count(*)::int as n from etl.data_test')).toEqual([{ n: 0 }]);
  });

  it('ends after the statement_timeout of the role', async () => {
    files.write('slow.sql', 'select pg_sleep(60)');
    await database.query(`${make} drop table shop.item; create view shop.item as
      select 1 as id, 'a' as code, 1.0 as amount, now() as at from pg_sleep(case when random() > 2 then 0 else 60 end)`);
    const url = new URL(database.url);
    url.searchParams.set('options', '-c statement_timeout=200');
    for (const slow of [expected.notNull('id'), expected.sql('slow.sql')]) {
      const error = await failureOf(test(item([slow]), { databaseUrl: url.href }));
      expect(error).toMatchObject({ code: 'ETL_TEST_REFUSED' });
      expect(error.message).toContain('57014');
    }
  });

  it('is what a run is about to do', async () => {
    const { exit, out } = await etl('plan', declared(`expect.notNull('code'), expect.rows({ min: 1 })`));
    expect({ exit, out }).toMatchObject({
      exit: 0,
      out: expect.stringMatching(/tests +notNull\(code\), rows/),
    });
  });
});

describe('a worker', () => {
  const workers = useWorkers(() => ({
    databaseUrl: database.url,
    redis: false,
    pipelines: `${files.directory}/pipelines`,
    workingDirectory: files.directory,
    workers: 1,
  }));

  it('does not try a run again whose data tests failed', async () => {
    await fresh();
    const path = files.write(
      'pipelines/worked.ts',
      `import { column, csv, definePipeline, expect } from 'sluice';
      export default definePipeline({ name: 'worked', schema: 'night', tables: { sale: {
        source: csv('in/*.csv'), columns: { id: column.integer('id') }, tests: [expect.rows({ min: 3 })] } } });`,
    );
    await workers.start();
    const place = { databaseUrl: database.url, redis: false } as const;
    const ends = (message: string) => until(() => workers.lines.some((line) => line.message === message));
    const { pipeline } = await loadPipelineFile(path);
    await enqueue(pipeline, place);
    await ends('run failed');
    expect(workers.lines.find(({ message }) => message === 'run failed')).toMatchObject({
      code: 'ETL_TEST_FAILED',
    });
    expect(await queueState(place)).toMatchObject({ waiting: 0, active: 0, delayed: 0, failed: 1 });
    night('2.csv', '3,c,2024-01-01');
    await retry(1, place);
    await ends('run ended');
    expect(await rowsOf('select count(*)::int as n from night.sale')).toEqual([{ n: 3 }]);
  });
});
