// Process and server are killed while files are appended, loaded again and unloaded, and columns changed: the next run comes to what an undisturbed run
// makes, once.
//
// By default some of the effects are sampled; FAULT_EVERY=1 takes all.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { expectEnd } from '../helpers/fault-child.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { byName, effectPoint } from '../helpers/fault-points.ts';
import type { Point } from '../helpers/fault-proxy.ts';
import { killChild } from '../helpers/fault-scene.ts';
import { restarts } from '../helpers/fault-server.ts';
import { useFirstNight } from '../helpers/fault-night.ts';

const samples = 4;

const definitionOf = (
  sale: string,
): string => `import { column, csv, definePipeline, expect, hash, sqlFile } from 'sluice';
export default definePipeline({
  name: 'shop',
  schema: 'shop',
  tables: {
    sale: {
      source: csv('in/*.csv'),
      ${sale}
      primaryKey: ['id'],
      publish: { mode: 'append', changed: 'reload', gone: 'unload' },
      guard: false,
      tests: [expect.rows({ min: 1 }), expect.between('pieces', 1, 3)],
    },
    price: {
      source: csv('prices/*.csv'),
      columns: { id: column.integer('id'), pieces: column.integer('pieces'), day: column.date('day') },
      primaryKey: ['id'],
      publish: { mode: 'history', at: 'day' },
    },
    total: { from: ['sale'], transform: sqlFile('../total.sql') },
    stock: {
      source: csv('in/*.csv'),
      columns: { id: column.integer('id'), pieces: column.integer('pieces') },
      primaryKey: ['id'],
      publish: { mode: 'merge', changed: 'reload' },
      partitionBy: hash('id', 2),
      guard: false,
    },
    stock_total: {
      from: ['stock'],
      transform: sqlFile('../stock-total.sql'),
      primaryKey: ['thousand'],
      publish: { mode: 'merge', by: 'rebuild' },
      guard: false,
    },
    stock_pair: {
      from: ['stock_total'],
      transform: sqlFile('../stock-pair.sql'),
      primaryKey: ['pair'],
      publish: 'merge',
      guard: false,
    },
  },
});
`;

/** Sales `from` to `to`, of so many pieces each. */
const write = (name: string, from: number, to: number, pieces: number): void => {
  const rows = Array.from({ length: to - from }, (_, index) => `${from + index},${pieces}`);
  night.write(`in/${name}`, ['id,pieces', ...rows, ''].join('\n'));
};

/** Prices of the first 1,000 numbers from a day on: of every second one it is another than before. */
const writePrices = (name: string, day: number): void => {
  const rows = Array.from({ length: 1_000 }, (_, id) => `${id},${id % 2 === 0 ? 1 : day},2024-01-0${day}`);
  night.write(`prices/${name}`, ['id,pieces,day', ...rows, ''].join('\n'));
};

const night = useFirstNight(async (database) => {
  const define = (sale: string): void => night.write('pipelines/noaa.ts', definitionOf(sale));
  define(`columns: { id: column.integer('id'), pieces: column.integer('pieces') },`);
  night.write('total.sql', 'select count(*)::int as sales, sum(pieces)::int as pieces from sale');
  night.write(
    'stock-total.sql',
    `select id / 1000 as thousand, sum(pieces)::int as pieces from stock
      where id / 1000 in (select id / 1000 from stock_new union select id / 1000 from stock_old) group by 1`,
  );
  night.write(
    'stock-pair.sql',
    `select thousand / 2 as pair, sum(pieces)::int as pieces from stock_total
      where thousand / 2 in (select thousand / 2 from stock_total_new union select thousand / 2 from stock_total_old) group by 1`,
  );
  writePrices('1.csv', 3);
  write('1.csv', 0, 2_000, 1);
  write('2.csv', 2_000, 3_000, 1);
  write('3.csv', 3_000, 4_000, 1);
  expectEnd(await night.etl(database).ended, 0);
  // Of the second night: one file changed, one is gone, one is new, one is as it was.
  write('2.csv', 2_000, 3_500, 2);
  rmSync(join(night.directory, 'in/3.csv'));
  write('4.csv', 3_500, 5_000, 3);
  // New prices, and late ones.
  writePrices('2.csv', 5);
  writePrices('0.csv', 1);
  // And the definition has a column more, and one of a wider type.
  define(`columns: {
        id: column.bigint('id'),
        pieces: column.integer('pieces'),
        kind: column.text('kind').default('sold'),
      },
      evolve: 'retype',
      missing: 'null',`);
});
/** Rows and file state as the second night makes them, whatever happened on the way. */
const expectSecondNight = async (database: string): Promise<void> => {
  await night.expectNoSessions(database);
  expect(
    await night.ask(
      database,
      `select count(*)::int as rows, count(distinct id)::int as ids, sum(pieces)::int as pieces, min(_file)::int as first,
          (select string_agg(name || ' ' || rows, ', ' order by name) from etl.published_file where table_name <> 'stock') as files,
          (select bool_and(exists (select from shop.sale s where s._file = p.file_id)) from etl.published_file p where p.table_name = 'sale') as known,
          (select sales || ' ' || pieces from shop.total) as total, pg_typeof(min(id))::text as type,
          (select count(*) || ' ' || sum(pieces) from shop.stock) as stock,
          (select string_agg(thousand || ':' || pieces, ' ' order by thousand) from shop.stock_total) as "stockTotal",
          (select string_agg(pair || ':' || pieces, ' ' order by pair) from shop.stock_pair) as "stockPair",
          (select count(*) || ' ' || sum(valid_to - valid_from) from shop.price) as prices,
          count(*) filter (where to_jsonb(s) ->> 'kind' = 'sold')::int as sold,
          (select count(*)::int from etl.data_test where run_id = (select max(run_id) from etl.published_table)) as tests,
          (select count(*)::int from pg_class where relnamespace = 'etl_staging'::regnamespace and relkind = 'r') as staging,
          (select count(*)::int from pg_namespace where nspname like 'etl\\_build%') as builds
        from shop.sale s`,
    ),
  ).toEqual([
    {
      rows: 5_000,
      ids: 5_000,
      pieces: 9_500,
      first: 1,
      files:
        'in/1.csv 2000, in/2.csv 1500, in/4.csv 1500, prices/0.csv 1000, prices/1.csv 1000, prices/2.csv 1000',
      known: true,
      total: '5000 9500',
      stock: '5000 9500',
      stockTotal: '0:1000 1:1000 2:2000 3:2500 4:3000',
      stockPair: '0:2000 1:4500 2:3000',
      // Of 500 numbers one version, of the others three: of two days, of two days and until now.
      prices: '2000 2000',
      type: 'bigint',
      sold: 5_000,
      tests: 2,
      staging: 0,
      builds: 0,
    },
  ]);
};

/** Before the second night is published, production is as the first has left it. */
const expectEitherNight = async (database: string): Promise<void> => {
  const [row] = await night.ask<{ all: string }>(
    database,
    `select count(*) || ' ' || sum(pieces) || ' ' || (select sales || ' ' || pieces from shop.total) || ' ' || (select count(*) from shop.price) || ' ' || (select sum(pieces) from shop.stock_pair) || ' ' || pg_typeof(min(id))
        || ' ' || count(to_jsonb(s) -> 'kind') as all
      from shop.sale s`,
  );
  expect(['4000 4000 4000 4000 1000 4000 integer 0', '5000 9500 5000 9500 2000 9500 bigint 5000']).toContain(
    row!.all,
  );
};

it('killed at every effect, the next run makes what an undisturbed run makes', async () => {
  const undisturbed = await night.copy();
  const { ended: whole, effects } = await night.countEffects(undisturbed);
  expectEnd(whole, 0);
  await expectSecondNight(undisturbed);
  const every = Number(process.env['FAULT_EVERY']) || Math.ceil(effects / samples);
  let kills = 0;
  for (let n = 1; n <= effects; n += every) {
    const database = await night.copy();
    const { ended } = await night.runStruck(database, effectPoint(n), killChild);
    kills += Number(ended.end === 'SIGKILL');
    await night.expectNoSessions(database);
    await expectEitherNight(database);
    expectEnd(await night.etl(database).ended, 0);
    await expectSecondNight(database);
  }
  expect(kills).toBeGreaterThan(1);
});

const statement = (name: string, when: Point['when'], sql: RegExp, nth = 1): Point => ({
  name: `${when} ${name}`,
  when,
  nth,
  matches: (effect) => 'sql' in effect && sql.test(effect.sql),
});
const isPublished = (effect: Effect): boolean =>
  'sql' in effect && /(?:^|; )commit$/.test(effect.sql) && effect.previous.startsWith('update etl.run');

const points: readonly Point[] = [
  statement('the data tests begin', 'after', /set transaction read only$/),
  statement('the data tests are recorded', 'after', /^insert into etl\.data_test/),
  statement('columns are altered', 'after', /alter table "shop"\."sale" .* type bigint/s),
  statement('old rows are deleted', 'before', /^delete from "shop"/),
  statement('rows are inserted', 'before', /^insert into "shop"/),
  statement('merged rows are updated', 'before', /^update (?:only )?"shop"\."stock"/),
  statement(
    'all of a table is built again',
    'before',
    /^insert into "etl_build_shop"\."stock_total__rebuilt"/,
    2,
  ),
  statement('versions are ended', 'before', /^update (?:only )?"shop"\."price"/),
  statement('the files are recorded', 'before', /^insert into etl\.published_file/),
  { name: 'after the commit, which is not acknowledged', when: 'after', nth: 1, matches: isPublished },
];

it.each(byName(points))('%s etl is killed: the next run comes to the same', async (_, point) => {
  const database = await night.copy();
  const { ended } = await night.runStruck(database, point, killChild);
  expect(ended.end).toBe('SIGKILL');
  await night.expectNoSessions(database);
  await expectEitherNight(database);
  expectEnd(await night.etl(database).ended, 0);
  await expectSecondNight(database);
});

// A crash rolls back whatever the publishing transaction has written: its first and last statements are enough.
const crashes = points.filter(({ name }) => !/rows are (deleted|inserted|updated)|versions|begin/.test(name));

it.each(byName(crashes))('%s the server crashes and comes back: etl goes on', async (_, point) => {
  const database = await night.copy();
  const strike = () => night.crashServer(restarts.crash);
  const { ended, wasStruck } = await night.runStruck(database, point, strike);
  expect(wasStruck).toBe(true);
  expectEnd(ended, 0);
  await expectSecondNight(database);
});
