// Row security of a divided table that is replaced by another: it is the same to a dump, and nobody ever sees a row that it hides.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { catalogueOf } from '../helpers/catalogue.ts';
import { useDividedCities } from '../helpers/divided-cities.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { withPg } from '../helpers/own-server.ts';

const { database, notices, rowsOf, night, nightWhile, oid } = useDividedCities();

/** What a dump has, with the comments of policies. */
const dump = async () => [
  ...(await catalogueOf(database)),
  ...(await rowsOf(`select polname, obj_description(oid, 'pg_policy') as comment from pg_policy order by 1`)),
];

const role = (name: string): string =>
  `do 'begin if to_regrole(''${name}'') is null then create role ${name}; end if; end';`;

const kinds = `
  ${role('"Clerk of Hesse"')} ${role('reader_of_cities')}
  create table geo.state (code text primary key, ruler name); insert into geo.state values ('HE', current_user);
  create domain geo.code as text check (value <> '');
  create function geo.may(integer, text default 'HE') returns boolean stable language sql as 'select $1 > 0';
  create operator geo.<<< (leftarg = integer, rightarg = integer, procedure = int4lt);
  create view geo.seen as select id, state from geo.city;
  create policy "Its ""own"" rows" on geo.city as permissive for select to "Clerk of Hesse", reader_of_cities
    using (exists (select from geo.state s where s.code = city.state and s.ruler = current_user));
  comment on policy "Its ""own"" rows" on geo.city is 'it''s \\ "theirs"';
  create policy checked on geo.city as restrictive for all to public
    using (geo.may(id, state) and id operator(geo.<<<) 9 and state::geo.code <> 'XX' and name is not null)
    with check (name collate "C" < 'zz' and state = any (array['HE', 'BY']));
  create policy few on geo.city for insert with check ((select count(*) from geo.city o where o.state = city.state) < 3);
  create policy itself on geo.city for update
    using (tableoid <> 'geo.city'::regclass and city.* is not null and id in (select id from geo.seen v where v.state = city.state));
  create policy none on geo.city for delete to pg_monitor using (false);
  create policy bare on geo.city;
  grant select on geo.city to "Clerk of Hesse";`;

it.each([
  ['forced', 'alter table geo.city enable row level security, force row level security'],
  ['made and disabled', 'alter table geo.city force row level security'],
  [
    "and the table is somebody else's",
    `${role('owner_of_cities')} grant create, usage on schema geo to owner_of_cities; grant select on geo.state to owner_of_cities;
     alter table geo.city enable row level security; alter table geo.city owner to owner_of_cities`,
  ],
  ['enabled without a policy', 'drop policy x on geo.city; alter table geo.city enable row level security'],
])('policies of every kind, %s, go over to the new table', async (_, ddl) => {
  await night('before');
  await database.query(ddl.includes('drop policy') ? 'create policy x on geo.city' : kinds);
  await database.query(ddl);
  const [before, made] = [await dump(), await oid()];
  expect(await night('after')).toMatchObject({ tables: [{ strategy: 'partitions' }] });
  expect(await oid()).not.toBe(made);
  expect(await dump()).toEqual(before);
  expect(await night('later')).toMatchObject({ tables: [{ strategy: 'partitions' }] });
  expect(await dump()).toEqual(before);
  expect(await rowsOf('select distinct name from geo.city')).toEqual([{ name: 'later' }]);
});

it.each([
  [
    'of another table that reads this one',
    'create table geo.other (id integer); create policy p on geo.other using (exists (select from geo.city))',
  ],
  [
    "with a value of somebody else's type",
    `create type geo.pair as (one integer, two integer); alter type geo.pair owner to pg_monitor;
     create policy p on geo.city using ('(1,2)'::geo.pair is not null)`,
  ],
  [
    'that the server writes otherwise when it is made again',
    `create policy p on geo.city using (name::varchar in ('before', 'after'))`,
  ],
  [
    'that casts rows to the type of the table',
    'create policy p on geo.city using ((row (1, null, null)::geo.city) is not null)',
  ],
])('a policy %s keeps the table', async (_, ddl) => {
  await night('before');
  await database.query(ddl);
  const [before, made] = [await dump(), await oid()];
  await night('after');
  expect(await oid()).toBe(made);
  expect(await dump()).toEqual(before);
});

const planned = 'in share update exclusive mode';
const swapping = 'in access exclusive mode';

it.each([
  ['is altered', planned, 'alter policy p on geo.city using (id > 2)', [{ using: '(id > 2)' }]],
  ['is dropped', planned, 'drop policy p on geo.city', []],
  ['gets a role', planned, 'alter policy p on geo.city to pg_monitor', [{ roles: '{pg_monitor}' }]],
  ['gets a comment', swapping, `comment on policy p on geo.city is 'late'`, [{ comment: 'late' }]],
  [
    'calls a function whose name another one takes',
    swapping,
    `alter function geo.f rename to g; create function geo.f() returns boolean language sql as 'select true'`,
    [{ using: 'geo.g()' }],
  ],
])('a policy that %s between the plan and the swap stays as it is then', async (_, lock, sql, policies) => {
  await night('before');
  await database.query(`create function geo.f() returns boolean language sql as 'select false';
    create policy p on geo.city using (geo.f()); alter table geo.city enable row level security`);
  const made = await oid();
  const matches = (effect: Effect): boolean => effect.sql.includes(lock);
  await nightWhile(matches, () => withPg(database.url, (somebody) => somebody.query(sql)));
  expect(await oid()).not.toBe(made);
  const found =
    await rowsOf(`select pg_get_expr(polqual, polrelid) as using, polroles::regrole[]::text as roles,
    obj_description(oid, 'pg_policy') as comment from pg_policy`);
  expect(found).toMatchObject(policies);
  expect(found).toHaveLength(policies.length);
  expect(await rowsOf('select distinct name from geo.city')).toEqual([{ name: 'after' }]);
});

it('its readers see their rows of one night or the other, and never one that is hidden', async () => {
  await night('0');
  await database.query(`${role('reader_of_cities')} grant usage on schema geo to reader_of_cities;
    grant select on geo.city to reader_of_cities; alter table geo.city enable row level security;
    create policy p on geo.city for select to reader_of_cities using (state = 'HE');
    create view geo.seen with (security_barrier = true) as select * from geo.city; grant select on geo.seen to reader_of_cities`);
  let isReading = true;
  const states = new Set<string>();
  const read = (prepared: boolean) =>
    withPg(database.url, async (reader) => {
      await reader.query('set role reader_of_cities');
      while (isReading) {
        const text = `select string_agg(id::text, ' ' order by id) as ids, string_agg(distinct name, ' ') as names from geo.city`;
        const { rows } = await reader.query(prepared ? { name: 'prepared', text } : text);
        states.add(`${rows[0]!['ids']} ${rows[0]!['names']}`);
      }
    });
  const reading = Promise.all([read(true), read(false)]);
  try {
    for (const text of ['1', '2', '3']) await night(text);
    await sleep(20);
  } finally {
    isReading = false;
    await reading;
  }
  expect([...states].filter((state) => !/^1 2 [0-3]$/.test(state))).toEqual([]);
  expect(notices.join()).not.toContain('wait');
});
