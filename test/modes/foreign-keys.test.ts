// Foreign keys of the definition: made with new tables, kept where tables stay, and violated; every mode, both sides.

import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  hash,
  list,
  rollbackPipeline,
  sqlFile,
  type Pipeline,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { withPg } from '../helpers/own-server.ts';
import { until } from '../helpers/workers.ts';

const { files, database, rowsOf, run } = usePipelineRuns();

files.write('total.sql', 'select store_id, sum(pieces)::int as pieces from sale group by store_id');
const write = (name: string, header: string, ...rows: string[]): string =>
  files.write(`in/${name}`, [header, ...rows, ''].join('\n'));
const stores = (name: string, ...rows: string[]) => write(`store/${name}`, 'id,name', ...rows);
const sales = (name: string, ...rows: string[]) => write(`sale/${name}`, 'id,store_id,pieces', ...rows);

const saleColumns = {
  id: column.integer('id'),
  store_id: column.integer('store_id').nullable(),
  pieces: column.integer('pieces'),
};
const toStore = { columns: 'store_id', references: 'store.id' } as const;

interface Change {
  readonly store?: object;
  readonly sale?: object;
  readonly total?: object;
}

const pipeline = ({ store = {}, sale = {}, total = {} }: Change = {}): Pipeline =>
  definePipeline({
    name: 'sales',
    schema: 'shop',
    tables: {
      sale: {
        source: csv('in/sale/*.csv'),
        columns: saleColumns,
        primaryKey: ['id'],
        foreignKeys: [toStore],
        guard: false,
        ...sale,
      },
      store: {
        source: csv('in/store/*.csv'),
        columns: { id: column.bigint('id'), name: column.text('name') },
        primaryKey: ['id'],
        guard: false,
        ...store,
      },
      total: {
        from: ['sale'],
        transform: sqlFile('total.sql'),
        guard: false,
        foreignKeys: [{ columns: ['store_id'], references: { table: 'store' } }],
        ...total,
      },
    },
  });

const keys = async () =>
  (
    await rowsOf(
      `select conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) || ' ' || convalidated as made from pg_constraint
        where contype = 'f' and conparentid = 0 and connamespace = 'shop'::regnamespace order by 1`,
    )
  ).map(({ made }) => made);
const made = [
  'shop.sale sale_store_id_fkey FOREIGN KEY (store_id) REFERENCES shop.store(id) DEFERRABLE true',
  'shop.total total_store_id_fkey FOREIGN KEY (store_id) REFERENCES shop.store(id) DEFERRABLE true',
];
const oids = () =>
  rowsOf(
    `select conname, oid from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = 'shop'::regnamespace`,
  );
const counts = async () =>
  (
    await rowsOf(
      `select (select string_agg(id::text, ' ' order by id) from shop.sale) as sale,
        (select string_agg(id::text, ' ' order by id) from shop.store) as store`,
    )
  )[0];
const strategies = (result: { tables: readonly { table: string; strategy: string | null }[] }) =>
  Object.fromEntries(result.tables.map(({ table, strategy }) => [table, strategy]));

beforeEach(async () => {
  rmSync(`${files.directory}/in`, { recursive: true, force: true });
  await database.query('drop schema if exists shop, etl_kept, town cascade');
  await database.query(
    `do $$ begin if to_regnamespace('etl') is not null then truncate etl.kept_table; end if; end $$`,
  );
  stores('1.csv', '1,Ulm', '2,Jena');
  sales('1.csv', '1,1,5', '2,2,6', '3,,7');
});

describe('foreign keys are those of the declaration', () => {
  it('of tables that are swapped together, again and again, and with another definition', async () => {
    await run(pipeline());
    expect(await keys()).toEqual(made);
    stores('2.csv', '3,Bonn');
    sales('1.csv', '1,3,5', '2,3,6');
    rmSync(`${files.directory}/in/store/1.csv`);
    const result = await run(pipeline());
    expect(strategies(result)).toEqual({ sale: 'swap', store: 'swap', total: 'swap' });
    expect(await keys()).toEqual(made);
    expect(await counts()).toEqual({ sale: '1 2', store: '3' });
    await run(pipeline({ sale: { foreignKeys: [{ ...toStore, onDelete: 'cascade', name: 'to_store' }] } }));
    expect(await keys()).toEqual([
      'shop.sale to_store FOREIGN KEY (store_id) REFERENCES shop.store(id) ON DELETE CASCADE DEFERRABLE true',
      made[1],
    ]);
    expect(
      strategies(await run(pipeline({ sale: { foreignKeys: [] }, total: { foreignKeys: [] } }))),
    ).toEqual({
      sale: 'swap',
      store: 'swap',
      total: 'swap',
    });
    expect(await keys()).toEqual([]);
    expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl\\_build%'`)).toEqual([]);
  });

  it.each([
    { how: 'merge', sale: { publish: 'merge' }, store: { publish: 'merge' } },
    {
      how: 'in place',
      sale: {},
      store: { primaryKey: [], unique: ['id'] },
      ddl: 'create view shop.v as select * from shop.store',
    },
  ])('of tables that stay: $how, $sale, $store', async ({ how, ddl = 'select', ...change }) => {
    const given = { ...change, total: { foreignKeys: [toStore] } };
    await run(pipeline(given));
    await database.query(ddl);
    const before = await oids();
    stores('2.csv', '3,Bonn');
    sales('2.csv', '4,3,5');
    const result = strategies(await run(pipeline(given)));
    expect(result).toMatchObject({ sale: how });
    expect(result).not.toMatchObject({ store: 'swap' });
    expect(await keys()).toEqual(made);
    expect(await oids()).toEqual(before);
    expect((await counts())!['store']).toBe('1 2 3');
    const notices: unknown[] = [];
    const onEvent = (event: { type: string; message?: string }) =>
      event.type === 'notice' && notices.push(event.message);
    sales('3.csv', '5,3,5');
    await run(
      pipeline({ ...given, sale: { ...change.sale, foreignKeys: [{ ...toStore, onDelete: 'cascade' }] } }),
      { onEvent },
    );
    expect(notices.join()).toMatch(
      /shop\.sale: .*readers may also wait: alter table "shop"\."sale" drop constraint "sale_store_id_fkey", alter table "shop"\."sale" add constraint "sale_store_id_fkey" foreign key \("store_id"\) references "shop"\."store" \("id"\) on delete cascade deferrable/,
    );
    expect(await keys()).toEqual([made[0]!.replace('(id)', '(id) ON DELETE CASCADE'), made[1]]);
  });

  it('of a table to itself and of two to each other, which are swapped, then stay', async () => {
    const round = {
      sale: { foreignKeys: [toStore, { columns: 'pieces', references: { table: 'sale', columns: 'id' } }] },
      store: { foreignKeys: [{ columns: ['id'], references: 'sale.id', name: 'sold' }] },
      total: { foreignKeys: [] },
    };
    const expected = [
      'shop.sale sale_pieces_fkey FOREIGN KEY (pieces) REFERENCES shop.sale(id) DEFERRABLE true',
      made[0],
      'shop.store sold FOREIGN KEY (id) REFERENCES shop.sale(id) DEFERRABLE true',
    ];
    for (const [night, strategy] of (['swap', 'swap', 'in place'] as const).entries()) {
      stores('1.csv', `${night + 1},Ulm`, `${night + 2},Jena`);
      sales('1.csv', `${night + 1},${night + 2},${night + 2}`, `${night + 2},,${night + 1}`);
      expect(strategies(await run(pipeline(round)))).toMatchObject({ sale: strategy, store: strategy });
      expect(await keys()).toEqual(expected);
      expect(await counts()).toEqual({
        sale: `${night + 1} ${night + 2}`,
        store: `${night + 1} ${night + 2}`,
      });
      if (night === 1) await database.query('create view shop.v as select * from shop.store');
    }
  });

  it.each([
    { name: 'that refers', sale: { partitionBy: hash('id', 2) }, store: {} },
    { name: 'that is referred to', sale: {}, store: { partitionBy: list('id') } },
  ])('of a divided table $name, which is new, then stays', async ({ sale, store }) => {
    const given = (change: object = {}) =>
      pipeline({ sale: { ...sale, ...change }, store, total: { foreignKeys: [] } });
    await run(given());
    expect(await keys()).toEqual([made[0]]);
    stores('1.csv', '1,Ulm', '3,Bonn');
    sales('1.csv', '1,1,5', '2,3,6');
    const before = await oids();
    expect(strategies(await run(given()))).toMatchObject({ sale: 'in place', store: 'in place' });
    expect(await counts()).toEqual({ sale: '1 2', store: '1 3' });
    expect(await oids()).toEqual(before);
    if (store.partitionBy === undefined) return;
    sales('1.csv', '1,1,5');
    await run(given({ foreignKeys: [] }));
    expect(await keys()).toEqual([]);
    await run(given());
    expect(await keys()).toEqual([made[0]]);
  });

  it('of tables that are filled directly, when they are built a second time', async () => {
    const direct = { sale: { staging: 'none', guard: { rowsMin: 9 } }, store: { staging: 'none' } };
    expect(await failureOf(run(pipeline(direct)))).toMatchObject({ code: 'ETL_GUARD' });
    await run(pipeline(direct), { allowShrink: ['sale'] });
    expect(await keys()).toEqual(made);
  });
});

describe('a violation publishes nothing, and names the records', () => {
  const named =
    /table sale: foreign key sale_store_id_fkey \(store_id\) to store \(id\) is violated by 2 rows: in\/sale\/2\.csv:3 \(8\); in\/sale\/2\.csv:4 \(9\); nothing/;
  it.each([
    { name: 'of new tables', sale: {}, store: {} },
    { name: 'of versions', sale: { publish: 'history' }, store: { publish: 'append' } },
  ])('$name', async ({ sale, store }) => {
    await run(pipeline({ sale, store, total: { foreignKeys: [] } }));
    const before = await counts();
    sales('2.csv', '4,1,5', '5,8,6', '6,9,7', '7,,7');
    const failure = await failureOf(run(pipeline({ sale, store, total: { foreignKeys: [] } })));
    expect(failure).toMatchObject({ code: 'ETL_CONSTRAINT', message: expect.stringMatching(named) });
    expect(await counts()).toEqual(before);
  });

  it('of a table that SQL makes; of rows that are in production already', async () => {
    sales('1.csv', '1,1,5', '2,8,6');
    expect(await failureOf(run(pipeline({ sale: { foreignKeys: [] } })))).toMatchObject({
      code: 'ETL_CONSTRAINT',
      message: expect.stringMatching(/table total: .* is violated by 1 row: \(8\); nothing/),
    });
    const appended = { sale: { publish: 'append', foreignKeys: [] }, total: { foreignKeys: [] } };
    await run(pipeline(appended));
    const refers = { ...appended, sale: { publish: 'append' } };
    expect(await failureOf(run(pipeline(refers)))).toMatchObject({
      code: 'ETL_CONSTRAINT',
      message: expect.stringMatching(
        /by a row: Key \(store_id\)=\(8\) is not present in table "store"; nothing/,
      ),
    });
    stores('2.csv', '8,Bonn');
    await run(pipeline(refers));
    rmSync(`${files.directory}/in/store/2.csv`);
    expect(await failureOf(run(pipeline(refers)))).toMatchObject({
      code: 'ETL_CONSTRAINT',
      message: expect.stringMatching(/by a row: Key \(id\)=\(8\) is still referenced/),
    });
    expect(await counts()).toEqual({ sale: '1 2', store: '1 2 8' });
  });
});

it('rows go with those that they refer to, or forget them, as it is declared', async () => {
  const gone = { publish: { mode: 'append', changed: 'reload', gone: 'unload' } };
  const given = (onDelete: string) =>
    pipeline({
      sale: { publish: 'append', foreignKeys: [{ ...toStore, onDelete }] },
      store: gone,
      total: { foreignKeys: [] },
    });
  stores('2.csv', '3,Bonn', '4,Trier');
  sales('1.csv', '1,1,5', '2,3,6', '3,,7');
  await run(given('cascade'));
  sales('2.csv', '4,4,5', '5,2,5');
  stores('2.csv', '4,Trier');
  const { tables } = await run(given('cascade'));
  expect(await counts()).toEqual({ sale: '1 3 4 5', store: '1 2 4' });
  expect(tables[0]).toMatchObject({ rows: 4 });
  sales('3.csv', '6,2,5');
  await run(given('set null'));
  rmSync(`${files.directory}/in/store/2.csv`);
  sales('4.csv', '7,2,5');
  await run(given('set null'));
  expect(await counts()).toEqual({ sale: '1 3 4 5 6 7', store: '1 2' });
  expect(await rowsOf('select store_id from shop.sale where id = 4')).toEqual([{ store_id: null }]);
  stores('1.csv', '1,Ulm');
  sales('5.csv', '8,2,5');
  expect(await failureOf(run(given('set null')))).toMatchObject({
    code: 'ETL_CONSTRAINT',
    message: expect.stringMatching(/violated by 1 row: in\/sale\/5\.csv:2 \(2\)/),
  });
  stores('1.csv', '1,Ulm', '2,Jena');
  await run(
    pipeline({ sale: { publish: 'append', foreignKeys: [] }, store: gone, total: { foreignKeys: [] } }),
  );
  expect(await keys()).toEqual([]);
});

describe('a table of other people', () => {
  const toTown = { columns: 'store_id', references: 'town.city.id' };
  const given = (change: object = {}) =>
    pipeline({ sale: { foreignKeys: [toTown], ...change }, total: { foreignKeys: [] } });
  const towns = `create schema town; create table town.city (id integer primary key, name text, code text);
    insert into town.city select generate_series(1, 4)`;

  it('keeps no rows for tables that were replaced, and its readers wait for nothing long', async () => {
    await database.query(towns);
    const notices: unknown[] = [];
    const onEvent = (event: { type: string; message?: string }) =>
      event.type === 'notice' && notices.push(event.message);
    await run(given({ keep: 1 }), { onEvent });
    expect(notices).toContain('shop.sale: writers of town.city wait while its foreign keys are made');
    const expected = [
      'shop.sale sale_store_id_fkey FOREIGN KEY (store_id) REFERENCES town.city(id) DEFERRABLE true',
    ];
    expect(await keys()).toEqual(expected);
    await database.query(`comment on constraint sale_store_id_fkey on shop.sale is 'where'`);
    sales('1.csv', '1,3,5');
    expect(strategies(await run(given({ keep: 1 })))).toMatchObject({ sale: 'swap' });
    expect(await keys()).toEqual(expected);
    expect(
      await rowsOf(`select obj_description(oid, 'pg_constraint') as text, (select count(*)::int from pg_constraint where contype = 'f'
          and connamespace = 'etl_kept'::regnamespace) as kept from pg_constraint where conname = 'sale_store_id_fkey'`),
    ).toEqual([{ text: 'where', kept: 0 }]);
    await database.query('delete from town.city where id <> 3');
    sales('1.csv', '1,4,5');
    expect(await failureOf(run(given({ keep: 1 })))).toMatchObject({
      code: 'ETL_CONSTRAINT',
      message: expect.stringMatching(/violated by 1 row: in\/sale\/1\.csv:2 \(4\)/),
    });
    // The version of then refers to what is gone.
    const back = { databaseUrl: database.url, directory: files.directory, tables: ['sale'] };
    expect(await failureOf(rollbackPipeline(given({ keep: 1 }), back))).toMatchObject({
      code: 'ETL_CONSTRAINT',
      message: expect.stringMatching(/violated by rows of the version of run/),
    });
    await database.query('insert into town.city values (1), (2)');
    await rollbackPipeline(given({ keep: 1 }), back);
    expect(await keys()).toEqual(expected);
    expect(await counts()).toMatchObject({ sale: '1 2 3' });
  });

  it.each([{}, { partitionBy: list('id') }])(
    'whose foreign key is disabled, on either side, stays disabled: %j',
    async (change) => {
      await database.query(towns);
      const self = 'partitionBy' in change ? [] : [{ columns: 'pieces', references: 'sale.id' }];
      const pointing = given({ ...change, foreignKeys: [toTown, ...self] });
      sales('1.csv', '1,1,1', '2,2,2', '3,,1');
      await run(pointing);
      // Partitions by name, too: before PostgreSQL 15 they do not follow their table in this.
      await database.query(
        `do $$ declare name text; begin
           for name in select oid::regclass from pg_class where relkind in ('r', 'p') and relnamespace in ('shop'::regnamespace, 'town'::regnamespace)
           loop execute format('alter table %s disable trigger all', name); end loop; end $$`,
      );
      const triggers = () =>
        rowsOf(`select tgrelid::regclass::text as table, tgfoid::regproc::text as function, tgenabled as enabled, count(*)::int
          from pg_trigger where tgisinternal and tgrelid::regclass::text ~ '^(shop|town)' group by 1, 2, 3 order by 1, 2, 3`);
      const before = await triggers();
      expect(new Set(before.map(({ enabled }) => enabled))).toEqual(new Set(['D']));
      sales('1.csv', '1,1,1', '2,3,1', '3,,1');
      const [old] = await rowsOf(`select 'shop.sale'::regclass::oid as oid`);
      await run(pointing);
      expect(await rowsOf(`select 'shop.sale'::regclass::oid as oid`)).not.toEqual([old]);
      expect(await triggers()).toEqual(before);
    },
  );

  it('keeps no rows for partitions that were replaced', async () => {
    await database.query(towns);
    const divided = { partitionBy: list('id') };
    await run(given(divided));
    sales('1.csv', '1,3,5');
    expect(strategies(await run(given(divided)))).toMatchObject({ sale: 'partitions' });
    expect(await keys()).toEqual([
      'shop.sale sale_store_id_fkey FOREIGN KEY (store_id) REFERENCES town.city(id) DEFERRABLE true',
    ]);
    await database.query('delete from town.city where id <> 3');
  });

  it('is waited for where somebody writes it, and named', async () => {
    await database.query(towns);
    await withPg(database.url, async (writer) => {
      await writer.query('begin; update town.city set name = id');
      const notices: string[] = [];
      const onEvent = (event: { type: string; message?: string }) => {
        if (event.type !== 'notice') return;
        notices.push(event.message!);
        if (event.message!.startsWith('publishing waits')) void writer.query('commit');
      };
      await run(given(), { onEvent });
      expect(notices.join()).toMatch(/publishing waits for town\.city, which is locked by process \d+/);
    });
    expect(await keys()).toHaveLength(1);
  });

  it('has a reader who then wants ours, while we wait for another one: he is never the victim of a deadlock', async () => {
    await database.query(
      `${towns}; create table town.size (id integer primary key); insert into town.size select generate_series(1, 9)`,
    );
    const toSize = { columns: 'pieces', references: 'town.size.id' };
    const both = given({ foreignKeys: [toTown, toSize] });
    await run(both);
    sales('1.csv', '1,3,5');
    const waits = async (): Promise<boolean> =>
      (
        await rowsOf(`select from pg_locks w join pg_locks h using (pid) where w.relation = 'town.size'::regclass and not w.granted
          and h.relation = 'shop.sale'::regclass and h.granted and h.mode = 'AccessExclusiveLock'`)
      ).length > 0;
    await withPg(database.url, (long) =>
      withPg(database.url, (short) =>
        withPg(database.url, async (reader) => {
          await long.query('begin; select from town.city');
          const notices: string[] = [];
          const onEvent = (event: { type: string; message?: string }) =>
            event.type === 'notice' && notices.push(event.message!);
          const publishing = run(both, { onEvent });
          await until(async () => notices.some((text) => text.startsWith('publishing waits for town.city')));
          // By then it queues for as long as it ever does.
          await sleep(4_000);
          await short.query('begin; select from town.size');
          await reader.query('begin; select from town.city');
          await long.query('rollback');
          await until(waits);
          const reading = reader.query('select from shop.sale');
          await sleep(700);
          await short.query('rollback');
          expect((await reading).rowCount).toBe(3);
          await reader.query('rollback');
          expect(await publishing).toMatchObject({ outcome: 'published' });
        }),
      ),
    );
    expect(await counts()).toMatchObject({ sale: '1' });
  });

  it('is looked at before anything is loaded', async () => {
    await database.query(towns);
    for (const [columns, references, problem] of [
      ['store_id', 'town.village.id', /relation "town.village" does not exist/],
      ['store_id', 'town.city.ident', /column k\.ident does not exist/],
      ['note', 'town.city.name', /town\.city \(name\) is neither the primary key nor unique/],
      ['store_id', 'town.city.code', /operator does not exist: text = integer/],
    ] as const) {
      const note = { note: column.text('id') };
      const change = { columns: { ...saleColumns, ...note }, foreignKeys: [{ columns, references }] };
      expect(await failureOf(run(given(change)))).toMatchObject({
        code: 'ETL_CONSTRAINT_REFUSED',
        message: expect.stringMatching(problem),
      });
    }
    expect(
      await rowsOf(`select from etl.chunk where file_id in (select id from etl.source_file
        where run_id = (select max(id) from etl.run))`),
    ).toEqual([]);
  });
});

it('tables that are kept come back together with their foreign keys', async () => {
  const given = pipeline({ sale: { keep: 2 }, store: { keep: 2 }, total: { foreignKeys: [] } });
  await run(given);
  stores('1.csv', '1,Ulm', '3,Bonn');
  sales('1.csv', '1,1,5', '2,3,6');
  await run(given);
  const options = { databaseUrl: database.url, directory: files.directory };
  const back = await rollbackPipeline(given, { ...options, tables: ['sale', 'store'] });
  expect(back.tables).toMatchObject([{ strategy: 'swap' }, { strategy: 'swap' }]);
  expect(await keys()).toEqual([made[0]]);
  expect(await counts()).toEqual({ sale: '1 2 3', store: '1 2' });
});
