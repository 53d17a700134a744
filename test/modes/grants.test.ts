// Grants on a table that is replaced: each is there afterwards, made by the role that made it, or the table stays in place.

import { rmSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  column,
  csv,
  definePipeline,
  list,
  planPipeline,
  rollbackPipeline,
  type RunEvent,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, database, notices, rowsOf, run, settings } = usePipelineRuns();

const [loader, owner, alice, bob, carol] = ['loader', 'owner', 'alice', 'bob', 'carol'].map(
  (name) => `grants_${name}`,
);
const asLoader = (): object => {
  const url = new URL(database.url);
  [url.username, url.password] = [loader!, loader!];
  return { databaseUrl: url.href };
};

const declare = (change: object = {}) =>
  definePipeline({
    name: 'cities',
    schema: 'geo',
    tables: {
      city: {
        source: csv('in/*.csv'),
        columns: { id: column.integer('id'), state: column.text('state'), row_id: column.identity() },
        primaryKey: ['id', 'state'] as ['id', 'state'],
        guard: false,
        ...change,
      },
    },
  });
const whole = declare();
const byState = declare({
  partitionBy: list('state'),
  columns: { id: column.integer('id'), state: column.text('state') },
});

const night = (pipeline: typeof whole, id: number, options: object = {}) => {
  files.write('in/a.csv', `id,state\n${id},HE\n`);
  return run(pipeline, options);
};

/** Grants of the table, its partitions, columns and sequence, as sets. */
const grants = () =>
  rowsOf(`select name, (select string_agg(item, ' ' order by item) from unnest(acl::text[]) as item) as acl from (
      select relname::text as name, relacl as acl from pg_class
        where relnamespace = 'geo'::regnamespace and relkind in ('r', 'p', 'S')
      union all
      select attrelid::regclass || '.' || attname, attacl from pg_attribute join pg_class c on c.oid = attrelid
        where relnamespace = 'geo'::regnamespace and attacl is not null
    ) a order by name`);

/** What the role does. */
const as = (role: string, ...statements: readonly string[]): string =>
  `set role ${role}; ${statements.join('; ')}; reset role;`;

beforeEach(async () => {
  rmSync(`${files.directory}/in`, { recursive: true, force: true });
  await database.query('drop schema if exists geo, etl, etl_queue, etl_staging, etl_kept cascade');
  for (const name of [loader, owner, alice, bob, carol])
    await database.query(`do $$ begin
      if to_regrole('${name}') is null then create role ${name} login password '${name}'; end if;
      execute format('grant create, temporary on database %I to ${name}', current_database());
    end $$`);
  await database.query(`revoke ${owner}, ${alice} from ${loader};
    create schema geo; grant usage, create on schema geo to public`);
});

/** A grant option passed on twice, of a table, a column and a sequence; and the option that came first was given again last. */
const passedOn = (table: string): string => `
  grant select, insert on geo.${table} to ${alice} with grant option;
  ${as(alice!, `grant select on geo.${table} to ${carol} with grant option`, `grant insert on geo.${table} to ${bob}`)}
  ${as(carol!, `grant select on geo.${table} to ${bob} with grant option`, `grant select (id) on geo.${table} to ${bob}`)}
  grant select on geo.${table} to ${carol} with grant option;
  ${as(alice!, `revoke select on geo.${table} from ${carol} cascade`)}
  ${as(alice!, `grant select on geo.${table} to ${carol} with grant option`)}
  grant update (id) on geo.${table} to ${alice} with grant option;
  ${as(alice!, `grant update (id) on geo.${table} to ${bob}`)}`;
const onSequence = `
  grant usage on sequence geo.city_row_id_seq to ${alice} with grant option;
  ${as(alice!, `grant usage on sequence geo.city_row_id_seq to ${bob}`)}
  comment on sequence geo.city_row_id_seq is 'numbers of rows';`;
const commentOf = () => rowsOf(`select obj_description('geo.city_row_id_seq'::regclass, 'pg_class') as text`);

describe('are made again by their grantors', () => {
  it.each([
    ['a table with the owner that loads', whole, `${passedOn('city')} ${onSequence}`],
    [
      'a table of another owner, who was given nothing by name',
      whole,
      `alter table geo.city owner to ${owner}; ${passedOn('city')} ${onSequence}`,
    ],
  ])('%s', async (_, pipeline, ddl) => {
    await night(pipeline, 1);
    await database.query(ddl);
    const before = await grants();
    expect(JSON.stringify(before)).toContain(`${bob}=r*/${carol}`);
    expect(await night(pipeline, 2)).toMatchObject({ tables: [{ strategy: 'swap' }] });
    expect(await grants()).toEqual(before);
    expect(await commentOf()).toEqual([{ text: 'numbers of rows' }]);
  });

  it('a divided table and its partition, exchanged one by one and all at once', async () => {
    await night(byState, 1);
    await database.query(`${passedOn('city')} ${passedOn('"city_HE"')}`);
    const before = await grants();
    expect(await night(byState, 2)).toMatchObject({ tables: [{ strategy: 'partitions' }] });
    expect(await grants()).toEqual(before);
    await database.query(
      'create view geo.seen as select id from geo.city; alter table geo.city add check (id > 0)',
    );
    expect(await night(byState, 3)).toMatchObject({ tables: [{ strategy: 'partitions' }] });
    expect((await grants()).filter(({ name }) => name !== 'seen')).toEqual(before);
  });

  it('a table whose owner loads it as a member, though the loader was given a grant option, too', async () => {
    await database.query(`grant ${owner}, ${alice} to ${loader}`);
    await night(whole, 1, asLoader());
    await database.query(`alter table geo.city owner to ${owner};
      ${as(owner!, `grant select on geo.city to ${loader} with grant option`, `grant select on geo.city to ${bob}`, `grant insert on geo.city to ${alice} with grant option`)}
      ${as(loader!, `grant select on geo.city to ${carol}`)} ${as(alice!, `grant insert on geo.city to ${bob}`)}`);
    const before = await grants();
    expect(await night(whole, 2, asLoader())).toMatchObject({ tables: [{ strategy: 'swap' }] });
    expect(await grants()).toEqual(before);
  });

  it('a version that returns has the grants of the one that it replaces', async () => {
    const kept = declare({ keep: 1 });
    await night(kept, 1);
    await database.query(`grant delete on geo.city to ${alice} with grant option;
      ${as(alice!, `grant delete on geo.city to ${bob}`)}`);
    await night(kept, 2);
    await database.query(`revoke all on geo.city from ${alice} cascade; ${passedOn('city')}`);
    const before = await grants();
    await rollbackPipeline(kept, settings());
    expect(await rowsOf('select id from geo.city')).toEqual([{ id: 1 }]);
    expect(await grants()).toEqual(before);
  });
});

describe('that the run may not make again keep the table in place, and the plan says so', () => {
  it.each([
    ['of a table', whole, passedOn('city'), 'in place'],
    ['of a sequence', whole, onSequence, 'in place'],
    // The table stays anyway.
    ['of a divided table', byState, passedOn('city'), 'partitions'],
    ['of a partition', byState, passedOn('"city_HE"'), 'in place'],
    [
      'of a role that is a superuser by now',
      whole,
      `${passedOn('city')} grant ${alice} to ${loader}; alter role ${carol} superuser;`,
      'in place',
    ],
    [
      'of a role that may not use the schema',
      whole,
      `${onSequence} grant ${alice} to ${loader}; revoke usage on schema geo from public; grant usage, create on schema geo to ${loader};`,
      'in place',
    ],
  ])('%s', async (_, pipeline, ddl, strategy) => {
    await night(pipeline, 1, asLoader());
    await database.query(ddl);
    const oid = () => rowsOf(`select 'geo.city'::regclass::oid`);
    const before = [await grants(), await oid()];
    files.write('in/a.csv', 'id,state\n2,HE\n');
    try {
      const planned = JSON.stringify(await planPipeline(pipeline, { ...settings(), ...asLoader() }));
      const { tables } = await run(pipeline, asLoader());
      const because =
        /geo\.city: rows are replaced in place because of grant by grants_(alice|carol), which grants_loader may not make again/;
      expect({ tables, planned: because.test(planned), said: because.test(notices.join()) }).toMatchObject({
        tables: [{ strategy }],
        planned: strategy === 'in place',
        said: strategy === 'in place',
      });
    } finally {
      await database.query(`alter role ${carol} nosuperuser`);
    }
    expect(await rowsOf('select id from geo.city')).toEqual([{ id: 2 }]);
    expect([await grants(), await oid()]).toEqual(before);
  });
});

describe.each([
  { when: 'before the load', chunkBytes: 1, isLoaded: false },
  // The definition is published already, so a brief load is not rehearsed.
  { when: 'before they are needed', chunkBytes: undefined, isLoaded: true },
])('that the owner does not have, and publishing will need, are missed $when', ({ chunkBytes, isLoaded }) => {
  const referring =
    'create table geo.shop (id integer, state text, foreign key (id, state) references geo.city)';
  it.each([
    ['in place', 'replace', 'create view geo.seen as select id from geo.city', ['insert', 'delete']],
    ['in place by key', 'replace', referring, ['insert', 'delete', 'update']],
    ['append', 'append', '', ['insert']],
    [
      'append in the place of rows',
      { mode: 'append', changed: 'reload' },
      referring,
      ['insert', 'delete', 'update'],
    ],
    ['merge', 'merge', '', ['insert', 'update']],
  ])('%s', async (_, publish, ddl, privileges) => {
    const pipeline = declare({ publish });
    await night(pipeline, 1, asLoader());
    // Before PostgreSQL 17, which has `maintain`, an owner needs one of them to lock the table.
    const locks = serverMajor < 17 && publish === 'append' ? '' : 'truncate, ';
    await database.query(
      `${ddl}; revoke insert, update, delete, ${locks}references, trigger on geo.city from ${loader}`,
    );
    if (publish === 'append' || publish === 'merge') files.write('in/b.csv', 'id,state\n3,HE\n');
    else files.write('in/a.csv', 'id,state\n1,HE\n3,HE\n');
    const events: string[] = [];
    const onEvent = ({ type }: RunEvent) => void events.push(type);
    expect(await failureOf(run(pipeline, { ...asLoader(), chunkBytes, onEvent }))).toMatchObject({
      code: 'ETL_PERMISSION',
      details: { user: loader, action: privileges.map((one) => `${one} rows of table geo.city`).join('; ') },
    });
    expect(events.includes('loaded')).toBe(isLoaded);
    await database.query(`grant ${privileges.join(', ')} on geo.city to ${loader}`);
    expect(await run(pipeline, asLoader())).toMatchObject({ outcome: 'published' });
    expect(await rowsOf('select id from geo.city order by id')).toEqual([{ id: 1 }, { id: 3 }]);
  });
});
