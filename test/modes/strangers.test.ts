// What roles without rights on our tables can do to a run, and what a run does to rights and to what people have hung on a table.

import { beforeEach, describe, expect, it } from 'vitest';
import { column, csv, definePipeline, list } from '../../src/index.ts';
import { catalogueOf } from '../helpers/catalogue.ts';
import { runWhile } from '../helpers/fault-proxy.ts';
import { withPg } from '../helpers/own-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';
import { until } from '../helpers/workers.ts';

const { files, database, rowsOf, run, startOver } = usePipelineRuns({ fullRefresh: true });

const city = {
  source: csv('in/*.csv'),
  columns: {
    id: column.integer('id'),
    state: column.varchar('state', { length: 9 }),
    name: column.text('name'),
  },
  primaryKey: ['id', 'state'] as ['id', 'state'],
  guard: false as const,
};
const whole = definePipeline({ name: 'cities', schema: 'geo', tables: { city } });
const divided = definePipeline({
  name: 'cities',
  schema: 'geo',
  tables: { city: { ...city, partitionBy: list('state') } },
});

const night = (pipeline: typeof whole, text: string, options: object = {}) => {
  files.write('in/a.csv', `id,state,name\n1,HE,${text}\n2,HE,${text}\n3,BY,${text}\n`);
  return run(pipeline, options);
};

/** Lets somebody do something just before the first statement with these words. */
const nightWith = (pipeline: typeof whole, words: string, act: () => Promise<unknown>) =>
  runWhile(
    database.url,
    ({ sql }) => sql.includes(words),
    act,
    (databaseUrl) => night(pipeline, 'after', { databaseUrl }),
  );

const role = (name: string): string =>
  `do 'begin if to_regrole(''${name}'') is null then create role ${name}; end if; end';`;

beforeEach(() => startOver('geo', 'stranger'));

describe('what hangs on a divided table and on a partition of it', () => {
  it.each([
    ['a view', 'create view geo.both as select id from geo.city union all select id from geo."city_HE"'],
    [
      'a function',
      'create function geo.both() returns bigint begin atomic select count(*) from geo.city, geo."city_HE"; end',
    ],
    [
      'a policy of each',
      'create policy p on geo.city using (true); create policy p on geo."city_HE" using (false)',
    ],
    [
      'a policy of a third',
      `create table geo.other (id integer);
       create policy p on geo.other using (exists (select from geo.city) and exists (select from geo."city_HE"))`,
    ],
    [
      'statistics of one name',
      `create schema stranger; create statistics geo.both on id, name from geo.city;
       create statistics stranger.both on id, name from geo."city_HE"`,
    ],
  ])('%s is there afterwards', async (_, ddl) => {
    await night(divided, 'before');
    // Keeps the table, so that its partitions are exchanged.
    await database.query(`create materialized view geo.stored as select 1 from geo.city; ${ddl}`);
    const before = await catalogueOf(database);
    await night(divided, 'after');
    expect(await catalogueOf(database)).toEqual(before);
    expect(await rowsOf('select distinct name from geo.city')).toEqual([{ name: 'after' }]);
  });
});

it('a sequence that comes to a table just before it is replaced keeps it, and stays', async () => {
  await night(whole, 'before');
  await database.query('create sequence geo.ids');
  const sequence = `select refobjid::regclass::text as on from pg_depend where objid = 'geo.ids'::regclass and deptype = 'a'`;
  await nightWith(whole, 'in access exclusive mode', () =>
    database.query('alter sequence geo.ids owned by geo.city.id'),
  );
  expect(await rowsOf(sequence)).toEqual([{ on: 'geo.city' }]);
  expect(await rowsOf('select distinct name from geo.city')).toEqual([{ name: 'after' }]);
});

describe('rights on a table that is replaced', () => {
  const rights = 'revoke select on tables from reader_of_cities, public';
  it.each([
    ['whole', whole],
    ['divided', divided],
  ])('that were revoked do not come back with default privileges: %s', async (_, pipeline) => {
    await database.query(
      `${role('reader_of_cities')} alter default privileges grant select on tables to reader_of_cities, public`,
    );
    try {
      await night(pipeline, 'before');
      await database.query(
        'revoke all on geo.city from reader_of_cities, public; revoke insert on geo.city from current_user',
      );
      const before = await catalogueOf(database);
      await night(pipeline, 'after');
      expect(await catalogueOf(database)).toEqual(before);
    } finally {
      await database.query(`alter default privileges ${rights}`);
    }
  });

  it('row security that is forced before it is enabled stays forced', async () => {
    await night(whole, 'before');
    await database.query('alter table geo.city force row level security');
    const before = await catalogueOf(database);
    expect(await night(whole, 'after')).toMatchObject({ tables: [{ strategy: 'swap' }] });
    expect(await catalogueOf(database)).toEqual(before);
  });
});

describe('somebody who holds a table of his own', () => {
  it('that a view of a stranger reads with ours keeps nobody waiting', async () => {
    await night(divided, 'before');
    await database.query(`${role('stranger')} create schema stranger authorization stranger; grant usage on schema geo to stranger;
      set role stranger; create table stranger.t (); create view stranger.v as select id from geo.city, stranger.t; reset role`);
    await withPg(database.url, async (stranger) => {
      await stranger.query('begin; set local role stranger; lock table stranger.t in access exclusive mode');
      expect(await night(divided, 'after')).toMatchObject({ outcome: 'published' });
    });
  });

  it('that a policy reads waits with nobody behind it', async () => {
    await night(divided, 'before');
    await database.query(`${role('stranger')} create schema stranger authorization stranger;
      set role stranger; create table stranger.t (); reset role;
      create policy p on geo.city using (exists (select from stranger.t))`);
    await withPg(database.url, async (stranger) => {
      const lock = 'begin; set local role stranger; lock table stranger.t in access exclusive mode';
      const running = nightWith(divided, 'in share update exclusive mode', () => stranger.query(lock));
      const waits = async (holds: boolean): Promise<boolean> =>
        (
          await rowsOf(`select from pg_locks w where not granted and relation = 'stranger.t'::regclass and ${holds} = exists (
            select from pg_locks h where h.pid = w.pid and h.granted and h.relation = 'geo.city'::regclass
              and h.mode = 'ShareUpdateExclusiveLock')`)
        ).length > 0;
      await until(() => waits(true));
      await until(() => waits(false));
      await stranger.query('rollback');
      expect(await running).toMatchObject({ outcome: 'published' });
    });
  });
});
