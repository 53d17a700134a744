// evolve: what a run makes of columns that the definition has and a table that stays has not, or has in another type.

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, index, sqlFile } from '../../src/index.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { makePlan } from '../../src/tools/make-plan.ts';
import { widens } from '../../src/publish/alter/widening.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { withPg } from '../helpers/own-server.ts';

const { files, database, notices, rowsOf, settings, startOver, run: runIt } = usePipelineRuns();
const write = (name: string, ...lines: string[]): string =>
  files.write(`in/${name}`, [...lines, ''].join('\n'));

const before = {
  id: column.integer('id'),
  code: column.varchar('code', { length: 4 }),
  price: column.numeric('price', { precision: 6, scale: 2 }),
  day: column.date('day'),
};

files.write(
  'total.sql',
  'select count(*)::int as sales, count(note)::int as noted, max(id) as last from sale',
);
const pipeline = (columns: object, evolve?: 'refuse' | 'add' | 'retype', change: object = {}) =>
  definePipeline({
    name: 'sales',
    schema: 'shop',
    tables: {
      sale: {
        source: csv('in/*.csv'),
        columns: columns as typeof before,
        primaryKey: ['id'],
        publish: 'append',
        ...(evolve && { evolve }),
        ...change,
      },
      ...('note' in columns && { total: { from: ['sale'], transform: sqlFile('total.sql') } }),
    },
  });

const run = (...given: Parameters<typeof pipeline>) => runIt(pipeline(...given));

/** What the plan says of the table's columns: what is altered, or why not. */
const alteredBy = async (...given: Parameters<typeof pipeline>) => {
  const address = () => Promise.resolve(addressFromUrl(database.url));
  const { plan } = await makePlan(pipeline(...given), settings(), address);
  const { refusal, tables } = plan;
  return refusal === null ? tables[0]!.publishing!.changes : [`refused: ${refusal.message}. ${refusal.hint}`];
};

/** Columns as the catalogue has them: `id integer!` allows no nulls. */
const columnsOf = async (table = 'shop.sale') =>
  (
    await rowsOf(`select string_agg(attname || ' ' || format_type(atttypid, atttypmod) || case when attnotnull then '!' else '' end
          || case when atthasdef then '=' else '' end, ', ' order by attnum) as all
      from pg_attribute where attrelid = '${table}'::regclass and attnum > 0 and not attisdropped`)
  )[0]!['all'];
const was = 'id integer!, code character varying(4)!, price numeric(6,2)!, day date!';
const rowsText = async (sql: string) =>
  (await rowsOf(`select string_agg(r::text, ' ' order by r) as all from (${sql}) r`))[0]!['all'];

const prepare = async (): Promise<void> => {
  await startOver('shop');
  write('01.csv', 'id,code,price,day', '1,ab,1.50,2024-01-01', '2,cd,2.50,2024-01-02');
  await run(before);
};

describe('whether a column allows nulls', () => {
  const day = column.date('day').nullable();

  it('is not changed in a table that a person made', async () => {
    await startOver('shop');
    const made = 'id integer!, code character varying(4)!, price numeric(6,2), day date';
    await database.query(
      'create schema shop; create table shop.sale (id int primary key, code varchar(4) not null, price numeric(6, 2), day date)',
    );
    write('01.csv', 'id,code,price,day', '1,ab,1.50,2024-01-01');
    await run(before);
    expect(await columnsOf()).toBe(made);
    write('02.csv', 'id,code,price,day', '2,cd,2.50,');
    await run({ ...before, code: column.varchar('code', { length: 4 }).nullable(), day });
    await run(before);
    expect(await columnsOf()).toBe(made);
  });

  it('is changed in a table of ours; if nulls are there, the error names the column and .nullable()', async () => {
    await prepare();
    await run({ ...before, day });
    expect(await columnsOf()).toBe(was.replace('day date!', 'day date'));
    write('02.csv', 'id,code,price,day', '3,ef,2.50,');
    await run({ ...before, day });
    write('03.csv', 'id,code,price,day', '4,gh,2.50,2024-01-04');
    expect(await failureOf(run(before))).toMatchObject({
      code: 'ETL_PUBLISH_SHAPE',
      message: expect.stringContaining('not null of column day cannot be changed: column "day"'),
      hint: expect.stringContaining('declare the column with .nullable()'),
    });
  });
});

const added = {
  ...before,
  note: column.text('note').nullable(),
  kind: column.text('kind').default("it's"),
};

describe('a table that stays', () => {
  beforeEach(prepare);

  it('adds columns with the rows of the night: null in those that are there, or the default', async () => {
    await database.query('create view shop.v as select * from shop.sale');
    write('02.csv', 'id,code,price,day,note,kind', '3,ef,3.50,2024-01-03,new,sold');
    const [{ oid }] = (await rowsOf(`select 'shop.sale'::regclass::oid as oid`)) as [{ oid: number }];
    const seen = new Set<string>();
    await withPg(database.url, async (reader) => {
      const look = async () => {
        const { rows } = await reader.query('select * from shop.sale order by id');
        seen.add(rows.map((row) => Object.values(row as object).length).join(' '));
      };
      await look();
      let isReading = true;
      const reading = (async () => {
        while (isReading) await look();
      })();
      await run(added, 'add').finally(() => (isReading = false));
      await reading;
      await look();
    });
    expect(seen).toEqual(new Set(['4 4', '6 6 6']));
    expect(await rowsText('select id, note, kind from shop.sale')).toBe(`(1,,it's) (2,,it's) (3,new,sold)`);
    expect(await columnsOf()).toBe(`${was}, note text, kind text!`);
    expect(await rowsText('select * from shop.total')).toBe('(3,1,3)');
    expect(await rowsOf(`select 'shop.sale'::regclass::oid as oid`)).toEqual([{ oid }]);
    expect(notices).toContain(
      `shop.sale: writers wait, and readers may also wait: alter table "shop"."sale" add column "note" text, add column "kind" text default 'it''s' not null`,
    );
    expect(await run(added, 'add')).toMatchObject({ outcome: 'unchanged' });
  });

  it('adds them when no file is new, and shows the statement in the plan', async () => {
    expect(await alteredBy(added, 'add')).toEqual([
      `alter table "shop"."sale" add column "note" text, add column "kind" text default 'it''s' not null`,
    ]);
    expect(await columnsOf()).toBe(was);
    expect(await run(added, 'add')).toMatchObject({
      tables: [{ strategy: 'append', files: 0, rows: 2 }, {}],
    });
    expect(await columnsOf()).toBe(`${was}, note text, kind text!`);
  });

  const wider = {
    id: column.bigint('id'),
    code: column.text('code').nullable(),
    price: column.numeric('price', { precision: 9, scale: 3 }),
    day: column.timestamp('day'),
    note: column.text('note').nullable(),
  };

  it('changes types to wider ones with keys and indexes, drops not null, and sees all of it in SQL', async () => {
    const indexes = [index('code')];
    write(
      '02.csv',
      'id,code,price,day,note',
      '5000000000,abcdefg,123456.789,2024-01-03 12:00,n',
      '4,,1,2024-01-03 00:00,',
    );
    await run(wider, 'retype', { indexes });
    expect(await columnsOf()).toBe(
      'id bigint!, code text, price numeric(9,3)!, day timestamp without time zone!, note text',
    );
    expect(await rowsText('select * from shop.sale')).toBe(
      '(1,ab,1.500,"2024-01-01 00:00:00",) (2,cd,2.500,"2024-01-02 00:00:00",) (4,,1.000,"2024-01-03 00:00:00",) (5000000000,abcdefg,123456.789,"2024-01-03 12:00:00",n)',
    );
    expect([await columnsOf('shop.total'), await rowsText('select * from shop.total')]).toEqual([
      'sales integer, noted integer, last bigint',
      '(4,1,5000000000)',
    ]);
    expect(notices[0]).toMatch(
      /alter column "id" type bigint, .* type timestamp without time zone, add column "note" text, which rewrites the table \(8192 bytes\) and its indexes/,
    );
    expect(await rowsOf(`select indexname from pg_indexes where tablename = 'sale' order by 1`)).toEqual([
      { indexname: 'sale_code_idx' },
      { indexname: 'sale_pkey' },
    ]);
    expect(await run(wider, 'retype', { indexes })).toMatchObject({ outcome: 'unchanged' });
  });

  it('does the same when all files are loaded again into a table that others depend on', async () => {
    await database.query('create view shop.v as select id from shop.sale');
    await runIt(pipeline(added, 'add', { missing: 'null' }), { fullRefresh: true });
    expect(await columnsOf()).toBe(`${was}, note text, kind text!`);
    expect(notices.join()).toMatch(/in place because of view shop\.v; .* add column "note" text/);
  });

  it('goes on with a run that was loaded for other columns', async () => {
    write('02.csv', 'id,code,price,day,note,kind', '3,ef,3.50,2024-01-03,new,', 'x,ef,3.50,2024-01-03,,');
    expect(await failureOf(run(before))).toMatchObject({ code: 'ETL_REJECT_LIMIT' });
    await run(added, 'add', { rejectLimit: 1 });
    expect(notices[0]).toMatch(
      /run 2 is unfinished; everything is loaded again, because the definition changed/,
    );
    expect(await rowsText('select id, note, kind from shop.sale')).toBe(`(1,,it's) (2,,it's) (3,new,it's)`);
  });

  it('puts null into a column that the definition lost, and takes one that somebody added', async () => {
    await database.query('alter table shop.sale alter day drop not null, add column note text');
    write('02.csv', 'id,code,price,day,note', '3,ef,3.50,2024-01-03,new');
    const { day: _, ...columns } = before;
    await run({ ...columns, note: column.text('note').nullable() }, 'add');
    expect(await rowsText('select id, day, note from shop.sale')).toBe(
      '(1,2024-01-01,) (2,2024-01-02,) (3,,new)',
    );
    expect(notices).toEqual([]);
  });
});

const refused = [
  {
    name: 'a column that is new, unless it is asked for',
    columns: added,
    evolve: undefined,
    problem: 'note text is declared, and the table has no such column; kind text is declared',
    hint: `Declare evolve: 'add' to let the run do it, or execute: alter table "shop"."sale" add column "note" text, add`,
  },
  {
    name: 'a wider type, where only columns are added',
    columns: { ...before, id: column.bigint('id') },
    evolve: 'add',
    problem: 'id bigint is declared, and it is integer in the table',
    hint: `Declare evolve: 'retype' to let the run do it, or execute: alter table "shop"."sale" alter column "id" type bigint;`,
  },
  {
    name: 'a type that may lose values',
    columns: { ...before, price: column.numeric('price', { precision: 6, scale: 1 }) },
    evolve: 'retype',
    problem: 'price numeric(6,1) is declared, and it is numeric(6,2) in the table, which may lose values',
    hint: 'Change the declaration, or execute: alter table "shop"."sale" alter column "price" type numeric(6,1) using "price"::numeric(6,1);',
  },
  {
    name: 'a column that needs a value in rows that are there',
    columns: { ...before, note: column.text('note') },
    evolve: 'retype',
    problem: 'it allows no nulls and has no default, so existing rows need a value first',
    hint: 'add column "note" text;',
  },
  {
    name: 'a column that the definition lost, and that needs a value',
    columns: { id: before.id, code: before.code, price: before.price },
    evolve: 'retype',
    problem: 'column day of the table is not declared, and needs a value',
    hint: 'execute: alter table "shop"."sale" alter column "day" drop not null;',
  },
  {
    name: 'the type of a column that a view and a policy use',
    columns: { ...before, id: column.bigint('id'), code: column.text('code') },
    evolve: 'retype',
    ddl: `create view shop.v as select id from shop.sale; create policy p on shop.sale using (id > 0);
      create function shop.f() returns integer begin atomic select max(id) from shop.sale; end;
      alter table shop.sale add column double integer generated always as (id * 2) stored`,
    undo: 'drop function shop.f; drop view shop.v; drop policy p on shop.sale; alter table shop.sale drop column double',
    problem:
      /it is integer in the table; column double, function shop\.f\(\), policy p on table shop\.sale, view shop\.v must be dropped first/,
    hint: 'alter column "id" type bigint;',
  },
  {
    name: 'a type that somebody has changed',
    columns: before,
    evolve: 'retype',
    ddl: 'alter table shop.sale alter price type double precision, alter day type text',
    problem:
      'price numeric(6,2) is declared, and it is double precision in the table, which may lose values; day date',
    hint: 'using "day"::date',
  },
] as const;

describe('refuses, before it loads anything', () => {
  beforeAll(prepare);

  it.each(refused.map((one) => [one.name, one] as const))(
    '%s',
    async (_, { columns, evolve, problem, hint, ...one }) => {
      if ('ddl' in one) await database.query(one.ddl);
      const is = await columnsOf();
      expect(await alteredBy(columns, evolve)).toEqual([expect.stringContaining(hint)]);
      write('02.csv', 'id,code,price,day,note,kind', '3,ef,3.50,2024-01-03,new,sold');
      const failure = await failureOf(run(columns, evolve));
      expect(failure).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
      expect(failure.message).toMatch(problem);
      expect(failure.hint).toContain(hint);
      expect(await columnsOf()).toBe(is);
      if ('undo' in one) await database.query(one.undo);
      expect(
        await rowsOf(
          'select count(*)::int as n from etl.chunk c join etl.source_file f on f.id = c.file_id where f.run_id > 1',
        ),
      ).toEqual([{ n: 0 }]);
    },
  );
});

it('the server writes the rows again exactly where the notice says so', async () => {
  const types = [
    'smallint',
    'integer',
    'bigint',
    'real',
    'double precision',
    'numeric',
    'numeric(21,2)',
    'numeric(22,2)',
    'numeric(23,3)',
    'character varying(4)',
    'character varying(5)',
    'text',
    'date',
    'timestamp(3) without time zone',
    'timestamp without time zone',
  ];
  const pairs = types.flatMap((from) =>
    types.flatMap((to) => {
      const widening = from === to ? undefined : widens(from, to);
      return widening === undefined ? [] : [{ from, to, ...widening }];
    }),
  );
  const seen = [];
  for (const { from, to } of pairs) {
    const { rows } = await database
      .query<{ before: string }>(
        `create table public.t (c ${from}); insert into public.t values (null); select pg_relation_filenode('public.t') as before`,
      )
      .then((all) => (all as unknown as { rows: { before: string }[] }[])[2]!);
    await database.query(`alter table public.t alter column c type ${to}`);
    const [after] = await rowsOf(`select pg_relation_filenode('public.t') as after`);
    await database.query('drop table public.t');
    seen.push({ from, to, rewrites: after!['after'] !== rows[0]!.before });
  }
  expect(seen).toEqual(pairs);
  expect(pairs.length).toBe(31);
});

it('is no option of a table that is replaced', () => {
  expect(() => pipeline(before, 'add', { publish: 'replace' })).toThrow(/evolve has no effect/);
  expect(() => pipeline(before, 'all' as 'add')).toThrow(/evolve must be one of .*, not 'all'/);
});
