// Derived tables whose rows are merged: made of the rows of a run, they come to what all rows would have made.

import { rmSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { column, csv, definePipeline, oneOf, sqlFile, type Pipeline } from '../../src/index.ts';
import { createChance, readCount, searched } from '../helpers/seeded.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, notices, rowsOf, run } = usePipelineRuns({ workers: 2 });

const columns = {
  id: column.integer('id'),
  day: column.integer('day'),
  pieces: column.integer('pieces'),
};

/** Totals of days, and of weeks from those of days; what they are made of is merged, appended and replaced. */
const pipeline = (name: string, publish: unknown): Pipeline =>
  definePipeline({
    name,
    schema: name,
    tables: {
      kind: {
        source: csv('kinds.csv'),
        columns: { week: column.integer('week'), name: column.text('name') },
        primaryKey: ['week'],
      },
      sale: {
        source: csv('in/*.csv'),
        columns,
        primaryKey: ['id'],
        publish: publish as 'merge',
        guard: false,
      },
      day_total: {
        from: ['sale'],
        transform: sqlFile('day.sql'),
        primaryKey: ['day'],
        publish: 'merge',
        guard: false,
      },
      week_total: {
        from: ['day_total', 'kind'],
        transform: sqlFile('week.sql'),
        primaryKey: ['week'],
        publish: 'merge',
        guard: false,
      },
    },
  });

/** All of them, made of everything. */
const allDays = (name: string): string =>
  `select day, day / 7 as week, sum(pieces)::int as pieces, count(*)::int as sales from ${name}.sale group by day`;
const allWeeks = (name: string): string =>
  `select week, k.name, sum(pieces)::int as pieces from (${allDays(name)}) d left join ${name}.kind k using (week) group by 1, 2`;

const changedDays = 'select day from sale_new union select day from sale_old';
// A day that has no sale left has a row of nothing.
files.write(
  'day.sql',
  `select d.day, d.day / 7 as week, coalesce(sum(s.pieces), 0)::int as pieces, count(s.id)::int as sales
    from (${changedDays}) d left join sale s using (day) group by d.day`,
);
files.write(
  'week.sql',
  `select week, k.name, sum(pieces)::int as pieces from day_total left join kind k using (week)
    where week in (select week from day_total_new union select week from day_total_old) group by 1, 2`,
);
files.write('kinds.csv', 'week,name\n0,dull\n1,busy\n');

const totals = async (name: string, daily: string, weekly: string): Promise<unknown> => {
  const of = (rows: string): string => (rows.startsWith('(') ? rows : `${name}.${rows}`);
  return (
    await rowsOf(`select (select json_agg(d order by day) from ${of(daily)} d where sales > 0) as days,
      (select json_agg(w order by week) from ${of(weekly)} w where pieces > 0) as weeks`)
  )[0];
};

const write = (name: string, ...sales: string[]): void =>
  void files.write(
    `in/${name}.csv`,
    ['id,day,pieces,op', ...sales.map((sale) => [...sale.split(':'), ''].slice(0, 4).join(',')), ''].join(
      '\n',
    ),
  );

beforeEach(async () => {
  rmSync(`${files.directory}/in`, { recursive: true, force: true });
  await database.query('drop schema if exists merged, appended, shop cascade');
});

it('updates the totals that the rows of a run touch, and leaves the others', async () => {
  const merged = pipeline('shop', { mode: 'merge', deleted: oneOf('op', ['D']) });
  write('1', '1:1:5', '2:2:5', '3:9:5');
  expect(await run(merged)).toMatchObject({
    tables: [{}, {}, { strategy: 'swap', rows: 3 }, { strategy: 'swap', rows: 2 }],
  });
  const first = await rowsOf('select day, xmin::text from shop.day_total order by day');
  // A row goes to another day, one is as it was, one is deleted.
  write('2', '1:2:7', '3:9:5', '2:2:5:D', '4:20:1');
  expect(await run(merged)).toMatchObject({
    tables: [
      { strategy: 'in place' },
      { strategy: 'merge', changes: { inserted: 1, updated: 1, unchanged: 1, deleted: 1, superseded: 0 } },
      {
        strategy: 'merge',
        rows: 4,
        changes: { inserted: 1, updated: 2, unchanged: 1, deleted: 0, superseded: 0 },
      },
      {
        strategy: 'merge',
        rows: 3,
        changes: { inserted: 1, updated: 1, unchanged: 1, deleted: 0, superseded: 0 },
      },
    ],
  });
  expect(await rowsOf('select day, pieces, sales from shop.day_total order by day')).toEqual([
    { day: 1, pieces: 0, sales: 0 },
    { day: 2, pieces: 7, sales: 1 },
    { day: 9, pieces: 5, sales: 1 },
    { day: 20, pieces: 1, sales: 1 },
  ]);
  expect(await rowsOf('select day, xmin::text from shop.day_total where day = 9')).toEqual([first[2]]);
  files.write('kinds.csv', 'week,name\n0,calm\n1,busy\n');
  write('3', '5:0:1');
  await run(merged);
  expect(await rowsOf('select week, name, pieces from shop.week_total order by week')).toEqual([
    { week: 0, name: 'calm', pieces: 8 },
    { week: 1, name: 'busy', pieces: 5 },
    { week: 2, name: null, pieces: 1 },
  ]);
  expect(notices).toEqual([]);
  await run(merged, { fullRefresh: true });
  expect(await rowsOf('select count(*)::int as days from shop.day_total')).toEqual([{ days: 4 }]);
});

const seed = readCount('MERGE_SEED', 15);
const nights = searched(3);

it.each([
  { name: 'merged', publish: { mode: 'merge', changed: 'reload', deleted: oneOf('op', ['D']) } },
  { name: 'appended', publish: { mode: 'append', changed: 'reload', gone: 'unload' } },
])(
  `$name: they come to what a full rebuild makes, with seed ${seed}`,
  { timeout: nights * 20_000 },
  async ({ name, publish }) => {
    const { between, pick } = createChance(seed);
    const merged = pipeline(name, publish);
    for (let night = 1; night <= nights; night += 1) {
      const written = Array.from({ length: between(1, 2) }, () => `${between(1, 4)}`);
      for (const file of written) {
        // Appended ids are of their file alone.
        const idOf = (place: number): number =>
          name === 'merged' ? between(1, 12) : Number(file) * 100 + place;
        const sales = Array.from(
          { length: between(1, 5) },
          (_, place) => `${idOf(place)}:${between(0, 30)}:${between(1, 9)}:${pick(['', '', 'D'])}`,
        );
        write(file, ...sales);
      }
      await run(merged);
      expect(await totals(name, 'day_total', 'week_total'), `night ${night}`).toEqual(
        await totals(name, `(${allDays(name)})`, `(${allWeeks(name)})`),
      );
    }
  },
);
