// publish: 'merge': records of new files take the place of rows with their primary key, and nothing else is written.

import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, index, oneOf, sqlFile, when, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, rowsOf, one, run: runIt, startOver } = usePipelineRuns();

/** Writes a file of prices: `1:5:2:D` is number 1 at 5, of time 2, deleted. What is left out is null. */
const write = (name: string, ...prices: string[]): string => {
  const lines = prices.map((price) => [...price.split(':'), '', '', ''].slice(0, 4).join(','));
  return files.write(`in/${name}`, ['id,price,at,op', ...lines, ''].join('\n'));
};

const columns = {
  id: column.integer('id'),
  price: column.integer('price').nullable(),
  at: column.integer('at').nullable(),
};
const deleted = oneOf('op', ['D']);
const pipeline = (publish: unknown = 'merge', change: object = {}): Pipeline =>
  definePipeline({
    name: 'shop',
    schema: 'shop',
    tables: {
      item: {
        source: csv('in/*.csv'),
        columns,
        primaryKey: ['id'],
        publish: publish as 'merge',
        guard: false,
        ...change,
      },
      total: { from: ['item'], transform: sqlFile('total.sql') },
    },
  });

const run = (given = pipeline(), options: object = {}) => runIt(given, options);
const items = () =>
  one(
    `select string_agg(concat_ws(':', id, coalesce(price::text, '-'), at), ' ' order by id) from shop.item`,
  );
const total = async () => (await rowsOf('select price::int, items::int from shop.total'))[0];
const changesOf = ({ tables }: Awaited<ReturnType<typeof run>>) => {
  const { inserted, updated, unchanged, deleted: gone, superseded } = tables[0]!.changes!;
  return `+${inserted} ~${updated} =${unchanged} -${gone} <${superseded}`;
};

beforeEach(async () => {
  files.write('total.sql', 'select sum(price)::bigint as price, count(*) as items from item');
  await startOver('shop');
  write('01.csv', '1:5:1', '2:6:1', '3::1');
});

describe('rows of new files', () => {
  it('take the place of those with their key, and only what differs is written', async () => {
    const first = await run();
    expect(first).toMatchObject({ tables: [{ strategy: 'swap', rowsBefore: null, rows: 3 }, {}] });
    expect(changesOf(first)).toBe('+3 ~0 =0 -0 <0');
    const before = await rowsOf('select id, xmin::text, ctid::text from shop.item order by id');
    write('02.csv', '1:5:1', '2:7:2', '3::1', '4:1:2', '4:2:2');
    const second = await run();
    expect(second).toMatchObject({
      tables: [{ strategy: 'merge', copied: 5, rowsBefore: 3, rows: 4 }, { strategy: 'in place' }],
    });
    expect(changesOf(second)).toBe('+1 ~1 =2 -0 <1');
    expect([await items(), await total()]).toEqual(['1:5:1 2:7:2 3:-:1 4:2:2', { price: 14, items: 4 }]);
    const after = await rowsOf('select id, xmin::text, ctid::text from shop.item order by id');
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
    expect(
      await rowsOf(`select changes from etl.published_table where run_id = 2 and table_name = 'item'`),
    ).toEqual([{ changes: { inserted: 1, updated: 1, unchanged: 2, deleted: 0, superseded: 1 } }]);
    expect(await run()).toMatchObject({ outcome: 'unchanged' });
  });

  it('count in the order of files and lines, also when other processes have loaded them in another', async () => {
    write('01.csv', ...Array.from({ length: 300 }, (_, line) => `${line % 7}:${line}`));
    write('02.csv', ...Array.from({ length: 300 }, (_, line) => `${line % 7}:${1_000 + line}`));
    await run(pipeline(), { workers: 3, chunkBytes: 4_096 });
    expect(await items()).toBe('0:1294 1:1295 2:1296 3:1297 4:1298 5:1299 6:1293');
  });

  it('may leave columns of a row as they are, and lose against newer rows', async () => {
    const publish = { mode: 'merge', update: ['price', 'at'], newer: 'at' };
    const noted = { columns: { ...columns, note: column.text('op').nullable() } };
    await run(pipeline(publish, noted));
    write('02.csv', '1:9:0:no', '2:9::no', '3:9:1:kept', '4:1:7:new', '4:2:3:old', '5:3::');
    const second = await run(pipeline(publish, noted));
    expect(await rowsOf('select id, price, at, note from shop.item order by id')).toEqual([
      { id: 1, price: 5, at: 1, note: null },
      { id: 2, price: 6, at: 1, note: null },
      { id: 3, price: 9, at: 1, note: null },
      { id: 4, price: 1, at: 7, note: 'new' },
      { id: 5, price: 3, at: null, note: null },
    ]);
    expect(changesOf(second)).toBe('+2 ~1 =0 -0 <3');
    expect(await total()).toEqual({ price: 24, items: 5 });
  });

  it('may delete, whatever came before and until it comes again', async () => {
    const isGone = when(({ op, price }) => op === 'D' && price === null, ['op', 'price']);
    const publish = { mode: 'merge', deleted: [deleted, isGone] };
    write('02.csv', '9:1', '9::9:D', '8::1:D', '8:4');
    expect(changesOf(await run(pipeline(publish)))).toBe('+4 ~0 =0 -0 <3');
    write('03.csv', '1::2:D', '2::2:D', '2:7:2', '3:8', '3::2:D', '3:::D', '7::1:D');
    const second = await run(pipeline(publish));
    expect(changesOf(second)).toBe('+0 ~1 =1 -2 <3');
    expect([await items(), await total()]).toEqual(['2:7:2 8:4', { price: 11, items: 2 }]);
    const again = await run(pipeline(publish), { fullRefresh: true });
    expect(again).toMatchObject({ tables: [{ strategy: 'swap', rows: 2 }, {}] });
    expect(await items()).toBe('2:7:2 8:4');
  });

  it('are compared byte by byte, whatever their type', async () => {
    const typed = {
      columns: {
        id: column.integer('id'),
        doc: column.json('price').nullable(),
        place: column.of('point', 'at').nullable(),
        name: column.text('op').nullable(),
      },
    };
    const line = (id: number, doc: string, place: string, name = ''): string =>
      `${id};${doc};${place};${name}`;
    const semicolons = { ...typed, source: csv('in/*.csv', { delimiter: ';' }) };
    const put = (name: string, ...lines: string[]) =>
      files.write(`in/${name}`, ['id;price;at;op', ...lines, ''].join('\n'));
    put('01.csv', line(1, '[1]', '(1,2)'), line(2, '[2]', '(1,2)'), line(3, '', '(1,2)', 'a'));
    files.write('total.sql', 'select count(*) as items from item');
    await run(pipeline('merge', semicolons));
    put('02.csv', line(1, '[1]', '(1,2)'), line(2, '[3]', '(1,2)'), line(3, '', '(1,3)', 'a'));
    expect(changesOf(await run(pipeline('merge', semicolons)))).toBe('+0 ~2 =1 -0 <0');
  });
});

describe('is refused', () => {
  it('for two records of a key in a run, where that is an error', async () => {
    const publish = { mode: 'merge', twice: 'reject', deleted };
    await run(pipeline(publish));
    write('02.csv', '1:1', '4:1', '5:1');
    write('03.csv', '6:1', '4:2', '5:1::D', '4:3');
    expect(await failureOf(run(pipeline(publish)))).toMatchObject({
      code: 'ETL_DUPLICATE_ROWS',
      details: {
        records: 'in/02.csv:3 and in/03.csv:3 and in/03.csv:5 (4); in/02.csv:4 and in/03.csv:4 (5)',
      },
    });
    expect(await items()).toBe('1:5:1 2:6:1 3:-:1');
  });

  it('if a trigger keeps a row as it is', async () => {
    await run();
    await database.query(`create function shop.no() returns trigger language plpgsql as 'begin return null; end';
      create trigger no before update on shop.item for each row execute function shop.no()`);
    write('02.csv', '1:6:1', '4:1');
    expect(await failureOf(run())).toMatchObject({
      code: 'ETL_PUBLISH_WITHHELD',
      details: { problem: '0 of 1 row could be updated', cause: 'look at trigger no' },
    });
    expect(await items()).toBe('1:5:1 2:6:1 3:-:1');
  });

  it('if the guard is against so many deletions', async () => {
    const guarded = { guard: { shrinkMax: '50%' } };
    await run(pipeline({ mode: 'merge', deleted }, guarded));
    write('02.csv', '1:::D', '2:::D');
    expect(await failureOf(run(pipeline({ mode: 'merge', deleted }, guarded)))).toMatchObject({
      code: 'ETL_GUARD',
    });
    expect(await items()).toBe('1:5:1 2:6:1 3:-:1');
  });
});

it('keeps rows that others refer to, and removes only those that are deleted', async () => {
  const publish = { mode: 'merge', deleted };
  await run(pipeline(publish, { indexes: [index('price')] }));
  await database.query(`create table shop.sold (item integer references shop.item on delete cascade on update cascade);
    insert into shop.sold values (1), (2), (3);
    create view shop.dear as select * from shop.item where price > 5;
    create table shop.log (what text);
    create function shop.note() returns trigger language plpgsql as
      'begin insert into shop.log values (tg_op || coalesce(old.id, new.id)); return coalesce(new, old); end';
    create trigger note before insert or update or delete on shop.item for each row execute function shop.note()`);
  write('02.csv', '1:6:1', '2:::D', '3::1', '4:9');
  expect(changesOf(await run(pipeline(publish, { indexes: [index('price')] })))).toBe('+1 ~1 =1 -1 <0');
  expect(await rowsOf('select item from shop.sold order by 1')).toEqual([{ item: 1 }, { item: 3 }]);
  expect(await rowsOf('select what from shop.log')).toEqual([
    { what: 'DELETE2' },
    { what: 'UPDATE1' },
    { what: 'INSERT4' },
  ]);
  expect(await rowsOf('select id from shop.dear order by id')).toEqual([{ id: 1 }, { id: 4 }]);
});

it('merges into partitions', async () => {
  await run();
  await database.query(`alter table shop.item rename to item_1; alter table shop.item_1 rename constraint item_pkey to k;
    create table shop.item (like shop.item_1 including all) partition by hash (id);
    alter table shop.item_1 drop constraint k;
    create table shop.p0 partition of shop.item for values with (modulus 2, remainder 0);
    create table shop.p1 partition of shop.item for values with (modulus 2, remainder 1);
    insert into shop.item select * from shop.item_1`);
  write('02.csv', '1:6:1', '2:6:1', '4:1');
  expect(changesOf(await run())).toBe('+1 ~1 =1 -0 <0');
  expect(await items()).toBe('1:6:1 2:6:1 3:-:1 4:1');
});

it('merges a file that changed again, and takes none out', async () => {
  const publish = { mode: 'merge', changed: 'reload' };
  await run(pipeline(publish));
  write('02.csv', '1:7:2');
  await run(pipeline(publish));
  write('01.csv', '1:5:1', '2:8:1', '9:9');
  await run(pipeline(publish));
  expect(await items()).toBe('1:5:1 2:8:1 3:-:1 9:9');
  const file = { unload: ['in/02.csv'] };
  expect(await failureOf(run(pipeline(publish), file))).toMatchObject({
    code: 'ETL_FILE_LINEAGE',
    hint: expect.stringMatching(/^With mode: 'merge' .* several files/),
  });
  write('01.csv', '1:6:1');
  const source = csv('in/*.csv', { onBadFile: 'stop' });
  expect(await failureOf(run(pipeline({ mode: 'merge' }, { source })))).toMatchObject({
    code: 'ETL_FILE_CHANGED',
    hint: expect.stringContaining("{ mode: 'merge', changed: 'reload' } loads changed files again; changed:"),
  });
  write('01.csv', '1:5:1', '2:8:1', '9:9');
  await run(pipeline(publish));
  await run(pipeline(publish), { reload: ['in/02.csv'] });
  expect(await items()).toBe('1:7:2 2:8:1 3:-:1 9:9');
});

it.each([
  { publish: 'merge', change: { primaryKey: [] }, problem: /'merge' needs a primaryKey/ },
  { publish: 'merge', change: { staging: 'none' }, problem: /'merge' needs staging: 'typed' or 'text'/ },
  { publish: { mode: 'merge', gone: 'unload' }, problem: /gone: 'unload' needs mode 'append'/ },
  {
    publish: { mode: 'merge', update: ['prize'] },
    problem: /`prize` is not a column of the table; did you mean `price`/,
  },
  { publish: { mode: 'merge', update: ['id'] }, problem: /`id` is in the primaryKey/ },
  { publish: { mode: 'merge', newer: 'at', update: ['price'] }, problem: /leaves out `at`/ },
  { publish: { mode: 'merge', twice: 'first' }, problem: /twice must be one of .*, not 'first'/ },
  { publish: { mode: 'append', update: ['price'] }, problem: /unknown key `update`/ },
])('is declared rightly or not at all: $problem', ({ publish, change = {}, problem }) => {
  expect(() => pipeline(publish, change)).toThrow(problem);
});
