// Hundreds of scheduled runs over three workers that are killed, paused and replaced: every slot is accounted for, every run
// is published once, and nothing grows.
//
//   SOAK_RUNS=500 SOAK_SEED=1 SOAK_QUEUE=Redis npm run test:soak

import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { finishedRunJobsKept } from '../../src/core/limits.ts';
import { queueState, schedule } from '../../src/index.ts';
import { useFiles } from '../helpers/files.ts';
import { startRedis, type RedisServer } from '../helpers/redis-server.ts';
import { createChance, readCount } from '../helpers/seeded.ts';
import { useDatabase } from '../helpers/server.ts';
import { accountsOf, auditSql, endedSql, isPassing, isRight, jobsSql } from '../helpers/soak-audit.ts';
import type { Account, JobRow } from '../helpers/soak-audit.ts';
import { createChanges, type Changes } from '../helpers/soak-changes.ts';
import { writePipelines, type SoakPipeline } from '../helpers/soak-pipelines.ts';
import { countRowsSql, growthOf, sampleProcess, type Growth, type Sample } from '../helpers/soak-samples.ts';
import { startFleet, type Fleet, type SoakWorker } from '../helpers/soak-workers.ts';

const runsWanted = readCount('SOAK_RUNS', 500);
const seed = readCount('SOAK_SEED', 1 + (Date.now() % 1_000_000));
const isRedis = process.env['SOAK_QUEUE'] === 'Redis';
const sampleMs = 2_000;
/** Runs end every second: a soak in which none does for so long hangs, and says where. */
const hangsMs = 300_000;

const database = useDatabase();
const { directory } = useFiles();
const samples: Sample[] = [];
let redis: RedisServer | undefined;
let fleet: Fleet;
let pipelines: readonly SoakPipeline[];
let changes: Changes;
let spared: SoakWorker | undefined;
let account: Account;
let jobs: readonly JobRow[];

const place = () => ({ databaseUrl: database.url, redis: redis ? { url: redis.url } : (false as const) });
const environment = () => ({ DATABASE_URL: database.url, REDIS_URL: redis?.url ?? '' });
const askOne = async (sql: string): Promise<Readonly<Record<string, number>>> =>
  (await database.query(sql)).rows[0]!;

const etl = (...args: readonly string[]): void => {
  const env = { ...process.env, ...environment() };
  execFileSync(process.execPath, [inject('soakProgram'), ...args], { cwd: directory, env, stdio: 'ignore' });
};

/** Sets a schedule for each pipeline; gives the first slot of each. */
const setSchedules = async (): Promise<ReadonlyMap<string, number>> => {
  for (const { name, seconds } of pipelines)
    etl('schedule', 'set', name, `pipelines/${name}.ts`, '--cron', `*/${seconds} * * * * *`);
  const { rows } = await database.query(
    'select name, extract(epoch from next_slot)::float8 as at from etl.schedule',
  );
  return new Map(rows.map(({ name, at }) => [name, at]));
};

/** Apart from the newest ten thousand events of a queue, which BullMQ keeps, and its own migrations. */
const isCounted = (table: string): boolean => table !== 'event' && table !== 'migration';
const eventsMax = 10_000;

const countQueued = async (): Promise<number> => {
  if (redis !== undefined) return Number(await redis.command('dbsize'));
  const { rows } = await database.query(countRowsSql('etl_queue'));
  return rows.reduce((sum, { table, rows: count }) => sum + (isCounted(table) ? count : 0), 0);
};

const takeSample = async (): Promise<void> => {
  const { ended = 0 } = await askOne(endedSql);
  const { connections = 0 } = await askOne(
    `select count(*)::int as connections from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  );
  const second = Math.round(performance.now() / 1000);
  const processes = fleet.workers().flatMap(sampleProcess);
  if (samples.length % 30 === 29) console.log(`${second} s: ${ended} of ${runsWanted} runs`);
  samples.push({ second, ended, connections, queued: await countQueued(), processes });
};

const ended = (): number => samples.at(-1)?.ended ?? 0;

/** How far a soak has come, for one that hangs. */
const standing = async (): Promise<string> =>
  JSON.stringify({
    schedules: (await database.query('select name, next_slot, job, job_state from etl.schedule')).rows,
    queue: await queueState(place()),
  });

/** Changes files and takes samples until it is so. */
const goOnUntil = async (isIt: () => boolean | Promise<boolean>): Promise<void> => {
  let [moved, last] = [Date.now(), ended()];
  while (!(await isIt())) {
    if (Date.now() - moved > hangsMs) throw new Error(`nothing ended in ${hangsMs} ms: ${await standing()}`);
    const until = Date.now() + sampleMs;
    while (Date.now() < until) {
      await changes.makeOne();
      await sleep(100);
    }
    await takeSample();
    if (ended() !== last) [moved, last] = [Date.now(), ended()];
  }
};

const isQuiet = async (): Promise<boolean> => {
  const { open = 0 } = await askOne(
    `select count(*)::int as open from etl.schedule where job_state not in ('published', 'unchanged')`,
  );
  const { waiting, delayed, active, failed } = await queueState(place());
  return open + waiting + delayed + active + failed === 0;
};

/** Of the worker that was left alone. */
const ofSpared = (value: 'megabytes' | 'descriptors'): Growth => {
  const own = samples.flatMap(({ processes }) => processes.filter(({ pid }) => pid === spared!.pid));
  return growthOf(own.map((each) => each[value]));
};

/** Of the last of several states. */
const jobsThat = (state: string): number => jobs.filter(({ states }) => states.at(-1) === state).length;

const report = async (): Promise<void> => {
  const { problems, ...slots } = account;
  const tables = isRedis ? [] : (await database.query(countRowsSql('etl_queue'))).rows;
  const figures = {
    seed,
    queue: isRedis ? 'Redis' : 'PostgreSQL',
    seconds: samples.at(-1)?.second,
    runs: { published: jobsThat('published'), unchanged: jobsThat('unchanged'), changes: changes.count },
    slots: { ...slots, problems: problems.length },
    disturbed: fleet.counts,
    'left alone': { megabytes: ofSpared('megabytes'), descriptors: ofSpared('descriptors') },
    connections: growthOf(samples.map(({ connections }) => connections)),
    queued: growthOf(samples.map(({ queued }) => queued)),
    'queue tables': Object.fromEntries(
      tables.filter(({ rows }) => rows > 0).map(({ table, rows }) => [table, rows]),
    ),
  };
  console.log(JSON.stringify(figures, null, 2));
};

beforeAll(async () => {
  console.log(`SOAK_SEED=${seed} SOAK_RUNS=${runsWanted} SOAK_QUEUE=${isRedis ? 'Redis' : 'PostgreSQL'}`);
  if (isRedis) redis = await startRedis();
  pipelines = writePipelines(directory, createChance(seed));
  changes = createChanges(database, pipelines, createChance(seed + 1));
  await schedule.list(place());
  await database.query(auditSql);
  const first = await setSchedules();
  const program = inject('soakProgram');
  fleet = startFleet({ program, directory, env: environment(), chance: createChance(seed + 2), count: 3 });
  await goOnUntil(() => ended() >= runsWanted / 2);
  spared = fleet.spare();
  await goOnUntil(() => ended() >= runsWanted);
  changes.end();
  await goOnUntil(changes.areLoaded);
  for (const { name } of pipelines) await schedule.pause(name, place());
  await goOnUntil(isQuiet);
  await fleet.stop();
  account = await accountsOf(database, pipelines, first);
  jobs = (await database.query<JobRow>(jobsSql)).rows;
  await report();
});

afterAll(async () => {
  await fleet?.kill();
  await redis?.stop();
});

describe(`${runsWanted} scheduled runs over three workers that are killed, paused and replaced`, () => {
  it('every slot of every schedule is enqueued, skipped, missed or left out for a newer one, once', () => {
    expect(account.problems).toEqual([]);
    expect(account.enqueued).toBeGreaterThanOrEqual(runsWanted);
  });

  it('every slot that was enqueued has a job of its own', () => expect(jobs.length).toBe(account.enqueued));

  it('every job is published by one run once, or has nothing to do', () =>
    expect(jobs.filter((job) => !isRight(job))).toEqual([]));

  it('the workers were killed, paused and asked to stop, and ended only as they were asked to', () => {
    expect(fleet.surprises).toEqual([]);
    expect(Object.values(fleet.counts).reduce((sum, count) => sum + count)).toBeGreaterThan(0);
  });

  it('no worker said that a run failed, but for a connection that timed out in a pause, which is tried again', () => {
    const failed = fleet
      .logged()
      .filter(({ level, code }) => Number(level) >= 50 && !isPassing(String(code)));
    expect(failed).toEqual([]);
  });

  it('after every run, production was what the files of that moment hold', async () => {
    expect(changes.wrong).toEqual([]);
    for (const pipeline of pipelines)
      expect(await changes.production(pipeline)).toEqual(changes.expected(pipeline));
  });

  it('nothing is left on the queue but jobs that are over, as many as are kept', async () => {
    expect(await queueState(place())).toMatchObject({ waiting: 0, delayed: 0, active: 0, failed: 0 });
    if (redis !== undefined) return;
    const { rows } = await database.query(
      `select (select count(*)::int from etl_queue.job) as jobs, (select count(*)::int from etl_queue.event) as events,
        (select array_agg(distinct queue) from
          (select queue from etl_queue.job union all select queue from etl_queue.event union all
            select queue from etl_queue.meta) as every) as queues`,
    );
    const { jobs: kept, events, queues } = rows[0]!;
    expect(queues).toEqual(['etl-run']);
    expect(kept).toBeLessThanOrEqual(finishedRunJobsKept);
    expect(events).toBeLessThanOrEqual(1.1 * eventsMax);
  });

  it('nothing is left of staging, of building, and of sessions', async () => {
    const left = async (): Promise<unknown> =>
      (
        await database.query(
          `select relname as name from pg_class where relnamespace = 'etl_staging'::regnamespace
            union all select nspname from pg_namespace where nspname like 'etl\\_build%'
            union all select application_name from pg_stat_activity
              where datname = current_database() and pid <> pg_backend_pid()`,
        )
      ).rows;
    // The server notices within two seconds that a connection was closed.
    await expect.poll(left, { timeout: 20_000, interval: 50 }).toEqual([]);
  });

  it('bookkeeping has a row a run, a file, a chunk of each, a published table, and no other', async () => {
    const published = jobsThat('published');
    const { rows } = await database.query(countRowsSql('etl'));
    const counts = Object.fromEntries(rows.map((row) => [row['table'], row['rows']]));
    const { chunk: files, ...others } = counts;
    expect(others).toMatchObject({
      run: published,
      source_file: files,
      published_table: published,
      schedule: pipelines.length,
      canary: 1,
    });
  });

  it('the worker that was left alone grew neither in memory nor in descriptors', () => {
    const [memory, descriptors] = [ofSpared('megabytes'), ofSpared('descriptors')];
    expect(memory.late).toBeLessThan(memory.early * 1.25 + 32);
    // A worker that coordinates has a dozen more than one that waits.
    expect(descriptors.lateLeast).toBeLessThanOrEqual(descriptors.earlyMost);
    expect(descriptors.most).toBeLessThanOrEqual(100);
  });

  it('neither sessions nor rows of the queue grew', () => {
    const connections = growthOf(samples.map((sample) => sample.connections));
    const queued = growthOf(samples.map((sample) => sample.queued));
    expect(connections.lateLeast).toBeLessThanOrEqual(connections.earlyMost);
    expect(connections.most).toBeLessThanOrEqual(75);
    // In Redis a job is a key of its own, and its queue has some more.
    expect(queued.most).toBeLessThanOrEqual(2 * finishedRunJobsKept);
  });
});
