// Attributes of the definition: comments on columns, statistics targets, storage parameters, tablespace; set on new tables, changed on
// those that stay, left as people set them where nothing is declared, and refused before anything is loaded.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { column, list, planPipeline, sqlFile, type Pipeline, type RunEvent } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useShop } from '../helpers/shop.ts';
import { withPg } from '../helpers/own-server.ts';
import { createDatabase } from '../helpers/server.ts';

const { files, database, rowsOf, notices, run, write, sales } = useShop({
  header: 'id,code,pieces',
  total: 'select code, sum(pieces)::int as pieces from sale group by code',
});

const pipeline = (change: object = {}, total: object = {}): Pipeline =>
  sales(
    {
      columns: { id: column.integer('id'), code: column.text('code'), pieces: column.integer('pieces') },
      primaryKey: ['id', 'code'],
      unique: [['code', 'id']],
      ...change,
    },
    total,
  );

/** Tablespaces are of the whole server. */
const [fast, slow] = [`fast_${process.pid}`, `slow_${process.pid}`];
beforeAll(async () => {
  await database.query('set allow_in_place_tablespaces = on');
  for (const name of [fast, slow]) await database.query(`create tablespace ${name} location ''`);
});
afterAll(async () => {
  await database.query('drop schema if exists shop cascade');
  for (const name of [fast, slow]) await database.query(`drop tablespace ${name}`);
});

/** Of a table: what it has, in one line each; its indexes with their tablespaces. */
const found = async (table: string): Promise<string[]> =>
  (
    await rowsOf(`
      with t as (select c.*, p.spcname from pg_class c left join pg_tablespace p on p.oid = c.reltablespace
        where c.oid = 'shop.${table}'::regclass)
      select text from (
        select 'comment ' || obj_description(oid, 'pg_class') as text from t
        union all select 'storage ' || unnest(reloptions) from t
        union all select 'in ' || spcname from t
        union all select attname || ': ' || col_description(oid, attnum) from t join pg_attribute on attrelid = oid
        union all select attname || ' ' || attstattarget from t join pg_attribute on attrelid = oid
          where attnum > 0 and attstattarget >= 0
        union all select x.relname || ' in ' || coalesce(p.spcname, '-') from t join pg_index on indrelid = oid
          join pg_class x on x.oid = indexrelid left join pg_tablespace p on p.oid = x.reltablespace
      ) a where text is not null order by text collate "C"`)
  ).map(({ text }) => text as string);

beforeEach(() => void write('1.csv', '1:a:5', '2:b:6'));

const declared = {
  comment: 'what was sold',
  columnComments: { pieces: "it's pieces" },
  statistics: { code: 500 },
  storage: { fillfactor: 70, autovacuum_enabled: false },
  tablespace: fast,
};
const changed = {
  comment: 'sold',
  columnComments: { pieces: 'pieces', code: 'code' },
  statistics: { code: 600 },
  storage: { fillfactor: 80 },
  tablespace: slow,
};
const expected = (given: object, isDivided = false): string[] => {
  const { comment, columnComments, statistics, storage, tablespace } = given as typeof declared;
  return [
    `comment ${comment}`,
    ...Object.entries(columnComments).map(([name, text]) => `${name}: ${text}`),
    ...Object.entries(statistics).map(([name, target]) => `${name} ${target}`),
    ...(isDivided ? [] : Object.entries(storage).map(([name, value]) => `storage ${name}=${value}`)),
    `in ${tablespace}`,
    `sale_code_id_key in ${tablespace}`,
    `sale_pkey in ${tablespace}`,
  ].toSorted();
};

const view = 'create view shop.v as select * from shop.sale';
const byHand = `comment on column shop.sale.pieces is 'by hand'; alter table shop.sale alter pieces set statistics 9;
  alter table shop.sale set tablespace ${fast}`;
const divided = { partitionBy: list('code') };
const told = 'alter table "shop"."sale" alter column "code" set statistics 600';

describe('what is declared is set, changed with the declaration, and left when nothing differs', () => {
  it.each([
    { how: 'swap', change: {}, prepare: 'select' },
    { how: 'in place', change: {}, prepare: view },
    { how: 'append', change: { publish: 'append' }, prepare: 'select' },
    { how: 'merge', change: { publish: 'merge' }, prepare: 'select' },
    { how: 'history', change: { publish: 'history' }, prepare: 'select' },
  ])('$how', async ({ how, change, prepare }) => {
    const strategy = { tables: [{ strategy: how }, {}] };
    await run(pipeline({ ...change, ...declared }));
    expect(await found('sale')).toEqual(expected(declared));
    await database.query(prepare);

    write('3.csv', '4,d,5');
    expect(await run(pipeline({ ...change, ...changed }))).toMatchObject(strategy);
    const after = { ...changed, storage: { ...declared.storage, ...changed.storage } };
    expect(await found('sale')).toEqual(expected(after));
    expect(notices.join().includes(told)).toBe(how !== 'swap');

    await database.query(byHand);
    const hand = await found('sale');
    expect(hand).toContain('pieces: by hand');
    write('4.csv', '5,e,5');
    expect(await run(pipeline(change))).toMatchObject(strategy);
    expect(await found('sale')).toEqual(hand);
    expect(notices.join()).not.toContain('alter');
    expect(await rowsOf('select count(*)::int as n from shop.sale')).toEqual([{ n: 4 }]);
  });

  it.each([
    { how: 'partitions', change: divided },
    { how: 'append', change: { publish: 'append', ...divided } },
  ])('of a divided table and its partitions ($how)', async ({ how, change }) => {
    const strategy = { tables: [{ strategy: how }, {}] };
    await run(pipeline({ ...change, ...declared }));
    expect(await found('sale')).toEqual(expected(declared, true));
    const parts = [`in ${fast}`, 'code 500', 'storage fillfactor=70', 'storage autovacuum_enabled=false'];
    expect(await found('sale_a')).toEqual(expect.arrayContaining(parts));

    write('2.csv', '3,c,5');
    expect(await run(pipeline({ ...change, ...declared }))).toMatchObject(strategy);
    expect(await found('sale')).toEqual(expected(declared, true));
    expect(await found('sale_c')).toEqual(expect.arrayContaining([...parts, `sale_c_pkey in ${fast}`]));
    expect(notices.join()).not.toContain('alter');

    // From now on the table stays, and is altered.
    await database.query('create materialized view shop.seen as select code from shop.sale');
    write('3.csv', '4,d,5');
    expect(await run(pipeline({ ...change, ...changed }))).toMatchObject(strategy);
    expect(await found('sale')).toEqual(expected(changed, true));
    expect(notices.join()).toContain(told);
    for (const part of ['sale_a', 'sale_d'])
      expect(await found(part)).toEqual(
        expect.arrayContaining([
          `in ${slow}`,
          `${part}_pkey in ${slow}`,
          'code 600',
          'storage fillfactor=80',
        ]),
      );
  });

  it('of a table that SQL makes', async () => {
    const total = { ...declared, storage: { fillfactor: 60 }, primaryKey: ['code'] };
    await run(pipeline({}, total));
    const all = expected(total).filter((text) => !text.startsWith('sale'));
    expect(await found('total')).toEqual([...all, `total_pkey in ${fast}`].toSorted());
  });

  it('rows are written as the fillfactor says, from the first on', async () => {
    write('1.csv', ...Array.from({ length: 4_000 }, (_, id) => `${id},a,5`));
    const pages = async (): Promise<number> =>
      (await rowsOf('select count(distinct (ctid::text::point)[0])::int as n from shop.sale'))[0]![
        'n'
      ] as number;
    const sizes: number[] = [];
    for (const change of [
      {},
      { storage: { fillfactor: 50 } },
      { storage: { fillfactor: 50 }, staging: 'none' },
      { publish: 'merge', storage: { fillfactor: 50 } },
    ]) {
      await database.query('drop table if exists shop.sale');
      await run(pipeline(change), { fullRefresh: true });
      sizes.push(await pages());
    }
    for (const size of sizes.slice(1)) expect(size).toBeGreaterThan(sizes[0]! * 1.9);
  });
});

it('readers of a table that stays are waited for before it is copied to another tablespace', async () => {
  const appended = { publish: 'append' };
  await run(pipeline({ ...appended, ...declared }));
  write('2.csv', '3,c,5');
  const moved = pipeline({ ...appended, ...declared, tablespace: slow });
  const directories = { directory: files.directory, workingDirectory: files.directory };
  const { tables } = await planPipeline(moved, { databaseUrl: database.url, ...directories });
  expect(tables[0]!.publishing!.readersWait).toBe('while rows are written');
  await withPg(database.url, async (reader) => {
    await reader.query('begin; select from shop.sale');
    const onEvent = (event: RunEvent) => {
      if (event.type === 'notice' && event.message.startsWith('publishing waits for shop.sale'))
        void reader.query('commit');
    };
    await run(moved, { onEvent });
  });
  expect(await found('sale')).toContain(`in ${slow}`);
});

describe('what somebody has set stays when the table is replaced:', () => {
  const replace = async (change: object): Promise<void> => {
    write('2.csv', '3,c,5');
    await run(pipeline(change, { transform: sqlFile('none.sql') }));
  };
  files.write('none.sql', 'select 1 as one');

  it('tablespaces of table and index, and collations', async () => {
    await run(pipeline({}, { transform: sqlFile('none.sql') }));
    await database.query(`alter table shop.sale set tablespace ${fast}; alter index shop.sale_pkey set tablespace ${slow};
      alter table shop.sale alter code type text collate "C"`);
    const collation = () =>
      rowsOf(`select attcollation::regcollation::text as name from pg_attribute
        where attname = 'code' and attrelid = 'shop.sale'::regclass`);
    const before = await found('sale');
    expect(before).toEqual([`in ${fast}`, 'sale_code_id_key in -', `sale_pkey in ${slow}`]);
    await replace({});
    expect(await found('sale')).toEqual(before);
    expect(await collation()).toEqual([{ name: '"C"' }]);
  });

  it('those of a divided table, also for partitions that come', async () => {
    const noted = {
      ...divided,
      columns: { id: column.integer('id'), code: column.text('code'), note: column.text('code') },
    };
    await run(pipeline(noted, { transform: sqlFile('none.sql') }));
    await database.query(`alter table shop.sale set tablespace ${fast}; alter table shop.sale_a set tablespace ${slow};
      alter table shop.sale alter note type text collate "C"`);
    await replace(noted);
    expect(await found('sale')).toContain(`in ${fast}`);
    expect(await found('sale_a')).toContain(`in ${slow}`);
    expect(await found('sale_b')).not.toContain(`in ${fast}`);
    expect(await found('sale_c')).toContain(`in ${fast}`);
  });
});

describe('what the server does not take is refused before anything is loaded', () => {
  it.each([
    { change: { tablespace: 'nowhere' }, problem: 'tablespace "nowhere" does not exist' },
    {
      change: { storage: { autovacuum_enable: true } },
      problem: 'unrecognized parameter "autovacuum_enable"',
    },
    { change: {}, total: { tablespace: 'nowhere' }, problem: 'table total: the server refuses' },
  ])('$problem', async ({ change, total = {}, problem }) => {
    const error = await failureOf(run(pipeline(change, total)));
    expect(error).toMatchObject({ code: 'ETL_ATTRIBUTE_REFUSED' });
    expect(error.message).toContain(problem);
    expect(await rowsOf('select count(*)::int as n from etl.chunk')).toEqual([{ n: 0 }]);
  });

  it('a tablespace without the privilege', async () => {
    const role = `loader_${process.pid}`;
    await database.query(`create role ${role} login password 'x'`);
    const own = await createDatabase(`owner ${role}`);
    const url = Object.assign(new URL(own.url), { username: role, password: 'x' });
    const error = await failureOf(run(pipeline({ tablespace: fast }), { databaseUrl: url.href }));
    await own.drop();
    await database.query(`drop role ${role}`);
    expect(error).toMatchObject({ code: 'ETL_ATTRIBUTE_REFUSED' });
    expect(error.message).toContain(`permission denied for tablespace ${fast}`);
  });
});
