// The process is killed, or the server crashes, while a run that keeps versions publishes, while a rollback goes back, and while old
// versions and runs are pruned: production, its files and the kept versions are the old ones or the new ones, and asking again comes to
// the same. Hooks are called once with each publication, and at least once after it.
//
// By default some of the effects are sampled; FAULT_EVERY=1 takes all.

import { expect, it } from 'vitest';
import { expectEnd } from '../helpers/fault-child.ts';
import { effectPoint } from '../helpers/fault-points.ts';
import { killChild } from '../helpers/fault-scene.ts';
import { restarts } from '../helpers/fault-server.ts';
import { runNoaa as run, useFirstNight } from '../helpers/fault-night.ts';

const samples = 4;
/** Every so manyth strikes the server instead of the process. */
const crashesOneIn = 3;

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
  const rows = Array.from({ length: to }, (_, index) => `${index + 1},${pieces}`);
  night.write('in/sales.csv', ['id,pieces', ...rows, ''].join('\n'));
};

/** Without `--to`: asked again it goes no further. */
const rollback = ['rollback', 'pipelines/noaa.ts'];
const prune = ['prune', '--older', '0h', '--kept'];

const night = useFirstNight(async (database) => {
  night.write('pipelines/noaa.ts', definition);
  night.write('total.sql', 'select count(*)::int as sales, sum(pieces)::int as pieces from sale');
  for (const hook of ['publishing', 'published'])
    night.write(`${hook}.sql`, `insert into calls values ('${hook}')`);
  await night.ask(database, 'create schema shop; create table shop.calls (hook text)');
  write(1_000, 1);
  expectEnd(await night.etl(database).ended, 0);
  await night.ask(database, 'create view shop.sums as select pieces from shop.total');
  write(1_500, 2);
});

/** Production, its file, and what is kept: each version once, in one place. A transaction that was rolled back has used a number. */
const stateOf = async (database: string): Promise<string> => {
  await night.expectNoSessions(database);
  const [row] = await night.ask<{ state: string }>(
    database,
    `select (select count(*) || ' ' || sum(pieces) from shop.sale) || ', ' || (select sales || ' ' || pieces from shop.total)
        || ', file of run ' || (select string_agg(least(run_id, 2) || ' ' || rows, ' ') from etl.published_file) || ', kept '
        || coalesce((select string_agg(table_name || least(run_id, 2), ' ' order by table_name) from etl.kept_table k
          where exists (select from pg_class c where c.oid = k.table_oid and c.relname = k.kept_name)), 'none') as state`,
  );
  return row!.state;
};
const leftOver = (database: string) =>
  night.ask(
    database,
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

it.each([
  { name: 'a run that keeps versions', args: run, isSecond: false, states: [first, second], called: true },
  { name: 'a rollback', args: rollback, isSecond: true, states: [second, back], called: true },
  // The first run is not there any more, which called as well.
  { name: 'pruning', args: prune, isSecond: true, states: [second, ...pruned], called: false },
])('$name, struck at every effect, and again', async ({ args, isSecond, states, called }) => {
  const after = states.at(-1);
  const template = isSecond ? await night.copy() : undefined;
  if (template !== undefined) expectEnd(await night.etl(template).ended, 0);
  const undisturbed = await night.copy(template);
  const { ended: whole, effects } = await night.countEffects(undisturbed, args);
  expectEnd(whole, 0);
  expect(await stateOf(undisturbed)).toBe(after);
  const every = Number(process.env['FAULT_EVERY']) || Math.ceil(effects / samples);
  let [kills, crashes] = [0, 0];
  for (let n = 1; n <= effects; n += every) {
    const database = await night.copy(template);
    const isCrash = (kills + crashes) % crashesOneIn === crashesOneIn - 1;
    const strike = isCrash ? () => night.crashServer(restarts['immediate stop']) : killChild;
    const { ended } = await night.runStruck(database, effectPoint(n), strike, args);
    kills += Number(ended.end === 'SIGKILL');
    crashes += Number(isCrash);
    expect(states).toContain(await stateOf(database));
    expectEnd(await night.etl(database, args).ended, 0);
    expect(await stateOf(database)).toBe(after);
    expect(await leftOver(database)).toEqual([{ unknown: 0, owed: 0, called, builds: 0, staging: 0 }]);
  }
  expect(Math.min(kills, crashes)).toBeGreaterThan(0);
});
