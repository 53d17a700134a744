// A merge writes rows where they are, or builds the table again: both come to the same, also while others write.

import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { column, csv, definePipeline, index, oneOf, sqlFile, type Pipeline } from '../../src/index.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { withPg } from '../helpers/own-server.ts';
import { createChance, readCount, searched } from '../helpers/seeded.ts';
import { until } from '../helpers/workers.ts';

const { files, database, rowsOf, run } = usePipelineRuns();

files.write(
  'total.sql',
  'select part, count(*) as items, sum(price) as price from item where part in (select part from item_new union select part from item_old) group by part',
);

const ways = ['upsert', 'rebuild'] as const;
type Way = (typeof ways)[number];

const pipeline = (name: string, by: Way | undefined, publish: object = {}): Pipeline =>
  definePipeline({
    name,
    schema: name,
    tables: {
      item: {
        source: csv('in/*.csv'),
        columns: {
          id: column.integer('id'),
          part: column.text('part'),
          price: column.integer('price').nullable(),
          at: column.integer('at').nullable(),
        },
        primaryKey: ['id'],
        indexes: [index('part'), index('price', { where: 'price > 1' })],
        checks: { price_known: 'price is null or price >= 0' },
        publish: { mode: 'merge', by, ...publish },
        guard: false,
      },
      total: {
        from: ['item'],
        transform: sqlFile('total.sql'),
        primaryKey: ['part'],
        publish: { mode: 'merge', by },
        guard: false,
      },
    },
  });

/** Lines of number, part, price, time and what is done. */
const write = (name: string, lines: readonly (readonly (string | number)[])[]): string =>
  files.write(
    `in/${name}`,
    ['id,part,price,at,op', ...lines.map((line) => [...line, '', ''].slice(0, 5).join(',')), ''].join('\n'),
  );

const removeFiles = (): void => rmSync(`${files.directory}/in`, { recursive: true, force: true });

const seed = readCount('MERGE_SEED', 4);

it.each([
  { rules: { newer: 'at', deleted: oneOf('op', ['D']) } },
  { rules: { update: ['price', 'at'], deleted: oneOf('op', ['D']) } },
])(`come to the same, with seed ${seed} and $rules`, { timeout: 120_000 }, async ({ rules }) => {
  const { between } = createChance(seed);
  const nights = searched(2);
  const strategies = new Set<string>();
  const pipelines = ways.map((by) =>
    pipeline(`${by}_${Object.keys(rules).length}_${'update' in rules}`, by, rules),
  );
  onTestFinished(removeFiles);
  for (let night = 0; night <= nights; night += 1) {
    write(
      `${String(night).padStart(3, '0')}.csv`,
      Array.from({ length: between(1, 30) }, () => [
        between(1, 25),
        `p${between(1, 3)}`,
        between(0, 9) || '',
        between(0, 3) || '',
        between(0, 4) === 0 ? 'D' : '',
      ]),
    );
    const results = [];
    for (const one of pipelines) {
      const { tables } = await run(one);
      const rows = await rowsOf(`select (select json_agg(t order by id) from ${one.name}.item t) as items,
        (select json_agg(t order by part) from ${one.name}.total t) as totals`);
      results.push({ rows, counts: tables.map(({ rows: after, changes }) => ({ after, changes })) });
      strategies.add(`${one.name.split('_')[0]}: ${tables[0]!.strategy}`);
    }
    expect(results[1], `night ${night}`).toEqual(results[0]);
  }
  expect(strategies).toEqual(new Set(['upsert: swap', 'rebuild: swap', 'upsert: merge', 'rebuild: rebuild']));
});

/** Runs it, and lets somebody commit his statements when the run has compared its rows and waits for him. */
const runBeside = (given: Pipeline, sql: string): ReturnType<typeof run> =>
  withPg(database.url, async (writer) => {
    await writer.query(`begin; ${sql}`);
    const running = run(given);
    const isWaiting = "select from pg_locks where mode = 'ShareRowExclusiveLock' and not granted";
    await until(async () => (await rowsOf(isWaiting)).length > 0);
    await writer.query('commit');
    return running;
  });

it('a key that somebody inserts while it is merged is found when the rows are compared again', async () => {
  const given = pipeline('inserting', 'upsert');
  onTestFinished(removeFiles);
  write('1.csv', [[1, 'a', 1]]);
  await run(given);
  write('2.csv', [[6, 'a', 60]]);
  const { tables } = await runBeside(given, `insert into ${given.name}.item values (6, 'b', 1, null)`);
  expect(tables[0]).toMatchObject({ strategy: 'merge', changes: { inserted: 0, updated: 1 } });
  expect(await rowsOf(`select id, part, price from ${given.name}.item order by id`)).toEqual([
    { id: 1, part: 'a', price: 1 },
    { id: 6, part: 'a', price: 60 },
  ]);
});

describe.each(ways)('%s, while somebody writes', (by) => {
  it('takes rows as he has left them', async () => {
    const given = pipeline(`busy_${by}`, by);
    onTestFinished(removeFiles);
    write('1.csv', [
      [1, 'a', 1],
      [2, 'a', 2],
      [3, 'a', 3],
      [4, 'a', 4],
      [5, 'a', 5],
    ]);
    await run(given);
    // Its own numbers: 1 stays, 2 changes, 3 is unchanged, 6 is new; he changes 1, 2 and 3, deletes 5 and has 6 first.
    write('2.csv', [
      [2, 'a', 20],
      [3, 'a', 3],
      [6, 'a', 60],
    ]);
    const { tables } = await runBeside(
      given,
      `update ${given.name}.item set price = price + 100 where id <= 3;
        delete from ${given.name}.item where id = 5; insert into ${given.name}.item values (6, 'b', 1, null)`,
    );
    expect(tables[0]).toMatchObject({
      strategy: 'merge',
      changes: { inserted: 0, updated: 3, unchanged: 0, deleted: 0, superseded: 0 },
    });
    expect(await rowsOf(`select id, part, price from ${given.name}.item order by id`)).toEqual([
      { id: 1, part: 'a', price: 101 },
      { id: 2, part: 'a', price: 20 },
      { id: 3, part: 'a', price: 3 },
      { id: 4, part: 'a', price: 4 },
      { id: 6, part: 'a', price: 60 },
    ]);
  });
});

it('rows are written where they are, until most of a large table changes', async () => {
  // Its totals are merged where they are.
  const given = { ...pipeline('chosen', undefined), snapshotWaitMs: false } as const;
  onTestFinished(removeFiles);
  const numbers = Array.from({ length: 20_000 }, (_, id) => id);
  write(
    '1.csv',
    numbers.map((id) => [id, 'a', id]),
  );
  await run(given);
  write(
    '2.csv',
    numbers.map((id) => [id, 'a', id < 20 ? id + 1 : id]),
  );
  expect((await run(given)).tables[0]).toMatchObject({ strategy: 'merge', changes: { updated: 20 } });
  write(
    '3.csv',
    numbers.map((id) => [id, 'b', id]),
  );
  const { tables } = await run(given);
  expect(tables[0]).toMatchObject({
    strategy: 'rebuild',
    rows: 20_000,
    changes: { updated: 20_000, unchanged: 0 },
  });
});

it('many rows whose keys come by chance are written in the order of the keys', async () => {
  const given = definePipeline({
    name: 'by_chance',
    schema: 'by_chance',
    tables: {
      item: {
        source: csv('in/*.csv'),
        columns: { code: column.text('code'), price: column.integer('price') },
        primaryKey: ['code'],
        publish: 'merge',
      },
    },
  });
  onTestFinished(removeFiles);
  const line = (number: number, price: number): string =>
    `${createHash('md5').update(String(number)).digest('hex')},${price}\n`;
  const count = 60_000;
  const night = (name: string, price: (number: number) => number, first = 0): string =>
    files.write(
      `in/${name}`,
      `code,price\n${Array.from({ length: count }, (_, at) => line(first + at, price(first + at))).join('')}`,
    );
  night('1.csv', () => 0);
  await run(given);
  night('2.csv', (number) => (number % 10 === 0 ? 1 : 0), 100);
  expect((await run(given)).tables[0]).toMatchObject({
    strategy: 'merge',
    changes: { inserted: 100, updated: 5_990, unchanged: 53_910 },
  });
  const [found] = await rowsOf(
    `select count(*)::int as rows, count(*) filter (where price = 1)::int as changed,
        avg((code >= before)::int) filter (where price = 1) > 0.9 as "areOrdered"
      from (select *, lag(code) over (partition by price order by ctid) as before from by_chance.item) t`,
  );
  expect(found).toEqual({ rows: 60_100, changed: 6_000, areOrdered: true });
});
