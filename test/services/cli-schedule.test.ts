// `etl schedule set|list|remove|pause|resume|run-now` on a real server.

import { resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { database, etl: run } = usePipelineRuns();
const noaa = resolve('pipelines/noaa.ts');

const etl = (...args: string[]) => run('schedule', ...args);
const json = async (...args: string[]): Promise<unknown> => JSON.parse((await etl(...args, '--json')).out);
const set = (...more: string[]): string[] => ['set', 'nightly', noaa, '--cron', '0 2 * * *', ...more];

// Each case has an empty database.
afterEach(() => database.query('drop schema if exists etl, etl_queue cascade'));

describe('etl schedule', () => {
  it('finds none on an empty server, and makes nothing there', async () => {
    expect(await etl('list')).toEqual({ exit: 0, err: '', out: 'no schedules\n' });
    const { rows } = await database.query(`select to_regnamespace('etl') as etl`);
    expect(rows).toEqual([{ etl: null }]);
  });

  it('sets one and shows its next five times in its zone', async () => {
    const { exit, out } = await etl(...set('--tz', 'Asia/Tokyo', '--catch-up', '--priority', '7'));
    expect(exit).toBe(0);
    const [head, ...next] = out.trimEnd().split('\n');
    expect(head).toBe('nightly: noaa at 0 2 * * * Asia/Tokyo, catches up, priority 7');
    expect(next).toHaveLength(5);
    for (const line of next) expect(line).toMatch(/^ {2}(?:next| {4}) {2}\d{4}-\d\d-\d\dT02:00:00\+09:00$/);
  });

  it('replaces one', async () => {
    await etl(...set('--tz', 'Asia/Tokyo', '--catch-up', '--priority', '7'));
    expect(await json(...set())).toMatchObject({ timeZone: 'UTC', catchUp: false, priority: null });
    expect(await json('list')).toEqual([
      {
        name: 'nightly',
        pipeline: 'noaa',
        queue: 'default',
        params: {},
        cron: '0 2 * * *',
        everyMs: null,
        timeZone: 'UTC',
        priority: null,
        catchUp: false,
        lateAfterMs: null,
        paused: false,
        next: expect.arrayContaining([expect.stringMatching(/T02:00:00\+00:00$/)]),
        lastSlot: null,
        lastOutcome: null,
        job: null,
        jobState: null,
        lookError: null,
      },
    ]);
  });

  it('sets one that looks at files, and says so', async () => {
    const { exit, out } = await etl('set', 'inbox', noaa, '--on', 'files', '--every', '30s');
    expect({ exit, out }).toEqual({ exit: 0, out: 'inbox: noaa when files arrive, looks every 30.0 s\n' });
    await database.query(`update etl.schedule set look_error = 'ETL_SOURCE_UNREADABLE'`);
    expect((await etl('list')).out).toContain('  files cannot be listed: ETL_SOURCE_UNREADABLE;');
    expect(await etl('resume', 'inbox')).toMatchObject({ exit: 0 });
    const both = await etl(...set('--on', 'files'));
    expect(both).toMatchObject({ exit: 2, err: expect.stringMatching(/ETL_SCHEDULE_INVALID/) });
  });
});

describe('one that is set', () => {
  beforeEach(() => etl(...set()));

  it('is paused and resumed', async () => {
    expect((await etl('pause', 'nightly')).out).toBe('Paused nightly\n');
    expect((await etl('list')).out).toContain('nightly: noaa at 0 2 * * * UTC, paused\n');
    expect(await json('resume', 'nightly')).toEqual({ schedule: 'nightly', resumed: true });
    expect(await json('list')).toMatchObject([{ paused: false }]);
  });

  it('is run now, once while that run waits', async () => {
    const first = await etl('run-now', 'nightly');
    expect(first.out).toMatch(/^Enqueued nightly as schedule-nightly-[\da-f-]{36}\n$/);
    const job = first.out.trimEnd().split(' ').at(-1);
    expect(await json('run-now', 'nightly')).toEqual({ schedule: 'nightly', job, isNew: false });
    expect((await etl('list')).out).toContain(`  run   ${job} enqueued\n`);
  });

  it('shows its slots with their runs', async () => {
    expect((await etl('history', 'nightly')).out).toBe('no slots yet\n');
    await database.query(`insert into etl.schedule_slot (schedule, slot, first, outcome, job, job_state) values
      ('nightly', '2026-01-02 02:00Z', '2026-01-01 02:00Z', 'missed', null, null),
      ('nightly', '2026-01-03 02:00Z', null, 'enqueued', 'x', 'ETL_GUARD')`);
    const { out } = await etl('history', 'nightly');
    expect(out.replaceAll(/ +/g, ' ').replaceAll(/\d{4}-\S+ \S+/g, 'WHEN')).toBe(
      'slot outcome run ended\nWHEN enqueued ETL_GUARD\nWHEN missed, and those since WHEN\n',
    );
    expect(await json('history', 'nightly', '--limit', '1')).toMatchObject([
      { state: 'ETL_GUARD', run: null },
    ]);
    expect(await etl('history', 'nigthly')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('did you mean nightly?'),
    });
  });

  it('is removed', async () => {
    expect((await etl('remove', 'nightly')).out).toBe('Removed nightly\n');
    expect(await json('list')).toEqual([]);
  });
});

describe('refused', () => {
  const refusals: readonly { name: string; args: readonly string[]; says: string }[] = [
    { name: 'no times', args: ['set', 'nightly', noaa], says: '--cron is missing' },
    {
      name: 'times that are none',
      args: ['set', 'nightly', noaa, '--cron', 'daily'],
      says: "ETL_SCHEDULE_INVALID: schedule nightly is not valid: cron 'daily': it must have five fields",
    },
    { name: 'a zone that is none', args: set('--tz', 'Berlin'), says: 'time zone: Invalid time zone' },
    {
      name: 'a priority that is none',
      args: set('--priority', '0'),
      says: "--priority: '0' is not a whole number",
    },
    { name: 'an unknown parameter', args: set('--param', 'year=2011'), says: 'ETL_PARAM' },
    {
      name: 'a name that is none',
      args: ['pause', 'weekly'],
      says: 'ETL_SCHEDULE_UNKNOWN: there is no schedule weekly',
    },
  ];
  it.each(refusals)('$name', async ({ args, says }) => {
    expect(await etl(...args)).toMatchObject({ exit: 2, err: expect.stringContaining(says) });
  });
});
