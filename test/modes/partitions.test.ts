// partitionBy: production is divided, and only its partitions are exchanged; and what is refused.

import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { column, csv, hash, index, list, range, sqlFile, type Pipeline } from '../../src/index.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { findKeys } from '../../src/publish/aside/find-partitions.ts';
import { failureOf } from '../helpers/failure.ts';
import { useShop } from '../helpers/shop.ts';
import { serverMajor } from '../helpers/major-server.ts';

/** The sale `1:2026-01-05:UL` is number 1, of that day and place. */
const {
  files,
  database,
  rowsOf,
  run: runIt,
  write,
  remove,
  oid,
  sales,
} = useShop({
  header: 'id,day,place',
  total: 'select count(*) as sales, min(day) as first from sale',
  options: { workers: 2 },
});

const pipeline = (change: object = {}): Pipeline =>
  sales({
    columns: { id: column.integer('id'), day: column.date('day'), place: column.text('place') },
    primaryKey: ['id', 'day'],
    indexes: [index('place')],
    partitionBy: range('day', 'month'),
    ...change,
  });

const run = (given = pipeline(), options: object = {}) => runIt(given, options);

/** Each partition with its rows: `sale_2026_01 1 2`. */
const partitions = async (): Promise<string[]> =>
  (
    await rowsOf(`select p.relname || coalesce(' ' || string_agg(s.id::text, ' ' order by s.id), '') as text
      from pg_inherits i join pg_class p on p.oid = i.inhrelid left join shop.sale s on s.tableoid = p.oid
      where i.inhparent = 'shop.sale'::regclass group by p.relname order by p.relname`)
  ).map(({ text }) => text as string);
/** Everything of each partition that people can see. */
const shape = () =>
  rowsOf(`select c.relname, c.relkind, c.relacl::text, pg_get_expr(c.relpartbound, c.oid) as bound,
      array(select indexdef from pg_indexes where schemaname = 'shop' and tablename = c.relname order by 1) as indexes,
      array(select conname || ' ' || pg_get_constraintdef(k.oid) from pg_constraint k where conrelid = c.oid order by 1) as constraints
    from pg_class c where relnamespace = 'shop'::regnamespace and relkind in ('r', 'p') and relname like 'sale%' order by relname`);

beforeEach(() => {
  write('01.csv', '1:2026-01-05:UL', '2:2026-01-31:TR');
  write('02.csv', '3:2026-02-01:UL');
});

describe('replace', () => {
  it('makes a divided table, and later exchanges its partitions, with all that depends on the table in place', async () => {
    expect(await run()).toMatchObject({ tables: [{ strategy: 'partitions', rows: 3 }, { rows: 1 }] });
    expect(await partitions()).toEqual(['sale_2026_01 1 2', 'sale_2026_02 3']);
    expect(await rowsOf('select sales::int, first from shop.total')).toMatchObject([{ sales: 3 }]);
    const [made, first] = [await oid(), await shape()];
    await database.query(
      `create view shop.v as select * from shop.sale; grant select on shop.sale to pg_monitor;
       grant select on shop.sale_2026_01 to pg_monitor;
       create table shop.place (name text primary key); insert into shop.place values ('UL'), ('TR'), ('JE');
       alter table shop.sale add constraint known foreign key (place) references shop.place;
       alter table shop.sale add constraint positive check (id > 0);
       alter table shop.sale enable row level security; create policy p on shop.sale for select using (true);
       create materialized view shop.m as select id from shop.sale;
       create index by_hand on shop.sale (place, id)`,
    );
    const before = await shape();
    remove('01.csv');
    write('03.csv', '1:2026-01-06:UL', '9:2026-03-01:JE');
    expect(await run()).toMatchObject({ tables: [{ strategy: 'partitions', rowsBefore: 3, rows: 3 }, {}] });
    expect(await partitions()).toEqual(['sale_2026_01 1', 'sale_2026_02 3', 'sale_2026_03 9']);
    expect(await oid()).toBe(made);
    const after = await shape();
    expect(after.filter(({ relname }) => relname !== 'sale_2026_03')).toEqual(before);
    expect(first.map(({ relname }) => relname)).toEqual(['sale', 'sale_2026_01', 'sale_2026_02']);
    expect(await rowsOf('select count(*)::int as n from shop.v')).toEqual([{ n: 3 }]);
    expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl\\_build%'`)).toEqual([]);
    expect(await run()).toMatchObject({ outcome: 'unchanged' });
  });

  it('makes a new table with all its partitions where nothing hangs on the old one, and nobody sees a difference', async () => {
    const place = column.text('place').nullable();
    const given = pipeline({
      columns: { id: column.integer('id'), day: column.date('day'), place },
    });
    await run(given);
    await database.query(
      `grant select on shop.sale to pg_monitor; grant select on shop.sale_2026_01 to pg_monitor;
       alter table shop.sale alter place set default 'UL'; create index by_hand on shop.sale (place, id)`,
    );
    const [made, before] = [await oid(), await shape()];
    remove('02.csv');
    write('01.csv', '7:2026-01-05:UL');
    write('03.csv', '8:2026-02-05:UL', '9:2026-03-01:JE');
    expect(await run(given)).toMatchObject({
      tables: [{ strategy: 'partitions', rowsBefore: 3, rows: 3 }, {}],
    });
    expect(await partitions()).toEqual(['sale_2026_01 7', 'sale_2026_02 8', 'sale_2026_03 9']);
    expect(await oid()).not.toBe(made);
    expect((await shape()).filter(({ relname }) => relname !== 'sale_2026_03')).toEqual(before);
    expect(
      await rowsOf(`select relname from pg_class where relname like 'etl\\_%' and relnamespace = 'shop'::regnamespace
        union all select nspname from pg_namespace where nspname like 'etl\\_build%'`),
    ).toEqual([]);
    expect(await run(given)).toMatchObject({ outcome: 'unchanged' });
    // No dependent shows it, and a new table would not have it.
    await database.query('alter table shop.sale alter place set not null');
    const kept = await oid();
    write('04.csv', '10:2026-03-02:JE');
    await run(given);
    expect(await oid()).toBe(kept);
  });

  const statistics = () =>
    rowsOf(`select reltuples, relpages, jsonb_agg(to_jsonb(s) - 'correlation' order by attname) as columns
      from pg_stats s, pg_class c where schemaname = 'shop' and tablename = 'sale' and c.oid = 'shop.sale'::regclass
      group by 1, 2`);

  it.runIf(serverMajor < 18)('analyzes the table as a whole where a server takes no statistics', async () => {
    await run();
    expect(await statistics()).toMatchObject([{ reltuples: 3, columns: [{ inherited: true }, {}, {}] }]);
    await database.query('create materialized view shop.m as select id from shop.sale');
    write('04.csv', ...Array.from({ length: 200 }, (_, id) => `${id + 10}:2026-04-01:UL`));
    await run();
    const made = await statistics();
    expect(made).toMatchObject([{ reltuples: 203 }]);
    await database.query('analyze shop.sale');
    expect(await statistics()).toEqual(made);
  });

  it.runIf(serverMajor >= 18)(
    'gives the table as a whole the statistics that its rows had in staging, as analyzing it would',
    async () => {
      const analyzed = () =>
        rowsOf(`select last_analyze as at from pg_stat_user_tables where relname = 'sale'`);
      const expectSame = async (): Promise<void> => {
        const given = await statistics();
        expect(given).toMatchObject([{ columns: [{ inherited: true }, {}, {}] }]);
        expect(await analyzed()).toEqual([{ at: null }]);
        await database.query('analyze only shop.sale');
        expect(given).toEqual(await statistics());
      };
      await run();
      await expectSame();
      write('03.csv', '4:2026-03-01:JE', '5:2026-03-02:JE');
      await run();
      await expectSame();
      // It stays now, and so does when it was analyzed.
      await database.query('create materialized view shop.m as select id from shop.sale');
      write('04.csv', ...Array.from({ length: 200 }, (_, id) => `${id + 10}:2026-04-01:UL`));
      await run();
      const taken = await statistics();
      await database.query('analyze only shop.sale');
      expect(taken).toEqual(await statistics());
      expect(taken).toMatchObject([{ reltuples: 205 }]);
      const before = await analyzed();
      write('05.csv', ...Array.from({ length: 200 }, (_, id) => `${id + 300}:2026-04-01:UL`));
      await run();
      expect(await analyzed()).toEqual(before);
      await database.query('create statistics shop.s on day, place from shop.sale');
      write('05.csv', ...Array.from({ length: 600 }, (_, id) => `${id + 300}:2026-04-01:UL`));
      await run();
      expect(await analyzed()).not.toEqual(before);
      expect(await statistics()).toMatchObject([{ reltuples: 805 }]);
    },
  );

  it('goes on after a run that was killed with partitions aside', async () => {
    await database.query(
      `create schema etl_build_sales;
       create table etl_build_sales.sale (id integer, day date, twice integer generated always as (id * 2) stored)
         partition by range (day);
       create table etl_build_sales.sale_2026_01 partition of etl_build_sales.sale
         for values from ('2026-01-01') to ('2026-02-01');
       create policy p on etl_build_sales.sale; alter table etl_build_sales.sale enable row level security`,
    );
    expect(await run()).toMatchObject({ tables: [{ strategy: 'partitions', rows: 3 }, {}] });
    expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl\\_build%'`)).toEqual([]);
  });

  it.each([
    ['range', range('day', 'month'), ['id', 'day']],
    ['list', list('place'), ['id', 'place']],
    ['hash', hash('id', 2), ['id']],
  ])(
    'the server reads no row of a partition by %s that it attaches to production',
    async (_, partitionBy, primaryKey) => {
      const divided = pipeline({ partitionBy, primaryKey });
      await run(divided);
      await database.query('create materialized view shop.m as select id from shop.sale');
      const debugged = new URL(database.url);
      debugged.searchParams.set('options', '-c client_min_messages=debug1');
      const told: string[] = [];
      const { emit } = pg.Client.prototype;
      vi.spyOn(pg.Client.prototype, 'emit').mockImplementation(function (this: pg.Client, event, ...given) {
        if (event === 'notice') told.push((given[0] as unknown as Error).message);
        return emit.call(this, event, ...given);
      });
      await run(divided, { databaseUrl: debugged.href, fullRefresh: true });
      vi.restoreAllMocks();
      const parts = (await partitions()).length;
      const spared = told.filter((message) => message.includes('implied by existing constraints'));
      // Once to the table aside, and once to the one in production.
      expect(spared.length).toBe(2 * parts);
    },
  );

  it('also by value and by hash, and with new keys and indexes', async () => {
    const byPlace = { partitionBy: list('place'), primaryKey: ['id', 'place'], indexes: [] };
    write('03.csv', "4:2026-02-02:Ö'x y", `5:2026-02-03:${'long'.repeat(20)}`);
    await run(pipeline(byPlace));
    const names = ['sale_TR 2', 'sale_UL 1 3', "sale_Ö'x y 4"];
    expect((await partitions()).filter((one) => !one.includes('long'))).toEqual(names);
    expect((await partitions()).find((one) => one.includes('long'))).toMatch(
      /^sale_(long)+\w+_[0-9a-f]{8} 5$/,
    );
    await run(pipeline({ ...byPlace, primaryKey: [], indexes: [index(['place', 'day'], { unique: true })] }));
    expect(
      await rowsOf(`select indexname from pg_indexes where tablename in ('sale', 'sale_TR') order by 1`),
    ).toEqual([{ indexname: 'sale_place_day_idx' }, { indexname: 'sale_place_day_idx_TR' }]);
    await database.query('drop table shop.sale');
    const byHash = { partitionBy: hash('id', 3), primaryKey: ['id'] };
    await run(pipeline(byHash));
    expect((await shape()).length).toBe(4);
    const spread = await partitions();
    write('04.csv', '6:2027-01-01:UL');
    expect(await run(pipeline(byHash))).toMatchObject({ tables: [{ strategy: 'partitions', rows: 6 }, {}] });
    expect((await partitions()).join(' ').match(/ \d/g)).toHaveLength(6);
    expect(spread).toHaveLength(3);
  });

  it('replaces rows in the partitions that are there, where something else sees rows come and go', async () => {
    await run();
    await database.query(`create table shop.note (id integer, day date, foreign key (id, day) references shop.sale);
      insert into shop.note values (1, '2026-01-05')`);
    write('02.csv', '4:2026-04-01:UL');
    expect(await run()).toMatchObject({ tables: [{ strategy: 'in place', rows: 3 }, {}] });
    expect(await partitions()).toEqual(['sale_2026_01 1 2', 'sale_2026_02', 'sale_2026_04 4']);
    await database.query('drop table shop.note; create view shop.april as select * from shop.sale_2026_04');
    write('02.csv', '5:2026-04-01:UL');
    expect(await run()).toMatchObject({ tables: [{ strategy: 'in place' }, {}] });
    expect(await rowsOf('select id from shop.april')).toEqual([{ id: 5 }]);
  });

  it('finds the day, week, month and year of any moment as the calendar has it', async () => {
    await database.query(`create schema shop; create table shop.moments as
      select zoned, zoned at time zone 'UTC' as plain, (zoned at time zone 'UTC')::date as day
      from (select base::timestamptz + make_interval(secs => more) as zoned
        from unnest(array['0044-03-15 BC', '0001-01-01 00:00:00+00', '1969-12-31 19:00:00-05', '1999-12-31 23:59:59.5+00',
          '2000-01-01 00:00:00+00', '2024-02-29 12:00:00+14', '2024-12-30 00:00:00+00', '200000-01-01 00:00:00+00']) base,
          unnest(array[-86400, -0.000001, 0, 0.000001, 86400]) more
        union all select unnest(array[null, 'infinity', '-infinity']::timestamptz[])) m`);
    const names = { schema: 'shop', table: 'moments', built: 'moments', buildSchema: 'shop', path: [] };
    for (const time of ['zoned', 'plain', 'day'])
      for (const unit of ['day', 'week', 'month', 'year'] as const) {
        const spec = { by: 'range', column: time, unit } as const;
        const found = await withClient(addressFromUrl(database.url), (client) =>
          findKeys(client, names, spec, 'shop.moments'),
        );
        const moment = time === 'zoned' ? `zoned at time zone 'UTC'` : `${time}::timestamp`;
        const expected =
          await rowsOf(`select part::date::text as key, rows::float8 as rows, first::text, last::text from (
            select date_trunc('${unit}', ${moment}) as part, count(*) as rows, min(ctid) as first, max(ctid) as last
              from shop.moments group by 1) f order by part`);
        expect(found, `${time} by ${unit}`).toEqual(expected);
      }
  });

  it('sorts rows that lie scattered before it divides them', async () => {
    const days = Array.from({ length: 40 }, (_, day) =>
      new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
    );
    write('01.csv', ...Array.from({ length: 8_000 }, (_, id) => `${id + 10}:${days[id % 40]!}:UL`));
    const { tables } = await run(pipeline({ partitionBy: range('day', 'day') }));
    expect(tables[0]).toMatchObject({ strategy: 'partitions', rows: 8_001 });
    expect(
      await rowsOf('select count(*)::int as n, count(distinct tableoid)::int as parts from shop.sale'),
    ).toEqual([{ n: 8_001, parts: 40 }]);
  });

  it('divides rows that SQL has made, and names one that belongs to no partition', async () => {
    const made = {
      source: csv('in/*.csv'),
      staging: 'text',
      columns: undefined,
      transform: sqlFile('made.sql'),
    };
    files.write('made.sql', "select id::int, nullif(day, '')::timestamptz as day, place from sale_staging");
    await run(pipeline({ ...made, partitionBy: range('day', 'quarter') }));
    expect(await partitions()).toEqual(['sale_2026q1 1 2 3']);
    write('02.csv', '7::UL');
    expect(
      await failureOf(run(pipeline({ ...made, primaryKey: [], partitionBy: range('day', 'quarter') }))),
    ).toMatchObject({
      code: 'ETL_PARTITION_KEY',
      message: expect.stringContaining(
        '1 row in no partition, because partitionBy has no partition for this value of day: (7,,UL)',
      ) as unknown,
    });
    expect(await partitions()).toEqual(['sale_2026q1 1 2 3']);
    expect(
      await failureOf(
        run(pipeline({ ...made, indexes: [], primaryKey: [], partitionBy: range('place', 'month') })),
      ),
    ).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
  });
});

it('names the record whose time is in no partition by its file and line', async () => {
  write('03.csv', '4:2026-03-01:UL', '5:infinity:TR');
  expect(await failureOf(run())).toMatchObject({
    code: 'ETL_PARTITION_KEY',
    message: expect.stringMatching(
      /1 row in no partition, .* of day: in\/03\.csv:3 \(5,infinity,TR\)/,
    ) as unknown,
  });
});

it.each([
  { when: 'before anything is loaded', chunkBytes: 1, chunks: 0 },
  // A definition that is published already is rehearsed only if loading may take long.
  { when: 'after a brief load', chunkBytes: undefined, chunks: 3 },
])(
  'a check by hand that the server would write otherwise is refused $when, and the advice helps',
  async ({ chunkBytes, chunks }) => {
    const own = () =>
      pipeline({
        columns: {
          id: column.integer('id'),
          day: column.date('day'),
          place: column.varchar('place', { length: 8 }),
        },
        primaryKey: [],
        indexes: [],
      });
    await run(own());
    await database.query(`alter table shop.sale add constraint known check (place in ('UL', 'TR'))`);
    write('03.csv', '4:2026-02-03:TR');
    const refused = await failureOf(run(own(), { chunkBytes }));
    expect(refused).toMatchObject({
      code: 'ETL_PUBLISH_SHAPE',
      message: expect.stringContaining('the server would write their check "known" differently') as unknown,
    });
    const loaded = await rowsOf(
      'select c.* from etl.chunk c join etl.source_file f on f.id = c.file_id where f.run_id = (select max(id) from etl.run)',
    );
    expect(loaded).toHaveLength(chunks);
    await database.query(/alter table .*;$/.exec(refused.hint)![0]);
    expect(await run(own())).toMatchObject({ outcome: 'published' });
    expect(await partitions()).toEqual(['sale_2026_01 1 2', 'sale_2026_02 3 4']);
  },
);

describe('checks and unique constraints', () => {
  const few = { checks: { few: 'id < 100' }, unique: [['place', 'day']] };
  /** Of the table and of its partitions: name, how it came, and what it says. */
  const constraints = async (): Promise<string[]> =>
    (
      await rowsOf(`select concat_ws(' ', conrelid::regclass, conname, case when conislocal then 'own' else 'inherited' end,
          pg_get_constraintdef(oid)) as text
        from pg_constraint where connamespace = 'shop'::regnamespace and contype in ('c', 'u') order by 1`)
    ).map(({ text }) => text as string);
  const of = (part: string, isOwn: boolean, limit = 100): string[] => {
    const how = isOwn ? 'own' : 'inherited';
    const suffix = part.slice('sale'.length);
    return [
      `shop.${part} few ${how} CHECK ((id < ${limit}))`,
      `shop.${part} ${suffix === '' ? 'sale_place_day_key' : `sale_place_day_key${suffix}`} ${how} UNIQUE (place, day)`,
    ];
  };
  const all = (limit?: number): string[] => [
    ...of('sale', true, limit),
    ...of('sale_2026_01', false, limit),
    ...of('sale_2026_02', false, limit),
  ];

  it.each(['replace', 'append'])('are those of the declaration in every partition (%s)', async (publish) => {
    await run(pipeline({ ...few, publish }));
    expect(await constraints()).toEqual(all());
    await database.query('alter table shop.sale add constraint by_hand check (id > 0)');
    const hand = ['sale', 'sale_2026_01', 'sale_2026_02'].map(
      (part) => `shop.${part} by_hand ${part === 'sale' ? 'own' : 'inherited'} CHECK ((id > 0))`,
    );
    write('03.csv', '4:2026-02-02:UL');
    const strategy = publish === 'replace' ? 'partitions' : 'append';
    expect(await run(pipeline({ ...few, publish }))).toMatchObject({ tables: [{ strategy, rows: 4 }, {}] });
    expect(await constraints()).toEqual([...all(), ...hand].toSorted());
    write('04.csv', '5:2026-02-03:UL');
    await run(pipeline({ ...few, publish, checks: { few: 'id < 50' } }));
    expect(await constraints()).toEqual([...all(50), ...hand].toSorted());
    write('05.csv', '6:2026-02-04:UL');
    await run(pipeline({ publish }));
    expect(await constraints()).toEqual(hand);
    expect(await run(pipeline({ publish }))).toMatchObject({ outcome: 'unchanged' });
  });

  it.each(['replace', 'append'])(
    'that are violated publish nothing, and name the records (%s)',
    async (publish) => {
      await run(pipeline({ ...few, publish }));
      write('03.csv', '4:2026-04-01:UL', '500:2026-04-02:UL');
      expect(await failureOf(run(pipeline({ ...few, publish })))).toMatchObject({
        code: 'ETL_CONSTRAINT',
        message: expect.stringMatching(
          /few \(id < 100\) is violated by 1 row: in\/03\.csv:3 \(500,/,
        ) as unknown,
      });
      write('03.csv', '4:2026-02-01:UL');
      const unique = await failureOf(run(pipeline({ ...few, publish })));
      expect(unique.code).toBe(publish === 'replace' ? 'ETL_DUPLICATE_KEY' : 'ETL_DUPLICATE_ROWS');
      expect(unique.message).toMatch(/in\/03\.csv:2/);
      expect(await partitions()).toEqual(['sale_2026_01 1 2', 'sale_2026_02 3']);
    },
  );

  it('that rows made by SQL violate are known to be such', async () => {
    files.write('made.sql', 'select id::int * 100 as id, day::date as day, place from sale_staging');
    const made = { staging: 'text', columns: undefined, transform: sqlFile('made.sql') };
    expect(await failureOf(run(pipeline({ ...few, ...made })))).toMatchObject({
      code: 'ETL_CONSTRAINT',
      message: expect.stringContaining(
        'few (id < 100) is violated by rows that SQL made; nothing',
      ) as unknown,
    });
  });
});

describe('what is in production is refused, before anything is loaded,', () => {
  const refusal = async (ddl: string, change: object = {}): Promise<string> => {
    await database.query(ddl);
    write('04.csv', '8:2026-05-01:UL');
    const before = await rowsOf('select count(*)::int from etl.chunk');
    const error = await failureOf(run(pipeline(change)));
    expect(error).toMatchObject({ code: 'ETL_PUBLISH_SHAPE' });
    expect(await rowsOf('select count(*)::int from etl.chunk')).toEqual(before);
    return error.message;
  };

  it('when it is divided otherwise, or not at all', async () => {
    await run(pipeline({ partitionBy: undefined }));
    expect(await refusal('')).toContain(
      "shop.sale has no partitions, and partitionBy is range('day', 'month')",
    );
    await database.query('drop table shop.sale');
    await run();
    expect(await refusal('', { partitionBy: list('day') })).toContain(
      'shop.sale is partitioned by RANGE (day), and',
    );
    expect(await refusal('', { partitionBy: range('day', 'year') })).toContain(
      "its partition shop.sale_2026_01 is for values FROM ('2026-01-01') TO ('2026-02-01'), which range('day', 'year') does not make",
    );
    expect(await refusal('create table shop.rest partition of shop.sale default')).toContain(
      'its partition shop.rest is for DEFAULT',
    );
    expect(
      await refusal(`drop table shop.rest; create table shop.deep partition of shop.sale
        for values from ('2026-06-01') to ('2026-07-01') partition by range (day)`),
    ).toContain('its partition shop.deep is not a plain table');
    expect(await refusal('drop table shop.deep; alter table shop.sale add more int')).toContain(
      'in the table more integer',
    );
    await database.query(
      'alter table shop.sale drop more; alter table shop.sale detach partition shop.sale_2026_05',
    );
    expect((await failureOf(run())).message).toContain('shop.sale_2026_05 cannot be created');
  });
});

it.each([
  ['numeric', column.numeric('id')],
  ['double precision', column.double('id')],
  ['interval', column.of('interval', 'id')],
])('values that are equal and differ as texts divide no table (%s)', async (type, id) => {
  const change = {
    columns: { id, day: column.date('day'), place: column.text('place') },
    partitionBy: list('id'),
    publish: 'append',
  };
  const message = expect.stringContaining(`by the values of id, which is ${type}`) as unknown;
  expect(await failureOf(run(pipeline(change)))).toMatchObject({ code: 'ETL_PUBLISH_SHAPE', message });
  expect(await rowsOf('select from etl.chunk')).toEqual([]);
  await database.query(
    `create schema if not exists shop; create table shop.sale (id ${type}, day date, place text, primary key (id, day)) partition by list (id)`,
  );
  expect(await failureOf(run(pipeline(change)))).toMatchObject({ code: 'ETL_PUBLISH_SHAPE', message });
});

describe('append', () => {
  const appended = { publish: { mode: 'append', changed: 'reload', gone: 'unload' } };

  it('puts rows into their partitions, and makes those that are missing', async () => {
    expect(await run(pipeline(appended))).toMatchObject({ tables: [{ strategy: 'partitions' }, {}] });
    const [made] = [
      await oid(),
      await database.query('create view shop.v as select * from shop.sale_2026_01'),
    ];
    // PostgreSQL 14 says half a second later what was analyzed.
    if (serverMajor < 15) await sleep(600);
    const analyzed = () =>
      rowsOf(`select last_analyze as at from pg_stat_user_tables where relname = 'sale'`);
    const before = await analyzed();
    // Only PostgreSQL 18 has taken them over.
    expect(before.map(({ at }) => at === null)).toEqual([serverMajor >= 18]);
    write('03.csv', '4:2026-02-02:UL', '5:2026-03-02:UL');
    expect(await run(pipeline(appended))).toMatchObject({
      tables: [{ strategy: 'append', rows: 5 }, { rows: 1 }],
    });
    expect(await partitions()).toEqual(['sale_2026_01 1 2', 'sale_2026_02 3 4', 'sale_2026_03 5']);
    // Its statistics are those of its first rows, and these are few more.
    expect(await analyzed()).toEqual(before);
    write('03.csv', '5:2026-03-02:UL', '6:2026-12-31:UL');
    remove('02.csv');
    expect(await run(pipeline(appended))).toMatchObject({ tables: [{ strategy: 'append', rows: 4 }, {}] });
    expect(await partitions()).toEqual([
      'sale_2026_01 1 2',
      'sale_2026_02',
      'sale_2026_03 5',
      'sale_2026_12 6',
    ]);
    expect(await oid()).toBe(made);
    const [first, ...others] = (await shape()).slice(1);
    for (const other of others)
      expect((other['indexes'] as string[]).length).toBe((first!['indexes'] as string[]).length);
    expect(await run(pipeline(appended))).toMatchObject({ outcome: 'unchanged' });
  });
});
