// Several pipelines that fill one table: what each of them found when it was planned is looked at again when it is published.

import { rmSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, range, sqlFile, type Pipeline } from '../../src/index.ts';
import { codeOf } from '../../src/core/errors/errors.ts';
import type { Point } from '../helpers/fault-proxy.ts';
import { holdRun, holds, turnsOf, type HeldRun } from '../helpers/held-runs.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { forgetRuns } from '../helpers/server.ts';

const { files, database, notices, rowsOf, run } = usePipelineRuns();

/** Writes a file of sales: `1:01-05` is number 1, of 5 January. */
const write = (name: string, ...sales: string[]): string =>
  files.write(
    `in/${name}.csv`,
    ['id,day', ...sales.map((sale) => sale.replace(':', ',2026-')), ''].join('\n'),
  );

files.write('total.sql', 'select day, count(*)::int as sales from sale group by day');
files.write(
  'merged.sql',
  `select day, count(*)::int as sales from sale
    where day in (select day from sale_new union select day from sale_old) group by day`,
);

const columns = { id: column.integer('id'), day: column.date('day') };
const total = { from: ['sale'], transform: sqlFile('total.sql'), primaryKey: ['day'] };

/** Every mode in which pipelines share a table, with what they declare. */
const modes = {
  append: { columns, publish: 'append' },
  'append by key': {
    columns,
    primaryKey: ['id'],
    publish: { mode: 'append', changed: 'reload', gone: 'unload' },
  },
  merge: { columns, primaryKey: ['id'], publish: 'merge' },
  history: { columns, primaryKey: ['id'], publish: { mode: 'history', at: 'day' } },
  touched: {
    columns,
    primaryKey: ['id', 'day'],
    partitionBy: range('day', 'month'),
    publish: { mode: 'replace', only: 'touched' },
  },
} as const;
type Mode = keyof typeof modes;

/** Loads the files whose names begin with its own, and those that both list. */
const pipeline = (name: string, mode: Mode = 'append', tables: object = { total }): Pipeline =>
  definePipeline({
    name,
    schema: 'shop',
    tables: { sale: { source: csv(`in/{${name},both}*.csv`), guard: false, ...modes[mode] }, ...tables },
  } as unknown as Parameters<typeof definePipeline>[0]);

/** What a run comes to: its strategy, or the code of its error. */
const outcomeOf = (given: Pipeline, options: object = {}): Promise<string> =>
  run(given, options).then(
    ({ outcome, tables }) => (outcome === 'published' ? tables[0]!.strategy : outcome),
    (error: unknown) => codeOf(error) ?? String(error),
  );

const hold = (given: Pipeline, points: readonly Point[], options: object = {}): Promise<HeldRun<string>> =>
  holdRun(database.url, points, (databaseUrl) => outcomeOf(given, { databaseUrl, ...options }));

const ids = async (): Promise<string> =>
  String((await rowsOf(`select string_agg(id::text, ' ' order by id) as ids from shop.sale`))[0]!['ids']);
const recorded = async (): Promise<string> =>
  String(
    (
      await rowsOf(`select string_agg(pipeline || ' ' || name || ' ' || rows, ', ' order by pipeline, name) as files
        from etl.published_file where rows > 0`)
    )[0]!['files'],
  );
/** Days of which the derived table says something else than the table. */
const wrongTotals = () =>
  rowsOf(`select day, s.sales, t.sales as total from (select day, count(*)::int as sales from shop.sale group by day) s
    full join shop.total t using (day) where s.sales is distinct from t.sales`);

/** Makes the bookkeeping, so that two first runs do not make it together. */
beforeAll(async () => {
  write('a', '1:01-05');
  await run(pipeline('a'));
});
beforeEach(async () => {
  rmSync(`${files.directory}/in`, { recursive: true, force: true });
  await database.query(`drop schema if exists shop cascade; ${forgetRuns}`);
});

/** The names are alike, so that `a` may have the first turn. */
const turns = (each: number): readonly string[] =>
  turnsOf(['a', 'b'], each).filter((order) => order[0] === 'a');

describe.each(Object.keys(modes) as Mode[])('%s: the first runs of two pipelines', (mode) => {
  const points = mode === 'append' ? [holds.planned, holds.built] : [holds.planned];
  it.each(turns(points.length + 1))('in the order %s leave the rows of both', async (order) => {
    write('a', '1:01-05', '2:01-05');
    write('b', '3:02-05', '4:02-06');
    const runs = new Map([
      ['a', await hold(pipeline('a', mode), points)],
      ['b', await hold(pipeline('b', mode), points)],
    ]);
    const ends: string[] = [];
    for (const name of order) ends.push((await runs.get(name)!.advance()) ?? 'held');
    expect(ends.filter((end) => end.startsWith('ETL_'))).toEqual([]);
    expect(await ids()).toBe('1 2 3 4');
    expect(await recorded()).toBe('a in/a.csv 2, b in/b.csv 2');
    expect(await wrongTotals()).toEqual([]);
  });
});

/** Runs `a` until it is held, lets others do something, and lets it go on. */
const interrupted = async (
  given: Pipeline,
  point: Point,
  meanwhile: () => Promise<unknown>,
  options: object = {},
): Promise<string> => {
  const held = await hold(given, [point], options);
  expect(await held.advance()).toBeUndefined();
  try {
    await meanwhile();
  } finally {
    await held.finish();
  }
  return held.finish();
};
const { planned, built, judged } = holds;
const insert = (values: string) => database.query(`insert into shop.sale values ${values}`);

describe('a file that both list', () => {
  it.each([
    ['append', planned, 'ETL_FILE_TWICE'],
    ['append', built, 'ETL_FILE_TWICE'],
    ['append by key', planned, 'ETL_FILE_TWICE'],
    ['merge', planned, 'merge'],
  ] as const)('%s: is there once', async (mode, point, end) => {
    write('a', '1:01-05');
    write('b', '2:01-05');
    for (const name of ['a', 'b']) await run(pipeline(name, mode));
    write('both', '7:01-07', '8:01-08');
    expect(await interrupted(pipeline('a', mode), point, () => run(pipeline('b', mode)))).toBe(end);
    expect(await ids()).toBe('1 2 7 8');
    // The next run says the same, and loads nothing.
    expect(await outcomeOf(pipeline('a', mode))).toBe(end === 'merge' ? 'unchanged' : end);
    rmSync(`${files.directory}/in/both.csv`);
    write('a2', '9:01-09');
    expect(await outcomeOf(pipeline('a', mode))).toBe(end === 'merge' ? 'merge' : 'append');
    expect(await ids()).toBe('1 2 7 8 9');
  });

  it('is there once after two first runs', async () => {
    write('both', '7:01-07');
    expect(await interrupted(pipeline('a'), planned, () => run(pipeline('b')))).toBe('ETL_FILE_TWICE');
    expect(await ids()).toBe('7');
  });
});

describe('a copy of a file that the other has loaded, under another name', () => {
  const begin = async (): Promise<void> => {
    write('a', '1:01-05');
    write('b', '2:01-05');
    for (const name of ['a', 'b']) await run(pipeline(name));
    write('a7', '7:01-07');
  };

  it('is refused when it is there at the plan', async () => {
    await begin();
    await run(pipeline('a'));
    write('b7', '7:01-07');
    expect(await outcomeOf(pipeline('b'))).toBe('ETL_FILE_COPY');
    expect(await ids()).toBe('1 2 7');
  });

  it('is refused when it comes while the run works', async () => {
    await begin();
    const meanwhile = async (): Promise<void> => {
      write('b7', '7:01-07');
      await run(pipeline('b'));
    };
    expect(await interrupted(pipeline('a'), planned, meanwhile)).toBe('ETL_FILE_COPY');
    expect(await ids()).toBe('1 2 7');
  });
});

describe('a full refresh', () => {
  const begin = async (mode: Mode): Promise<void> => {
    write('a', '1:01-05');
    await run(pipeline('a', mode));
    write('b', '2:02-06');
  };

  it.each([
    ['append', planned],
    ['append by key', judged],
    ['merge', planned],
    ['history', built],
    ['touched', planned],
  ] as const)('of %s keeps the rows that another pipeline has added meanwhile', async (mode, point) => {
    await begin(mode);
    const meanwhile = () => run(pipeline('b', mode));
    const options = { fullRefresh: true };
    expect(await interrupted(pipeline('a', mode), point, meanwhile, options)).toBe('ETL_ROWS_LOST');
    expect(await ids()).toBe('1 2');
    expect(await recorded()).toBe('a in/a.csv 1, b in/b.csv 1');
    // The run after it adds what is new, and does not try that again.
    write('a2', '3:03-07');
    expect(await outcomeOf(pipeline('a', mode))).not.toMatch(/^ETL_/);
    expect(await ids()).toBe('1 2 3');
    expect(await outcomeOf(pipeline('b', mode))).not.toMatch(/^ETL_/);
    expect(await ids()).toBe('1 2 3');
  });

  it('deletes them where that is allowed, and their pipeline loads them again', async () => {
    await begin('append');
    const options = { fullRefresh: true, allowShrink: ['sale'] };
    expect(await interrupted(pipeline('a'), planned, () => run(pipeline('b')), options)).toBe('swap');
    const deletes =
      'shop.sale: loading everything again deletes 1 row of 1 file of pipeline b that it does not list, such as in/b.csv';
    expect(notices.filter((notice) => notice.includes('deletes'))).toEqual([deletes]);
    expect([await ids(), await recorded()]).toEqual(['1', 'a in/a.csv 1']);
    await run(pipeline('b'));
    expect([await ids(), await recorded()]).toEqual(['1 2', 'a in/a.csv 1, b in/b.csv 1']);
    expect(await outcomeOf(pipeline('a'), options)).toBe('swap');
    expect(notices.filter((notice) => notice.includes('deletes'))).toEqual([deletes]);
  });

  it.each([
    ['append', planned, `(9, '2026-01-09')`],
    ['append by key', judged, `(9, '2026-01-09', 0)`],
    ['merge', built, `(9, '2026-01-09')`],
  ] as const)('of %s keeps a row that somebody has inserted', async (mode, point, values) => {
    await begin(mode);
    const options = { fullRefresh: true };
    expect(await interrupted(pipeline('a', mode), point, () => insert(values), options)).toBe(
      'ETL_ROWS_LOST',
    );
    expect(await ids()).toBe('1 9');
    expect(await outcomeOf(pipeline('a', mode), options)).toBe('ETL_ROWS_LOST');
    expect(await outcomeOf(pipeline('a', mode), { ...options, allowShrink: ['sale'] })).toBe('swap');
    expect(await ids()).toBe('1');
  });

  it('that is allowed to delete rows stops a run that stood on them, whose next one loads them again', async () => {
    await begin('append');
    await run(pipeline('b'));
    write('a2', '3:01-07');
    const meanwhile = () => run(pipeline('b'), { fullRefresh: true, allowShrink: ['sale'] });
    expect(await interrupted(pipeline('a'), planned, meanwhile)).toBe('ETL_PUBLISH_OVERTAKEN');
    expect(await ids()).toBe('2');
    expect(await outcomeOf(pipeline('a'))).toBe('append');
    expect([await ids(), await recorded()]).toEqual(['1 2 3', 'a in/a.csv 1, a in/a2.csv 1, b in/b.csv 1']);
  });
});

describe('a table that is empty when a run is planned', () => {
  it.each([planned, built, judged])('keeps a row that somebody inserts while it is $name', async (point) => {
    write('a', '1:01-05');
    await run(pipeline('a'));
    await database.query('truncate shop.sale');
    write('a2', '2:01-06');
    expect(await interrupted(pipeline('a'), point, () => insert(`(9, '2026-01-09')`))).toBe('append');
    expect([await ids(), await recorded()]).toEqual(['1 2 9', 'a in/a.csv 1, a in/a2.csv 1']);
    expect(await wrongTotals()).toEqual([]);
    expect(notices.join()).toContain('shop.sale got rows after this run was planned');
  });

  it('and was full before is loaded as a whole by each of its pipelines', async () => {
    for (const [place, name] of ['a', 'b'].entries()) {
      write(name, `${place}:01-05`);
      await run(pipeline(name));
    }
    await database.query('truncate shop.sale');
    expect(await interrupted(pipeline('a'), planned, () => run(pipeline('b')))).toBe('append');
    expect([await ids(), await recorded()]).toEqual(['0 1', 'a in/a.csv 1, b in/b.csv 1']);
  });
});

it.each([
  ['emptied', 'truncate shop.sale'],
  ['dropped', 'drop table shop.sale'],
])('a table that is %s meanwhile gets all files, by the next run', async (_, sql) => {
  write('a', '1:01-05');
  await run(pipeline('a', 'append', {}));
  write('a2', '2:01-06');
  const meanwhile = () => database.query(sql);
  expect(await interrupted(pipeline('a', 'append', {}), built, meanwhile)).toBe('ETL_PUBLISH_OVERTAKEN');
  expect(await outcomeOf(pipeline('a', 'append', {}))).toBe('swap');
  expect(await ids()).toBe('1 2');
});

it('a derived table that two pipelines merge counts the rows of both', async () => {
  const both = (name: string): Pipeline =>
    pipeline(name, 'append', { total: { ...total, transform: sqlFile('merged.sql'), publish: 'merge' } });
  for (const [place, name] of ['a', 'b'].entries()) {
    write(name, `${place}:01-05`);
    await run(both(name));
  }
  write('a2', '2:01-05');
  write('b2', '3:01-05');
  expect(await interrupted(both('a'), built, () => run(both('b')))).toBe('append');
  expect(notices.join()).toContain(
    'rows of shop.sale, shop.total changed while the tables of this run were built',
  );
  expect([await ids(), await wrongTotals()]).toEqual(['0 1 2 3', []]);
});

it('a partition that is replaced loses rows that another pipeline has put there meanwhile, and the files know it', async () => {
  const appending = pipeline('b', 'append by key', {
    sale: {
      ...modes.touched,
      source: csv('in/b*.csv'),
      guard: false,
      publish: { mode: 'append', changed: 'reload' },
    },
  });
  write('a', '1:01-05');
  await run(pipeline('a', 'touched'));
  write('a2', '2:01-06');
  write('b', '3:02-05', '4:01-07');
  expect(await interrupted(pipeline('a', 'touched'), built, () => run(appending))).toBe('partitions');
  expect([await ids(), await recorded()]).toEqual(['1 2 3', 'a in/a.csv 1, a in/a2.csv 1, b in/b.csv 1']);
});

it('the newest publication of a table is that of the run that published last, not of the one that began last', async () => {
  write('a', '1:01-05');
  await run(pipeline('a'));
  write('a2', '2:01-06');
  write('b', '3:01-07');
  expect(await interrupted(pipeline('a'), built, () => run(pipeline('b')))).toBe('append');
  write('b2', '4:01-08');
  expect((await run(pipeline('b'))).tables[0]).toMatchObject({ rowsBefore: 3, rows: 4 });
});

it('pipelines whose tables are in another order do not wait for each other for ever', async () => {
  const source = { columns, publish: 'append' } as const;
  const two = (name: string, tables: readonly string[]): Pipeline =>
    definePipeline({
      name,
      schema: 'shop',
      tables: Object.fromEntries(
        tables.map((table) => [table, { ...source, source: csv(`in/${name}*.csv`) }]),
      ),
    });
  const orders = { a: ['sale', 'other'], b: ['other', 'sale'] };
  for (const round of [1, 2]) {
    const runs: HeldRun<string>[] = [];
    for (const [place, [name, tables]] of Object.entries(orders).entries()) {
      write(`${name}${round}`, `${2 * round + place}:01-05`);
      runs.push(await hold(two(name, tables), [judged]));
    }
    for (const one of runs) await one.advance();
    const ends = await Promise.all(runs.map((one) => one.finish()));
    expect(ends.filter((end) => end.startsWith('ETL_'))).toEqual([]);
  }
  expect(await ids()).toBe('2 3 4 5');
  expect(await rowsOf('select count(*)::int as rows from shop.other')).toEqual([{ rows: 4 }]);
});
