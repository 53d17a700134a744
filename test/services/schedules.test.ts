// Schedules on both backends: each slot is handled once, by any worker, whichever process dies.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { runQuery, withClient } from '../../src/db/client.ts';
import { loadPipelineFile, queueState, retry, schedule } from '../../src/index.ts';
import type { Pipeline, Schedule, ScheduleOptions } from '../../src/index.ts';
import { comingSlots } from '../../src/worker/schedule/list.ts';
import { createScheduleMetrics } from '../../src/worker/schedule/metrics.ts';
import { recordJobEnd } from '../../src/worker/schedule/store.ts';
import { failureOf } from '../helpers/failure.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';
import { queueKinds, until, usePlace, useWorkers } from '../helpers/workers.ts';

const pipelineText = (name: string, nullable = ''): string => `
  import { column, csv, definePipeline } from 'sluice';
  export default definePipeline({
    name: '${name}',
    schema: '${name}',
    tables: { words: { source: csv('words.csv'), columns: { n: column.integer('n')${nullable} } } },
  });`;

/** Loads the file of the day. */
const datedText = `
  import { z } from '${fileURLToPath(import.meta.resolve('zod'))}';
  import { column, csv, definePipeline } from 'sluice';
  export default definePipeline({
    name: 'dated',
    schema: 'dated',
    params: z.object({ day: z.string().default(() => process.env.SLUICE_TEST_DAY), skip: z.string().transform(Number) }),
    tables: ({ day, skip }) => ({
      words: { source: csv(day + '.csv', { skipLines: skip }), columns: { n: column.integer('n') } },
    }),
  });`;

/** Due once a year, so that only the tests make slots due. */
const yearly = '0 0 1 1 *';
const names = ['a', 'b', 'c', 'd'];
/**
 * Pipelines of one test, in their own folder: their files are not loaded by other tests, and other
 * workers need not read them.
 */
const fresh = ['e', 'f', 'g', 'h', 'i', 'j'];

describe.each(queueKinds)('schedules, queues in $kind', ({ kind }) => {
  const database = useDatabase();
  const files = useFiles();
  const folder = join(files.directory, 'pipelines');
  const freshFolder = join(files.directory, 'fresh');
  const pipelines = new Map<string, Pipeline>();
  const { place, loseJobs } = usePlace(kind, database);
  afterEach(async () => {
    await database.query('delete from etl.schedule; delete from etl.schedule_slot');
    await loseJobs();
  });
  const workers = useWorkers(() => ({
    ...place(),
    pipelines: folder,
    workingDirectory: files.directory,
    workers: 1,
  }));
  const set = (name: string, given: Partial<ScheduleOptions> = {}): Promise<Schedule> =>
    schedule.set(name, pipelines.get(name)!, { ...place(), cron: yearly, ...given });
  const find = async (name: string): Promise<Schedule> =>
    (await schedule.list(place())).find((each) => each.name === name)!;
  /** Reads one column of a schedule: `find` opens a connection and computes slots each time. */
  const stored = async (name: string, column: string): Promise<unknown> =>
    (await database.query(`select ${column} as value from etl.schedule where name = $1`, [name])).rows[0]?.[
      'value'
    ];
  /** Moves the next slot to the past, as if no worker had run. */
  const setNextSlot = (name: string, moment: string) =>
    database.query(`update etl.schedule set next_slot = ${moment} where name = $1`, [name]);
  const makeDue = (name: string) => setNextSlot(name, `clock_timestamp() - interval '1 second'`);
  const runs = async (job: string | null): Promise<number> =>
    (await database.query('select count(*)::int as runs from etl.run where job = $1', [job])).rows[0]?.[
      'runs'
    ];
  const enqueued = (): readonly string[] =>
    workers.lines
      .filter(({ message }) => message === 'enqueued a run of a schedule')
      .map((line) => line.schedule!)
      .toSorted();
  const said = (message: string, name: string): boolean =>
    workers.lines.some((line) => line.message.startsWith(message) && line.schedule === name);
  /** A run whose files were loaded before ends as `unchanged`. */
  const untilDone = (name: string): Promise<void> =>
    until(async () => ['published', 'unchanged'].includes(String(await stored(name, 'job_state'))));

  beforeAll(async () => {
    files.write('words.csv', 'n\n1\n2\n');
    for (const [where, own] of [
      [folder, names],
      [freshFolder, fresh],
    ] as const) {
      mkdirSync(where);
      for (const name of own) {
        writeFileSync(join(where, `${name}.ts`), pipelineText(name));
        pipelines.set(name, (await loadPipelineFile(join(where, `${name}.ts`))).pipeline);
      }
    }
  });
  it('three workers enqueue each slot once, and the schedule records the outcome of its run', async () => {
    for (const name of fresh) {
      await set(name);
      await makeDue(name);
    }
    const given = { pipelines: freshFolder };
    await Promise.all([workers.start(given), workers.start(given), workers.start(given)]);
    for (const name of fresh) await untilDone(name);
    expect(enqueued()).toEqual(fresh);
    const found = await schedule.list(place());
    expect(found.map(({ lastOutcome }) => lastOutcome)).toEqual(fresh.map(() => 'enqueued'));
    for (const { name, job } of found) {
      expect(job).toMatch(new RegExp(`^schedule-${name}-\\d{4}-\\d\\d-\\d\\dT\\d{4,6}Z$`));
      expect(await runs(job)).toBe(1);
    }
    expect(await queueState(place())).toMatchObject({ waiting: 0, delayed: 0, failed: 0 });
    const slots = await schedule.history(fresh[0]!, place());
    expect(slots).toEqual([
      {
        slot: expect.any(Date),
        first: null,
        outcome: 'enqueued',
        job: found[0]!.job,
        state: 'published',
        run: expect.any(Number),
      },
    ]);
  });

  it('slots that were missed while no worker ran are one run with catchUp, and none without', async () => {
    await set('a', { catchUp: true });
    await set('b');
    for (const name of ['a', 'b']) await setNextSlot(name, `timestamptz '2020-01-01 00:00Z'`);
    const { registry } = await workers.start();
    await until(async () => (await stored('b', 'last_slot')) !== null);
    await untilDone('a');
    const counted = await registry.metrics();
    expect(counted).toContain('sluice_schedule_slots_total{schedule="a",outcome="enqueued"} 1');
    expect(counted).toContain('sluice_schedule_slots_total{schedule="b",outcome="missed"} 1');
    const newest = `${new Date().getUTCFullYear()}-01-01T00:00:00+00:00`;
    expect(await find('a')).toMatchObject({ lastSlot: newest, lastOutcome: 'enqueued' });
    expect(await find('b')).toMatchObject({ lastSlot: newest, lastOutcome: 'missed', job: null });
    expect(enqueued()).toEqual(['a']);
    const first = new Date('2020-01-01T00:00:00Z');
    expect(await schedule.history('b', place())).toMatchObject([
      { slot: new Date(newest), first, outcome: 'missed', job: null, state: null, run: null },
    ]);
    expect(said('a slot was missed', 'b')).toBe(true);
    expect(said('earlier slots were missed', 'a')).toBe(true);
  });

  it.for([
    { pause: 30, outcome: 'enqueued' },
    { pause: 70, outcome: 'missed' },
  ] as const)(
    'a slot of three minutes ago is $outcome if other workers decided about slots every $pause s since',
    async ({ pause, outcome }) => {
      const slot = new Date(Math.floor(Date.now() / 60_000 - 3) * 60_000);
      await set('a', { cron: `${slot.getUTCMinutes()} ${slot.getUTCHours()} * * *` });
      await setNextSlot('a', `timestamptz '${slot.toISOString()}'`);
      await database.query(
        `insert into etl.schedule_slot (schedule, slot, outcome, decided_at) select 'other', $1, 'skipped', decided_at
          from generate_series($1::timestamptz, clock_timestamp(), $2 * interval '1 second') as decided_at`,
        [slot, pause],
      );
      await workers.start();
      await until(async () => (await stored('a', 'last_slot')) !== null);
      expect(await stored('a', 'last_outcome')).toBe(outcome);
    },
  );

  it('a schedule with seconds in its cron has a job for each slot', async () => {
    await set('a', { cron: '*/2 * * * * *' });
    await workers.start();
    const jobs = new Set<string>();
    await until(async () => jobs.add(String(await stored('a', 'job'))).size === 3);
    expect([...jobs].slice(1).map((job) => job.replace(/T(?:\d{4}|\d{6})Z$/, ''))).toEqual(
      Array.from({ length: 2 }, () => expect.stringMatching(/^schedule-a-\d{4}-\d\d-\d\d$/)),
    );
  });

  it('a paused schedule lets its slots pass; resumed, it continues with the next slot and does not catch up', async () => {
    await set('a', { catchUp: true });
    await set('b');
    await schedule.pause('a', place());
    await makeDue('a');
    await makeDue('b');
    await workers.start();
    await until(async () => (await stored('b', 'last_slot')) !== null);
    expect(await find('a')).toMatchObject({ paused: true, lastSlot: null, job: null });
    await schedule.resume('a', place());
    await makeDue('b');
    workers.lines = [];
    await until(() => said('a slot', 'b'));
    expect(await find('a')).toMatchObject({ paused: false, lastSlot: null, job: null });
  });

  it('set again, it stays paused, and the same times keep a slot that is due', async () => {
    await set('a');
    await schedule.pause('a', place());
    await makeDue('a');
    expect(await set('a', { priority: 3 })).toMatchObject({ paused: true, priority: 3 });
    const isDue = async (): Promise<boolean> =>
      (await database.query('select next_slot < clock_timestamp() as due from etl.schedule')).rows[0]?.[
        'due'
      ];
    expect(await isDue()).toBe(true);
    await set('a', { cron: '0 0 2 1 *' });
    expect(await isDue()).toBe(false);
  });

  it('run by hand, also when it is paused; while that run waits there is no other', async () => {
    await set('a');
    await schedule.pause('a', place());
    // The slot is decided, and its run is not on the queue yet.
    await database.query(
      `update etl.schedule set job = 'schedule-a-decided', job_queue = queue, job_state = 'pending'`,
    );
    const first = await schedule.runNow('a', place());
    expect(first).toEqual({ job: 'schedule-a-decided', isNew: false });
    expect(await schedule.runNow('a', place())).toEqual({ job: first.job, isNew: false });
    await workers.start();
    await untilDone('a');
    const isAnother = async (): Promise<boolean> => (await schedule.runNow('a', place())).isNew;
    await until(isAnother);
    expect((await find('a')).job).not.toBe(first.job);
    await untilDone('a');
  });

  it('a slot whose schedule still has a run on the queue is skipped', async () => {
    await set('a', { queue: 'others' });
    const { job } = await schedule.runNow('a', place());
    await makeDue('a');
    // This worker handles all schedules, and runs the runs of another queue.
    const { registry } = await workers.start();
    await until(async () => (await stored('a', 'last_outcome')) === 'skipped');
    // The ledger knows before the log does.
    await until(() => said('a slot is skipped', 'a'));
    expect(await registry.metrics()).toContain(
      'sluice_schedule_slots_total{schedule="a",outcome="skipped"} 1',
    );
    await workers.start({ queues: ['others'] });
    await untilDone('a');
    expect((await find('a')).job).toBe(job);
    expect(await schedule.history('a', place())).toMatchObject([
      { outcome: 'skipped', job: null },
      { outcome: 'asked for', job, state: 'unchanged' },
    ]);
    expect(await schedule.history('a', { ...place(), limit: 1 })).toHaveLength(1);
  });

  it('a worker died before or after it put a run on the queue: the run is there once', async () => {
    await set('d');
    const { job } = await schedule.runNow('d', place());
    await set('c');
    await database.query(
      `update etl.schedule set job = coalesce(job, 'schedule-c-before'), job_queue = queue, job_state = 'pending'`,
    );
    expect((await queueState(place())).waiting).toBe(1);
    await workers.start();
    for (const name of ['c', 'd']) await untilDone(name);
    // The other schedule's run may have ended before its schedule was checked.
    expect(enqueued()).toContain('c');
    const ended = () =>
      workers.lines.filter(({ message }) => message === 'run ended').map((line) => line.job);
    // The ledger knows before the log does.
    await until(async () => ended().length >= 2);
    expect([ended().length, new Set(ended())]).toEqual([2, new Set([job, 'schedule-c-before'])]);
  });

  it('metrics show when the next slot is, and how late an unhandled one is; a paused schedule has none', async () => {
    const registry = new Registry();
    const over = new AbortController();
    let isAway = false;
    const ask = () =>
      isAway ? Promise.reject(new Error('away')) : withClient(addressFromUrl(database.url), comingSlots);
    createScheduleMetrics(registry, ask, () => true, over.signal);
    for (const name of ['a', 'b', 'c']) await set(name);
    await schedule.pause('c', place());
    await setNextSlot('b', `clock_timestamp() - interval '5 minutes'`);
    const valueOf = async (metric: string, name: string): Promise<number | undefined> => {
      const line = new RegExp(`^${metric}[{]schedule="${name}"[}] (.*)$`, 'm').exec(await registry.metrics());
      return line === null ? undefined : Number(line[1]);
    };
    const [next, late] = ['sluice_schedule_next_slot_timestamp_seconds', 'sluice_schedule_late_seconds'];
    expect(await valueOf(next, 'a')).toBe(Date.parse((await find('a')).next[0]!) / 1000);
    expect(await valueOf(late, 'a')).toBe(0);
    expect(await valueOf(late, 'b')).toBeGreaterThanOrEqual(300);
    expect(await valueOf(next, 'c')).toBeUndefined();
    await schedule.remove('a', place());
    expect(await valueOf(next, 'a')).toBeUndefined();
    isAway = true;
    expect(await valueOf(next, 'b')).toBeUndefined();
    isAway = false;
    expect(await valueOf(late, 'b')).toBeGreaterThanOrEqual(300);
    over.abort();
    expect(await valueOf(next, 'b')).toBeUndefined();
  });

  it('a finished run stays finished when a paused worker later reports its failure', async () => {
    await set('a');
    await schedule.runNow('a', place());
    await workers.start();
    await untilDone('a');
    const { job, jobState } = await find('a');
    await withClient(addressFromUrl(database.url), (client) =>
      runQuery(client, recordJobEnd(job!, 'ETL_CONNECT')),
    );
    expect((await find('a')).jobState).toBe(jobState);
    expect(await schedule.history('a', place())).toMatchObject([{ state: jobState }]);
  });

  it('keeps the newest thousand slots of each schedule, also of one that is removed', async () => {
    await set('a');
    await database.query(`insert into etl.schedule_slot (schedule, slot, outcome)
      select name, timestamptz '2026-01-01Z' + n * interval '1 s', 'enqueued' from generate_series(1, 1005) n, (values ('a'), ('b')) s (name)`);
    await schedule.runNow('a', place());
    await schedule.remove('a', place());
    expect(await schedule.history('a', { ...place(), limit: 5_000 })).toHaveLength(1000);
    expect((await schedule.history('a', place()))[0]).toMatchObject({ outcome: 'asked for', state: null });
    expect(await schedule.history('b', { ...place(), limit: 5_000 })).toHaveLength(1005);
  });

  it('parameters from defaults are those of the day of the run, and stay so when it is tried again', async () => {
    writeFileSync(join(folder, 'dated.ts'), datedText);
    pipelines.set('dated', (await loadPipelineFile(join(folder, 'dated.ts'))).pipeline);
    const onDay = (day: string): void => void (process.env['SLUICE_TEST_DAY'] = day);
    const newest = async () =>
      (
        await database.query(
          `select id::int, state, params, (select array_agg(n order by n) from dated.words) as words
            from etl.run where pipeline = 'dated' order by id desc limit 1`,
        )
      ).rows[0];
    onDay('monday');
    await set('dated', { params: { skip: '1' } });
    onDay('tuesday');
    files.write('tuesday.csv', 'of tuesday\nn\n1\n');
    await workers.start();
    await schedule.runNow('dated', place());
    await untilDone('dated');
    const params = { skip: 1 };
    expect(await newest()).toMatchObject({ params: { ...params, day: 'tuesday' }, words: [1] });
    onDay('wednesday');
    files.write('wednesday.csv', 'of wednesday\nn\nbroken\n');
    await schedule.runNow('dated', place());
    await until(async () => (await stored('dated', 'job_state')) === 'ETL_REJECT_LIMIT');
    files.write('wednesday.csv', 'of wednesday\nn\n2\n');
    onDay('thursday');
    const failed = (await newest())!;
    await retry(Number(failed['id']), place());
    await until(async () => (await newest())?.['state'] === 'published');
    expect(await newest()).toMatchObject({ params: { ...params, day: 'wednesday' }, words: [2] });
  });

  it('a queue that is emptied loses neither schedule nor run', async () => {
    await set('a');
    const { job } = await schedule.runNow('a', place());
    await loseJobs();
    expect((await queueState(place())).waiting).toBe(0);
    await workers.start();
    await untilDone('a');
    expect((await find('a')).job).toBe(job);
  });

  it('a definition that has changed since is refused, and the schedule says so', async () => {
    const file = files.write('changed.ts', pipelineText('a', '.nullable()'));
    const { pipeline } = await loadPipelineFile(file);
    await schedule.set('a', pipeline, { ...place(), cron: yearly });
    await schedule.runNow('a', place());
    await workers.start();
    const state = 'ETL_DEFINITION_DIFFERS';
    await until(async () => (await stored('a', 'job_state')) === state);
    expect((await find('a')).next).toHaveLength(5);
    expect(await schedule.history('a', place())).toMatchObject([{ outcome: 'asked for', state }]);
  });

  it('a wrong name, cron or time zone is refused before anything is written', async () => {
    for (const [name, given] of [
      ['a:b', {}],
      ['a', { cron: '0 25 * * *' }],
      ['a', { timeZone: 'Mars/Phobos' }],
    ] as const)
      expect(
        (await failureOf(schedule.set(name, pipelines.get('a')!, { ...place(), cron: yearly, ...given })))
          .code,
      ).toBe('ETL_SCHEDULE_INVALID');
    expect(await schedule.list(place())).toEqual([]);
    expect(await failureOf(schedule.pause('a', place()))).toMatchObject({ code: 'ETL_SCHEDULE_UNKNOWN' });
  });
});
