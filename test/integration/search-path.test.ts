// SQL of a pipeline's author finds names in the pipeline's schema and in those of `searchPath`, and pg_catalog goes first.

import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, index, runPipeline, sqlFile } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();
const files = useFiles();
const sql = (text: string) => database.query(text);
const rowsOf = async (text: string) => (await sql(text)).rows;

const run = (pipeline: ReturnType<typeof definePipeline>) => {
  const { directory } = files;
  const place = { databaseUrl: database.url, redis: false as const, directory, workingDirectory: directory };
  return runPipeline(pipeline, { ...place, workers: 1, fullRefresh: true });
};

beforeAll(async () => {
  await sql(`create extension citext; create type public.mood as enum ('sad', 'glad');
    create function public.twice(n integer) returns integer language sql as 'select n * 2';
    create function public.lower(t text) returns text language sql as $$ select 'planted' $$;
    create table public.person_staging as select 'planted'::text as name, 'sad'::text as mood;
    create schema people; create table people.person_staging as table public.person_staging`);
  files.write('person.csv', 'name,mood\nAnn,glad\nBob,sad\n');
});

const source = csv('person.csv');
/** Runs with a query over a text table, a type and an index condition that need the schema public. */
const people = {
  query: (text: string, searchPath: readonly string[] = []) => {
    files.write('person.sql', text);
    const person = { source, staging: 'text' as const, transform: sqlFile('person.sql') };
    return run(definePipeline({ name: 'people', schema: 'people', searchPath, tables: { person } }));
  },
  type: (searchPath: readonly string[] = []) => {
    const columns = { name: column.of('citext', 'name'), mood: column.of('mood', 'mood') };
    const feeling = { source, columns, indexes: [index('name', { where: `mood = 'glad'::mood` })] };
    return run(definePipeline({ name: 'feelings', schema: 'people', searchPath, tables: { feeling } }));
  },
  index: (searchPath: readonly string[] = []) => {
    const columns = { name: column.text('name'), mood: column.of('public.mood', 'mood') };
    const place = { source, columns, indexes: [index('name', { where: `mood = 'glad'::mood` })] };
    return run(definePipeline({ name: 'places', schema: 'people', searchPath, tables: { place } }));
  },
};

describe('a name in public', () => {
  it.each([
    ['a function', () => people.query('select twice(2) as n'), 'ETL_TRANSFORM', 'function twice(integer)'],
    ['a table', () => people.query('select 1 as n from kept'), 'ETL_TRANSFORM', 'relation "kept"'],
    ['a type of a query', () => people.query(`select 'sad'::mood as m`), 'ETL_TRANSFORM', 'type "mood"'],
    ['a type of an index', () => people.index(), 'ETL_PUBLISH_REFUSED', 'type "mood"'],
  ])('is not found without the option, and the error names that: %s', async (_, use, code, what) => {
    const failure = await failureOf(use());
    expect(failure).toMatchObject({ code, message: expect.stringContaining(what) });
    expect(failure).toHaveProperty('hint', expect.stringContaining('searchPath'));
  });

  it('is not found as the type of a column, which is known before anything is loaded', async () => {
    const failure = await failureOf(people.type());
    expect(failure).toMatchObject({
      code: 'ETL_DEFINITION',
      message: expect.stringMatching(/no type `mood`.*searchPath/s),
    });
  });

  it('is found with it, in queries, types and conditions', async () => {
    await people.query(`select twice(2) as n, 'sad'::mood as mood from person_staging`, ['public']);
    expect(await rowsOf('select n, mood from people.person')).toEqual([
      { n: 4, mood: 'sad' },
      { n: 4, mood: 'sad' },
    ]);
    await people.type(['public']);
    await people.index(['public']);
    expect(await rowsOf('select name, mood from people.feeling order by name')).toEqual([
      { name: 'Ann', mood: 'glad' },
      { name: 'Bob', mood: 'sad' },
    ]);
  });

  it('takes the place neither of the server’s own nor of the staging table', async () => {
    await people.query('select lower(name) as name from person_staging order by 1', ['public']);
    expect(await rowsOf('select name from people.person order by name')).toEqual([
      { name: 'ann' },
      { name: 'bob' },
    ]);
  });
});

describe('a table whose rows are replaced in place', () => {
  const item = (rows: string) => {
    files.write('item.csv', `code,n\n${rows}\n`);
    const columns = { code: column.of('public.citext', 'code'), n: column.integer('n') };
    const table = { source: csv('item.csv'), columns, primaryKey: ['code'] as ['code'] };
    return run(definePipeline({ name: 'items', schema: 'items', tables: { item: table } }));
  };

  beforeEach(async () => {
    await sql('drop schema if exists items cascade');
    await item('A,1');
  });

  it('fires triggers that find names in its schema, also those that wait for the commit', async () => {
    await sql(`create table items.log (what text);
      create function items.note() returns trigger language plpgsql as
        $$ begin insert into log values (tg_name); return null; end $$;
      create trigger at_once after insert on items.item for each row execute function items.note();
      create constraint trigger at_commit after insert on items.item deferrable initially deferred
        for each row execute function items.note()`);
    await item('A,2');
    expect(await rowsOf('select what from items.log order by what')).toEqual([
      { what: 'at_commit' },
      { what: 'at_once' },
    ]);
  });

  it('finds rows by the key’s own equality', async () => {
    await sql('create table items.child (code public.citext references items.item)');
    await sql(`insert into items.child values ('a')`);
    await item('a,3');
    expect(await rowsOf('select n from items.item')).toEqual([{ n: 3 }]);
  });
});
