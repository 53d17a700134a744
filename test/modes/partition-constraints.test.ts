// Constraints that people made on a divided table that is replaced by another: they are the same to a dump, and hold with its rows.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { catalogueOf } from '../helpers/catalogue.ts';
import { useDividedCities } from '../helpers/divided-cities.ts';
import { failureOf } from '../helpers/failure.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { effectsOf } from '../helpers/fault-proxy.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { withPg } from '../helpers/own-server.ts';

const { database, notices, rowsOf, night, nightWhile, oid } = useDividedCities();

/** Foreign keys, wherever their tables are: one of a table that has left would keep rows of another. */
const foreignKeys = () =>
  rowsOf(`select conrelid::regclass::text as table, conname, confrelid::regclass::text as target from pg_constraint
    where contype = 'f' and conparentid = 0 and connamespace <> 'etl'::regnamespace order by 1, 2`);

const states = `create table geo.state (code text primary key, short text unique);
  insert into geo.state values ('HE', 'H'), ('BY', 'B')`;

/** What servers accept of such a table since a version. */
const since = (major: number, sql: string): string => (serverMajor < major ? '' : sql);

const kinds = `${states};
  create table geo.place (id integer, state text, primary key (state, id));
  insert into geo.place select id, state from geo.city;
  create function geo.fits(integer, text default 'HE') returns boolean immutable language sql as 'select $1 > 0';
  create domain geo.code as text check (value <> '');
  alter table geo.city
    add constraint "Its ""own"" check" check (geo.fits(id, state) and state::geo.code <> 'XX' and name collate "C" < 'zz'),
    add constraint young check (id < 3) not valid,
    add constraint known foreign key (state) references geo.state on update cascade on delete set null ${since(15, '(state)')}
      deferrable initially deferred,
    add constraint placed foreign key (id, state) references geo.place (id, state) match full on delete cascade deferrable,
    ${since(18, 'add constraint late foreign key (name) references geo.state (short) not valid,')}
    add constraint "once ""only""" unique ${since(15, 'nulls not distinct')} (name, state, id) with (fillfactor = 71) deferrable initially deferred,
    add constraint covering unique (state, id) include (name);
  comment on constraint "Its ""own"" check" on geo.city is 'it''s \\ "checked"';
  comment on constraint known on geo.city is 'of a state'; comment on constraint known on "geo"."city_HE" is 'of Hesse';
  comment on constraint covering on geo.city is 'covers'; comment on index geo.covering is 'its index';
  alter table geo.city replica identity using index covering;
  create unique index on geo.city (state, id) where id > 1; create unique index by_hand on geo.city (state, lower(name), id);
  create view geo.seen as select id from geo.city; create policy p on geo.city; grant select on geo.city to pg_monitor;`;

it('of every kind go over to the new table, and hold there', async () => {
  await night('before');
  await database.query(kinds);
  const [before, made, keys] = [await catalogueOf(database), await oid(), await foreignKeys()];
  expect(await night('after')).toMatchObject({ tables: [{ strategy: 'partitions' }] });
  expect(await oid()).not.toBe(made);
  expect(await catalogueOf(database)).toEqual(before);
  expect(await foreignKeys()).toEqual(keys);
  expect(await night('later')).toMatchObject({ tables: [{ strategy: 'partitions' }] });
  expect(await catalogueOf(database)).toEqual(before);
  expect(await rowsOf('select distinct name from geo.city')).toEqual([{ name: 'later' }]);
  await expect(database.query(`insert into geo.city values (-1, 'HE', 'H')`)).rejects.toMatchObject({
    constraint: 'Its "own" check',
  });
  await expect(database.query(`insert into geo.city values (9, 'HE', 'H')`)).rejects.toMatchObject({
    constraint: 'young',
  });
  await database.query(`delete from geo.place where id = 1`);
  expect(await rowsOf('select id from geo.city order by 1')).toEqual([{ id: 2 }, { id: 3 }]);
});

/** The statements of another night, in their order. */
const nightStatements = async (): Promise<readonly string[]> => {
  const effects = await effectsOf(database.url, (databaseUrl) => night('after', { databaseUrl }));
  return effects.map(({ sql }) => sql);
};

it('a foreign key is the last that is made before readers wait, and a notice names its table', async () => {
  await night('before');
  await database.query(`${states}; alter table geo.city add constraint known foreign key (state) references geo.state,
    add constraint positive check (id > 0)`);
  const said = await nightStatements();
  const place = (what: RegExp): number => said.findIndex((sql) => what.test(sql));
  const [check, moved, key, last] = [
    place(/alter table "etl_build_cities"."city" add constraint "positive"/),
    place(/alter table "etl_build_cities"."etl_new_\d+" set schema/),
    place(/alter table .*etl_new_\d+.* add constraint "known"/),
    place(/in access exclusive mode/),
  ];
  expect([check, moved, key, last]).toEqual([check, moved, key, last].toSorted((a, b) => a - b));
  expect(check).toBeGreaterThan(0);
  // Nothing reads rows there.
  expect(said[last]).not.toMatch(/add constraint|attach partition/);
  expect(said[last]).toMatch(/drop constraint "known".*commit/s);
  expect(notices).toEqual(['geo.city: writers of geo.state wait while its foreign keys are made']);
});

it('a unique constraint of a table that stays is made on its partitions before readers wait', async () => {
  await night('before');
  await database.query(`create materialized view geo.stored as select 1 from geo.city;
    alter table geo.city add constraint once unique (state, name, id)`);
  const [before, made] = [await catalogueOf(database), await oid()];
  const said = await nightStatements();
  const built = said.findIndex((sql) => /"city_HE" add UNIQUE \(state, name, id\)/.test(sql));
  expect(built).toBeGreaterThan(0);
  expect(built).toBeLessThan(said.findIndex((sql) => sql.includes('in access exclusive mode')));
  // Attaching has taken it: there is no second one.
  expect(await catalogueOf(database)).toEqual(before);
  expect(await oid()).toBe(made);
});

describe('rows that break one publish nothing', () => {
  it.each([
    ['a check', `add constraint c check (name = 'before')`],
    ['a unique constraint', 'add constraint c unique (name, state)'],
    ['a foreign key', 'add constraint c foreign key (name) references geo.night'],
  ])('%s', async (_, ddl) => {
    await night('before');
    await database.query(`${states}; create table geo.night (name text primary key); insert into geo.night values ('before');
      update geo.city set name = 'other' where id = 1 and ${String(ddl.includes('unique'))};
      alter table geo.city ${ddl}`);
    const [before, made, keys] = [await catalogueOf(database), await oid(), await foreignKeys()];
    expect(await failureOf(night('after'))).toMatchObject({
      code: expect.stringMatching(/^ETL_(PUBLISH_REFUSED|DUPLICATE_KEY)$/) as unknown,
      message: expect.stringMatching(/"(c|city_HE_name_state_key)"/) as unknown,
    });
    expect(await oid()).toBe(made);
    expect(await catalogueOf(database)).toEqual(before);
    expect(await foreignKeys()).toEqual(keys);
  });
});

it.each([
  ['a foreign key to itself', 'alter table geo.city add foreign key (id, state) references geo.city'],
  [
    'a foreign key to a table with partitions',
    `create table geo.place (state text primary key) partition by list (state);
     create table geo.one partition of geo.place default; insert into geo.place values ('HE'), ('BY');
     alter table geo.city add constraint c foreign key (state) references geo.place`,
  ],
  // Tables with partitions have them since PostgreSQL 17.
  ...(serverMajor < 17
    ? []
    : [['an exclusion', 'alter table geo.city add exclude (id with =, state with =)']]),
])('%s keeps the table', async (_, ddl) => {
  await night('before');
  await database.query(ddl);
  const [before, made] = [await catalogueOf(database), await oid()];
  await night('after');
  expect(await oid()).toBe(made);
  expect(await catalogueOf(database)).toEqual(before);
});

it('a check that calls a function whose name another one takes meanwhile stays as it is then', async () => {
  await night('before');
  await database.query(`create function geo.f(integer) returns boolean immutable language sql as 'select true';
    alter table geo.city add constraint c check (geo.f(id))`);
  const rename = `alter function geo.f rename to g;
    create function geo.f(integer) returns boolean immutable language sql as 'select true'`;
  const made = await oid();
  await nightWhile(
    ({ sql }) => sql.includes('add constraint "c"') && sql.includes('"etl_build_cities"."city"'),
    () => withPg(database.url, (somebody) => somebody.query(rename)),
  );
  expect(await oid()).not.toBe(made);
  expect(
    await rowsOf(
      `select pg_get_constraintdef(oid) as c from pg_constraint where conrelid = 'geo.city'::regclass and conname = 'c'`,
    ),
  ).toEqual([{ c: 'CHECK (geo.g(id))' }]);
});

it('somebody who has read the table and then writes the one that its foreign key refers to is let go first', async () => {
  await night('before');
  await database.query(
    `${states}; alter table geo.city add constraint known foreign key (state) references geo.state`,
  );
  const said: string[] = [];
  await withPg(database.url, async (somebody) => {
    await somebody.query('begin; select from geo.city');
    let writing: Promise<unknown> | undefined;
    await nightWhile(
      ({ previous }) => previous.includes('add constraint "known"'),
      async (proxy) => {
        writing = somebody.query(`update geo.state set short = 'x' where code = 'HE'; commit`);
        const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and query like 'update geo.state%'`;
        while ((await rowsOf(waiting)).length === 0) await sleep(5);
        const matches = ({ sql }: Effect): boolean => {
          said.push(sql);
          return false;
        };
        proxy.arm({ name: 'listener', when: 'before', nth: 1, matches }, () => 'forward');
      },
    );
    await writing;
  });
  // The run gives everything up before it asks for the table: it would wait for one who waits for it.
  const first = said.findIndex((sql) => /rollback$|in access exclusive mode/.test(sql));
  expect(said[first]).toBe('rollback');
  expect(await rowsOf(`select short from geo.state where code = 'HE'`)).toEqual([{ short: 'x' }]);
});
