// Plants what a role that may create objects can plant, and records which of it is executed, and as whom.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { quoteName, quoteText } from '../../src/db/sql.ts';
import { withPg } from './own-server.ts';

/** What was executed, and by which user: empty unless somebody fell for it. */
export const executed = (url: string): Promise<readonly string[]> =>
  withPg(url, async (client) => {
    // With the server's own operators only, or this would be executed, too.
    await client.query('set search_path = pg_catalog');
    const { rows } = await client.query('select distinct what, who from trap.executed');
    return rows.map(({ what, who }) => `${what} as ${who}`);
  });

/** What a planted function does: it keeps its own name, also when the statement that called it fails or is rolled back. */
const makeTraps = (user: string): string => `
  create role intruder login password 'intruder';
  create schema trap; grant all on schema trap to intruder;
  create table trap.executed (what text, who name default current_user); grant all on trap.executed to intruder;
  -- Sequences are not rolled back.
  create sequence trap.calls; grant all on sequence trap.calls to intruder;
  grant create on schema public to intruder;
  do $$ begin execute format('grant create on database %I to intruder', current_database()); end $$;
  set role intruder;
  create schema ${quoteName(user)};
  create function trap.spring(what text) returns text language plpgsql as $$
    begin
      perform pg_catalog.nextval('trap.calls');
      insert into trap.executed (what) values (spring.what);
      return spring.what;
    end $$;
  grant usage on schema ${quoteName(user)} to public`;

/** Types of the values in statements. */
const types = [
  'text',
  'name',
  'oid',
  'integer',
  'bigint',
  'double precision',
  'numeric',
  'boolean',
  'timestamptz',
  'interval',
  'text[]',
  'jsonb',
  'varchar',
];

const list = (texts: readonly string[]): string => `array[${texts.map(quoteText).join(', ')}]::text[]`;

const filesBelow = (directory: string, pattern: RegExp): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => pattern.test(file))
    .map((file) => join(directory, file));

/** Words before a parenthesis in our statements, and in BullMQ's: functions among them, which the server sorts out. */
const calledWords = (): readonly string[] => {
  const files = [
    ...filesBelow('src', /\.(?:ts|sql)$/),
    ...filesBelow('node_modules/bullmq/dist/cjs/postgres', /sql-scripts\.js$/),
  ];
  const words = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\b([a-z_][a-z0-9_]*)\(/g)].map(([, word]) => word!),
  );
  return [...new Set(words)];
};

/**
 * Beside each operator, and each function that our statements call: one for every pair of types for which the server has
 * none that fits exactly, so that PostgreSQL prefers the planted one wherever it sees it.
 */
const shadows = (schema: string, words: readonly string[]): string => `
  set check_function_bodies = off;
  do $plant$
  declare
    o record; l text; r text;
    body constant text := 'begin perform trap.spring(%L); return null; end';
    target constant text := ${quoteText(schema)};
  begin
    for l in select unnest(${list(types)}) loop
      for r in select unnest(${list(types)}) loop
        execute format('create function %I.%I(%s, %s) returns boolean language plpgsql as %L',
          target, 'op', l, r, format(body, format('operator of %s and %s', l, r)));
        execute format('create function %I.%I(%s, %s) returns %s language plpgsql as %L',
          target, 'calc', l, r, l, format(body, format('operator of %s and %s', l, r)));
      end loop;
    end loop;
    for o in
      select distinct p.oprname as name, a.t as l, b.t as r, p.oprresult = 'bool'::regtype as truth
        from pg_operator p, unnest(${list(types)}) as a (t), unnest(${list(types)}) as b (t)
        where p.oprnamespace = 'pg_catalog'::regnamespace and p.oprkind = 'b'
          and p.oprname in ('=', '<>', '<', '>', '<=', '>=', '+', '-', '*', '/', '%', '||', '~', '!~', '->', '->>', '@>', '<@', '&&', '~~')
          and not exists (select from pg_operator e where e.oprnamespace = 'pg_catalog'::regnamespace
            and e.oprname = p.oprname and e.oprleft = a.t::regtype and e.oprright = b.t::regtype)
    loop
      begin
        execute format('create operator %I.%s (leftarg = %s, rightarg = %s, function = %I.%I)',
          target, o.name, o.l, o.r, target, case when o.truth then 'op' else 'calc' end);
      exception when duplicate_function then null;
      end;
    end loop;
    for o in
      select distinct f.proname as name, a.t as arguments, format_type(f.prorettype, null) as result
        from pg_proc f join unnest(${list(words)}) as w (word) on f.proname = w.word
          join lateral (
            select x.t, 1 as n from unnest(${list(types)}) as x (t)
            union all
            select x.t || ', ' || y.t, 2 from unnest(${list(types)}) as x (t), unnest(${list(types)}) as y (t)
          ) a on a.n = f.pronargs
        where f.pronamespace = 'pg_catalog'::regnamespace and not f.proretset
          and f.prorettype not in (select oid from pg_type where typtype = 'p')
    loop
      begin
        execute format('create function %I.%I(%s) returns %s language plpgsql as %L',
          target, o.name, o.arguments, o.result, format(body, format('function %s(%s)', o.name, o.arguments)));
      exception when duplicate_function then null;
      end;
    end loop;
  end $plant$`;

/** Views and domains where sessions might look for tables and types of ours. */
const namesakes = (schema: string): string => `
  do $plant$
  declare n text; target constant text := ${quoteText(schema)};
  begin
    for n in select distinct relname from pg_class c
      where relnamespace in ('etl'::regnamespace, 'etl_queue'::regnamespace) and relkind in ('r', 'p', 'S')
        and not exists (select from pg_class x where x.relname = c.relname and x.relnamespace = target::regnamespace)
    loop
      execute format('create view %I.%I as select trap.spring(%L)', target, n, 'view ' || n);
    end loop;
    for n in select unnest(array['regclass', 'oid', 'timestamptz', 'int8', 'float8', 'uuid', 'name']) loop
      execute format('create domain %I.%I as pg_catalog.%I check (trap.spring(%L) is null)', target, n, n, 'type ' || n);
    end loop;
  end $plant$`;

/** The statement of the report: superuser by a doctor who multiplies. */
const reported = (schema: string): string => `
  create function ${quoteName(schema)}.evil(float8, numeric) returns float8 language plpgsql as
    $$ begin perform trap.spring('the operator of the report'); return 0; end $$;
  create operator ${quoteName(schema)}.* (leftarg = float8, rightarg = numeric, function = ${quoteName(schema)}.evil)`;

export interface Planted {
  readonly operators: number;
  readonly functions: number;
}

/**
 * Plants all of it as a role that may create schemas, and objects in public: in a schema with the name of the database's
 * admin, which the server's own search path begins with, and the exploit of the report in both. `etl` and `etl_queue` are there.
 */
export const plant = (url: string): Promise<Planted> =>
  withPg(url, async (client) => {
    const user = decodeURIComponent(new URL(url).username);
    await client.query(makeTraps(user));
    await client.query(reported(user));
    await client.query(reported('public'));
    await client.query(shadows(user, calledWords()));
    await client.query(namesakes(user));
    await client.query(namesakes('public'));
    await client.query('reset role');
    const { rows } = await client.query(
      `select (select count(*)::int from pg_operator where oprnamespace = $1::regnamespace) as operators,
        (select count(*)::int from pg_proc where pronamespace = $1::regnamespace) as functions`,
      [quoteName(user)],
    );
    return rows[0] as Planted;
  });

/** Plants operators and functions in a schema that is on the path of a pipeline's author. */
export const plantIn = (url: string, schema: string): Promise<void> =>
  withPg(url, async (client) => {
    await client.query(`grant usage, create on schema ${quoteName(schema)} to intruder; set role intruder`);
    await client.query(shadows(schema, calledWords()));
  });
