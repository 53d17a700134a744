// Views over a divided table that is replaced by another: they stay the same views, and their readers notice nothing.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { catalogueOf } from '../helpers/catalogue.ts';
import { useDividedCities } from '../helpers/divided-cities.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { withPg } from '../helpers/own-server.ts';

const { database, rowsOf, night, nightWhile, oid } = useDividedCities();

const owner = 'view_owner';
const views = `
  do 'begin if to_regrole(''${owner}'') is null then create role ${owner} superuser; end if; end';
  create table geo.state (code text primary key, name text); insert into geo.state values ('HE', 'Hesse'), ('BY', 'Bavaria');
  create view geo.seen (number, "the ""Name""", state) with (security_barrier = true, check_option = cascaded) as
    select id, name, state from geo.city where id < 3;
  comment on view geo.seen is 'it''s seen'; comment on column geo.seen.number is 'of the city';
  alter view geo.seen alter column state set default 'HE';
  alter view geo.seen rename column state to land;
  grant select on geo.seen to pg_monitor with grant option; grant update (number) on geo.seen to public;
  create view geo.counted as select c.*, s.name as state_name, count(*) over () as "all"
    from geo.city c join geo.state s on s.code = c.state;
  create view geo.grouped as select *, (select count(*) from geo.city o where o.state = c.state) as others
    from geo.city c group by id, state;
  create view geo.chain as with recursive up (id) as (
      select min(id) from geo.city union all select up.id + 1 from up where exists (select from geo.city c where c.id = up.id + 1)
    ) select id, array(select name from geo.city c where c.id = up.id) as names from up;
  alter view geo.chain owner to ${owner};
  create view geo.over as select number as n from geo.seen;
  create materialized view geo.stored as select count(*) from geo.over;
  create function geo.first() returns integer stable begin atomic select min(n) from geo.over; end;
  create function geo.instead() returns trigger language plpgsql as 'begin return new; end';
  create trigger written instead of update on geo.counted for each row execute function geo.instead();
  create rule ignored as on insert to geo.counted do instead nothing; comment on rule ignored on geo.counted is 'why not';
  comment on rule "_RETURN" on geo.counted is 'the query'`;

it('are the same to a dump, with all that depends on them, and show the rows of the new table', async () => {
  await night('before');
  await database.query(views);
  const rules = `select r.oid, rulename, ev_class::regclass::text as on, obj_description(r.oid, 'pg_rewrite') as comment from pg_rewrite r
    where ev_class in (select oid from pg_class where relnamespace = 'geo'::regnamespace) order by r.oid`;
  const [before, made, itsRules] = [await catalogueOf(database), await oid('geo.city'), await rowsOf(rules)];
  expect(await night('after')).toMatchObject({ tables: [{ strategy: 'partitions' }] });
  expect(await oid('geo.city')).not.toBe(made);
  expect(await catalogueOf(database)).toEqual(before);
  expect(await rowsOf(rules)).toEqual(itsRules);
  expect(await rowsOf('select number, "the ""Name""" as name, land from geo.seen order by 1')).toEqual([
    { number: 1, name: 'after', land: 'HE' },
    { number: 2, name: 'after', land: 'HE' },
  ]);
  expect(await rowsOf('select name, others::int from geo.grouped order by id')).toEqual(
    [2, 2, 1].map((others) => ({ name: 'after', others })),
  );
  expect(await rowsOf('select names, geo.first() from geo.chain limit 1')).toEqual([
    { names: ['after'], first: 1 },
  ]);
  expect(await rowsOf(`select nspname from pg_namespace where nspname like 'etl\\_build%'`)).toEqual([]);
});

it.each([
  ['a materialized view', 'create materialized view geo.v as select id from geo.city'],
  [
    'a rule of a view',
    'create view geo.v as select 1 as id; create rule r as on insert to geo.v do instead delete from geo.city',
  ],
  ['a function', 'create function geo.v() returns integer begin atomic select min(id) from geo.city; end'],
  [
    'a view of somebody else',
    'create view geo.v as select id from geo.city; alter view geo.v owner to pg_monitor',
  ],
  [
    "a view with values of somebody else's type",
    `create type geo.pair as (one integer, two integer); alter type geo.pair owner to pg_monitor;
     create view geo.v as select id, '(1,2)'::geo.pair as pair from geo.city`,
  ],
  [
    'a view that the server writes otherwise when it is made again',
    `create view geo.v as select id from geo.city where name::varchar in ('before', 'after')`,
  ],
  ['rows as a whole', 'create view geo.v as select c from geo.city c'],
])('%s keeps the table, and its partitions are exchanged', async (_, ddl) => {
  await night('before');
  await database.query(ddl);
  const before = await oid('geo.city');
  await night('after');
  expect(await oid('geo.city')).toBe(before);
  expect(await rowsOf('select distinct name from geo.city')).toEqual([{ name: 'after' }]);
});

it('prepared statements go on, and nobody waits for somebody who waits for him', async () => {
  await night('0');
  await database.query(
    'create view geo.seen as select * from geo.city; create view geo.over as select * from geo.seen',
  );
  let isReading = true;
  const states = new Set<string>();
  const read = (name: string) =>
    withPg(database.url, async (reader) => {
      while (isReading) {
        const text = `select count(*)::int as n, string_agg(distinct name, ' ') as names from ${name}`;
        const { rows } = await reader.query({ name: 'prepared', text });
        states.add(`${rows[0]!['n']} ${rows[0]!['names']}`);
      }
    });
  const reading = Promise.all(['geo.over', 'geo.seen', 'geo.city', 'geo.over'].map(read));
  for (const text of ['1', '2', '3']) await night(text);
  await sleep(20);
  isReading = false;
  await reading;
  expect([...states].toSorted()).toEqual(['3 0', '3 1', '3 2', '3 3']);
});

it.each([
  ['is defined otherwise', 'create or replace view geo.seen as select id from geo.city where id > 2', [3]],
  ['is dropped', 'drop view geo.seen; create view geo.seen as select 7 as id', [7]],
])('one that %s between the plan and the swap stays as it is then', async (_, sql, ids) => {
  await night('before');
  await database.query('create view geo.seen as select id from geo.city');
  const matches = (effect: Effect): boolean => effect.sql.includes('in access exclusive mode');
  await nightWhile(matches, () => withPg(database.url, (somebody) => somebody.query(sql)));
  expect(await rowsOf('select id from geo.seen')).toEqual(ids.map((id) => ({ id })));
  expect(await rowsOf('select distinct name from geo.city')).toEqual([{ name: 'after' }]);
});
