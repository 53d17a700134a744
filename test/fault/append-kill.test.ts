// Process and server are killed while files are appended, loaded again and unloaded, and columns changed: the next run comes to what an undisturbed run
// makes, once.
//
// By default some of the effects are sampled; FAULT_EVERY=1 takes all.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectEnd, killRest, runArgs, startEtl, type Ended, type Etl } from '../helpers/fault-child.ts';
import { ask, copyDatabase, createDatabase, databaseUrlOf, dropDatabase } from '../helpers/fault-database.ts';
import { expectNoSessions } from '../helpers/fault-outcome.ts';
import { effectPoint } from '../helpers/fault-points.ts';
import { openProxy, type FaultProxy, type Point, type Strike, type Verdict } from '../helpers/fault-proxy.ts';
import { killChild } from '../helpers/fault-scene.ts';
import { restarts, startServer } from '../helpers/fault-server.ts';

const samples = 4;
const chunkBytes = 4_000;

const directory = mkdtempSync(join(tmpdir(), 'sluice-append-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

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
  const rows = Array.from({ length: to - from }, (_, place) => `${from + place},${pieces}`);
  writeFileSync(join(directory, 'in', name), ['id,pieces', ...rows, ''].join('\n'));
};

/** Prices of the first 1,000 numbers from a day on: of every second one it is another than before. */
const writePrices = (name: string, day: number): void => {
  const rows = Array.from({ length: 1_000 }, (_, id) => `${id},${id % 2 === 0 ? 1 : day},2024-01-0${day}`);
  writeFileSync(join(directory, 'prices', name), ['id,pieces,day', ...rows, ''].join('\n'));
};

let server: Awaited<ReturnType<typeof startServer>>;
let proxy: FaultProxy;
/** The database after the first night; each test begins with a copy of it. */
let firstNight = '';
const made: string[] = [];

const etl = (database: string, port = proxy.port): Etl => {
  const url = new URL(databaseUrlOf(server.url, database));
  url.port = String(port);
  return startEtl({ directory, url: url.href, args: runArgs(chunkBytes) });
};

const copy = async (): Promise<string> => {
  await expectNoSessions(databaseUrlOf(server.url, firstNight));
  const name = `${firstNight}_${made.length}`;
  await copyDatabase(server.url, firstNight, name);
  made.push(name);
  return name;
};

beforeAll(async () => {
  mkdirSync(join(directory, 'in'));
  mkdirSync(join(directory, 'prices'));
  mkdirSync(join(directory, 'pipelines'));
  const define = (sale: string): void =>
    writeFileSync(join(directory, 'pipelines', 'noaa.ts'), definitionOf(sale));
  define(`columns: { id: column.integer('id'), pieces: column.integer('pieces') },`);
  writeFileSync(
    join(directory, 'total.sql'),
    'select count(*)::int as sales, sum(pieces)::int as pieces from sale',
  );
  writeFileSync(
    join(directory, 'stock-total.sql'),
    `select id / 1000 as thousand, sum(pieces)::int as pieces from stock
      where id / 1000 in (select id / 1000 from stock_new union select id / 1000 from stock_old) group by 1`,
  );
  writeFileSync(
    join(directory, 'stock-pair.sql'),
    `select thousand / 2 as pair, sum(pieces)::int as pieces from stock_total
      where thousand / 2 in (select thousand / 2 from stock_total_new union select thousand / 2 from stock_total_old) group by 1`,
  );
  server = await startServer();
  proxy = await openProxy(Number(new URL(server.url).port));
  firstNight = await createDatabase(server.url);
  writePrices('1.csv', 3);
  write('1.csv', 0, 2_000, 1);
  write('2.csv', 2_000, 3_000, 1);
  write('3.csv', 3_000, 4_000, 1);
  expectEnd(await etl(firstNight).ended, 0);
  // Of the second night: one file changed, one is gone, one is new, one is as it was.
  write('2.csv', 2_000, 3_500, 2);
  rmSync(join(directory, 'in', '3.csv'));
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
afterAll(async () => {
  killRest();
  await proxy.close();
  server = await startServer();
  for (const name of [...made, firstNight]) await dropDatabase(server.url, name);
});

/** Rows and file state as the second night makes them, whatever happened on the way. */
const expectSecondNight = async (database: string): Promise<void> => {
  const url = databaseUrlOf(server.url, database);
  await expectNoSessions(url);
  expect(
    await ask(
      url,
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
  const [row] = await ask<{ all: string }>(
    databaseUrlOf(server.url, database),
    `select count(*) || ' ' || sum(pieces) || ' ' || (select sales || ' ' || pieces from shop.total) || ' ' || (select count(*) from shop.price) || ' ' || (select sum(pieces) from shop.stock_pair) || ' ' || pg_typeof(min(id))
        || ' ' || count(to_jsonb(s) -> 'kind') as all
      from shop.sale s`,
  );
  expect(['4000 4000 4000 4000 1000 4000 integer 0', '5000 9500 5000 9500 2000 9500 bigint 5000']).toContain(
    row!.all,
  );
};

const runStruck = async (
  database: string,
  point: Point,
  strike: (child: Etl) => Strike,
): Promise<{ ended: Ended; wasStruck: boolean }> => {
  let striking: Promise<Verdict> | undefined;
  proxy.arm(point, (effect, clientPort) => {
    striking = Promise.resolve(strike(child)(effect, clientPort));
    return striking;
  });
  const child = etl(database);
  const ended = await child.ended;
  proxy.disarm();
  await striking;
  return { ended, wasStruck: striking !== undefined };
};

it('killed at every effect, the next run makes what an undisturbed run makes', async () => {
  const undisturbed = await copy();
  const from = proxy.effects();
  expectEnd(await etl(undisturbed).ended, 0);
  await expectSecondNight(undisturbed);
  const effects = proxy.effects() - from;
  const every = Number(process.env['FAULT_EVERY']) || Math.ceil(effects / samples);
  let kills = 0;
  for (let n = 1; n <= effects; n += every) {
    const database = await copy();
    const { ended } = await runStruck(database, effectPoint(n), killChild);
    kills += Number(ended.end === 'SIGKILL');
    await expectNoSessions(databaseUrlOf(server.url, database));
    await expectEitherNight(database);
    expectEnd(await etl(database).ended, 0);
    await expectSecondNight(database);
  }
  expect(kills).toBeGreaterThan(1);
});

const isStatement =
  (pattern: RegExp) =>
  (effect: Parameters<Point['matches']>[0]): boolean =>
    'sql' in effect && pattern.test(effect.sql);

const points: readonly Point[] = [
  {
    name: 'while data tests run',
    when: 'after',
    nth: 1,
    matches: isStatement(/set transaction read only$/),
  },
  {
    name: 'after the data tests are recorded',
    when: 'after',
    nth: 1,
    matches: isStatement(/^insert into etl\.data_test/),
  },
  {
    name: 'after columns are altered',
    when: 'after',
    nth: 1,
    matches: isStatement(/alter table "shop"\."sale" .* type bigint/s),
  },
  {
    name: 'before old rows are deleted',
    when: 'before',
    nth: 1,
    matches: isStatement(/^delete from "shop"/),
  },
  { name: 'before rows are inserted', when: 'before', nth: 1, matches: isStatement(/^insert into "shop"/) },
  {
    name: 'before merged rows are updated',
    when: 'before',
    nth: 1,
    matches: isStatement(/^update (?:only )?"shop"\."stock"/),
  },
  {
    name: 'while a table is built again',
    when: 'before',
    nth: 2,
    matches: isStatement(/^insert into "etl_build_shop"\."stock_total__rebuilt"/),
  },
  {
    name: 'before versions are ended',
    when: 'before',
    nth: 1,
    matches: isStatement(/^update "shop"\."price"|^update only "shop"\."price"/),
  },
  {
    name: 'before the files are recorded',
    when: 'before',
    nth: 1,
    matches: isStatement(/^insert into etl\.published_file/),
  },
  {
    name: 'after the commit, which is not acknowledged',
    when: 'after',
    nth: 1,
    matches: (effect) =>
      'sql' in effect && /(?:^|; )commit$/.test(effect.sql) && effect.previous.startsWith('update etl.run'),
  },
];

describe.each(points.map((point) => [point.name, point] as const))('%s', (_, point) => {
  it('etl is killed: the next run comes to the same', async () => {
    const database = await copy();
    const { ended } = await runStruck(database, point, killChild);
    expect(ended.end).toBe('SIGKILL');
    await expectNoSessions(databaseUrlOf(server.url, database));
    await expectEitherNight(database);
    expectEnd(await etl(database).ended, 0);
    await expectSecondNight(database);
  });

  it('the server crashes and comes back: etl goes on', async () => {
    const database = await copy();
    const { ended, wasStruck } = await runStruck(database, point, () => async () => {
      proxy.setMode('closing');
      await restarts.crash();
      proxy.setMode('open');
      return 'drop' as const;
    });
    expect(wasStruck).toBe(true);
    expectEnd(ended, 0);
    await expectSecondNight(database);
  });
});
