// Night after night, in every mode: files come, change and go, the schema changes, process and server are killed; production is
// what a plain program makes of the files, and a reader sees one whole night or the other.
//
//   NIGHTS=60 NIGHTS_SEED=1 NIGHTS_MODE=merged npx vitest run --config vitest.fault.config.ts test/fault/nights.test.ts

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadPipelineFile, runPipeline } from '../../src/index.ts';
import { codeOf } from '../../src/errors.ts';
import { expectEnd, killRest, startEtl } from '../helpers/fault-child.ts';
import { ask, createDatabase, databaseUrlOf, dropDatabase } from '../helpers/fault-database.ts';
import { expectNoSessions } from '../helpers/fault-outcome.ts';
import { effectPoint } from '../helpers/fault-points.ts';
import { openProxy, type FaultProxy } from '../helpers/fault-proxy.ts';
import { killChild } from '../helpers/fault-scene.ts';
import { restarts, startServer } from '../helpers/fault-server.ts';
import { anchors, readFeed, startFeed, type Feed, type Sale } from '../helpers/nights-feed.ts';
import { nightModes, type NightMode } from '../helpers/nights-modes.ts';
import { startNightReader, stateSql, type NightReader } from '../helpers/nights-reader.ts';
import { createChance, readCount } from '../helpers/seeded.ts';

const nights = readCount('NIGHTS', 5);
/** One part of the modes, by their names. */
const modes = nightModes.filter(({ name }) => name.includes(process.env['NIGHTS_MODE'] ?? ''));
const seed = readCount('NIGHTS_SEED', 15);
/** From this night on, files and declaration have a column more. */
const noteNight = Math.ceil(nights / 2);
/** Every so manyth run is struck. */
const strikesOneIn = 4;

const directory = mkdtempSync(join(tmpdir(), 'sluice-nights-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let server: Awaited<ReturnType<typeof startServer>>;
let proxy: FaultProxy;
let database = '';
let url = '';
let proxyUrl = '';
/** Beginnings and ends of faults of the server. */
let serverFaults = 0;
let reader: NightReader;

beforeAll(async () => {
  server = await startServer();
  database = await createDatabase(server.url);
  url = databaseUrlOf(server.url, database);
  proxy = await openProxy(Number(new URL(server.url).port));
  const through = new URL(url);
  through.port = String(proxy.port);
  proxyUrl = through.href;
  reader = startNightReader(url, () => serverFaults);
  mkdirSync(join(directory, 'pipelines'));
  writeFileSync(
    join(directory, 'touched.sql'),
    `select day, count(seq)::int as sales, coalesce(sum(pieces), 0)::int as pieces
      from (select day from sale_new union select day from sale_old) d left join sale using (day) group by day`,
  );
  writeFileSync(
    join(directory, 'total.sql'),
    'select day, count(*)::int as sales, sum(pieces)::int as pieces from sale group by day',
  );
});
afterAll(async () => {
  killRest();
  await reader.stop();
  await proxy.close();
  server = await startServer();
  await dropDatabase(server.url, database);
});

const columns = ['seq', 'id', 'day', 'pieces', 'at', 'gone'];
const columnsWith = (hasNote: boolean): readonly string[] => (hasNote ? [...columns, 'note'] : columns);

/** Writes the definition; a process imports a file once, so that each has a name of its own. */
const declare = (
  { name, options, key, columns: more = '', isTotalMerged = false }: NightMode,
  hasNote: boolean,
): string => {
  const file = `pipelines/${name}${hasNote ? '-with-note' : ''}.ts`;
  writeFileSync(
    join(directory, file),
    `import { column, csv, definePipeline, hash, oneOf, range, sqlFile } from 'sluice';
export default definePipeline({
  name: '${name}',
  schema: '${name}',
  tables: {
    sale: {
      source: csv('${name}/*.csv'),
      missing: 'null',
      columns: {
        seq: column.integer('seq'),
        id: column.integer('id'),
        day: column.date('day'),
        pieces: column.integer('pieces'),
        at: column.integer('at'),
        gone: column.boolean('gone', { true: ['y'], false: ['n'] }),
        ${more}
        ${hasNote ? `note: column.text('note').nullable(),` : ''}
      },
      primaryKey: [${key.map((column) => `'${column}'`).join(', ')}],
      guard: false,
      ${options},
    },
    total: {
      from: ['sale'],
      transform: sqlFile('../${isTotalMerged ? 'touched' : 'total'}.sql'),
      publish: '${isTotalMerged ? 'merge' : 'replace'}',
      primaryKey: ['day'],
      guard: false,
    },
  },
});
`,
  );
  return file;
};

/** What people make on the tables once they are there. */
const dependentsOf = ({ name, key, ownKey = key, dependents }: NightMode): string => `
  create view ${name}.seen as select day, pieces from ${name}.sale;
  grant select on ${name}.seen, ${name}.sale to pg_monitor;
  create index by_hand on ${name}.sale (pieces);
  ${
    dependents === 'views'
      ? ''
      : `create table ${name}.visit as select distinct on (${key.join()}) ${ownKey.join()} from ${name}.sale
           where ${key[0]!} <= ${anchors} order by ${ownKey.join()};
         alter table ${name}.visit add foreign key (${ownKey.join()}) references ${name}.sale;`
  }`;

/** Whether all of that is still there. */
const keepsDependents = async ({ name, ownKey, key, dependents }: NightMode): Promise<boolean> => {
  const [row] = await ask<{ isKept: boolean }>(
    url,
    `select has_table_privilege('pg_monitor', '${name}.seen', 'select') and has_table_privilege('pg_monitor', '${name}.sale', 'select')
        and (select indisvalid from pg_index where indexrelid = '${name}.by_hand'::regclass and indrelid = '${name}.sale'::regclass)
        and ${dependents === 'views' ? 'true' : `exists (select from pg_constraint where convalidated and conrelid = '${name}.visit'::regclass and confrelid = '${name}.sale'::regclass) and exists (select from ${name}.visit) and not exists (select from ${name}.visit left join ${name}.sale using (${(ownKey ?? key).join()}) where seq is null)`} as "isKept"`,
  );
  return row!.isKept;
};

const stateOf = ({ dependents }: NightMode, sales: readonly Sale[]): string => {
  const sum = (of: (sale: Sale) => number): number => sales.reduce((all, sale) => all + of(sale), 0);
  const both = `${sales.length} ${sum(({ pieces }) => pieces)}`;
  return `${both}, ${both} ${sum(({ seq }) => seq)}${dependents === 'none' ? '' : `, seen ${both}`}`;
};

const texts = (sales: readonly Sale[], hasNote: boolean): string[] =>
  sales
    .map(({ seq, id, day, pieces, at, gone, note, valid = [] }) =>
      [seq, id, day, pieces, at, gone, ...(hasNote ? [note ?? ''] : []), ...valid].join(),
    )
    .sort();

const production = async ({ name: schema, valid }: NightMode, hasNote: boolean): Promise<string[]> => {
  const own = valid === undefined ? [] : valid.split(', ');
  const list = [...columnsWith(hasNote), ...own].map((name) => `coalesce((${name})::text, '')`);
  const rows = await ask<{ row: string }>(
    url,
    `select concat_ws(',', ${list.join(', ')}) as row from ${schema}.sale`,
  );
  return rows.map(({ row }) => row).sort();
};

/** Counts what happened, so that a simulation in which nothing does fails. */
const happened = { published: 0, unchanged: 0, refused: 0, killed: 0, crashed: 0 };

interface Struck {
  readonly strike: 'process' | 'server' | undefined;
  /** The effect before which it is struck. */
  readonly effect: number;
}

const runHere = async (file: string): Promise<void> => {
  const loaded = await loadPipelineFile(join(directory, file));
  const { outcome } = await runPipeline(loaded.pipeline, {
    databaseUrl: proxyUrl,
    redis: false,
    directory: loaded.directory,
    workingDirectory: directory,
    workers: 1,
  });
  happened[outcome === 'published' ? 'published' : 'unchanged'] += 1;
};

const crash = async (): Promise<'drop'> => {
  serverFaults += 1;
  proxy.setMode('closing');
  await restarts[serverFaults % 4 === 1 ? 'crash' : 'immediate stop']();
  proxy.setMode('open');
  serverFaults += 1;
  happened.crashed += 1;
  return 'drop';
};

/** Kills `etl run` on its way; what is left of it is over when this returns. */
const killOne = async (file: string, effect: number): Promise<void> => {
  const child = startEtl({ directory, url: proxyUrl, args: ['run', file, '--workers', '2', '--quiet'] });
  proxy.arm(effectPoint(effect), killChild(child));
  const ended = await child.ended;
  proxy.disarm();
  if (ended.end !== 'SIGKILL') expectEnd(ended, 0);
  happened.killed += Number(ended.end === 'SIGKILL');
  await expectNoSessions(url);
};

/** One night's run, struck or not, to its end. */
const runNight = async (file: string, { strike, effect }: Struck): Promise<void> => {
  if (strike === 'process') await killOne(file, effect);
  let striking: Promise<unknown> | undefined;
  // Not before the first effect: a run that has reached no server yet waits for none.
  if (strike === 'server') proxy.arm(effectPoint(Math.max(2, effect)), () => (striking = crash()));
  try {
    await runHere(file);
  } finally {
    proxy.disarm();
    await striking;
  }
};

interface Played {
  readonly mode: NightMode;
  readonly feed: Feed;
  readonly model: ReturnType<NightMode['model']>;
  /** What production has. */
  sales: readonly Sale[];
  /** Effects of the newest run that was not struck. */
  effects: number;
}

const refusedWith = async (file: string): Promise<unknown> =>
  runHere(file).then(
    () => 'no error',
    (error: unknown) => codeOf(error),
  );

/** Nothing of production changes while a run is refused. */
const expectRefused = async ({ mode }: Played, file: string, code: string): Promise<void> => {
  expect(await refusedWith(file), mode.name).toBe(code);
  happened.refused += 1;
};

const playNight = async (played: Played, night: number, struck: Struck): Promise<void> => {
  const { mode, feed, model } = played;
  const { name } = mode;
  const hasNote = night >= noteNight;
  const file = declare(mode, hasNote);
  feed.nextNight(hasNote);
  if (night === noteNight && mode.needsDdl) {
    await expectRefused(played, file, 'ETL_PUBLISH_SHAPE');
    await ask(url, `alter table ${name}.sale add column note text`);
  }
  let expected = model(readFeed(join(directory, name)));
  if ('refused' in expected) {
    await expectRefused(played, file, expected.refused);
    feed.undoChanges();
    expected = model(readFeed(join(directory, name)));
  }
  if ('refused' in expected) throw new Error(`${name}: refused after all changes were undone`);
  if (night > 1) reader.allow(mode, [stateOf(mode, played.sales), stateOf(mode, expected.sales)]);
  const from = proxy.effects();
  await runNight(file, struck);
  if (struck.strike === undefined) played.effects = proxy.effects() - from;
  if (night === 1 && mode.dependents !== 'none') await ask(url, dependentsOf(mode));
  expect(await production(mode, hasNote), `${name}, night ${night}`).toEqual(texts(expected.sales, hasNote));
  const state = stateOf(mode, expected.sales);
  expect(await ask(url, stateSql(mode)), `${name}, night ${night}`).toEqual([{ state }]);
  if (mode.dependents !== 'none') expect(await keepsDependents(mode), `${name}, night ${night}`).toBe(true);
  played.sales = expected.sales;
  reader.allow(mode, [state]);
};

it(`${nights} nights in ${modes.length} modes, with seed ${seed}`, { timeout: nights * 60_000 }, async () => {
  const chance = createChance(seed);
  const all = modes.map((mode, place): Played => ({
    mode,
    feed: startFeed(join(directory, mode.name), mode.events, createChance(seed * 100 + place)),
    model: mode.model(),
    sales: [],
    effects: 60,
  }));
  for (let night = 1; night <= nights; night += 1)
    for (const played of all) {
      const isStruck = chance.between(1, strikesOneIn) === 1;
      const strike = isStruck ? chance.pick(['process', 'server'] as const) : undefined;
      await playNight(played, night, { strike, effect: chance.between(1, played.effects) });
    }
  console.log(`NIGHTS_SEED=${seed}: ${JSON.stringify({ ...happened, polls: reader.polls() })}`);
  expect(reader.wrong).toEqual([]);
  // Of few modes not all of it need happen.
  const least = modes.length === nightModes.length ? 1 : 0;
  expect(Math.min(...Object.values(happened))).toBeGreaterThanOrEqual(least);
  expect(reader.polls()).toBeGreaterThan(nights);
  expect(
    await ask(
      url,
      `select relname as name from pg_class where relnamespace = 'etl_staging'::regnamespace and relkind = 'r'
          union all select nspname from pg_namespace where nspname like 'etl\\_build%'`,
    ),
  ).toEqual([]);
});
