// Random kills, freezes and cuts over three pipelines, two workers and a schedule, while readers poll production: they see
// complete versions only, and when all is calm again production is what the files hold.
//
//   CHAOS_SECONDS=600 CHAOS_SEED=1 npm run test:chaos

import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { openDoor, runEtl, type Door } from '../helpers/chaos-doors.ts';
import { divisionSql, ledgerRules, leftoversSql } from '../helpers/chaos-ledger.ts';
import { differences, productionSql, type Seen } from '../helpers/chaos-oracle.ts';
import { writeChaosPipelines, type ChaosPipeline } from '../helpers/chaos-pipelines.ts';
import { startReader, type Reader } from '../helpers/chaos-readers.ts';
import { startStorm, type Storm } from '../helpers/chaos-storm.ts';
import { ask, createDatabase, databaseUrlOf, serverSettings } from '../helpers/fault-database.ts';
import { openProxy, type FaultProxy } from '../helpers/fault-proxy.ts';
import { useFiles } from '../helpers/files.ts';
import { startOwnServer, type OwnServer } from '../helpers/own-server.ts';
import { createChance, readCount } from '../helpers/seeded.ts';
import { isPassing } from '../helpers/soak-audit.ts';
import { startFleet, type Fleet } from '../helpers/soak-workers.ts';

const seconds = readCount('CHAOS_SECONDS', 600);
const seed = readCount('CHAOS_SEED', 1 + (Date.now() % 1_000_000));
/** Far more than a load takes after the last fault: a frozen worker's job comes back after 70 s at most. */
const calmMs = 240_000;

const { directory } = useFiles();
const chance = createChance(seed);
const program = inject('soakProgram');
const diary: string[] = [];
const startedAt = performance.now();
const note = (what: string): void => {
  diary.push(`${((performance.now() - startedAt) / 1000).toFixed(3)} s  ${what}`);
};

let server: OwnServer;
let proxy: FaultProxy;
/** Of the database: straight, and through the proxy. */
let [url, cutUrl] = ['', ''];
let pipelines: readonly ChaosPipeline[] = [];
let fleet: Fleet | undefined;
let storm: Storm;
let readers: readonly Reader[] = [];
let doors: readonly Door[] = [];
let changedAt = 0;
let changes = 0;

const environment = () => ({ DATABASE_URL: cutUrl, ETL_CHUNK_BYTES: '60000', ETL_WAIT: '5m', REDIS_URL: '' });
const etl = async (...args: readonly string[]): Promise<void> => {
  const { end, said } = await runEtl({ program, directory, env: environment() }, args);
  if (end !== 0) throw new Error(`etl ${args.join(' ')} ended with ${end}: ${said}`);
};
const pipelineFile = (name: string): string => `pipelines/${name}.ts`;

const change = (pipeline: ChaosPipeline, how: string): void => {
  const version = pipeline.change();
  [changedAt, changes] = [Date.now(), changes + 1];
  note(`${pipeline.name}: version ${version} ${how}`);
};

/** Files of a version that readers have seen are replaced; now and then also of one that is being loaded. */
const changeSome = (): void => {
  for (const [place, pipeline] of pipelines.entries()) {
    const isSeen = readers[place]!.version() === pipeline.version();
    if (isSeen && chance.between(1, 3) === 1) change(pipeline, 'after the last one was seen');
    if (!isSeen && chance.between(1, 40) === 1) change(pipeline, 'before the last one was seen');
  }
};

/** Errors that a fault explains: the server was away, or files were replaced in mid-run. */
const isExplained = (code: string | undefined, since: number): boolean =>
  code !== undefined &&
  (isPassing(code) || code === 'ETL_RUN_LOCKED' || (code.startsWith('ETL_SOURCE_') && changedAt >= since));

const setUp = async (): Promise<void> => {
  server = await startOwnServer(serverSettings);
  url = databaseUrlOf(server.server.url, await createDatabase(server.server.url));
  proxy = await openProxy(Number(new URL(url).port));
  const cut = new URL(url);
  [cut.hostname, cut.port] = ['127.0.0.1', String(proxy.port)];
  cutUrl = cut.href;
  pipelines = writeChaosPipelines(directory, chance);
  for (const pipeline of pipelines) {
    change(pipeline, 'to begin with');
    await etl('run', pipelineFile(pipeline.name));
    if (pipeline.dependents !== '') await ask(url, pipeline.dependents);
  }
};

const rage = async (): Promise<void> => {
  const command = { program, directory, env: environment() };
  storm = startStorm({ server, proxy, url, chance: createChance(seed + 1), note });
  readers = pipelines.map((pipeline) => startReader(url, pipeline, storm.serverFaults));
  fleet = startFleet({ ...command, chance: createChance(seed + 2), count: 2, note });
  const door = { ...command, note, mayEndWith: isExplained };
  doors = [
    openDoor({
      ...door,
      args: ['run', pipelineFile('stock'), '--json', '--debug'],
      isDisturbed: true,
      chance: createChance(seed + 3),
    }),
    openDoor({
      ...door,
      args: ['enqueue', pipelineFile('meter'), '--dedupe', 'meter', '--debug'],
      isDisturbed: false,
      chance: createChance(seed + 4),
    }),
  ];
  for (let second = 1; second <= seconds; second += 1) {
    await sleep(1_000);
    changeSome();
    if (second % 60 === 0)
      console.log(`${second} s: ${diary.length} lines in the diary, ${changes} versions`);
  }
};

const calmDown = async (): Promise<void> => {
  note('calm');
  await Promise.all([storm.stop(), fleet!.calm()]);
  await doors[0]!.stop();
  proxy.endSilent();
  // What is published from now on is published undisturbed.
  for (const pipeline of pipelines) change(pipeline, 'to end with');
  await etl('run', pipelineFile('stock'));
  const until = Date.now() + calmMs;
  const isSeen = (): boolean =>
    pipelines.every((pipeline, place) => readers[place]!.version() === pipeline.version());
  while (!isSeen() && Date.now() < until) await sleep(200);
  await etl('schedule', 'pause', 'shop');
  await doors[1]!.stop();
  const isIdle = async (): Promise<boolean> =>
    (await ask(url, `select from etl_queue.job where state in ('waiting', 'active', 'delayed')`)).length ===
    0;
  while (!(await isIdle()) && Date.now() < until) await sleep(200);
  note('everything ends');
  await Promise.all(readers.map((reader) => reader.stop()));
  await fleet!.stop();
};

const report = (): void => {
  const figures = {
    seed,
    seconds,
    versions: pipelines.map((pipeline) => `${pipeline.name}: ${pipeline.version()}`),
    faults: { ...storm.counts, ...fleet!.counts },
    runs: doors[0]!.counts,
    enqueued: doors[1]!.counts,
    readers: readers.map((reader) => ({ polls: reader.polls(), longestMs: reader.longestMs() })),
  };
  console.log(JSON.stringify(figures, null, 2));
};

beforeAll(async () => {
  console.log(`CHAOS_SEED=${seed} CHAOS_SECONDS=${seconds}`);
  try {
    await setUp();
    await etl('schedule', 'set', 'shop', pipelineFile('shop'), '--cron', '*/5 * * * * *');
    await rage();
    await calmDown();
    report();
  } catch (error) {
    console.log(diary.join('\n'));
    throw error;
  }
});

afterAll(async () => {
  await Promise.all(readers.map((reader) => reader.stop()));
  await fleet?.kill();
  await proxy?.close();
  await server?.remove();
});

/** Processes whose command line names the program of this test. */
const processesLeft = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return line.includes(program) ? [`${pid} ${line}`] : [];
      } catch {
        return [];
      }
    });

describe(`${seconds} seconds of random faults, seed ${seed}`, () => {
  it('readers saw complete versions only, in order, and errors only when their server was killed', () =>
    expect(
      readers.flatMap(({ wrong }) => wrong),
      diary.join('\n'),
    ).toEqual([]));

  it('production is what the files hold, row by row', async () => {
    for (const { name, tables, expected, version } of pipelines) {
      const seen = await ask<Seen & Record<string, unknown>>(url, productionSql(name, tables, true));
      expect(differences(seen, expected(version())), diary.join('\n')).toEqual([]);
    }
  });

  it.each(Object.entries(ledgerRules))('the ledger holds: %s', async (_, sql) =>
    expect(await ask(url, sql), diary.join('\n')).toEqual([]),
  );

  it('the records of the last runs divide as the files say', async () => {
    for (const { name, expected, version } of pipelines)
      for (const { name: table, ...division } of await ask<{ name: string }>(url, divisionSql, [name]))
        expect(division).toEqual(expected(version())[table]!.records);
  });

  it('every command ended as it was asked to, or by an error that a fault explains', () =>
    expect(
      doors.flatMap(({ wrong }) => wrong),
      diary.join('\n'),
    ).toEqual([]));

  it('workers ended only as they were asked to', () =>
    expect(fleet!.surprises, diary.join('\n')).toEqual([]));

  it('nothing is left: no staging, no schema, no session, no lock, no process', async () => {
    // The server notices within two seconds that a connection was closed.
    await expect.poll(() => ask(url, leftoversSql), { timeout: 20_000, interval: 100 }).toEqual([]);
    expect(processesLeft()).toEqual([]);
  });

  it('workers, server and network had faults, and every pipeline was published in between', () => {
    for (const counts of [storm.counts, fleet!.counts])
      expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0);
    for (const pipeline of pipelines) expect(pipeline.version()).toBeGreaterThan(2);
  });
});
