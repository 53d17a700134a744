// `etl load FILE --into TABLE` for tables that people have, of every kind: the right rows, or one clear error; and the table stays as it is.

import { beforeEach, describe, expect, it } from 'vitest';
import { serverMajor } from '../helpers/major-server.ts';
import { catalogueOf } from '../helpers/catalogue.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { database, etl, files, rowsOf, startOver } = usePipelineRuns();

beforeEach(async () => {
  await startOver('geo');
  await database.query('create schema geo');
});

interface Target {
  readonly name: string;
  readonly ddl: string;
  /** Default: `geo.t`. */
  readonly into?: string;
  /** Names of the key and of the value in the file. Default: `id,v`. */
  readonly header?: string;
  /** Two texts of the file, and how the server writes them. Default: `a` and `b`. */
  readonly texts?: readonly [string, string];
  readonly shown?: readonly [string, string];
  /** Lists rows as texts, of a key and a value. Default: `select id, v::text from geo.t`. */
  readonly select?: string;
  readonly flags?: readonly string[];
  /** Error by mode, where the load is refused. */
  readonly refused?: Readonly<Partial<Record<'append' | 'merge' | 'replace', string>>>;
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const ofType = (type: string, texts: readonly [string, string], shown = texts, before = ''): Target => ({
  name: type,
  ddl: `${before}create table geo.t (id int primary key, v ${type})`,
  texts,
  shown,
});

const types: readonly Target[] = [
  ofType('smallint', ['1', '-2']),
  ofType('bigint', ['9007199254740993', '-2']),
  ofType('real', ['1.5', '0.1']),
  ofType('double precision', ['1e+300', '0.1']),
  ofType('numeric', ['1.50', '-0.0000001']),
  ofType('numeric(6,2)', ['1.50', '9999.99']),
  // PostgreSQL 14 has no negative scale.
  ...(serverMajor < 15 ? [] : [ofType('numeric(3,-2)', ['1200', '99900'])]),
  ofType('boolean', ['t', 'no'], ['true', 'false']),
  ofType('varchar(3)', ['ab', 'ü€x']),
  ofType('character varying', ['ab', 'x']),
  ofType('char(3)', ['ab', 'x'], ['ab', 'x']),
  ofType('date', ['2026-01-05', 'infinity']),
  ofType(
    'timestamp',
    ['2026-01-05 10:00:00', '2026-01-05T10:00:00.5'],
    ['2026-01-05 10:00:00', '2026-01-05 10:00:00.5'],
  ),
  ofType(
    'timestamp(0)',
    ['2026-01-05 10:00:00', '2026-01-05T10:00:01'],
    ['2026-01-05 10:00:00', '2026-01-05 10:00:01'],
  ),
  ofType(
    'timestamptz',
    ['2026-01-05 10:00:00Z', '2026-01-05T10:00:00+01:00'],
    ['2026-01-05 10:00:00+00', '2026-01-05 09:00:00+00'],
  ),
  ofType('time', ['10:00:00', '23:59:59.5']),
  ofType('timetz', ['10:00:00+01', '23:59:59+00']),
  ofType('interval', ['PT5M', '1 year 2 days'], ['00:05:00', '1 year 2 days']),
  ofType(
    'uuid',
    ['6b9ef8f4-6a7d-4f8a-8f5f-0d8f4f5ff0aa', '{6B9EF8F4-6A7D-4F8A-8F5F-0D8F4F5FF0AB}'],
    ['6b9ef8f4-6a7d-4f8a-8f5f-0d8f4f5ff0aa', '6b9ef8f4-6a7d-4f8a-8f5f-0d8f4f5ff0ab'],
  ),
  ofType('json', ['{"a":1}', '[1, 2]']),
  ofType('jsonb', ['{"a":1}', '[1,2]'], ['{"a": 1}', '[1, 2]']),
  ofType('bytea', ['\\x00ff', 'abc'], ['\\x00ff', '\\x616263']),
  {
    ...ofType('bytea', ['3q0=', 'AA'], ['\\xdead', '\\x00']),
    name: 'bytea in base64',
    flags: ['--type', 'v=bytea(base64)'],
  },
  ofType('inet', ['10.0.0.1', '::1'], ['10.0.0.1/32', '::1/128']),
  ofType('cidr', ['10.0.0.0/8', '::/0']),
  ofType('macaddr', ['08:00:2b:01:02:03', '08002b010204'], ['08:00:2b:01:02:03', '08:00:2b:01:02:04']),
  ofType('bit(3)', ['101', '000']),
  ofType('bit varying', ['1', '10101']),
  ofType('xml', ['<a/>', '<b>1</b>']),
  ofType('int4range', ['[1,5)', 'empty']),
  ofType('daterange', ['[2026-01-01,2026-02-01)', '(,)']),
  ofType('tsvector', ["'cat' 'sat'", "'dog':1"]),
  ofType('point', ['(1,2)', '3,4'], ['(1,2)', '(3,4)']),
  ofType('pg_lsn', ['0/16B3748', '1/0']),
  ofType('text[]', ['{a,"b c"}', '{}']),
  ofType('int[][]', ['{{1,2},{3,4}}', '{1,NULL}']),
  ofType('numeric(4,1)[]', ['{1.5}', '{2.0,3.0}']),
  ofType('geo.mood', ['sad', 'So "so"'], undefined, `create type geo.mood as enum ('sad', 'So "so"');`),
  ofType('geo."Mood"[]', ['{sad}', '{ok,sad}'], undefined, `create type geo."Mood" as enum ('sad', 'ok');`),
  ofType('geo.email', ['a@b', 'c@d'], undefined, "create domain geo.email as text check (value like '%@%');"),
  ofType('geo.pair', ['(1,a)', '(2,)'], undefined, 'create type geo.pair as (n int, t text);'),
];

const kept = 'select id, v from geo.t';

const tables: readonly Target[] = [
  {
    name: 'Prisma',
    ddl: 'create table geo."User" ("id" serial primary key, "fullName" text not null, "createdAt" timestamp(3) not null default current_timestamp)',
    into: 'geo.User',
    header: 'id,fullName',
    select: 'select id, "fullName" from geo."User"',
    refused: { replace: 'ETL_USAGE' },
  },
  {
    name: 'Drizzle',
    ddl: 'create table geo.users_table (id integer generated always as identity primary key, "name" varchar(255) not null, age integer)',
    into: 'geo.users_table',
    header: 'ID,Name',
    select: 'select id, name from geo.users_table',
    refused: { replace: 'ETL_USAGE' },
  },
  {
    name: 'TypeORM',
    ddl: 'create table geo.photo ("photoId" integer generated by default as identity, "isPublished" varchar not null, constraint "PK_723fa50bf70dcfd06fb5a44d4ff" primary key ("photoId"))',
    into: 'geo.photo',
    header: 'photo_id,is published',
    select: 'select "photoId", "isPublished" from geo.photo',
  },
  {
    name: 'Rails',
    ddl: 'create table geo.posts (id bigserial primary key, title varchar, created_at timestamp(6) not null default now(), updated_at timestamp(6) not null default now())',
    into: 'geo.posts',
    header: 'id,Title',
    select: 'select id, title from geo.posts',
    refused: { replace: 'ETL_USAGE' },
  },
  {
    name: 'Django',
    ddl: 'create table geo.app_post (id bigint generated by default as identity primary key, title varchar(200) not null); create index "app_post_title_like" on geo.app_post (title varchar_pattern_ops)',
    into: 'geo.app_post',
    header: 'id,title',
    select: 'select id, title from geo.app_post',
  },
  {
    name: 'Hasura',
    ddl: "create table geo.authors (id uuid default gen_random_uuid() primary key, n int unique, name text not null); comment on table geo.authors is 'x'",
    into: 'geo.authors',
    header: 'n,name',
    select: 'select n, name from geo.authors',
    flags: ['--key', 'n'],
    refused: { replace: 'ETL_USAGE' },
  },
  {
    name: 'Sequelize',
    ddl: 'create table geo."Users" (id serial primary key, "firstName" varchar(255))',
    into: 'geo."Users"',
    header: 'id,First Name',
    select: 'select id, "firstName" from geo."Users"',
  },
  { name: 'no key', ddl: 'create table geo.t (id int, v text)', refused: { merge: 'ETL_USAGE' } },
  {
    name: 'a key of two columns',
    ddl: 'create table geo.t (id int, v text, w int default 0, primary key (id, w))',
    refused: { merge: 'ETL_USAGE', replace: 'ETL_USAGE' },
  },
  {
    name: 'a unique index only',
    ddl: 'create table geo.t (id int not null, v text); create unique index on geo.t (id)',
    flags: ['--key', 'id'],
  },
  {
    name: 'a deferrable key',
    ddl: 'create table geo.t (id int primary key deferrable, v text)',
    refused: { merge: 'ETL_USAGE' },
  },
  {
    name: 'a generated column',
    ddl: "create table geo.t (id int primary key, v text, w text generated always as (v || '!') stored)",
    refused: { replace: 'ETL_USAGE' },
  },
  {
    name: 'defaults',
    ddl: "create table geo.t (id int primary key, v text not null default 'x', w timestamptz not null default now())",
    refused: { replace: 'ETL_USAGE' },
  },
  {
    name: 'a trigger',
    ddl: `create table geo.t (id int primary key, v text);
      create function geo.up() returns trigger language plpgsql as $$ begin new.v = lower(new.v); return new; end $$;
      create trigger up before insert or update on geo.t for each row execute function geo.up()`,
  },
  {
    name: 'a rule',
    ddl: 'create table geo.t (id int primary key, v text); create table geo.log (id int); create rule r as on insert to geo.t do also insert into geo.log values (new.id)',
  },
  {
    name: 'row security',
    ddl: 'create table geo.t (id int primary key, v text); alter table geo.t enable row level security; create policy p on geo.t using (id > 0)',
  },
  {
    name: 'a view over it',
    ddl: 'create table geo.t (id int primary key, v text); create view geo.over as select * from geo.t',
  },
  {
    name: 'a materialized view over it',
    ddl: 'create table geo.t (id int primary key, v text); create materialized view geo.over as select * from geo.t',
  },
  {
    name: 'foreign keys to it',
    ddl: 'create table geo.t (id int primary key, v text); create table geo.child (t int references geo.t)',
  },
  {
    name: 'a foreign key of it',
    ddl: "create table geo.parent (v text primary key); insert into geo.parent values ('a'), ('b'); create table geo.t (id int primary key, v text references geo.parent)",
  },
  {
    name: 'checks and exclusion',
    ddl: "create table geo.t (id int primary key, v text check (v <> ''), exclude (id with =))",
  },
  {
    name: 'partitions',
    ddl: 'create table geo.t (id int primary key, v text) partition by range (id); create table geo.p1 partition of geo.t for values from (0) to (3); create table geo.p2 partition of geo.t for values from (3) to (100)',
  },
  {
    name: 'children that inherit',
    ddl: 'create table geo.t (id int primary key, v text); create table geo.child () inherits (geo.t)',
  },
  {
    name: 'a child',
    ddl: 'create table geo.parent (id int, v text); create table geo.t (primary key (id)) inherits (geo.parent)',
  },
  {
    name: 'unlogged',
    ddl: 'create unlogged table geo.t (id int primary key, v text)',
  },
  {
    name: 'dropped columns',
    ddl: 'create table geo.t (gone int, id int primary key, away text, v text); alter table geo.t drop column gone, drop column away',
  },
  {
    name: 'a thousand columns',
    ddl: `create table geo.t (id int primary key, v text, ${Array.from({ length: 1_000 }, (_, n) => `c${n} text`).join(', ')})`,
    refused: { replace: 'ETL_USAGE' },
  },
  {
    name: 'the name of a temporary table',
    ddl: 'create table geo."pg_temp" (id int primary key, v text)',
    into: 'geo.pg_temp',
    select: 'select id, v from geo.pg_temp',
  },
  {
    name: 'names that are quoted',
    ddl: 'create table geo."My ""T"".x" ("Ìd; --" int primary key, "select" text)',
    into: 'geo."My ""T"".x"',
    header: 'Ìd; --,select',
    select: 'select "Ìd; --", "select" from geo."My ""T"".x"',
  },
  {
    name: 'a view',
    ddl: "create view geo.t as select 1 as id, 'a'::text as v",
    refused: { append: 'ETL_PUBLISH_REFUSED', merge: 'ETL_USAGE', replace: 'ETL_PUBLISH_REFUSED' },
  },
  {
    name: 'storage parameters, statistics, comments',
    ddl: "create table geo.t (id int primary key, v text) with (fillfactor = 70); create statistics geo.s on id, v from geo.t; alter table geo.t alter v set statistics 50; comment on column geo.t.v is 'x'",
  },
];

const content = (header: string, records: readonly (readonly [number, string])[]): string =>
  `${header}\n${records.map(([id, text]) => `${id},${quoted(text)}\n`).join('')}`;

describe.each([...types, ...tables])('$name', (target) => {
  const {
    ddl,
    into = 'geo.t',
    header = 'id,v',
    texts = ['a', 'b'],
    shown = texts,
    select = kept,
    flags = [],
  } = target;
  const rows = async (): Promise<unknown> =>
    (
      await rowsOf(
        `select r::text from (${select.replace(/, (\S+) from/, ', $1::text from')} order by 1) as r(id, v)`,
      )
    ).map((row) => row['r']);
  const tuple = async (id: number, text: string): Promise<unknown> =>
    (await rowsOf(`select row(${id}, $t$${text}$t$::text)::text as r`))[0]!['r'];

  it.each(['append', 'merge', 'replace'] as const)('%s', async (mode) => {
    await database.query(ddl);
    const before = await catalogueOf(database);
    const load = async (file: string, records: readonly (readonly [number, string])[]) =>
      etl(
        'load',
        files.write(file, content(header, records)),
        '--into',
        into,
        `--${mode}`,
        '--workers',
        '1',
        ...flags,
      );
    const first = await load('in/1.csv', [
      [1, texts[0]],
      [2, texts[1]],
    ]);
    const refusal = target.refused?.[mode];
    expect(first.err).toContain(refusal === undefined ? '' : `error ${refusal}`);
    expect(first.exit === 0).toBe(refusal === undefined);
    expect(await catalogueOf(database)).toEqual(before);
    if (refusal !== undefined) return;
    const [one, two] = [await tuple(1, shown[0]), await tuple(2, shown[1])];
    expect(await rows()).toEqual([one, two]);
    const second = await load(
      'in/2.csv',
      mode === 'append'
        ? [[3, texts[0]]]
        : [
            [2, texts[0]],
            [3, texts[1]],
          ],
    );
    expect(second).toMatchObject({ exit: 0 });
    expect(await catalogueOf(database)).toEqual(before);
    const after = {
      append: [one, two, await tuple(3, shown[0])],
      merge: [one, await tuple(2, shown[0]), await tuple(3, shown[1])],
      replace: [await tuple(2, shown[0]), await tuple(3, shown[1])],
    };
    expect(await rows()).toEqual(after[mode]);
  });
});
