// Checks and unique constraints of the definition: made on the table aside, kept up to date on one that stays, and violated.

import { beforeEach, describe, expect, it } from 'vitest';
import { column, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useShop } from '../helpers/shop.ts';

const { database, rowsOf, run, write, sales } = useShop({
  header: 'id,code,pieces',
  total: 'select sum(pieces)::int as pieces from sale',
});

const pipeline = (change: object = {}, total: object = {}): Pipeline =>
  sales(
    {
      columns: {
        id: column.integer('id'),
        code: column.text('code').nullable(),
        pieces: column.integer('pieces'),
      },
      primaryKey: ['id'],
      ...change,
    },
    total,
  );
const shaped = {
  checks: { pieces_few: 'pieces < 100 -- of course', code_short: 'length(code) < 4' },
  unique: ['code'],
};

const constraints = async (table = 'sale') =>
  (
    await rowsOf(
      `select conname || ' ' || pg_get_constraintdef(oid) as made from pg_constraint
        where conrelid = 'shop.${table}'::regclass and contype <> 'n' order by conname`,
    )
  ).map(({ made }) => made);
const made = [
  'code_short CHECK ((length(code) < 4))',
  'pieces_few CHECK ((pieces < 100))',
  'sale_code_key UNIQUE (code)',
  'sale_pkey PRIMARY KEY (id)',
];
const view = 'create view shop.v as select * from shop.sale';

beforeEach(() => void write('1.csv', '1:a:5', '2:b:6', '3::7'));

describe('constraints are those of the declaration', () => {
  it('of a table that is swapped, again and again, with as many changes as there are', async () => {
    await run(pipeline(shaped, { checks: { many: 'pieces > 1' } }));
    expect(await constraints()).toEqual(made);
    expect(await constraints('total')).toEqual(['many CHECK ((pieces > 1))']);
    write('2.csv', '4,c,5');
    expect(await run(pipeline(shaped))).toMatchObject({
      tables: [{ strategy: 'swap', rows: 4 }, { strategy: 'swap' }],
    });
    expect(await constraints()).toEqual(made);
    expect(await run(pipeline({ checks: { pieces_few: 'pieces < 50' } }))).toMatchObject({
      tables: [{ strategy: 'swap' }, {}],
    });
    expect(await constraints()).toEqual(['pieces_few CHECK ((pieces < 50))', 'sale_pkey PRIMARY KEY (id)']);
    expect(
      await run(pipeline({ staging: 'none', unique: [{ columns: ['code', 'pieces'], name: 'both' }] })),
    ).toMatchObject({ tables: [{ strategy: 'swap' }, {}] });
    expect(await constraints()).toEqual(['both UNIQUE (code, pieces)', 'sale_pkey PRIMARY KEY (id)']);
  });

  it.each([
    { how: 'in place', change: {}, prepare: view },
    { how: 'append', change: { publish: 'append' }, prepare: 'select' },
  ])('of a table that stays ($how), and keeps one made by hand', async ({ how, change, prepare }) => {
    await run(pipeline({ ...change, ...shaped }));
    await database.query(`${prepare}; alter table shop.sale add constraint by_hand check (id > 0)`);
    const strategy = { tables: [{ strategy: how }, {}] };
    const hand = 'by_hand CHECK ((id > 0))';
    write('2.csv', '4,c,5');
    expect(await run(pipeline({ ...change, ...shaped }))).toMatchObject(strategy);
    expect(await constraints()).toEqual([hand, ...made]);
    write('3.csv', '5,d,5');
    expect(
      await run(pipeline({ ...change, checks: { pieces_few: 'pieces < 50' }, unique: [['code', 'pieces']] })),
    ).toMatchObject(strategy);
    expect(await constraints()).toEqual([
      hand,
      'pieces_few CHECK ((pieces < 50))',
      'sale_code_pieces_key UNIQUE (code, pieces)',
      'sale_pkey PRIMARY KEY (id)',
    ]);
    write('4.csv', '6,e,5');
    expect(await run(pipeline(change))).toMatchObject(strategy);
    expect(await constraints()).toEqual([hand, 'sale_pkey PRIMARY KEY (id)']);
    expect(await rowsOf('select count(*)::int as n from shop.sale')).toEqual([{ n: 6 }]);
  });
});

describe('a violation publishes nothing, and names the records', () => {
  const bad = () => write('2.csv', '4,c,500', '5,c,6', '6,long,7');
  it.each([
    {
      name: 'a check',
      change: { checks: { few: 'pieces < 100' } },
      code: 'ETL_CONSTRAINT',
      problem: /check few \(pieces < 100\) is violated by 1 row: in\/2\.csv:2 \(4,c,500\)/,
    },
    {
      name: 'several rows',
      change: { checks: { few: 'id < 4 or pieces < 6' }, staging: 'none' },
      code: 'ETL_CONSTRAINT',
      problem:
        /by 3 rows: in\/2\.csv:2 \(4,c,500\); in\/2\.csv:3 \(5,c,6\); in\/2\.csv:4 \(6,long,7\); nothing/,
    },
    {
      name: 'unique',
      change: { unique: ['code'] },
      code: 'ETL_DUPLICATE_KEY',
      problem:
        /unique sale_code_key \(code\) is not unique: .*In 2 rows: in\/2\.csv:2 \(c\); in\/2\.csv:3 \(c\)/,
    },
    {
      name: 'a primary key',
      change: {
        primaryKey: ['code'],
        columns: {
          id: column.integer('id'),
          code: column.text('code').default('-'),
          pieces: column.integer('pieces'),
        },
      },
      code: 'ETL_DUPLICATE_KEY',
      problem: /primary key \(code\).*In 2 rows: in\/2\.csv:2 \(c\)/,
    },
    {
      name: 'a check of rows that are appended',
      change: { publish: 'append', checks: { few: 'pieces < 100' } },
      code: 'ETL_CONSTRAINT',
      problem: /violated by 1 row: in\/2\.csv:2 \(4,c,500\)/,
    },
    {
      name: 'a check of rows that are merged',
      change: { publish: 'merge', checks: { few: 'pieces < 100' } },
      code: 'ETL_CONSTRAINT',
      problem: /violated by 1 row: in\/2\.csv:2 \(4,c,500\)/,
    },
    {
      name: 'unique of rows that are appended',
      change: { publish: 'append', unique: ['code'] },
      code: 'ETL_DUPLICATE_ROWS',
      problem: /sale_code_key \(code\) is not unique: in\/2\.csv:3 \(c\) is in these files twice/,
    },
    {
      name: 'a check of a table that SQL makes',
      change: {},
      total: { checks: { few: 'pieces < 100' } },
      code: 'ETL_CONSTRAINT',
      problem: /table total: check few \(pieces < 100\) is violated by 1 row: \(531\)/,
    },
  ])('$name', async ({ change, total = {}, code, problem }) => {
    await run(pipeline(change, total));
    bad();
    const failure = await failureOf(run(pipeline(change, total)));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(problem) });
    expect(await rowsOf('select count(*)::int as n from shop.sale')).toEqual([{ n: 3 }]);
    expect(await rowsOf(`select from pg_namespace where nspname like 'etl\\_build%'`)).toHaveLength(
      'staging' in change ? 1 : 0,
    );
  });

  it('of a row that a record changes, which obeys by itself', async () => {
    const change = {
      publish: { mode: 'merge', update: ['code'] },
      checks: { short: 'pieces <> 5 or length(code) < 2' },
    };
    await run(pipeline(change));
    write('2.csv', '1,bb,50');
    expect(await failureOf(run(pipeline(change)))).toMatchObject({
      code: 'ETL_CONSTRAINT',
      message: expect.stringContaining('is violated by a row: Failing row contains (1, bb, 5); nothing'),
    });
  });

  it('of rows that are in production already', async () => {
    await run(pipeline({ publish: 'append' }));
    const failure = await failureOf(run(pipeline({ publish: 'append', checks: { few: 'pieces < 6' } })));
    expect(failure).toMatchObject({
      code: 'ETL_PUBLISH_SHAPE',
      message: expect.stringMatching(/constraint few cannot be created.*violated by some row/),
    });
    expect(await constraints()).toEqual(['sale_pkey PRIMARY KEY (id)']);
  });
});

describe('what the server does not make is refused', () => {
  it.each([
    {
      name: 'no SQL',
      change: { checks: { few: 'pieces <' } },
      problem: /check few \(pieces <\): syntax error/,
    },
    {
      name: 'no such column',
      change: { checks: { few: 'peaces < 1' } },
      problem: /column "peaces" does not exist/,
    },
    { name: 'no condition', change: { checks: { few: 'pieces' } }, problem: /must be type boolean/ },
    {
      name: 'a query',
      change: { checks: { few: 'exists (select 1)' } },
      problem: /cannot use subquery in check constraint/,
    },
    {
      name: 'two statements',
      change: { checks: { few: 'true); drop schema shop cascade; select (true' } },
      problem: /cannot insert multiple commands|syntax error/,
    },
  ])('$name', async ({ change, problem }) => {
    await run(pipeline());
    expect(await failureOf(run(pipeline(change)))).toMatchObject({
      code: 'ETL_CONSTRAINT_REFUSED',
      message: expect.stringMatching(problem),
    });
    expect(await constraints()).toEqual(['sale_pkey PRIMARY KEY (id)']);
  });
});
