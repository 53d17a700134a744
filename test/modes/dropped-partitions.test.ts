// Partitions that people drop, detach or attach between two nights: what the next one says, refuses and loads.

import { rmSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  expect as expected,
  range,
  verifyPipeline,
  type Pipeline,
} from '../../src/index.ts';
import { withClient } from '../../src/db/client.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { filesOf } from '../../src/tools/file-states.ts';
import { failureOf } from '../helpers/failure.ts';
import { runWhile } from '../helpers/fault-proxy.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, one, run: runIt, notices, settings, startOver } = usePipelineRuns();

/** Writes a file of ten sales a day, on the first days of a month. */
const write = (month: string, days: number): string =>
  files.write(
    `in/${month}.csv`,
    [
      'id,day',
      ...Array.from({ length: days * 10 }, (_, id) => `${id},2026-${month}-0${1 + (id % days)}`),
      '',
    ].join('\n'),
  );
const remove = (month: string): void => rmSync(`${files.directory}/in/${month}.csv`);

const pipeline = (publish: unknown, change: object = {}): Pipeline =>
  definePipeline({
    name: 'shop',
    schema: 'shop',
    tables: {
      sale: {
        source: csv('in/*.csv'),
        columns: { id: column.integer('id'), day: column.date('day') },
        primaryKey: ['id', 'day'],
        partitionBy: range('day', 'month'),
        publish: publish as 'append',
        tests: [expected.rows({ change: '50%' })],
        ...change,
      },
    },
  });
const states = async (of: Pipeline): Promise<string[]> =>
  (await withClient(addressFromUrl(database.url), (client) => filesOf(of, settings(), client))).map(
    ({ file, state }) => `${file} ${state}`,
  );
const count = () => one('select count(*)::int as n from shop.sale');

const modes = [
  ['append', 'append'],
  ['append with the file of each row', { mode: 'append', changed: 'reload' }],
  ['merge', 'merge'],
  ["only: 'touched'", { mode: 'replace', only: 'touched' }],
] as const;

beforeEach(async () => {
  await startOver('shop');
  // Most rows are in the oldest month.
  write('01', 9);
  write('02', 2);
  write('03', 1);
});

const drop = 'drop table shop.sale_2026_01';
const detach = 'alter table shop.sale detach partition shop.sale_2026_01';

describe.each(modes)('%s: the oldest month', (name, publish) => {
  const given = pipeline(publish);

  it('may be dropped, and its file archived: the next night loads what is new, and counts from what is there', async () => {
    await runIt(given);
    await database.query(drop);
    remove('01');
    expect(await runIt(given)).toMatchObject({ outcome: 'unchanged' });
    write('04', 1);
    expect((await runIt(given)).tables[0]).toMatchObject({ files: 1, copied: 10, rowsBefore: 30, rows: 40 });
    expect(await count()).toBe(40);
    expect(notices).toContain(
      'shop.sale: partitions were dropped, detached or attached since run 1, which left it with 120 rows; it has 30',
    );
    write('05', 1);
    expect((await runIt(given)).tables[0]).toMatchObject({ rowsBefore: 40, rows: 50 });
    expect(notices.join()).not.toContain('partitions were');
    expect(await states(given)).toEqual([
      'in/02.csv in production',
      'in/03.csv in production',
      'in/04.csv in production',
      'in/05.csv in production',
      'in/01.csv gone',
    ]);
  });

  it('may be detached: it is not loaded again while its file is listed, and verifying says that it is not there', async () => {
    const least = pipeline(publish, { guard: { rowsMin: 100 } });
    await runIt(least);
    await database.query(detach);
    expect(await runIt(least)).toMatchObject({ outcome: 'unchanged' });
    write('04', 1);
    expect(await failureOf(runIt(least))).toMatchObject({
      code: 'ETL_GUARD',
      message: expect.stringMatching(/shop\.sale: [34]0 rows, its guard requires at least 100/) as unknown,
    });
    expect((await runIt(given)).tables[0]).toMatchObject({ files: 1, copied: 10, rowsBefore: 30, rows: 40 });
    expect(await count()).toBe(40);
    const [table] = (await verifyPipeline(given, settings())).tables;
    expect(table).toMatchObject({ outcome: name === 'merge' ? 'not compared' : 'different', rows: 40 });
  });
});

it('a month that is attached again counts again', async () => {
  const given = pipeline('append', { tests: [] });
  await runIt(given);
  await database.query(detach);
  write('04', 1);
  await runIt(given);
  await database.query(
    `alter table shop.sale attach partition shop.sale_2026_01 for values from ('2026-01-01') to ('2026-02-01')`,
  );
  write('05', 1);
  expect((await runIt(given)).tables[0]).toMatchObject({ rowsBefore: 130, rows: 140 });
  expect(await count()).toBe(140);
});

it('rows of an archived file that left with their partition are not unloaded a second time', async () => {
  const given = pipeline({ mode: 'append', changed: 'reload', gone: 'unload' });
  await runIt(given);
  await database.query('drop table shop.sale_2026_01');
  remove('01');
  write('04', 1);
  expect((await runIt(given)).tables[0]).toMatchObject({ rowsBefore: 30, rows: 40 });
  expect(await count()).toBe(40);
});

it('a file whose rows left with their partition is loaded again if somebody asks for it', async () => {
  const given = pipeline({ mode: 'append', changed: 'reload' }, { tests: [] });
  await runIt(given);
  await database.query('drop table shop.sale_2026_01');
  expect((await runIt(given, { reload: ['in/01.csv'] })).tables[0]).toMatchObject({
    rowsBefore: 30,
    rows: 120,
  });
  expect(await count()).toBe(120);
});

it('one that leaves after the run has counted makes it count again', async () => {
  const given = pipeline('append', { tests: [] });
  await runIt(given);
  write('04', 1);
  const { tables } = await runWhile(
    database.url,
    ({ sql }) => sql.startsWith('begin; set local idle_in_transaction_session_timeout'),
    () => database.query('drop table shop.sale_2026_01'),
    (databaseUrl) => runIt(given, { databaseUrl }),
  );
  expect(tables[0]).toMatchObject({ rowsBefore: 30, rows: 40 });
});
