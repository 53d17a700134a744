// A role that may not create schemas runs everything in those that an administrator has created, with the statements of
// docs/operations/privileges.md.

import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import {
  column,
  csv,
  definePipeline,
  expect as expected,
  planPipeline,
  pruneRuns,
  range,
  rollbackPipeline,
  runPipeline,
  sqlFile,
  type Pipeline,
} from '../../src/index.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { ask } from '../helpers/own-server.ts';
import { createDatabase } from '../helpers/server.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import { readProjectFile } from '../unit/project/source-files.ts';

const { write, directory } = useFiles();
const columns = { id: column.integer('id'), day: column.date('day'), v: column.text('v') };
const rows = (from: number, to: number, v: string): string => {
  const lines = Array.from({ length: to - from }, (_, n) => `${from + n},2024-0${(n % 3) + 1}-01,${v}\n`);
  return `id,day,v\n${lines.join('')}`;
};
const files = csv('files/*.csv');
const table = { source: files, columns, primaryKey: ['id'] } as const;
write('sum.sql', 'select v, count(*)::integer as n from kept group by v');
write('raw.sql', 'select id::integer as id from raw_staging');

const pipeline = definePipeline({
  name: 'noaa',
  schema: 'noaa',
  tables: {
    appended: { source: files, columns, publish: 'append' },
    merged: { ...table, publish: 'merge' },
    versions: { ...table, publish: 'history' },
    kept: { ...table, keep: 2, tests: [expected.rows({ min: 1 })] },
    direct: { ...table, staging: 'none' },
    raw: { source: files, staging: 'text', transform: sqlFile('raw.sql') },
    by_month: { ...table, primaryKey: ['id', 'day'], partitionBy: range('day', 'month') },
    months: {
      source: files,
      columns,
      primaryKey: ['id', 'day'],
      partitionBy: range('day', 'month'),
      publish: { mode: 'replace', only: 'touched' },
    },
    sums: { from: ['kept'], transform: sqlFile('sum.sql') },
  },
} as never) as Pipeline;

interface Place {
  readonly adminUrl: string;
  readonly url: string;
  readonly role: string;
  readonly drop: () => Promise<unknown>;
}

const guide = readProjectFile('docs/operations/privileges.md');
const [, script = ''] = /## Without `create`[^]*?```sql\n([^]*?)```/.exec(guide)!;

/** `owned`: the schemas belong to the role; otherwise to the administrator, who grants their use. */
const prepare = async (owned: boolean): Promise<Place> => {
  const role = `loader_${randomUUID().replaceAll('-', '')}`;
  const { url: adminUrl, drop } = await createDatabase();
  const database = new URL(adminUrl).pathname.slice(1);
  const statements = script
    .replaceAll('weather', database)
    .replaceAll('loader', role)
    .replaceAll('…', 'guest');
  const granted = statements.replaceAll(
    /create schema (\w+) authorization (\w+);/g,
    'create schema $1; grant usage, create on schema $1 to $2;',
  );
  await ask(adminUrl, `revoke all on database ${database} from public; ${owned ? statements : granted}`);
  const url = new URL(adminUrl);
  url.username = role;
  url.password = 'guest';
  return {
    adminUrl,
    url: url.href,
    role,
    drop: async () => {
      await drop();
      await ask(inject('serverUrl'), `drop role ${role}`);
    },
  };
};

const inBuildSchemas = (url: string): Promise<unknown[]> =>
  ask(
    url,
    `select nspname, (select count(*)::int from pg_class where relnamespace = n.oid) as relations
      from pg_namespace n where nspname like 'etl\\_build%' order by 1`,
  );
const empty = [
  { nspname: 'etl_build_', relations: 0 },
  { nspname: 'etl_build_noaa', relations: 0 },
];

describe.each([
  { whose: 'its own', owned: true },
  { whose: 'the administrator’s', owned: false },
])('a role without `create` on the database, in schemas that are $whose', ({ owned }) => {
  let place: Place;
  const run = (options = {}) =>
    runPipeline(pipeline, {
      databaseUrl: place.url,
      directory,
      workingDirectory: directory,
      workers: 2,
      ...options,
    });
  beforeAll(async () => {
    place = await prepare(owned);
    rmSync(join(directory, 'files'), { recursive: true, force: true });
    write('files/a.csv', rows(1, 40, 'a'));
  });
  afterAll(() => place.drop());

  it('publishes every kind of table, again and again, with the queue, and leaves the build schemas empty', async () => {
    const plan = await planPipeline(pipeline, {
      databaseUrl: place.url,
      directory,
      workingDirectory: directory,
    });
    // Rehearsed: only a schema for the rehearsal makes that possible.
    expect(plan).toMatchObject({ outcome: 'load', prepared: true, refusal: null });
    // Chunks of this size need the queue.
    expect((await run({ chunkBytes: 1024 })).outcome).toBe('published');
    expect(await inBuildSchemas(place.adminUrl)).toEqual(empty);
    write('files/b.csv', rows(40, 80, 'b'));
    expect((await run()).outcome).toBe('published');
    expect((await run()).outcome).toBe('unchanged');
    expect((await run({ fullRefresh: true, allowShrink: ['versions'] })).outcome).toBe('published');
    expect(await inBuildSchemas(place.adminUrl)).toEqual(empty);
    expect(await ask(place.url, 'select v, n from noaa.sums order by v')).toEqual([
      { v: 'a', n: 39 },
      { v: 'b', n: 40 },
    ]);
    expect(await ask(place.url, 'select count(*)::int as n from noaa.appended')).toEqual([{ n: 79 }]);
  });

  it('goes back, and prunes', async () => {
    const kept = definePipeline({
      name: 'noaa',
      schema: 'noaa',
      tables: { lone: { source: csv('lone.csv'), columns, keep: 2 } },
    });
    const options = { databaseUrl: place.url, directory, workingDirectory: directory };
    for (const v of ['x', 'y']) {
      write('lone.csv', rows(1, 3, v));
      await runPipeline(kept, options);
    }
    await rollbackPipeline(kept, options);
    expect(await ask(place.url, 'select distinct v from noaa.lone')).toEqual([{ v: 'x' }]);
    await pruneRuns({ before: new Date(), databaseUrl: place.url, kept: true });
    expect(await inBuildSchemas(place.adminUrl)).toEqual(empty);
  });

  it('drops what it left there itself, of every kind, and nothing of the administrator', async () => {
    await ask(
      place.url,
      `create table etl_build_noaa.kept (a integer);
      create sequence etl_build_noaa.numbers; create type etl_build_noaa.mood as enum ('a');
      create function etl_build_noaa.f(etl_build_noaa.mood) returns int return 1`,
    );
    await ask(place.adminUrl, 'create function etl_build_noaa.own() returns int return 1');
    write('files/c.csv', rows(80, 90, 'c'));
    expect((await run()).outcome).toBe('published');
    const left = await ask(
      place.adminUrl,
      `select pg_identify_object(classid, objid, 0)::text as it from pg_depend
      where refobjid = 'etl_build_noaa'::regnamespace and deptype = 'n'`,
    );
    expect(left).toEqual([{ it: expect.stringContaining('etl_build_noaa.own') }]);
    await ask(place.adminUrl, 'drop function etl_build_noaa.own()');
  });

  it('`etl doctor` finds nothing missing', async () => {
    const io = fakeIo({ workingDirectory: directory });
    await main(['doctor', '--workers', '1', '--database-url', place.url], io);
    expect(io.stdout.text).toMatch(new RegExp(`^ok +user +${place.role}$`, 'm'));
  });

  it('everything that another pipeline needs is listed, and with these statements it runs', async () => {
    const other = definePipeline({
      name: 'other',
      schema: 'shop',
      tables: { t: { source: csv('lone.csv'), columns } },
    });
    const options = { databaseUrl: place.url, directory, workingDirectory: directory };
    const error = await failureOf(runPipeline(other, options));
    const [, cures = ''] = /: `(.*)`/.exec(error.hint)!;
    expect(cures).toBe(
      `create schema etl_build_other authorization ${place.role}; create schema shop authorization ${place.role}`,
    );
    await ask(place.adminUrl, cures);
    expect((await runPipeline(other, options)).outcome).toBe('published');
  });

  it('is not misled by objects of a role that it does not trust', async () => {
    const stranger = `stranger_${randomUUID().replaceAll('-', '')}`;
    await ask(
      place.adminUrl,
      `create role ${stranger}; grant all on schema etl_build_noaa to ${stranger};
      set role ${stranger}; create table etl_build_noaa.kept (a integer)`,
    );
    try {
      write('files/d.csv', rows(90, 95, 'd'));
      expect((await failureOf(run())).code).toBe('ETL_UNTRUSTED');
    } finally {
      await ask(place.adminUrl, `drop owned by ${stranger}; drop role ${stranger}`);
    }
    expect((await run()).outcome).toBe('published');
  });
});
