// Two processes load for one run; one of them is killed: its work is delivered to the other, and nothing is doubled.

import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { useFiles } from '../helpers/files.ts';
import { ended } from '../helpers/fleet.ts';
import { writeNoaaFiles } from '../helpers/noaa-files.ts';
import { ask, askUntil } from '../helpers/own-server.ts';
import { createDatabase, useDatabase } from '../helpers/server.ts';

const records = 200_000;
const pipeline = join(process.cwd(), 'pipelines/noaa.ts');
const { directory } = useFiles();
const database = useDatabase();
const children: ChildProcess[] = [];

const start = (script: string, args: readonly string[], databaseUrl: string): ChildProcess => {
  const child = spawn(process.execPath, [join(process.cwd(), script), ...args], {
    cwd: directory,
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  return child;
};

const startRun = (databaseUrl: string, chunkBytes = 1_450_000): ChildProcess =>
  start(
    'src/cli/etl.mjs',
    ['run', pipeline, '--workers', '1', '--chunk-bytes', String(chunkBytes), '--quiet'],
    databaseUrl,
  );

const startJoin = (): ChildProcess => start('test/fault/join-process.mjs', [pipeline], database.url);

const until = (sql: string) => askUntil<{ yes: boolean }>(database.url, sql, ({ yes }) => yes);

const checksum = `select count(*)::int as rows, sum(('x' || left(md5(t::text), 8))::bit(32)::bigint)::text as sum
  from noaa.observation t`;

/** Lets every COPY of observations wait, so that no process is done before another one has begun. Returns what lets them go on. */
const holdCopies = async (): Promise<() => Promise<void>> => {
  await until(`select state = 'loading' as yes from etl.run order by id desc limit 1`);
  const staging = await database.query(
    `select oid::regclass::text as name from pg_class
      where relnamespace = 'etl_staging'::regnamespace and relkind = 'r' and relname like '%observation%'`,
  );
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`begin; lock table ${staging.rows[0]!['name']} in share mode`);
  return () => client.end();
};

/** Those whose COPY waits for its table. */
const copyingProcesses = `select count(distinct a.application_name) = 2 as yes
  from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a on a.pid = l.pid
  where a.datname = current_database() and not l.granted and c.relnamespace = 'etl_staging'::regnamespace`;

/** A run that two processes load, each in mid-COPY. */
const beginRun = async () => {
  const coordinator = startRun(database.url);
  const goOn = await holdCopies();
  const joined = startJoin();
  await until(copyingProcesses);
  return { coordinator, joined, goOn };
};

let undisturbed: unknown;

beforeAll(async () => {
  writeNoaaFiles(directory, records, 4);
  const other = await createDatabase();
  try {
    if ((await ended(startRun(other.url))) !== 0) throw new Error('the undisturbed run failed');
    [undisturbed] = await ask(other.url, checksum);
  } finally {
    await other.drop();
  }
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.splice(0).map(ended));
  await database.query('drop schema if exists noaa cascade');
});

const chunksAddUp = `select count(*)::int as chunks, sum(c.copied)::int as copied from etl.chunk c
  join etl.source_file f on f.id = c.file_id join etl.run r on r.id = f.run_id
  where f.table_name = 'observation' and c.epoch = r.epoch and r.id = (select max(id) from etl.run)`;

it('the joined process is killed in mid-COPY: the coordinator finishes alone', async () => {
  const { coordinator, joined, goOn } = await beginRun();
  joined.kill('SIGKILL');
  await goOn();
  expect(await ended(coordinator)).toBe(0);
  expect((await database.query(checksum)).rows[0]).toEqual(undisturbed);
  const { rows } = await database.query(chunksAddUp);
  expect(rows[0]?.['copied']).toBe(records);
  expect(rows[0]?.['chunks']).toBeGreaterThanOrEqual(20);
});

it('the coordinator is killed: the joined process ends, and the next run loads only what is missing', async () => {
  const { coordinator, joined, goOn } = await beginRun();
  coordinator.kill('SIGKILL');
  joined.kill('SIGKILL');
  await Promise.all([ended(coordinator), ended(joined)]);
  await goOn();
  const before = await database.query(
    'select file_id, byte_start, committed_at from etl.chunk order by 1, 2',
  );
  expect(await ended(startRun(database.url))).toBe(0);
  expect((await database.query(checksum)).rows[0]).toEqual(undisturbed);
  const after = await database.query('select file_id, byte_start, committed_at from etl.chunk order by 1, 2');
  expect(after.rows).toEqual(expect.arrayContaining(before.rows));
});

it('the joined process outlives its coordinator: it stops, a successor cuts the files in other places, and nothing is doubled', async () => {
  const { coordinator, joined, goOn } = await beginRun();
  coordinator.kill('SIGKILL');
  await ended(coordinator);
  await goOn();
  // Other chunks, so that whatever the joined process still loaded of its own would overlap them.
  const successor = startRun(database.url, 1_000_000);
  expect(await ended(joined)).toBe(75);
  expect(await ended(successor)).toBe(0);
  expect((await database.query(checksum)).rows[0]).toEqual(undisturbed);
  expect((await database.query(chunksAddUp)).rows[0]?.['copied']).toBe(records);
});
