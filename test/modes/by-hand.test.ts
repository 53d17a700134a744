// What people make or change by hand on a production table that is replaced is there afterwards, or nothing is published.

import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  expect as expected,
  index,
  list,
  sqlFile,
  type RunEvent,
  type RunResult,
} from '../../src/index.ts';
import { catalogueOf } from '../helpers/catalogue.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { openProxy } from '../helpers/fault-proxy.ts';
import { words } from '../helpers/words.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, notices, rowsOf, run, startOver } = usePipelineRuns({ workers: 2 });

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
const direct = declare({ staging: 'none' });
const divided = declare({ partitionBy: list('state') });
const touched = declare({ partitionBy: list('state'), publish: { mode: 'replace', only: 'touched' } });
const merged = declare({ publish: { mode: 'merge', by: 'rebuild', changed: 'reload' } });

const night = (pipeline: typeof whole, text: string, options: object = {}) => {
  files.write('in/a.csv', `id,state,name\n1,HE,${text}\n2,HE,${text}\n3,BY,${text}\n`);
  return run(pipeline, options);
};

/** What others see of a run: the lock of a table that it holds, or `nothing`. */
const heldSql = `select coalesce(string_agg(relation::regclass || ' ' || mode, ', '), 'nothing') as held
  from pg_locks join pg_class c on c.oid = relation where relnamespace = 'geo'::regnamespace and pid <> pg_backend_pid()`;

/**
 * A night in which somebody does something each time that all tables are built, and nothing is planned of their publication. Returns how it
 * ends, production as he has left it, and what of it the run had locked then.
 */
const nightWith = async (pipeline: typeof whole, changes: readonly string[], options: object = {}) => {
  const url = new URL(database.url);
  const proxy = await openProxy(Number(url.port));
  url.port = String(proxy.port);
  const left = [...changes];
  let before: readonly string[] = [];
  const held: unknown[] = [];
  // The run is said to be loading, loaded and publishing; and loaded again when its tables are built again.
  const matches = ({ sql }: Effect): boolean => sql.startsWith('update etl.run set state = $2, loaded_at');
  const arm = (nth: number): void =>
    proxy.arm({ name: 'somebody', when: 'before', nth, matches }, async () => {
      held.push(...(await rowsOf(heldSql)));
      await database.query(left.shift()!);
      before = await catalogueOf(database);
      if (left.length > 0) arm(2);
      return 'forward' as const;
    });
  arm(3);
  try {
    const end = await night(pipeline, 'after', { databaseUrl: url.href, ...options }).catch(
      (error: unknown) => error,
    );
    expect(left).toEqual([]);
    return { end, before, held: held.map((one) => (one as { held: string }).held) };
  } finally {
    await proxy.close();
  }
};

const names = () => rowsOf('select distinct name from geo.city');

beforeEach(() => startOver('geo'));

const builtAgain = (what: string): string =>
  `somebody changed ${what} in production while the tables were built; the tables are built again from what production has now`;

describe('what is copied while a table is built, and changes then: the tables are built again with it', () => {
  it.each([
    [
      'indexes, a key, a statistics target and a collation',
      whole,
      [
        'create index by_hand on geo.city (state); drop index geo.gone, geo.old; create index old on geo.city (id)',
        'index by_hand of city, index gone of city, index old of city',
      ],
      [
        `alter table geo.city rename constraint city_pkey to pk; alter table geo.city alter id set statistics 100,
          alter name type text collate "C"`,
        'column id of city, column name of city, primary key city_pkey of city, primary key pk of city',
      ],
    ],
    [
      'what comes and goes on a table that is loaded without staging',
      direct,
      [
        `create index by_hand on geo.city (state); alter table geo.city alter name type text collate "C",
          alter name set statistics 100, alter name set (n_distinct = 9)`,
        'column name of city, index by_hand of city',
      ],
      [
        `drop index geo.by_hand; alter table geo.city alter name type text collate "default",
          alter name set statistics -1, alter name reset (n_distinct)`,
        'column name of city, index by_hand of city',
      ],
    ],
    [
      'storage of a declared index and of a declared unique constraint',
      declare({ unique: [['id', 'name']] }),
      ['alter index geo.city_name_idx set (fillfactor = 50)', 'index city_name_idx of city'],
      ['alter index geo.city_id_name_key set (fillfactor = 60)', 'index city_id_name_key of city'],
    ],
    [
      'indexes of a divided table, and of a partition',
      divided,
      ['create index by_hand on geo.city (id)', 'index by_hand of city'],
      ['create index his on geo."city_HE" (id)', 'index his of city_HE'],
    ],
    [
      'a statistics target of a partition that is touched, and an index of the table',
      touched,
      ['alter table geo."city_BY" alter name set statistics 9', 'column name of city_BY'],
      ['create index by_hand on geo.city (id)', 'index by_hand of city'],
    ],
  ])('%s', async (_, pipeline, [first = '', whatFirst = ''], [second = '', whatSecond = '']) => {
    await night(pipeline, 'before');
    await database.query('create index old on geo.city (name, id); create index gone on geo.city (state)');
    const { end, before, held } = await nightWith(pipeline, [first, second]);
    expect(end).toMatchObject({ outcome: 'published' });
    expect(notices).toEqual(expect.arrayContaining([builtAgain(whatFirst), builtAgain(whatSecond)]));
    expect(await names()).toEqual([{ name: 'after' }]);
    expect(await catalogueOf(database)).toEqual(before);
    // Those who want a lock need not wait for a table that is built again.
    expect(held).toEqual(['nothing', 'nothing']);
  });

  it('of two tables of three: each step is reported again and counts once, tests are recorded once, a merge is compared again', async () => {
    files.write('state.sql', 'select state, min(name) as name from city group by 1');
    const state = {
      from: ['city'] as ['city'],
      transform: sqlFile('state.sql'),
      primaryKey: ['state'] as ['state'],
    };
    const tests = [expected.rows({ min: 1 })];
    const chain = definePipeline({
      name: 'cities',
      schema: 'geo',
      tables: {
        city: { ...city, tests },
        state: { ...state, tests },
        merged: { ...city, publish: { mode: 'merge', by: 'rebuild', changed: 'reload' } },
      },
    });
    await night(chain, 'before');
    const begun: string[] = [];
    const said: string[] = [];
    const { end, before } = await nightWith(
      chain,
      [
        `create index by_hand on geo.state (name); create index his on geo.city (state);
          create table geo.moment as select clock_timestamp() as at`,
      ],
      {
        onEvent: (event: RunEvent) => {
          if (event.type === 'step') begun.push(event.step);
          if (event.type === 'notice') said.push(event.message);
        },
      },
    );
    expect(await catalogueOf(database)).toEqual(before);
    expect(await rowsOf('select name from geo.state union select name from geo.merged')).toEqual([
      { name: 'after' },
    ]);
    expect(begun.join(' ')).toBe('plan load build test publish build test publish');
    expect(end).toMatchObject({
      steps: words('connect plan load build test publish finish').map((step) => ({ step })),
      tests: [{ table: 'city' }, { table: 'state' }],
      tables: [{ strategy: 'swap' }, { strategy: 'swap' }, { strategy: 'rebuild' }],
    });
    const notice = builtAgain('index his of city, index by_hand of state');
    expect(said).toContain(notice);
    expect(
      await rowsOf(
        `select state, notices::text like '%${notice}%' as kept, loaded_at < m.at as loaded
          from etl.run r join etl.run_plan p on p.run_id = r.id, geo.moment m where r.id = ${(end as RunResult).runId}`,
      ),
    ).toEqual([{ state: 'published', kept: true, loaded: true }]);
  });

  it('each time that they are built: nothing is published, and the next run copies all of it', async () => {
    await night(whole, 'before');
    const make = (name: string): string => `create index ${name} on geo.city (id)`;
    const { end, before } = await nightWith(whole, ['a', 'b', 'c'].map(make));
    expect(end).toMatchObject({
      code: 'ETL_PUBLISH_CHANGED',
      details: { what: 'index c of city', builds: 3 },
    });
    expect(await names()).toEqual([{ name: 'before' }]);
    expect(await catalogueOf(database)).toEqual(before);
    expect(await rowsOf(`select to_regnamespace('etl_build_cities') as built`)).toEqual([{ built: null }]);
    expect(await run(whole)).toMatchObject({ outcome: 'published' });
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
    await nightWith(pipeline, [ddl]);
    expect(notices.join()).not.toContain('built again');
    const before = await catalogueOf(database);
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
  ])('%s', async (name, ddl) => {
    // All together in every way of publishing; each alone in one.
    for (const pipeline of name === 'with all of it' ? [whole, divided, touched, merged] : [whole]) {
      await startOver('geo');
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
