// What a SQL file may hold: one query, in any of its forms, that changes nothing.

import { beforeAll, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, runPipeline, sqlFile } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const files = useFiles();
files.write('city.csv', 'id,name\n1,Ulm\n2,Trier\n');

const run = (sql: string) => {
  files.write('made.sql', sql);
  const pipeline = definePipeline({
    name: 'sql',
    schema: 'sql',
    tables: {
      city: {
        source: csv('city.csv'),
        columns: { id: column.integer('id'), name: column.text('name') },
      },
      made: { from: ['city'], transform: sqlFile('made.sql') },
    },
  });
  const { directory } = files;
  const place = { databaseUrl: database.url, redis: false as const, directory, workingDirectory: directory };
  return runPipeline(pipeline, { ...place, workers: 1, fullRefresh: true });
};

const made = async () => (await database.query('select * from sql.made')).rows;

beforeAll(() => database.query('create table public.kept as select 7 as a'));

describe('taken', () => {
  const both = [{ id: 1 }, { id: 2 }];
  it.each([
    ['a select in order', 'select id from city order by id', both],
    ['a with', 'with c as (select id from city) select id from c order by id;', both],
    [
      'what stands behind the semicolon',
      'select id from city order by id; -- the end;\n/* of; it */\n',
      both,
    ],
    ['a comment as its last line', 'select id from city order by id -- by id;', both],
    ['values', `values (1, 'a')`, [{ column1: 1, column2: 'a' }]],
    ['a union', 'select 1 as a union all select 2', [{ a: 1 }, { a: 2 }]],
    ['a table', 'table public.kept', [{ a: 7 }]],
  ])('%s', async (_, sql, expected) => {
    await run(sql);
    expect(await made()).toEqual(expected);
  });
});

describe('refused, and nothing is changed', () => {
  it.each([
    [
      'rows of production deleted',
      'with x as (\n delete from public.kept returning a) select a from x',
      ':1:6',
    ],
    [
      'rows of another table of the run',
      'with x as (delete from city returning id) select id from x',
      ':1:6',
    ],
    ['a second statement', 'select 1 as a; delete from public.kept', ':1:14'],
    ['a way out of the query', 'select 1 as a) as x; delete from public.kept where (true', ':1:57'],
    ['a command', 'truncate public.kept', ':1:16'],
    ['a meta-command of psql', '\\echo a\nselect 1 as a', ':1:1'],
    ['a word that is none', 'select id\nform city', ':2:6'],
  ])('%s', async (_, sql, where) => {
    await database.query('drop table if exists sql.made');
    const failure = await failureOf(run(sql));
    expect(failure).toMatchObject({ code: 'ETL_TRANSFORM', details: { table: 'made', where } });
    expect((await database.query('select a from public.kept')).rows).toEqual([{ a: 7 }]);
    expect((await database.query(`select to_regclass('sql.made') as made`)).rows).toEqual([{ made: null }]);
  });
});
