// The roles of docs/operations/least-privilege.sql can do what they are for, and nothing else.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import noaa from '../../pipelines/noaa.ts';
import { main } from '../../src/cli/main.ts';
import { csv, definePipeline, runPipeline, sqlFile, type RunResult } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { ask } from '../helpers/own-server.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { useDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import { readProjectFile } from '../unit/project/source-files.ts';

const suffix = randomUUID().replaceAll('-', '');
const loader = `loader_${suffix}`;
const reader = `reader_${suffix}`;
/** Runs the script: owns the database and may create roles, as on managed servers. */
const administrator = `administrator_${suffix}`;
/** May connect, and nothing else. */
const stranger = `stranger_${suffix}`;
/** May not even connect. */
const outsider = `outsider_${suffix}`;
const files = useFiles();
const database = useDatabase();

const urlOf = (role: string): string => {
  const url = new URL(database.url);
  url.username = role;
  url.password = 'guest';
  return url.href;
};

let first: RunResult;
beforeAll(async () => {
  const name = new URL(database.url).pathname.slice(1);
  const script = readProjectFile('docs/operations/least-privilege.sql')
    .replaceAll('weather', name)
    .replaceAll('etl_loader', loader)
    .replaceAll('etl_reader', reader);
  await database.query(`create role ${administrator} login createrole password 'guest';
    alter database ${name} owner to ${administrator}`);
  // Until PostgreSQL 14, the owner of the database does not own schema public.
  await ask(serverMajor < 15 ? database.url : urlOf(administrator), script);
  await database.query(`alter role ${loader} password 'guest'; alter role ${reader} password 'guest';
    create role ${stranger} login password 'guest'; create role ${outsider} login password 'guest';
    grant connect on database ${name} to ${stranger}`);
  await database.query(`create schema private; create table private.salary (amount integer);
    create table public.visitor (id integer); create function private.open() returns int return 1`);
  // Chunks of this size need the queue.
  first = await runPipeline(noaa, {
    databaseUrl: urlOf(loader),
    directory: 'pipelines',
    chunkBytes: 64 * 1024,
  });
});
afterAll(async () => {
  const roles = [loader, reader, stranger, outsider, administrator];
  await database.query(`reassign owned by ${administrator} to current_user`);
  for (const role of roles) await database.query(`drop owned by ${role} cascade`);
  for (const role of roles) await ask(inject('serverUrl'), `drop role ${role}`);
});

/** SQLSTATE of a statement's refusal; 'done' when it is not refused. Nothing stays done. */
const attempt = async (role: string, statement: string): Promise<string> => {
  const client = new pg.Client({ connectionString: urlOf(role) });
  await client.connect();
  try {
    // Some statements do not go into a transaction, and are refused before that is seen.
    await client.query(
      /^(?:create database|alter system)/.test(statement) ? statement : `begin; ${statement}; rollback`,
    );
    return 'done';
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.end();
  }
};

describe('the loader', () => {
  it('runs the example, and again over its own tables', async () => {
    expect(first.outcome).toBe('published');
    const options = { databaseUrl: urlOf(loader), directory: 'pipelines', fullRefresh: true };
    expect((await runPipeline(noaa, options)).outcome).toBe('published');
  });

  it('runs a pipeline of text staging', async () => {
    files.write('raw.csv', 'a\n1\n');
    files.write('raw.sql', 'select a::integer as a from raw_staging');
    const pipeline = definePipeline({
      name: 'raw',
      schema: 'noaa',
      tables: { raw: { source: csv('raw.csv'), staging: 'text', transform: sqlFile('raw.sql') } },
    });
    const { directory } = files;
    const { tables } = await runPipeline(pipeline, {
      databaseUrl: urlOf(loader),
      directory,
      workingDirectory: directory,
    });
    expect(tables.map(({ rows }) => rows)).toEqual([1]);
  });
});

const insufficientPrivilege = '42501';

/** Of any role that is not trusted with it. */
const forbidden = [
  'select * from private.salary',
  'select private.open()',
  'select * from public.visitor',
  'insert into public.visitor values (1)',
  'drop table public.visitor',
  'create table public.mine (a integer)',
  'create table private.mine (a integer)',
  'drop schema private cascade',
  'create role friend',
  `alter role ${loader} superuser`,
  `alter role ${reader} createrole`,
  'set role pg_read_all_data',
  // The superuser of the server.
  'set session authorization etl',
  'create database other',
  `alter system set work_mem = '1GB'`,
  `select pg_read_file('/etc/passwd')`,
  `copy (select 1) to program 'id'`,
  `copy (select 1) to '/tmp/sluice-copied'`,
  'select rolpassword from pg_authid',
  `create function mine() returns void language c as 'x'`,
  'create extension file_fdw',
];

describe.each([
  { who: 'the loader', role: loader },
  { who: 'the reader', role: reader },
])('$who may not', ({ role }) => {
  it.each(forbidden)('%s', async (statement) => {
    expect(await attempt(role, statement)).toBe(insufficientPrivilege);
  });
});

describe('the reader', () => {
  it.each(['select count(*) from noaa.observation', 'select * from etl.run'])('may %s', async (statement) =>
    expect(await attempt(reader, statement)).toBe('done'),
  );

  it.each([
    'delete from noaa.observation',
    'truncate etl.run',
    'create table noaa.mine (a integer)',
    'create schema mine',
    'create temporary table mine (a integer)',
    'select * from etl_queue.migration',
  ])('may not %s', async (statement) => expect(await attempt(reader, statement)).toBe(insufficientPrivilege));

  it.each([['status'], ['rejects', 'list'], ['schedule', 'list']])('sees `etl %s`', async (...args) => {
    const io = fakeIo({ env: { DATABASE_URL: urlOf(reader) } });
    expect({ exit: await main(args, io), err: io.stderr.text }).toEqual({ exit: 0, err: '' });
  });
});

it.each([
  { who: 'the reader', role: reader },
  { who: 'a stranger', role: stranger },
])('$who may not use the queue, whose owner was not granted to it', async ({ role }) => {
  const io = fakeIo({ env: { DATABASE_URL: urlOf(role) } });
  expect({ exit: await main(['queue'], io), err: io.stderr.text }).toEqual({
    exit: 1,
    err: expect.stringMatching(/^error ETL_UNTRUSTED: .* schema etl belongs to loader_/),
  });
});

describe('commands that only read name the privilege that is missing', () => {
  it.each([
    { role: stranger, who: 'a stranger', args: ['status'] },
    { role: stranger, who: 'a stranger', args: ['rejects', 'list'] },
    { role: stranger, who: 'a stranger', args: ['schedule', 'list'] },
    { role: outsider, who: 'an outsider', args: ['status'] },
  ])('$args for $who', async ({ role, args }) => {
    const io = fakeIo({ env: { DATABASE_URL: urlOf(role) } });
    const exit = await main(args, io);
    expect({ exit, err: io.stderr.text }).toEqual({
      exit: 1,
      err: expect.stringMatching(
        new RegExp(
          `^error ETL_PERMISSION: user ${role} may not do what this needs: permission denied for .*\n`,
        ),
      ),
    });
  });
});
