// What a user may not do is found before any work, all of it at once; and a user who may just enough can do everything.

import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, inject, it } from 'vitest';
import noaa from '../../pipelines/noaa.ts';
import { postgresBackend } from '../../src/queue/postgres-backend.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { main } from '../../src/cli/main.ts';
import { column, csv, definePipeline, runPipeline } from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { ask } from '../helpers/own-server.ts';
import { createDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';

const { write, directory } = useFiles();
write('small.csv', 'id\n1\n');

const pipelineNamed = (name: string) =>
  definePipeline({
    name,
    schema: 'small',
    tables: { t: { source: csv('small.csv'), columns: { id: column.integer('id') }, primaryKey: ['id'] } },
  });

interface Place {
  readonly adminUrl: string;
  readonly database: string;
  /** A role without any privilege, which may log in. */
  readonly role: string;
  readonly url: string;
}

const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

const createRole = async (options = ''): Promise<string> => {
  const role = `sluice_${randomUUID().replaceAll('-', '')}`;
  await ask(inject('serverUrl'), `create role ${role} login password 'guest' ${options}`);
  cleanUps.push(() => ask(inject('serverUrl'), `drop role ${role}`));
  return role;
};

const urlOf = (adminUrl: string, role: string): string => {
  const url = new URL(adminUrl);
  url.username = role;
  url.password = 'guest';
  return url.href;
};

/** A database and a role; what the statements name is filled in. */
const prepare = async (...statements: readonly ((place: Place) => string)[]): Promise<Place> => {
  const role = await createRole();
  const { url: adminUrl, drop } = await createDatabase();
  cleanUps.push(drop);
  const database = new URL(adminUrl).pathname.slice(1);
  const place = { adminUrl, database, role, url: urlOf(adminUrl, role) };
  for (const statement of statements) await ask(adminUrl, statement(place));
  return place;
};

const run = (databaseUrl: string, name = 'small') =>
  runPipeline(pipelineNamed(name), { databaseUrl, workingDirectory: directory, workers: 1 });

const etlSchemas = (url: string): Promise<unknown[]> =>
  ask(url, `select nspname from pg_namespace where nspname like 'etl%'`);

const mayCreate = ({ database, role }: Place): string => `grant create on database ${database} to ${role}`;
const makeSchema = (): string => 'create schema small';

const refusals: readonly {
  name: string;
  statements: readonly ((place: Place) => string)[];
  code: string;
  missing?: (place: Place) => readonly string[];
}[] = [
  {
    name: 'a user who may only connect: every schema is named',
    statements: [],
    code: 'ETL_PERMISSION',
    missing: ({ database }) =>
      ['etl', 'etl_queue', 'etl_staging', 'small', 'etl_build_small', 'etl_build_'].map(
        (schema) => `create schema ${schema} in database ${database}`,
      ),
  },
  {
    name: 'a production schema that is closed to the user',
    statements: [mayCreate, makeSchema],
    code: 'ETL_PERMISSION',
    missing: () => ['use schema small', 'create in schema small'],
  },
  {
    name: 'a production schema that the user may use, but not add to',
    statements: [mayCreate, makeSchema, ({ role }) => `grant usage on schema small to ${role}`],
    code: 'ETL_PERMISSION',
    missing: () => ['create in schema small'],
  },
  {
    name: 'a production table of another role',
    statements: [
      mayCreate,
      makeSchema,
      ({ role }) => `grant all on schema small to ${role}`,
      ({ role }) => `create table small.t (id integer); grant all on small.t to ${role}`,
    ],
    code: 'ETL_PERMISSION',
    missing: () => ['replace table small.t, which belongs to etl'],
  },
  {
    name: 'a role whose foreign keys are not checked, and that may not change that',
    statements: [mayCreate, ({ role }) => `alter role ${role} set session_replication_role = replica`],
    code: 'ETL_PERMISSION',
    missing: () => [
      'set session_replication_role to origin (it is replica for this role or database, and so foreign keys are not checked)',
    ],
  },
  {
    name: 'a user with read-only transactions',
    statements: [mayCreate, ({ role }) => `alter role ${role} set default_transaction_read_only = on`],
    code: 'ETL_READ_ONLY',
  },
  {
    name: 'a database with read-only transactions',
    statements: [
      mayCreate,
      ({ database }) => `alter database ${database} set default_transaction_read_only = on`,
    ],
    code: 'ETL_READ_ONLY',
  },
];

describe('refused before any work', () => {
  it.each(refusals)('$name', async ({ statements, code, missing }) => {
    const place = await prepare(...statements);
    const error = await failureOf(run(place.url));
    expect(error).toMatchObject({ code, exit: 1, details: { user: place.role } });
    expect(error.details['action']).toBe(missing?.(place).join('; '));
    expect(await etlSchemas(place.adminUrl)).toEqual([]);
  });
});

it('types that the server does not have are named with their columns', async () => {
  const { url, drop } = await createDatabase();
  cleanUps.push(drop);
  const columns = {
    id: column.of('integr', 'id'),
    a: column.of('timestamp(3) with time zone', 'id'),
    b: column.of('pg_catalog.int4[]', 'id'),
    c: column.of('nowhere.mood', 'id'),
  };
  const pipeline = definePipeline({
    name: 'types',
    schema: 'types',
    tables: { t: { source: csv('small.csv'), columns } },
  });
  const failure = await failureOf(runPipeline(pipeline, { databaseUrl: url, workingDirectory: directory }));
  expect(failure).toMatchObject({ code: 'ETL_DEFINITION', exit: 2 });
  const lines = String(failure.details['problems']).trim().split('\n');
  expect(lines.map((line) => line.trim())).toEqual([
    'table t, column id: the server has no type `integr`; create it, write its name with its schema, or add the schema to searchPath',
    'table t, column c: the server has no type `nowhere.mood`; create it, write its name with its schema, or add the schema to searchPath',
  ]);
  expect(await etlSchemas(url)).toEqual([]);
  const misspelt = definePipeline({
    name: 'types',
    schema: 'types',
    searchPath: ['public', 'publik'],
    tables: { t: { source: csv('small.csv'), columns: { id: column.of('mood', 'id') } } },
  });
  const refused = await failureOf(runPipeline(misspelt, { databaseUrl: url, workingDirectory: directory }));
  expect(refused).toMatchObject({ code: 'ETL_DEFINITION', exit: 2 });
  expect(refused.details['problems']).toBe(
    '\n  searchPath: the server has no schema `publik`; create it, or leave it out',
  );
});

describe('bookkeeping of another role', () => {
  it('is refused with every privilege that is missing, and left as it was; grants of these are enough', async () => {
    const place = await prepare(mayCreate);
    await run(place.adminUrl);
    // As a run that others could help leaves it.
    await postgresBackend(addressFromUrl(place.adminUrl)).prepare();
    const error = await failureOf(run(place.url, 'other'));
    const action = String(error.details['action']);
    expect(error.code).toBe('ETL_PERMISSION');
    for (const schema of ['etl', 'etl_queue', 'etl_staging', 'small'])
      expect(action.split('; ')).toContain(`use schema ${schema}`);
    expect(action).toContain('create in schema etl_staging');
    expect(action).toMatch(
      /write the tables of schema etl \(audit, canary, chunk, .*\), which belong to etl/,
    );
    expect(action).toContain('use the sequences of schema etl_queue, which belong to etl');
    expect(action).not.toContain('the sequences of schema etl,');
    expect(action).toContain('replace table small.t, which belongs to etl');
    expect(await ask(place.adminUrl, 'select count(*)::int as runs from etl.run')).toEqual([{ runs: 1 }]);

    // Grants of all that is named are enough.
    const { adminUrl, role, url } = place;
    await ask(
      adminUrl,
      `grant usage on schema etl to ${role};
      grant usage, create on schema etl_queue, etl_staging, small to ${role};
      grant select, insert, update, delete on all tables in schema etl, etl_queue to ${role};
      grant usage on all sequences in schema etl_queue to ${role};
      alter table small.t owner to ${role}`,
    );
    for (const privilege of ['select', 'insert', 'update', 'delete']) {
      await ask(adminUrl, `revoke ${privilege} on etl.run from ${role}`);
      const { details } = await failureOf(run(url, 'other'));
      expect(details['action']).toBe('write the tables of schema etl (run), which belong to etl');
      await ask(adminUrl, `grant ${privilege} on etl.run to ${role}`);
    }
    expect(await run(url, 'other')).toMatchObject({ outcome: 'published' });
  });
});

describe('a role with nothing but `create` on the database', () => {
  it('runs the whole example, twice', async () => {
    const { url, database, role } = await prepare(mayCreate);
    const options = { databaseUrl: url, directory: 'pipelines', workers: 2 };
    const first = await runPipeline(noaa, options);
    expect(first.tables.map(({ table, rows }) => [table, rows])).toEqual([
      ['station', 2546],
      ['observation', 5276],
      ['daily', 181],
    ]);
    expect(await runPipeline(noaa, { ...options, fullRefresh: true })).toMatchObject({
      outcome: 'published',
    });
    const io = fakeIo({ workingDirectory: directory });
    expect(await main(['doctor', '--workers', '2', '--database-url', url], io)).toBe(0);
    expect(io.stdout.text).toMatch(new RegExp(`^ok +user +${role}$`, 'm'));
    expect(await ask(url, 'select current_database() as name')).toEqual([{ name: database }]);
  });

  it('may be several people’s, by `alter role … set role`', async () => {
    const place = await prepare(mayCreate);
    const anna = await createRole(`in role ${place.role}`);
    await ask(place.adminUrl, `alter role ${anna} set role ${place.role}`);
    await run(place.url);
    const again = {
      databaseUrl: urlOf(place.adminUrl, anna),
      workingDirectory: directory,
      fullRefresh: true,
    };
    expect(await runPipeline(pipelineNamed('small'), again)).toMatchObject({ outcome: 'published' });
    const select = `select tableowner from pg_tables where schemaname = 'small'`;
    expect(await ask(place.url, select)).toEqual([{ tableowner: place.role }]);
  });
});
