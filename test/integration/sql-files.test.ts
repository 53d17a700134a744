// What a SQL file may hold: one query, in any of its forms, that changes nothing.

import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { column, csv, definePipeline, runPipeline, sqlFile, type Pipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const files = useFiles();
files.write('city.csv', 'id,name\n1,Ulm\n2,Trier\n');

/** A run of the table `city` and tables made of it. */
const runTables = (made: object) => {
  const columns = { id: column.integer('id'), name: column.text('name') };
  const tables = { city: { source: csv('city.csv'), columns }, ...made };
  const { directory } = files;
  const place = { databaseUrl: database.url, redis: false as const, directory, workingDirectory: directory };
  const pipeline = definePipeline({ name: 'sql', schema: 'sql', tables } as never) as Pipeline;
  return runPipeline(pipeline, { ...place, workers: 1, fullRefresh: true });
};

const run = (sql: string, row?: z.ZodObject) => {
  files.write('made.sql', sql);
  return runTables({ made: { from: ['city'], transform: sqlFile('made.sql'), row } });
};

beforeAll(() => database.query('create table public.kept as select 7 as a'));

it('every form of a query is taken', async () => {
  const both = [{ id: 1 }, { id: 2 }];
  const forms: readonly (readonly [sql: string, rows: readonly object[]])[] = [
    ['select id from city order by id', both],
    ['with c as (select id from city) select id from c order by id;', both],
    ['select id from city order by id; -- the end;\n/* of; it */\n', both],
    ['select id from city order by id -- by id;', both],
    ['\uFEFFselect id from city order by id', both],
    [`values (1, 'a')`, [{ column1: 1, column2: 'a' }]],
    ['select 1 as a union all select 2', [{ a: 1 }, { a: 2 }]],
    ['table public.kept', [{ a: 7 }]],
  ];
  const made = forms.map(([sql], place) => {
    files.write(`form${place}.sql`, sql);
    return [`form${place}`, { from: ['city'], transform: sqlFile(`form${place}.sql`) }] as const;
  });
  await runTables(Object.fromEntries(made));
  for (const [place, [sql, rows]] of forms.entries())
    expect((await database.query(`select * from sql.form${place}`)).rows, sql).toEqual(rows);
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

describe('a declared row', () => {
  const everything = `select 1::smallint as small, count(*) as big, 1.5::numeric(4,2) as exact, 1.5::real as half, true as yes,
    null::date as day, array[1] as list, '{}'::jsonb as doc, 'a'::varchar(3) as word from city`;
  const row = z.object({
    word: z.enum(['a', 'b']),
    small: z.int(),
    big: z.bigint(),
    exact: z.string(),
    half: z.number().default(0),
    yes: z.boolean(),
    day: z.iso.date().nullable(),
    list: z.array(z.int()),
    doc: z.record(z.string(), z.unknown()),
  });

  it('that is what the SQL gives is published, and what may not be null is not null', async () => {
    await run(everything, row);
    const { rows } = await database.query(
      `select array_agg(attname order by attnum) as names from pg_attribute
        where attrelid = 'sql.made'::regclass and attnum > 0 and not attnotnull`,
    );
    expect(rows[0]).toEqual({ names: '{day}' });
  });

  it.each([
    [
      'names that one of the two lacks',
      row.omit({ small: true }).extend({ smal: z.int() }),
      'ETL_ROW_DIFFERS',
      'row has smal, the SQL has not; the SQL gives small (smallint), row does not',
    ],
    [
      'other values',
      row.extend({ big: z.int(), exact: z.number().nullable(), day: z.boolean().nullable() }),
      'ETL_ROW_DIFFERS',
      'big is bigint, whose JavaScript value is a bigint, and row says number; ' +
        'exact is numeric(4,2), whose JavaScript value is a string, and row says number; ' +
        'day is date, whose JavaScript value is a string, and row says boolean',
    ],
    ['a null that it does not know', row.extend({ day: z.string() }), 'ETL_PUBLISH_NULL', undefined],
  ])('is refused with %s', async (_, wrong, code, problem) => {
    await database.query('drop table if exists sql.made');
    const failure = await failureOf(run(everything, wrong));
    expect({ code: failure.code, problem: failure.details.problem }).toEqual({ code, problem });
    expect((await database.query(`select to_regclass('sql.made') as made`)).rows).toEqual([{ made: null }]);
  });
});
