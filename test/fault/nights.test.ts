// Night after night, in every mode: files come, change and go, the schema changes, process and server are killed; production is
// what a plain program makes of the files, and a reader sees one whole night or the other, whatever its snapshot.
//
//   NIGHTS=60 NIGHTS_SEED=1 NIGHTS_MODE='^(merged|touched)' npx vitest run --config vitest.fault.config.ts test/fault/nights.test.ts

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadPipelineFile, runPipeline } from '../../src/index.ts';
import { codeOf } from '../../src/core/errors/errors.ts';
import { expectEnd, killRest, startEtl } from '../helpers/fault-child.ts';
import { ask, createDatabase, databaseUrlOf, dropDatabase } from '../helpers/fault-database.ts';
import { expectNoSessions } from '../helpers/fault-outcome.ts';
import { effectPoint } from '../helpers/fault-points.ts';
import { openProxy, type FaultProxy } from '../helpers/fault-proxy.ts';
import { killChild } from '../helpers/fault-scene.ts';
import { restarts, startServer } from '../helpers/fault-server.ts';
import { readFeed, startFeed, type Feed, type Listed, type Sale } from '../helpers/nights-feed.ts';
import { nightModes, type Night, type NightMode } from '../helpers/nights-modes.ts';
import { startRival, type Rival } from '../helpers/nights-rival.ts';
import { startNightReader, startOldReader, stateSql, type NightReader } from '../helpers/nights-reader.ts';
import {
  declare,
  dependentsOf,
  keepsDependents,
  production,
  stateOf,
  texts,
  writeTotals,
} from '../helpers/nights-tables.ts';
import { createChance, readCount, type Chance } from '../helpers/seeded.ts';

const nights = readCount('NIGHTS', 5);
/** One part of the modes, by a regular expression for their names; each has the nights that it has among all of them. */
const modes = nightModes.filter(({ name }) => new RegExp(process.env['NIGHTS_MODE'] ?? '').test(name));
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
  writeTotals(directory);
});
afterAll(async () => {
  killRest();
  await reader.stop();
  await proxy.close();
  server = await startServer();
  await dropDatabase(server.url, database);
});

/** Counts what happened, so that a simulation in which nothing does fails. */
const happened = {
  published: 0,
  unchanged: 0,
  refused: 0,
  killed: 0,
  crashed: 0,
  lost: 0,
  rivals: 0,
  older: 0,
};

/** `night`: the process is killed, and nobody runs it again before the next night. */
const strikes = ['process', 'server', 'night'] as const;

interface Struck {
  readonly strike: (typeof strikes)[number] | undefined;
  /** The effect before which it is struck. */
  readonly effect: number;
}

const runAt = async (databaseUrl: string, file: string) => {
  const loaded = await loadPipelineFile(join(directory, file));
  const { outcome } = await runPipeline(loaded.pipeline, {
    databaseUrl,
    redis: false,
    directory: loaded.directory,
    workingDirectory: directory,
    workers: 1,
  });
  return outcome;
};

const runHere = async (file: string): Promise<void> => {
  const outcome = await runAt(proxyUrl, file);
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

/** Kills `etl run` on its way, and what is left of it is over when this returns; false: it was at its end before. */
const killOne = async (file: string, effect: number): Promise<boolean> => {
  const child = startEtl({ directory, url: proxyUrl, args: ['run', file, '--workers', '2', '--quiet'] });
  proxy.arm(effectPoint(effect), killChild(child));
  const ended = await child.ended;
  proxy.disarm();
  const isKilled = ended.end === 'SIGKILL';
  if (!isKilled) expectEnd(ended, 0);
  happened.killed += Number(isKilled);
  await expectNoSessions(url);
  return isKilled;
};

const countPublished = async ({ name }: NightMode): Promise<number> => {
  const counted = await ask<{ runs: number }>(
    url,
    `select count(*)::int as runs from etl.run where pipeline = $1 and state = 'published'`,
    [name],
  );
  return counted[0]!.runs;
};

/** One night's run, struck or not; false: it was killed before it published anything, and nobody ran it again. */
const runNight = async (mode: NightMode, file: string, { strike, effect }: Struck): Promise<boolean> => {
  if (strike === 'night') {
    const before = await countPublished(mode);
    if (await killOne(file, effect)) return (await countPublished(mode)) > before;
  }
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
  return true;
};

interface Played {
  readonly mode: NightMode;
  readonly feed: Feed;
  readonly chance: Chance;
  /** The files of every night that production has, and what they come to. */
  readonly nights: Listed[];
  sales: readonly Sale[];
  /** Another pipeline, and the rows that production has of it. */
  readonly rival: Rival | undefined;
  rivals: readonly Sale[];
  /** Effects of the newest run that was not struck. */
  effects: number;
}

/** What production must be after those nights and this one. */
const modelled = ({ mode, nights: before }: Played, tonight: Listed): Night => {
  const model = mode.model();
  for (const listed of before) model(listed);
  return model(tonight);
};

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

/** The other pipeline brings its file meanwhile; before it, if all sessions have to be over in between. */
const withRival = async <T>(
  { mode, rival }: Played,
  hasNote: boolean,
  { strike }: Struck,
  work: () => Promise<T>,
): Promise<T> => {
  if (rival === undefined) return work();
  const running = runAt(url, declare(directory, mode, hasNote, rival.source));
  if (strike === 'process' || strike === 'night') await running;
  // Of both the error, and not only of the first.
  const [worked, ran] = await Promise.allSettled([work(), running]);
  if (ran.status === 'rejected') throw ran.reason;
  if (worked.status === 'rejected') throw worked.reason;
  expect(ran.value).toBe('published');
  happened.rivals += 1;
  return worked.value;
};

/** Production, and what people made on it. */
const expectProduction = async (
  { mode, sales: own, rivals }: Played,
  night: number,
  hasNote: boolean,
): Promise<void> => {
  const title = `${mode.name}, night ${night}`;
  const sales = [...own, ...rivals];
  expect(await production(url, mode, hasNote), title).toEqual(texts(sales, hasNote));
  expect(await ask(url, stateSql(mode)), title).toEqual([{ state: stateOf(mode, sales) }]);
  if (mode.dependents !== 'none') expect(await keepsDependents(url, mode), title).toBe(true);
};

const playNight = async (played: Played, night: number, struck: Struck): Promise<void> => {
  const { mode, feed } = played;
  const { name } = mode;
  const hasNote = night >= noteNight;
  const file = declare(directory, mode, hasNote);
  reader.watch(mode);
  feed.nextNight(hasNote);
  if (night === noteNight && mode.needsDdl) {
    await expectRefused(played, file, 'ETL_PUBLISH_SHAPE');
    await ask(url, `alter table ${name}.sale add column note text`);
  }
  let tonight = readFeed(join(directory, name));
  let expected = modelled(played, tonight);
  if ('refused' in expected) {
    await expectRefused(played, file, expected.refused);
    feed.undoChanges();
    tonight = readFeed(join(directory, name));
    expected = modelled(played, tonight);
  }
  if ('refused' in expected) throw new Error(`${name}: refused after all changes were undone`);
  const before = played.rivals;
  played.rivals = played.rival?.next() ?? [];
  const states = [played.sales, expected.sales].flatMap((own) =>
    [before, played.rivals].map((rivals) => stateOf(mode, [...own, ...rivals])),
  );
  if (night > 1) reader.allow(mode, states);
  // Not while the server is killed, or columns change, which cannot be done in place.
  const isQuiet = night > 1 && night !== noteNight && struck.strike !== 'server';
  const old = isQuiet && played.chance.between(1, 2) === 1 ? await startOldReader(url) : undefined;
  const from = proxy.effects();
  const isDone = await withRival(played, hasNote, struck, () => runNight(mode, file, struck));
  if (old !== undefined)
    expect(await old.endOf(mode), `${mode.name}, night ${night}`).toBe(
      stateOf(mode, [...played.sales, ...before]),
    );
  happened.older += Number(old !== undefined);
  if (isDone) {
    played.nights.push(tonight);
    played.sales = expected.sales;
  } else happened.lost += 1;
  if (struck.strike === undefined) played.effects = proxy.effects() - from;
  if (night === 1 && mode.dependents !== 'none') await ask(url, dependentsOf(mode));
  await expectProduction(played, night, hasNote);
  reader.allow(mode, [stateOf(mode, [...played.sales, ...played.rivals])]);
};

/** What strikes this night's run. Tables are made, get their column and are compared at the end by runs that come to theirs. */
const struckBy = ({ chance, effects }: Played, night: number): Struck => {
  const isStruck = chance.between(1, strikesOneIn) === 1;
  const drawn = chance.pick(strikes);
  const mustEnd = [1, noteNight, nights].includes(night);
  const strike = drawn === 'night' && mustEnd ? 'process' : drawn;
  return { strike: isStruck ? strike : undefined, effect: chance.between(1, effects) };
};

it(
  `${nights} nights in ${modes.length} modes, with seed ${seed}`,
  { timeout: nights * 120_000 },
  async () => {
    const all = modes.map((mode): Played => {
      const own = seed * 1_000 + 2 * nightModes.indexOf(mode);
      return {
        mode,
        feed: startFeed(join(directory, mode.name), mode.events, createChance(own)),
        chance: createChance(own + 1),
        nights: [],
        sales: [],
        rival: mode.hasRival === true ? startRival(directory, mode) : undefined,
        rivals: [],
        effects: 60,
      };
    });
    for (let night = 1; night <= nights; night += 1)
      for (const played of all) await playNight(played, night, struckBy(played, night));
    console.log(`NIGHTS_SEED=${seed}: ${JSON.stringify({ ...happened, ...reader.looked() })}`);
    expect(reader.wrong).toEqual([]);
    // Of few modes not all of it need happen.
    const least = modes.length === nightModes.length ? 1 : 0;
    expect(Math.min(...Object.values(happened))).toBeGreaterThanOrEqual(least);
    expect(reader.looked().looks).toBeGreaterThan(nights);
    expect(
      await ask(
        url,
        `select relname as name from pg_class where relnamespace = 'etl_staging'::regnamespace and relkind = 'r'
          union all select nspname from pg_namespace where nspname like 'etl\\_build%'`,
      ),
    ).toEqual([]);
  },
);
