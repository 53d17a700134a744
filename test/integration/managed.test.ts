// A server like those that providers manage: TLS only, no privilege beyond schemas that somebody else made, short timeouts of the
// role, and an administrator's event triggers. Everything runs there, or is refused by one error.

import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { chown, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import {
  column,
  csv,
  definePipeline,
  enqueue,
  loadPipelineFile,
  rollbackPipeline,
  runPipeline,
} from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { ask, startOwnServer, type OwnServer } from '../helpers/own-server.ts';
import { until, useWorkers } from '../helpers/workers.ts';
import { fakeIo } from '../unit/cli/fake-io.ts';
import { readProjectFile } from '../unit/project/source-files.ts';

const { write, directory } = useFiles();
let own: OwnServer;
const admin = (sql: string) => ask<Record<string, unknown>>(own.server.url, sql);

const urlWith = (query: string): string => {
  const url = new URL(own.server.url);
  url.username = 'app';
  url.password = 'sesame';
  url.hostname = 'localhost';
  return `${url.href}${query}`;
};
const databaseUrl = (): string =>
  urlWith(`?sslmode=verify-full&sslrootcert=${join(own.server.directory, 'server.crt')}`);

const place = () => ({ databaseUrl: databaseUrl(), redis: false as const });
const workers = useWorkers(() => ({
  ...place(),
  pipelines: join(directory, 'pipelines'),
  workers: 2,
  // Chunks of this size need the queue.
  chunkBytes: 500,
}));

/** TLS with an authority of its own; nobody but the administrator gets in without. */
const forceTls = async (): Promise<void> => {
  const cwd = own.server.directory;
  const certificate =
    '-x509 -newkey rsa:2048 -nodes -days 2 -keyout server.key -out server.crt -subj /CN=localhost';
  const args = ['req', ...certificate.split(' '), '-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', args, { cwd, stdio: 'pipe' });
  const { uid, gid } = await stat(cwd);
  await chown(join(cwd, 'server.key'), uid, gid);
  const rules = 'host all etl 127.0.0.1/32 scram-sha-256\nhostssl all app all scram-sha-256\n';
  await writeFile(join(cwd, 'pg_hba.conf'), rules);
  await admin('alter system set ssl = on');
  await admin('select pg_reload_conf()');
};

const [, schemas = ''] = /## Without `create`[^]*?```sql\n([^]*?)```/.exec(
  readProjectFile('docs/operations/privileges.md'),
)!;

const timeouts = [
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'idle_session_timeout',
];

/** Of those who keep a record of DDL, who tell an API server of it, and who want row security on every table. */
const eventTriggers = `
  create schema audit; create table audit.ddl (what text);
  create function audit.note() returns event_trigger language plpgsql security definer set search_path = pg_catalog as $$ begin
    insert into audit.ddl select command_tag from pg_event_trigger_ddl_commands(); end $$;
  create function audit.note_drop() returns event_trigger language plpgsql security definer set search_path = pg_catalog as $$ begin
    insert into audit.ddl select object_identity from pg_event_trigger_dropped_objects(); end $$;
  create function audit.tell() returns event_trigger language plpgsql as $$ begin notify reload; end $$;
  create function audit.protect() returns event_trigger language plpgsql security definer set search_path = pg_catalog as $$
    declare made record; begin
      for made in select * from pg_event_trigger_ddl_commands() where object_type = 'table' loop
        execute format('alter table %s enable row level security', made.object_identity);
      end loop; end $$;
  create event trigger note on ddl_command_end execute function audit.note();
  create event trigger note_drop on sql_drop execute function audit.note_drop();
  create event trigger tell on ddl_command_end execute function audit.tell();
  create event trigger protect on ddl_command_end when tag in ('CREATE TABLE', 'CREATE TABLE AS') execute function audit.protect()`;

beforeAll(async () => {
  for (const name of ['pipelines', 'data']) cpSync(name, join(directory, name), { recursive: true });
  own = await startOwnServer();
  await forceTls();
  await admin(`revoke all on database etl from public; revoke all on schema public from public;
    ${schemas
      .replaceAll('weather', 'etl')
      .replaceAll(/\bloader\b/g, 'app')
      .replaceAll('…', 'sesame')}
    ${timeouts.map((name) => `alter role app set ${name} = '500ms';`).join(' ')}
    ${eventTriggers}`);
});
afterAll(() => own?.remove());

const etlOn = async (url: string, ...args: readonly string[]) => {
  const io = fakeIo({ env: { DATABASE_URL: url }, workingDirectory: directory });
  const exit = await main(args, io);
  return { exit, out: io.stdout.text, err: io.stderr.text };
};
const etl = (...args: readonly string[]) => etlOn(databaseUrl(), ...args);
/** A command that succeeds. */
const done = async (...args: readonly string[]): Promise<string> => {
  const { exit, out, err } = await etl(...args);
  if (exit !== 0) throw new Error(`${args.join(' ')} ends with ${exit}: ${err}${out}`);
  return out;
};
const rowsOf = (sql: string) => ask<Record<string, unknown>>(databaseUrl(), sql);

it('the role has nothing else', async () => {
  const [seen] = await rowsOf(`select current_setting('statement_timeout') as timeout,
    has_database_privilege('etl', 'create') as creates, pg_has_role('pg_monitor', 'usage') as monitors,
    (select ssl from pg_stat_ssl where pid = pg_backend_pid()) as ssl,
    exists (select from pg_settings where name = 'log_directory') as log`);
  expect(seen).toEqual({ timeout: '500ms', creates: false, monitors: false, ssl: true, log: false });
});

it('the main job runs, and is verified', async () => {
  await done('run', 'pipelines/noaa.ts');
  expect(await rowsOf('select count(*)::int as n from noaa.observation')).toEqual([{ n: 5_276 }]);
  // `etl verify` reads production, and obeys the role's own limit.
  await admin(`alter role app set statement_timeout = '1ms'`);
  expect(await etl('verify', 'pipelines/noaa.ts')).toMatchObject({
    exit: 1,
    err: expect.stringMatching(/^error ETL_SERVER_REFUSED: .*57014.*\n.*alter role … set statement_timeout/m),
  });
  await admin('alter role app reset statement_timeout');
  await done('verify', 'pipelines/noaa.ts');
});

it('`etl doctor` finds nothing wrong', async () => {
  expect(await done('doctor', '--workers', '2')).toMatch(/^0 problems/m);
});

it('`etl load` names the schemas that it lacks, and with the statement that it gives it appends and merges', async () => {
  await admin('create schema shop authorization app');
  await rowsOf('create table shop.t (id integer primary key, v text)');
  write('a.csv', 'id,v\n1,a\n2,b\n');
  write('b.csv', 'id,v\n2,c\n3,d\n');
  const refused = await etl('load', 'a.csv', '--into', 'shop.t');
  const [, cure = ''] = /^error ETL_PERMISSION: .*\n.*: `(.*)`/.exec(refused.err) ?? [];
  expect(cure).toBe('create schema "etl_build_load-shop-t" authorization app');
  await admin(cure);
  await done('load', 'a.csv', '--into', 'shop.t');
  await done('load', 'b.csv', '--into', 'shop.t', '--merge');
  expect(await rowsOf('select * from shop.t order by id')).toEqual([
    { id: 1, v: 'a' },
    { id: 2, v: 'c' },
    { id: 3, v: 'd' },
  ]);
});

it('a worker appends, merges and keeps versions, also after it was idle for longer than the timeouts', async () => {
  await admin('create schema etl_build_days authorization app; create schema days authorization app');
  const file = write(
    'pipelines/days.ts',
    `import { column, csv, definePipeline } from 'sluice';
    const table = { source: csv('${directory}/days/*.csv'), columns: { id: column.integer('id') }, primaryKey: ['id'] } as const;
    export default definePipeline({ name: 'days', schema: 'days', tables: {
      seen: { source: table.source, columns: table.columns, publish: 'append' },
      known: { ...table, publish: 'merge' }, versions: { ...table, publish: 'history' }, kept: { ...table, keep: 2 } } });`,
  );
  await workers.start();
  const { pipeline, directory: folder } = await loadPipelineFile(file);
  for (const day of [1, 2]) {
    write(`days/${day}.csv`, `id\n${Array.from({ length: 500 }, (_, id) => day * 1_000 + id).join('\n')}\n`);
    const { job } = await enqueue(pipeline, { ...place(), directory: folder });
    await until(() => workers.lines.some((line) => line.message === 'run ended' && line.job === job));
    await sleep(1_000);
  }
  expect(workers.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  const counts = () =>
    rowsOf(
      `select ${['seen', 'known', 'versions', 'kept'].map((name) => `(select count(*)::int from days.${name}) as ${name}`).join(', ')}`,
    );
  expect(await counts()).toEqual([{ seen: 1_000, known: 1_000, versions: 1_000, kept: 1_000 }]);
});

it('a rollback goes back to the version before', async () => {
  const lone = definePipeline({
    name: 'days',
    schema: 'days',
    tables: { lone: { source: csv('lone.csv'), columns: { id: column.integer('id') }, keep: 2 } },
  });
  const options = { ...place(), directory, workingDirectory: directory };
  for (const id of [1, 2]) {
    write('lone.csv', `id\n${id}\n`);
    await runPipeline(lone, options);
  }
  await rollbackPipeline(lone, options);
  expect(await rowsOf('select id from days.lone')).toEqual([{ id: 1 }]);
});

describe('is refused by one error that says what to do', () => {
  it('a connection without encryption', async () => {
    expect(await etlOn(urlWith(''), 'run', 'pipelines/noaa.ts')).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/^error ETL_CONNECT_AUTH: .*no encryption\n.*set sslmode=require/m),
    });
  });

  it('an event trigger whose function relies on its search path', async () => {
    await admin(`create function audit.careless() returns event_trigger language plpgsql as $$ begin
        insert into ddl select command_tag from pg_event_trigger_ddl_commands(); end $$;
      create event trigger careless on ddl_command_end execute function audit.careless()`);
    expect(await etl('run', 'pipelines/noaa.ts', '--full-refresh')).toMatchObject({
      exit: 1,
      err: expect.stringMatching(/^error ETL_\w+: .*relation "ddl" does not exist[^]*audit\.careless\(\)/m),
    });
    await admin('drop event trigger careless');
    await done('run', 'pipelines/noaa.ts');
  });
});

it('the administrator’s event triggers have seen it all', async () => {
  const [seen] = await admin(`select count(*) filter (where what = 'CREATE TABLE') > 0 as made,
    count(*) filter (where what like 'etl_staging.%') > 0 as dropped from audit.ddl`);
  expect(seen).toEqual({ made: true, dropped: true });
  const select = `select relrowsecurity from pg_class where oid = 'noaa.observation'::regclass`;
  expect(await rowsOf(select)).toEqual([{ relrowsecurity: true }]);
});
