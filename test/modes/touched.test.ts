// only: 'touched': the partitions that new and changed files touch get the rows of the listed files, and no other changes.

import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  list,
  range,
  sqlFile,
  verifyPipeline,
  type Pipeline,
} from '../../src/index.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { bindPipeline } from '../../src/pipeline/bind.ts';
import { isSame, productionTables } from '../../src/publish/table/production.ts';
import { declaredAs } from '../../src/publish/modes/declared.ts';
import { makePlan } from '../../src/tools/make-plan.ts';
import { filesOf } from '../../src/tools/file-states.ts';
import { failureOf } from '../helpers/failure.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { runWhile, type Point } from '../helpers/fault-proxy.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { withPg } from '../helpers/own-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { createChance, readCount, searched } from '../helpers/seeded.ts';

const { files, database, rowsOf, run: runIt, notices, settings, startOver } = usePipelineRuns();

/** Writes a file of sales: `1:2026-01-05` is number 1, of that day. */
const write = (name: string, ...sales: string[]): string =>
  files.write(`in/${name}.csv`, ['id,day', ...sales.map((sale) => sale.replaceAll(':', ',')), ''].join('\n'));
const remove = (name: string): void => rmSync(`${files.directory}/in/${name}.csv`);

files.write('total.sql', `select left(day::text, 7) as month, count(*)::int as sales from sale group by 1`);
const pipeline = (change: object = {}, name = 'shop'): Pipeline =>
  definePipeline({
    name,
    schema: name,
    tables: {
      sale: {
        source: csv('in/*.csv'),
        columns: { id: column.integer('id'), day: column.date('day') },
        primaryKey: ['id', 'day'],
        partitionBy: range('day', 'month'),
        publish: { mode: 'replace', only: 'touched' },
        guard: false,
        ...change,
      },
      total: { from: ['sale'], transform: sqlFile('total.sql'), guard: false },
    },
  });
const run = (given = pipeline(), options: object = {}) => runIt(given, options);

/** Of the table of sales. */
const verify = async () => (await verifyPipeline(pipeline(), settings())).tables[0];

/** Each partition with its rows: `2026_01 1 2`. */
const partitions = async (schema = 'shop'): Promise<string[]> =>
  (
    await rowsOf(`select right(p.relname, 7) || coalesce(' ' || string_agg(s.id::text, ' ' order by s.id), '') as text
      from pg_inherits i join pg_class p on p.oid = i.inhrelid left join ${schema}.sale s on s.tableoid = p.oid
      where i.inhparent = '${schema}.sale'::regclass group by p.relname order by p.relname`)
  ).map(({ text }) => text as string);
/** Each file with its state, and the rows that production has of it. */
const states = async (): Promise<string[]> =>
  (await withClient(addressFromUrl(database.url), (client) => filesOf(pipeline(), settings(), client))).map(
    ({ file, state, rows }) => `${file} ${state} ${rows ?? 0}`,
  );
/** Where the rows of a partition are on disk, byte for byte. */
const disk = (month: string) =>
  rowsOf(`select pg_relation_filepath('shop.sale_${month}') as path, array_agg(s.ctid::text || xmin || s::text) as rows
    from shop.sale_${month} s`);

beforeEach(async () => {
  await startOver('shop', 'linked');
  write('01', '1:2026-01-05', '2:2026-01-31');
  write('02', '3:2026-02-01');
});

describe('a night', () => {
  it('replaces the partitions of new and changed files by the rows of all listed files, and no other', async () => {
    expect((await run()).tables[0]).toMatchObject({ strategy: 'partitions', rows: 3 });
    await database.query('create view shop.v as select * from shop.sale');
    const january = await disk('2026_01');
    write('02b', '4:2026-02-02');
    const result = await run();
    expect(result.tables[0]).toMatchObject({
      strategy: 'partitions',
      files: 1,
      copied: 1,
      rowsBefore: 3,
      rows: 4,
      partitions: ['sale_2026_02'],
    });
    expect(await partitions()).toEqual(['2026_01 1 2', '2026_02 3 4']);
    expect(await disk('2026_01')).toEqual(january);
    expect(await rowsOf('select month, sales from shop.total order by 1')).toEqual([
      { month: '2026-01', sales: 2 },
      { month: '2026-02', sales: 2 },
    ]);
    expect(await run()).toMatchObject({ outcome: 'unchanged' });
    expect(await verify()).toMatchObject({ outcome: 'same', by: 'file', rows: 4, notCompared: [] });
    // Rows that somebody put there are of no file.
    await database.query(`insert into shop.sale values (99, '2026-02-20', 0), (98, '2026-01-20', 0)`);
    write('02', '3:2026-02-01', '5:2026-03-01');
    expect((await run()).tables[0]).toMatchObject({ partitions: ['sale_2026_02', 'sale_2026_03'] });
    expect(await partitions()).toEqual(['2026_01 1 2 98', '2026_02 3 4', '2026_03 5']);
    expect(await verify()).toMatchObject({
      outcome: 'different',
      differences: [{ what: 'rows', found: '1 of other files, or of none' }],
    });
    expect(
      await rowsOf(`select partitions from etl.published_table where table_name = 'sale' order by run_id`),
    ).toEqual([
      { partitions: null },
      { partitions: ['sale_2026_02'] },
      { partitions: ['sale_2026_02', 'sale_2026_03'] },
    ]);
  });

  it('gives a partition of nothing but new rows the statistics that these had in staging', async () => {
    const note = 'x'.repeat(4_500);
    const writeWide = (name: string, ...days: readonly string[]): string =>
      files.write(
        `in/${name}.csv`,
        ['id,day,note', ...days.map((day, id) => `${id},${day},${note}`), ''].join('\n'),
      );
    const columns = { id: column.integer('id'), day: column.date('day'), note: column.text('note') };
    const given = pipeline({ columns });
    const day = (_: unknown, id: number): string => `2026-03-${String(10 + (id % 20))}`;
    const march = Array.from({ length: 1_000 }, day);
    const statistics = () =>
      rowsOf(`select reltuples, jsonb_agg(to_jsonb(s) order by attname) as columns
        from pg_stats s, pg_class c where tablename = 'sale_2026_03' and c.oid = 'shop.sale_2026_03'::regclass group by 1`);
    const analyzed = () =>
      rowsOf(
        `select last_analyze is not null as is from pg_stat_user_tables where relid = 'shop.sale_2026_03'::regclass`,
      );
    writeWide('01', '2026-01-05');
    writeWide('02', '2026-02-01');
    await run(given);
    writeWide('03', ...march);
    await database.query('analyze shop.sale');
    await run(given);
    const whole = await rowsOf(`select reltuples from pg_class where oid = 'shop.sale'::regclass`);
    expect(whole).toEqual([{ reltuples: 1_002 }]);
    const taken = await statistics();
    expect(taken).toMatchObject([{ reltuples: 1_000, columns: [{}, {}, {}, {}] }]);
    // Only PostgreSQL 18 takes statistics; others gather the same.
    expect(await analyzed()).toEqual([{ is: serverMajor < 18 }]);
    await database.query('analyze shop.sale_2026_03');
    expect(await statistics()).toEqual(taken);
    // Not where others are in staging.
    writeWide('03', ...march.map((one, id) => (id < 50 ? '2026-02-02' : one)));
    await run(given);
    expect(await analyzed()).toEqual([{ is: true }]);
    expect(await statistics()).toMatchObject([{ reltuples: 950 }]);
  });

  it('takes the rows of a changed file out of partitions that it has left', async () => {
    await run();
    write('01', '1:2026-01-05', '2:2026-04-30');
    write('02', '3:2026-05-01');
    expect((await run()).tables[0]).toMatchObject({
      rows: 3,
      partitions: ['sale_2026_01', 'sale_2026_02', 'sale_2026_04', 'sale_2026_05'],
    });
    expect(await partitions()).toEqual(['2026_01 1', '2026_04 2', '2026_05 3']);
    write('01', '');
    expect((await run()).tables[0]).toMatchObject({ rows: 1, partitions: ['sale_2026_01', 'sale_2026_04'] });
    expect(await partitions()).toEqual(['2026_05 3']);
  });

  it('knows which rows of files that are not listed any more are left, and loads such a file again', async () => {
    const exported = write('export-1', '10:2026-06-30', '11:2026-07-01');
    await run();
    renameSync(exported, `${files.directory}/aside.csv`);
    expect(await run()).toMatchObject({ outcome: 'unchanged' });
    write('export-2', '11:2026-07-01', '12:2026-08-01');
    expect((await run()).tables[0]).toMatchObject({ rows: 6, partitions: ['sale_2026_07', 'sale_2026_08'] });
    expect(notices).toContain(
      'sale: 1 row of 1 file that are no longer listed are deleted with the partitions that are replaced',
    );
    expect(await partitions()).toEqual([
      '2026_01 1 2',
      '2026_02 3',
      '2026_06 10',
      '2026_07 11',
      '2026_08 12',
    ]);
    expect(await states()).toEqual([
      'in/01.csv in production 2',
      'in/02.csv in production 1',
      'in/export-2.csv in production 2',
      'in/export-1.csv gone 1',
    ]);
    remove('export-2');
    // The very file, with its time.
    renameSync(`${files.directory}/aside.csv`, exported);
    expect(await states()).toContain('in/export-1.csv changed 1');
    expect(await verify()).toMatchObject({
      outcome: 'same',
      files: [{ file: 'in/01.csv' }, { file: 'in/02.csv' }],
      notCompared: [
        { file: 'in/export-1.csv', reason: 'some of its partitions were replaced while it was not listed' },
        { file: 'in/export-2.csv', reason: 'it is gone, or no longer listed' },
      ],
    });
    expect((await run()).tables[0]).toMatchObject({ files: 1, partitions: ['sale_2026_06', 'sale_2026_07'] });
    expect(await states()).toContain('in/export-2.csv gone 1');
    remove('export-1');
    write('export-3', '12:2026-08-02');
    await run();
    expect(await states()).not.toContain('in/export-2.csv gone 1');
    expect(await partitions()).toEqual([
      '2026_01 1 2',
      '2026_02 3',
      '2026_06 10',
      '2026_07 11',
      '2026_08 12',
    ]);
  });

  it('counts all rows that a file which is not listed any more loses, in whatever partitions they are', async () => {
    write('export-1', '10:2026-06-30', '11:2026-07-01', '13:2026-08-02');
    await run();
    remove('export-1');
    write('export-2', '12:2026-07-02', '14:2026-08-03');
    await run();
    expect(notices).toContain(
      'sale: 2 rows of 1 file that are no longer listed are deleted with the partitions that are replaced',
    );
    expect(await states()).toContain('in/export-1.csv gone 1');
  });

  it('says before and after it which partitions are replaced', async () => {
    await run();
    const step = async (): Promise<string | undefined> => {
      const address = () => Promise.resolve(addressFromUrl(database.url));
      const { plan } = await makePlan(pipeline(), settings(), address);
      return plan.tables[0]!.steps.find(({ step: name }) => name === 'partitions')?.text;
    };
    write('03', '7:2026-03-01');
    write('01', '1:2026-01-05');
    expect(await step()).toBe(
      'replaced: sale_2026_01, which have rows of files that changed or leave; and those that rows of the new and changed files belong to',
    );
  });

  it('takes single files out and loads them again on request', async () => {
    await run();
    const january = await disk('2026_01');
    expect((await run(pipeline(), { unload: ['in/02.csv'] })).tables[0]).toMatchObject({
      rows: 2,
      partitions: ['sale_2026_02'],
    });
    expect(await partitions()).toEqual(['2026_01 1 2']);
    expect(await run()).toMatchObject({ outcome: 'unchanged' });
    await run(pipeline(), { reload: ['in/02.csv'] });
    expect(await partitions()).toEqual(['2026_01 1 2', '2026_02 3']);
    expect(await disk('2026_01')).toEqual(january);
  });
});

it('is refused when a partition that is replaced loses too many rows, however many the table has', async () => {
  const guarded = pipeline({ guard: { shrinkMax: '50%' } });
  write('01', ...Array.from({ length: 50 }, (_, id) => `${100 + id}:2026-01-05`));
  write('02', '3:2026-02-01', '4:2026-02-01', '5:2026-02-01');
  await run(guarded);
  write('02', '3:2026-02-01');
  expect(await failureOf(run(guarded))).toMatchObject({
    code: 'ETL_GUARD',
    message: expect.stringContaining(
      'shop.sale: 51 rows, its guard requires that at most 50% of the 3 rows in sale_2026_02 are lost, and 2 would be',
    ) as unknown,
  });
  expect((await run(guarded, { allowShrink: ['sale'] })).tables[0]).toMatchObject({ rows: 51 });
});

it('keeps partitions of files that are not listed when everything is loaded again, unless told otherwise', async () => {
  await run();
  remove('01');
  expect(await failureOf(run(pipeline(), { fullRefresh: true }))).toMatchObject({ code: 'ETL_ROWS_LOST' });
  await run(pipeline(), { fullRefresh: true, allowShrink: ['sale'] });
  expect(await partitions()).toEqual(['2026_02 3']);
});

/** A night in which somebody does something just before a statement. */
const runWith = ({ when, matches }: Pick<Point, 'when' | 'matches'>, somebody: () => Promise<unknown>) =>
  runWhile(database.url, matches, somebody, (databaseUrl) => run(pipeline(), { databaseUrl }), when);

describe('a partition that somebody takes away while a night looks at it', () => {
  const night = async (point: Pick<Point, 'when' | 'matches'>, sql: string) => {
    await run();
    write('02', '3:2026-02-01', '4:2026-02-02');
    write('03', '5:2026-01-07');
    return runWith(point, () => database.query(sql));
  };
  const drop = 'drop table shop.sale_2026_01';

  it.each([
    [
      'for rows of changed files',
      'after',
      'i.inhparent = to_regclass($1) and b.bound is not null order by c.relname',
    ],
    ['for rows that stay', 'before', 'count(*)::float8 as rows from "shop"."sale_2026'],
  ] as const)('%s is as one that was not there', async (_, when, text) => {
    const matches = ({ sql }: Effect): boolean => sql.includes(text);
    expect(await night({ when, matches }, drop)).toMatchObject({ outcome: 'published' });
    expect(await partitions()).toEqual(['2026_01 5', '2026_02 3 4']);
  });

  it.each([
    [
      'dropped',
      drop,
      'ETL_INCOMPLETE',
      '2 rows of "shop"."sale_2026_01" should have been kept, but it was dropped',
    ],
    [
      'changed',
      'delete from shop.sale where id = 2',
      'ETL_INCOMPLETE',
      '2 rows of "shop"."sale_2026_01" should have been kept, but 1 were found',
    ],
    [
      'detached',
      'alter table shop.sale detach partition shop.sale_2026_01',
      'ETL_PUBLISH_SHAPE',
      'its partition shop.sale_2026_01 cannot be created, because another object has that name',
    ],
  ])('and is %s after that ends it with an error that says so', async (_, sql, code, message) => {
    const matches = (effect: Effect): boolean =>
      effect.sql.startsWith('create table "etl_build_shop"."sale_2026_01"');
    expect(await failureOf(night({ when: 'before', matches }, sql))).toMatchObject({
      code,
      message: expect.stringContaining(message),
    });
  });
});

it('makes statistics of the table as a whole when a tenth of its rows has changed, and not again those of its partitions', async () => {
  const rows = async () =>
    (await rowsOf(`select reltuples::int as n from pg_class where oid = 'shop.sale'::regclass`))[0]!['n'];
  const analyzedAt = () =>
    rowsOf(
      `select relname, last_analyze from pg_stat_user_tables where relname like 'sale\\_2026%' order by 1 limit 2`,
    );
  const many = (month: number, count: number) =>
    Array.from({ length: count }, (_, id) => `${month}00${id}:2026-0${month}-01`);
  await run();
  expect(await rows()).toBe(3);
  let before = await analyzedAt();
  write('03', ...many(3, 100));
  await run();
  expect(await rows()).toBe(103);
  if (serverMajor < 18) {
    // They are analyzed with their table; and PostgreSQL 14 says so half a second later.
    await sleep(600);
    before = await analyzedAt();
  }
  write('04', ...many(4, 9));
  await run();
  expect(await rows()).toBe(103);
  expect(await analyzedAt()).toEqual(before);
});

it('is analyzed although somebody holds a partition', async () => {
  await run();
  write('03', ...Array.from({ length: 100 }, (_, id) => `${id + 10}:2026-03-01`));
  const analyzes = ({ sql }: Effect): boolean => /^analyze (?:only )?"?shop"?\."?sale"?$/.test(sql);
  await withPg(database.url, (somebody) =>
    runWith({ when: 'before', matches: analyzes }, () =>
      somebody.query('begin; lock shop.sale_2026_01 in share update exclusive mode'),
    ),
  );
  expect(await rowsOf(`select reltuples::int as n from pg_class where oid = 'shop.sale'::regclass`)).toEqual([
    { n: 103 },
  ]);
  expect(notices.join()).not.toContain('statistics');
});

it.each([
  ['a table that is one whole', { partitionBy: undefined }, 'needs partitionBy: range(…) or list(…)'],
  [
    'SQL that makes the rows',
    { staging: 'text', columns: undefined, transform: sqlFile('total.sql') },
    'need columns',
  ],
  ['earlier versions', { keep: 1 }, 'remove keep'],
  ['evolve', { evolve: 'add' }, 'remove evolve'],
  ['another choice', { publish: { mode: 'replace', only: 'new' } }, "must be 'touched'"],
])('a definition cannot have %s', (_, change, message) => {
  expect(() => pipeline(change)).toThrow(message);
});

it('is the same table when autovacuum has looked at a partition, whose size is for people only', async () => {
  await run();
  await withClient(addressFromUrl(database.url), async (client) => {
    const look = async () => {
      const spec = bindPipeline(pipeline(), settings());
      return (await productionTables(client, [declaredAs(spec, spec.tables[0]!, 'part')]))[0]!;
    };
    await client.query(`alter table shop.sale_2026_02 set (autovacuum_enabled = false)`);
    const before = await look();
    await client.query(
      `insert into shop.sale (id, day, _file) select n, '2026-02-02', 0 from generate_series(10, 1000) n`,
    );
    await client.query('analyze shop.sale_2026_02');
    const analyzed = await look();
    expect(before.partitioning!.partitions[1]!.size).not.toBe(analyzed.partitioning!.partitions[1]!.size);
    expect(isSame(before, analyzed)).toBe(true);
    await client.query('create index on shop.sale_2026_02 (day)');
    expect(isSame(analyzed, await look())).toBe(false);
  });
});

it('divides by value, too', async () => {
  const byDay = pipeline({ partitionBy: list('day') });
  await run(byDay);
  write('02', '3:2026-02-01', '4:2026-01-31');
  expect((await run(byDay)).tables[0]).toMatchObject({
    rows: 4,
    partitions: ['sale_2026-01-31', 'sale_2026-02-01'],
  });
});

it('divides by value where the server fills it up with blanks', async () => {
  const columns = { id: column.integer('id'), day: column.of('char(12)', 'day') };
  const byDay = pipeline({ columns, partitionBy: list('day') });
  await run(byDay);
  write('02', '3:2026-02-01', '4:2026-01-31');
  expect((await run(byDay)).tables[0]).toMatchObject({
    rows: 4,
    partitions: ['sale_2026-01-31  ', 'sale_2026-02-01  '],
  });
});

const nights = searched(4);
const seed = readCount('TOUCHED_SEED', 16);

/** What a table has by these rules: a plain program over the files that each night lists. */
const createModel = () => {
  const production = new Map<string, Map<string, readonly string[]>>();
  const loaded = new Map<string, string>();
  const inMonth = (sales: readonly string[], month: string) =>
    sales.filter((sale) => sale.includes(`:${month}`));
  return {
    night: (listed: ReadonlyMap<string, readonly string[]>): void => {
      const touched = new Set<string>();
      for (const [file, sales] of listed) {
        if (loaded.get(file) === sales.join()) continue;
        for (const sale of sales) touched.add(sale.split(':')[1]!.slice(0, 7));
        for (const [month, there] of production) if ((there.get(file) ?? []).length > 0) touched.add(month);
      }
      for (const month of touched) {
        const there = new Map<string, readonly string[]>();
        for (const [file, sales] of listed) there.set(file, inMonth(sales, month));
        // A file that has lost rows while it was not listed is not in production as a whole.
        for (const [file, sales] of production.get(month) ?? [])
          if (!listed.has(file) && sales.length > 0) loaded.delete(file);
        production.set(month, there);
      }
      for (const [file, sales] of listed) loaded.set(file, sales.join());
    },
    sales: (): string[] => [...production.values()].flatMap((there) => [...there.values()].flat()).toSorted(),
  };
};

it(`equals a plain program, with seed ${seed}`, { timeout: nights * 10_000 }, async () => {
  rmSync(`${files.directory}/in`, { recursive: true, force: true });
  const { between, pick } = createChance(seed);
  const there = new Map<string, readonly string[]>();
  const away = new Map<string, readonly string[]>();
  mkdirSync(`${files.directory}/away`, { recursive: true });
  // A file that comes back is what it was, with its time.
  const move = (file: string, from: string, to: string): void =>
    renameSync(`${files.directory}/${from}/${file}.csv`, `${files.directory}/${to}/${file}.csv`);
  const model = createModel();
  let id = 0;
  const linked = pipeline({}, 'linked');
  for (let night = 1; night <= nights; night += 1) {
    for (let count = between(1, 3); count > 0; count -= 1) {
      const file = `f${between(1, 5)}`;
      away.delete(file);
      rmSync(`${files.directory}/away/${file}.csv`, { force: true });
      const month = between(1, 5);
      const sales = Array.from(
        { length: between(0, 4) },
        () => `${(id += 1)}:2026-0${month + between(0, 1)}-1${between(0, 9)}`,
      );
      there.set(file, sales);
      write(file, ...sales);
    }
    if (night > 1 && between(0, 1) === 1 && there.size > 1) {
      const file = pick([...there.keys()]);
      away.set(file, there.get(file)!);
      there.delete(file);
      move(file, 'in', 'away');
    } else if (away.size > 0) {
      const file = pick([...away.keys()]);
      there.set(file, away.get(file)!);
      away.delete(file);
      move(file, 'away', 'in');
    }
    model.night(there);
    for (const each of [pipeline(), linked]) {
      await run(each);
      const sales = await rowsOf(
        `select id || ':' || day as sale from ${each.name}.sale order by (id || ':' || day) collate "C"`,
      );
      expect(
        sales.map(({ sale }) => sale),
        `night ${night} of ${each.name}`,
      ).toEqual(model.sales());
      const [totals] = await rowsOf(
        `select coalesce(sum(sales), 0)::int as n, (select sum(rows)::int from etl.published_file where table_name = 'sale'
          and pipeline = '${each.name}') as files from ${each.name}.total`,
      );
      expect(totals).toEqual({ n: model.sales().length, files: model.sales().length });
    }
    // Then rows are replaced in the partitions that are there.
    if (night === 1)
      await database.query(
        'create table linked.paid (id integer, day date, foreign key (id, day) references linked.sale on delete cascade)',
      );
  }
  expect(
    (
      await rowsOf(`select distinct strategy from etl.published_table where table_name = 'sale' order by 1`)
    ).map(({ strategy }) => strategy),
  ).toEqual(['in place', 'partitions']);
});
