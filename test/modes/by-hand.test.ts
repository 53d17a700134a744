// What people make or change by hand on a production table that is replaced: it is there afterwards, or nothing is published.

import { rmSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, index, list } from '../../src/index.ts';
import { catalogueOf } from '../helpers/catalogue.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { failureOf } from '../helpers/failure.ts';
import { openProxy } from '../helpers/fault-proxy.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, rowsOf, run } = usePipelineRuns({ workers: 2 });

const city = {
  source: csv('in/*.csv'),
  columns: {
    id: column.integer('id'),
    state: column.varchar('state', { length: 9 }),
    name: column.text('name'),
  },
  primaryKey: ['id', 'state'] as ['id', 'state'],
  indexes: [index('name')],
  guard: false as const,
};
const declare = (change: object) =>
  definePipeline({ name: 'cities', schema: 'geo', tables: { city: { ...city, ...change } } });
const whole = declare({});
const divided = declare({ partitionBy: list('state') });
const touched = declare({ partitionBy: list('state'), publish: { mode: 'replace', only: 'touched' } });
const merged = declare({ publish: { mode: 'merge', by: 'rebuild', changed: 'reload' } });

const night = (pipeline: typeof whole, text: string, options: object = {}) => {
  files.write('in/a.csv', `id,state,name\n1,HE,${text}\n2,HE,${text}\n3,BY,${text}\n`);
  return run(pipeline, options);
};

/** A night in which somebody does something when all tables are built, and nothing is planned of their publication. */
const nightWith = async (pipeline: typeof whole, ddl: string) => {
  const url = new URL(database.url);
  const proxy = await openProxy(Number(url.port));
  url.port = String(proxy.port);
  let isDone = false;
  try {
    // The third state that the run is given: publishing.
    const matches = ({ sql }: Effect): boolean => sql.startsWith('update etl.run set state = $2, loaded_at');
    proxy.arm({ name: 'somebody', when: 'before', nth: 3, matches }, async () => {
      await database.query(ddl);
      isDone = true;
      return 'forward' as const;
    });
    return await night(pipeline, 'after', { databaseUrl: url.href });
  } finally {
    expect(isDone).toBe(true);
    await proxy.close();
  }
};

const names = () => rowsOf('select distinct name from geo.city');

beforeEach(async () => {
  rmSync(`${files.directory}/in`, { recursive: true, force: true });
  await database.query('drop schema if exists geo, etl cascade');
});

const oneHundred = `alter table geo.city alter name set statistics 100`;

describe('what is copied while a table is built, and changes then, stops the publication; the next run copies it', () => {
  it.each([
    ['an index', whole, 'create index by_hand on geo.city (state)', 'index by_hand'],
    ['an index that goes', whole, 'drop index geo.old', 'index old'],
    [
      'another index of that name',
      whole,
      'drop index geo.old; create index old on geo.city (id)',
      'index old',
    ],
    [
      'a primary key',
      whole,
      'alter table geo.city rename constraint city_pkey to pk',
      'primary key city_pkey, primary key pk',
    ],
    ['a statistics target', whole, oneHundred, 'column name'],
    ['a collation', whole, 'alter table geo.city alter name type text collate "C"', 'column name'],
    ['an index of a divided table', divided, 'create index by_hand on geo.city (id)', 'index by_hand'],
    [
      'an index of a partition',
      divided,
      'create index by_hand on geo."city_HE" (id)',
      'index by_hand of city_HE',
    ],
    [
      'a statistics target of a partition',
      touched,
      'alter table geo."city_BY" alter name set statistics 9',
      'column name of city_BY',
    ],
    [
      'an index of a table whose partitions are touched',
      touched,
      'create index by_hand on geo.city (id)',
      'index by_hand',
    ],
  ])('%s', async (_, pipeline, ddl, what) => {
    await night(pipeline, 'before');
    await database.query('create index old on geo.city (name, id)');
    const failed = await failureOf(nightWith(pipeline, ddl));
    expect(failed).toMatchObject({ code: 'ETL_PUBLISH_CHANGED', details: { table: 'city', what } });
    expect(await names()).toEqual([{ name: 'before' }]);
    const before = await catalogueOf(database);
    expect(await run(pipeline)).toMatchObject({ outcome: 'published' });
    expect(await names()).toEqual([{ name: 'after' }]);
    expect(await catalogueOf(database)).toEqual(before);
  });
});

describe('anything else is there afterwards', () => {
  it.each([
    ['a statistics object', 'create statistics geo.both on state, name from geo.city'],
    [
      'a trigger',
      `create function geo.touch() returns trigger language plpgsql as 'begin return new; end';
      create trigger touched before update on geo.city for each row execute function geo.touch()`,
    ],
    [
      'comments',
      `comment on table geo.city is 'cities'; comment on column geo.city.id is 'number';
      comment on constraint city_pkey on geo.city is 'key'; comment on index geo.city_name_idx is 'by name'`,
    ],
    ['grants', 'grant select on geo.city to public; grant update (name) on geo.city to pg_monitor'],
    ['a policy', 'create policy p on geo.city using (true); alter table geo.city enable row level security'],
    ['a view', 'create view geo.seen as select id from geo.city'],
    ['a check', 'alter table geo.city add constraint positive check (id > 0)'],
    ['a default', `alter table geo.city alter name set default 'x'`],
    ['a storage parameter', 'alter table geo.city set (fillfactor = 70)'],
    ['a partition that is not touched', 'create index elsewhere on geo."city_SL" (id)', touched],
  ])('%s', async (_, ddl, pipeline = whole) => {
    await night(pipeline, 'before');
    if (pipeline === touched) {
      files.write('in/b.csv', 'id,state,name\n9,SL,after\n');
      await run(pipeline);
    }
    let before: readonly string[] = [];
    await nightWith(pipeline, ddl);
    before = await catalogueOf(database);
    expect(await names()).toEqual([{ name: 'after' }]);
    // The same, made while nobody publishes.
    await database.query('drop schema geo, etl cascade');
    await night(pipeline, 'before');
    if (pipeline === touched) await run(pipeline);
    await database.query(ddl);
    expect(before).toEqual(await catalogueOf(database));
  });
});

describe('a primary key that somebody made again stays as it is', () => {
  const again = (key: string): string => `alter table geo.city drop constraint city_pkey, add ${key}`;
  const columns = 'primary key (id, state)';
  it.each([
    ['under another name', again(`constraint pk ${columns}`)],
    ['with included columns', again(`${columns} include (name)`)],
    ['with a storage parameter', again(`${columns} with (fillfactor = 70)`)],
    ['that is checked at the end', again(`${columns} deferrable initially deferred`)],
    [
      'with all of it',
      again(`constraint "a key" ${columns} include (name) with (fillfactor = 70) deferrable`),
    ],
  ])('%s', async (_, ddl) => {
    for (const pipeline of [whole, divided, touched, merged]) {
      await database.query('drop schema if exists geo, etl cascade');
      await night(pipeline, 'before');
      await database.query(ddl);
      const before = await catalogueOf(database);
      await night(pipeline, 'after');
      expect(await names()).toEqual([{ name: 'after' }]);
      expect(await catalogueOf(database)).toEqual(before);
    }
  });

  it('until the declaration gives it other columns; a new partition gets it', async () => {
    await night(touched, 'before');
    await database.query(again(`constraint pk ${columns} include (name)`));
    files.write('in/b.csv', 'id,state,name\n9,SL,after\n');
    await run(touched);
    const keys = `select conname, pg_get_constraintdef(oid) as text from pg_constraint where contype = 'p'
      and conrelid in ('geo.city'::regclass, to_regclass('geo."city_SL"')) order by 1`;
    const text = 'PRIMARY KEY (id, state) INCLUDE (name)';
    expect(await rowsOf(keys)).toEqual([
      { conname: 'city_SL_pkey', text },
      { conname: 'pk', text },
    ]);
    await database.query('drop schema geo, etl cascade');
    await night(whole, 'before');
    await database.query(again(`constraint pk ${columns} include (name)`));
    await night(declare({ primaryKey: ['state', 'id'] }), 'after');
    expect(await rowsOf(keys)).toEqual([{ conname: 'city_pkey', text: 'PRIMARY KEY (state, id)' }]);
  });
});
