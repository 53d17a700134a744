// publish: 'history': every version of a row by primary key, with its times, without gap or overlap.

import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, hash, oneOf, sqlFile, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { searched } from '../helpers/seeded.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, rowsOf, one, run, startOver } = usePipelineRuns();

/** Writes a file of prices: `1:5:2` is number 1 at 5, from the second on; `1::3:D` is its end. */
const write = (name: string, ...prices: string[]): string => {
  const lines = prices.map((price) => {
    const [id, amount = '', day = '', op = ''] = price.split(':');
    return [id, amount, day === '' ? '' : `2024-01-${day.padStart(2, '0')}`, op].join(',');
  });
  return files.write(`in/${name}`, ['id,price,day,op', ...lines, ''].join('\n'));
};

files.write(
  'total.sql',
  'select count(*)::int as versions, sum(price) filter (where valid_to is null)::int as price from item',
);
const columns = { id: column.integer('id'), price: column.integer('price').nullable() };
const timed = { ...columns, day: column.date('day') };
const deleted = oneOf('op', ['D']);
const pipeline = (publish: unknown, change: object = {}): Pipeline =>
  definePipeline({
    name: 'shop',
    schema: 'shop',
    tables: {
      item: {
        source: csv('in/*.csv'),
        columns: timed,
        primaryKey: ['id'],
        publish: publish as 'history',
        ...change,
      },
      total: { from: ['item'], transform: sqlFile('total.sql'), guard: false },
    },
  });
const byDay = pipeline({ mode: 'history', at: 'day', deleted });
const byRun = pipeline({ mode: 'history', deleted }, { columns });

/** `1:5@2-3` is number 1 at 5, from the second to the third. */
const versions = () =>
  one(`select coalesce(string_agg(id || ':' || coalesce(price::text, '') || '@' || extract(day from valid_from) || '-'
    || coalesce(extract(day from valid_to)::text, ''), ' ' order by id, valid_from), '') from shop.item`);
const total = async () => (await rowsOf('select * from shop.total'))[0];
const oid = () => one(`select 'shop.item'::regclass::oid as oid`);

beforeEach(() => startOver('shop'));

describe('with a column of the time', () => {
  it('keeps every version, once, also of late files, and ends those that are deleted', async () => {
    write('01.csv', '1:5:10', '2:6:10', '1:7:12', '1:7:14');
    expect(await run(byDay)).toMatchObject({ tables: [{ strategy: 'swap', copied: 4, rows: 3 }, {}] });
    expect([await versions(), await total()]).toEqual([
      '1:5@10-12 1:7@12- 2:6@10-',
      { versions: 3, price: 13 },
    ]);
    const made = await oid();
    await database.query('create view shop.v as select * from shop.item');
    // Late, before and in between; the same again; the last of two at one time; an end, and a new beginning.
    write('00.csv', '1:4:8', '1:9:11', '2:6:15', '3:1:9', '3:2:9', '2::16:D', '2:6:18');
    expect(await run(byDay)).toMatchObject({
      tables: [
        { strategy: 'history', rowsBefore: 3, rows: 7, changes: { inserted: 4, updated: 2, deleted: 0 } },
        {},
      ],
    });
    const now = '1:4@8-10 1:5@10-11 1:9@11-12 1:7@12- 2:6@10-16 2:6@18- 3:2@9-';
    expect([await versions(), await total(), await oid()]).toEqual([now, { versions: 7, price: 15 }, made]);
    // What is known already changes nothing, and is not written again.
    write('02.csv', '1:4:8', '1:4:9', '2::17:D', '3:2:20');
    const [{ all: places }] = (await rowsOf(
      `select string_agg(ctid::text, ' ' order by ctid) as all from shop.item`,
    )) as [{ all: string }];
    expect(await run(byDay)).toMatchObject({
      tables: [{ changes: { inserted: 0, updated: 0, deleted: 0, unchanged: 4 } }, {}],
    });
    expect(await versions()).toBe(now);
    expect(await rowsOf(`select string_agg(ctid::text, ' ' order by ctid) as all from shop.item`)).toEqual([
      { all: places },
    ]);
    // Two versions become one when what was between them is no difference any more.
    write('03.csv', '1:5:11');
    await run(byDay);
    expect(await versions()).toBe(now.replace('1:5@10-11 1:9@11-12', '1:5@10-12'));
    expect(await run(byDay)).toMatchObject({ outcome: 'unchanged' });
    expect(
      await rowsOf(
        `select pg_get_constraintdef(oid) as key from pg_constraint where conrelid = 'shop.item'::regclass and contype = 'p'`,
      ),
    ).toEqual([{ key: 'PRIMARY KEY (id, valid_from)' }]);
    await run(byDay, { fullRefresh: true });
    expect(await versions()).toBe(now.replace('1:5@10-11 1:9@11-12', '1:5@10-12'));
  });

  it('loads a changed file again as news', async () => {
    const given = pipeline({ mode: 'history', at: 'day', changed: 'reload' });
    write('01.csv', '1:5:10', '1:6:12');
    await run(given);
    write('01.csv', '1:5:10', '1:7:11', '1:8:12');
    await run(given);
    expect(await versions()).toBe('1:5@10-11 1:7@11-12 1:8@12-');
  });
});

describe('without one', () => {
  const spans = async () =>
    (
      await rowsOf(`select id || ':' || price || ' ' || (select count(*) from etl.run u where u.started_at = i.valid_from) || ' '
          || coalesce((select u.id::text from etl.run u where u.started_at = i.valid_to), '-') as all
        from shop.item i order by id, valid_from`)
    ).map((row) => row['all']);

  it('takes the start of each run', async () => {
    write('01.csv', '1:5', '1:6', '2:7');
    await run(byRun);
    expect(await spans()).toEqual(['1:6 1 -', '2:7 1 -']);
    write('02.csv', '1:6', '2:8', '3:9');
    await run(byRun);
    expect(await spans()).toEqual(['1:6 1 -', '2:7 1 2', '2:8 1 -', '3:9 1 -']);
    write('03.csv', '1::1:D', '4::1:D');
    await run(byRun);
    expect(await spans()).toEqual(['1:6 1 3', '2:7 1 2', '2:8 1 -', '3:9 1 -']);
    expect(await run(byRun)).toMatchObject({ outcome: 'unchanged' });
    expect(await failureOf(run(byRun, { fullRefresh: true }))).toMatchObject({ code: 'ETL_ROWS_LOST' });
  });

  it('comes after what is there when a clock went back', async () => {
    write('01.csv', '1:5');
    await run(byRun);
    await database.query(`update shop.item set valid_from = now() + interval '1 day'`);
    write('02.csv', '1:6');
    await run(byRun);
    expect(
      await rowsOf(
        'select count(*)::int as n, bool_and(valid_to is null or valid_to > valid_from) as ok from shop.item',
      ),
    ).toEqual([{ n: 2, ok: true }]);
    expect(await rowsOf('select price from shop.item where valid_to is null')).toEqual([{ price: 6 }]);
  });
});

it('a new column is added, and old versions stay as they are', async () => {
  write('01.csv', '1:5:10');
  await run(byDay);
  files.write('in/02.csv', 'id,price,day,op,note\n1,5,2024-01-12,,n\n');
  await run(
    pipeline(
      { mode: 'history', at: 'day', deleted },
      { columns: { ...timed, note: column.text('note').nullable() }, evolve: 'add' },
    ),
  );
  expect(
    await rowsOf('select price, note, valid_to is null as current from shop.item order by valid_from'),
  ).toEqual([
    { price: 5, note: null, current: false },
    { price: 5, note: 'n', current: true },
  ]);
});

/** The versions of one key by a plain program: values by their days, null being an end. */
type Story = ReadonlyMap<number, number | null>;

const told = (story: Story): [number, number | null][] => {
  const kept: [number, number | null][] = [];
  for (const [day, value] of [...story].toSorted(([a], [b]) => a - b))
    if ((kept.at(-1)?.[1] ?? null) !== value) kept.push([day, value]);
  return kept;
};

const model = (nights: readonly (readonly (readonly [number, number | null, number])[])[]): string => {
  const stories = new Map<number, Story>();
  for (const night of nights) {
    const touched = new Map<number, Map<number, number | null>>();
    for (const [id, value, day] of night) {
      const story = touched.get(id) ?? new Map(stories.get(id));
      touched.set(id, story.set(day, value));
    }
    for (const [id, story] of touched) stories.set(id, new Map(told(story)));
  }
  return [...stories]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([id, story]) => {
      const events = told(story);
      return events.flatMap(([day, value], place) =>
        value === null ? [] : [`${id}:${value}@${day}-${events[place + 1]?.[0] ?? ''}`],
      );
    })
    .join(' ');
};

it('random nights give the versions of the model', async () => {
  const record = fc.tuple(
    fc.integer({ min: 1, max: 3 }),
    fc.option(fc.integer({ min: 1, max: 3 })),
    fc.integer({ min: 1, max: 9 }),
  );
  // Equal files would be refused as copies.
  const nights = fc.uniqueArray(fc.array(record, { minLength: 1, maxLength: 8 }), {
    minLength: 3,
    maxLength: 4,
    selector: (records) => JSON.stringify(records),
  });
  await fc.assert(
    fc.asyncProperty(nights, async (given) => {
      await startOver('shop');
      for (const [night, records] of given.entries()) {
        write(
          `${night}.csv`,
          ...records.map(([id, value, day]) =>
            value === null ? `${id}::${day}:D` : `${id}:${value}:${day}`,
          ),
        );
        await run(byDay);
        expect(await versions()).toBe(model(given.slice(0, night + 1)));
      }
    }),
    { numRuns: searched(2) },
  );
});

it.each([
  { publish: 'history', change: { primaryKey: [] }, problem: /'history' needs a primaryKey/ },
  { publish: { mode: 'history', at: 'price' }, problem: /`price` is not a time/ },
  { publish: { mode: 'history', at: 'dya' }, problem: /`dya` is not a column of the table/ },
  { publish: { mode: 'history', from: 'day' }, problem: /makes a column of this name/ },
  { publish: { mode: 'history', from: 'x', to: 'x' }, problem: /from and to are both x/ },
  { publish: { mode: 'history', gone: 'unload' }, problem: /gone: 'unload' needs mode 'append'/ },
  {
    publish: 'history',
    change: { partitionBy: hash('id', 2) },
    problem: /cannot be partitioned/,
  },
  { publish: 'history', change: { staging: 'none' }, problem: /'history' needs staging: 'typed'/ },
])('is declared rightly or not at all: $problem', ({ publish, change = {}, problem }) => {
  expect(() => pipeline(publish, change)).toThrow(problem);
});
