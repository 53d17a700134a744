// The process is killed, or the server crashes, while a run that keeps versions publishes, while a rollback goes back, and while old
// versions and runs are pruned: production, its files and the kept versions are the old ones or the new ones, and asking again comes to
// the same. Hooks are called once with each publication, and at least once after it.
//
// By default some of the effects are sampled; FAULT_EVERY=1 takes all.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectEnd, killRest, runArgs, startEtl, type Ended, type Etl } from '../helpers/fault-child.ts';
import { ask, copyDatabase, createDatabase, databaseUrlOf, dropDatabase } from '../helpers/fault-database.ts';
import { expectNoSessions } from '../helpers/fault-outcome.ts';
import { effectPoint } from '../helpers/fault-points.ts';
import { openProxy, type FaultProxy, type Point, type Verdict } from '../helpers/fault-proxy.ts';
import { killChild } from '../helpers/fault-scene.ts';
import { restarts, startServer } from '../helpers/fault-server.ts';

const samples = 4;
/** Every so manyth strikes the server instead of the process. */
const crashesOneIn = 3;

const directory = mkdtempSync(join(tmpdir(), 'sluice-rollback-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** One table is swapped, the other is replaced in place because of a view. */
const definition = `import { column, csv, definePipeline, sqlFile } from 'sluice';
export default definePipeline({
  name: 'shop',
  schema: 'shop',
  hooks: { publishing: sqlFile('../publishing.sql'), published: sqlFile('../published.sql') },
  tables: {
    sale: {
      source: csv('in/*.csv'),
      columns: { id: column.integer('id'), pieces: column.integer('pieces') },
      primaryKey: ['id'],
      keep: 1,
      guard: false,
    },
    total: { from: ['sale'], transform: sqlFile('../total.sql'), keep: 1 },
  },
});
`;

/** Sales `1` to `to`, of so many pieces each. */
const write = (to: number, pieces: number): void => {
  const rows = Array.from({ length: to }, (_, place) => `${place + 1},${pieces}`);
  writeFileSync(join(directory, 'in', 'sales.csv'), ['id,pieces', ...rows, ''].join('\n'));
};

let server: Awaited<ReturnType<typeof startServer>>;
let proxy: FaultProxy;
/** The database after the first night. */
let firstNight = '';
const made: string[] = [];

const etl = (database: string, args: readonly string[]): Etl => {
  const url = new URL(databaseUrlOf(server.url, database));
  url.port = String(proxy.port);
  return startEtl({ directory, url: url.href, args });
};
const run = runArgs(4_000);
/** Without `--to`: asked again it goes no further. */
const rollback = ['rollback', 'pipelines/noaa.ts'];
const prune = ['prune', '--older', '0h', '--kept'];

const copy = async (template: string): Promise<string> => {
  await expectNoSessions(databaseUrlOf(server.url, template));
  const name = `${template}_${made.length}`;
  await copyDatabase(server.url, template, name);
  made.push(name);
  return name;
};

beforeAll(async () => {
  mkdirSync(join(directory, 'in'));
  mkdirSync(join(directory, 'pipelines'));
  writeFileSync(join(directory, 'pipelines', 'noaa.ts'), definition);
  writeFileSync(
    join(directory, 'total.sql'),
    'select count(*)::int as sales, sum(pieces)::int as pieces from sale',
  );
  for (const hook of ['publishing', 'published'])
    writeFileSync(join(directory, `${hook}.sql`), `insert into calls values ('${hook}')`);
  server = await startServer();
  proxy = await openProxy(Number(new URL(server.url).port));
  firstNight = await createDatabase(server.url);
  await ask(databaseUrlOf(server.url, firstNight), 'create schema shop; create table shop.calls (hook text)');
  write(1_000, 1);
  expectEnd(await etl(firstNight, run).ended, 0);
  await ask(databaseUrlOf(server.url, firstNight), 'create view shop.sums as select pieces from shop.total');
  write(1_500, 2);
});
afterAll(async () => {
  killRest();
  await proxy.close();
  server = await startServer();
  for (const name of [...made, firstNight]) await dropDatabase(server.url, name);
});

/** Production, its file, and what is kept: each version once, in one place. A transaction that was rolled back has used a number. */
const stateOf = async (database: string): Promise<string> => {
  const url = databaseUrlOf(server.url, database);
  await expectNoSessions(url);
  const [row] = await ask<{ state: string }>(
    url,
    `select (select count(*) || ' ' || sum(pieces) from shop.sale) || ', ' || (select sales || ' ' || pieces from shop.total)
        || ', file of run ' || (select string_agg(least(run_id, 2) || ' ' || rows, ' ') from etl.published_file) || ', kept '
        || coalesce((select string_agg(table_name || least(run_id, 2), ' ' order by table_name) from etl.kept_table k
          where exists (select from pg_class c where c.oid = k.table_oid and c.relname = k.kept_name)), 'none') as state`,
  );
  return row!.state;
};
const leftOver = (database: string) =>
  ask(
    databaseUrlOf(server.url, database),
    `select (select count(*)::int from etl.kept_table) - (select count(*)::int from pg_class
          where relnamespace = to_regnamespace('etl_kept') and relkind = 'r') as unknown,
      (select count(*)::int from etl.run where hook_pending) as owed,
      (select count(*) filter (where hook = 'publishing') = runs and count(*) filter (where hook = 'published') >= runs
        from shop.calls, (select count(*) as runs from etl.run where state = 'published') r group by runs) as called,
      (select count(*)::int from pg_namespace where nspname like 'etl\\_build%') as builds,
      (select count(*)::int from pg_class where relnamespace = 'etl_staging'::regnamespace and relkind = 'r') as staging`,
  );

const first = '1000 1000, 1000 1000, file of run 1 1000, kept none';
const second = '1500 3000, 1500 3000, file of run 2 1500, kept sale1 total1';
/** Versions are dropped one by one. */
const pruned = ['kept total1', 'kept sale1', 'kept none'].map((kept) =>
  second.replace('kept sale1 total1', kept),
);
const back = '1000 1000, 1000 1000, file of run 1 1000, kept sale2 total2';

const crash = async (): Promise<Verdict> => {
  proxy.setMode('closing');
  await restarts['immediate stop']();
  proxy.setMode('open');
  return 'drop';
};

const strikeAt = async (
  database: string,
  args: readonly string[],
  point: Point,
  isCrash: boolean,
): Promise<Ended> => {
  let striking: Promise<Verdict> | undefined;
  proxy.arm(point, (effect, clientPort) => {
    striking = isCrash ? crash() : Promise.resolve(killChild(child)(effect, clientPort));
    return striking;
  });
  const child = etl(database, args);
  const ended = await child.ended;
  proxy.disarm();
  await striking;
  return ended;
};

it.each([
  { name: 'a run that keeps versions', args: run, isSecond: false, states: [first, second], called: true },
  { name: 'a rollback', args: rollback, isSecond: true, states: [second, back], called: true },
  // The first run is not there any more, which called as well.
  { name: 'pruning', args: prune, isSecond: true, states: [second, ...pruned], called: false },
])('$name, struck at every effect, and again', async ({ args, isSecond, states, called }) => {
  const after = states.at(-1);
  const template = isSecond ? await copy(firstNight) : firstNight;
  if (isSecond) expectEnd(await etl(template, run).ended, 0);
  const undisturbed = await copy(template);
  const from = proxy.effects();
  expectEnd(await etl(undisturbed, args).ended, 0);
  expect(await stateOf(undisturbed)).toBe(after);
  const effects = proxy.effects() - from;
  const every = Number(process.env['FAULT_EVERY']) || Math.ceil(effects / samples);
  let [kills, crashes] = [0, 0];
  for (let n = 1; n <= effects; n += every) {
    const database = await copy(template);
    const isCrash = (kills + crashes) % crashesOneIn === crashesOneIn - 1;
    const { end } = await strikeAt(database, args, effectPoint(n), isCrash);
    kills += Number(end === 'SIGKILL');
    crashes += Number(isCrash);
    expect(states).toContain(await stateOf(database));
    expectEnd(await etl(database, args).ended, 0);
    expect(await stateOf(database)).toBe(after);
    expect(await leftOver(database)).toEqual([{ unknown: 0, owed: 0, called, builds: 0, staging: 0 }]);
  }
  expect(Math.min(kills, crashes)).toBeGreaterThan(0);
});
