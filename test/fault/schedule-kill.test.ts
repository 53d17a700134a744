// A worker is killed between deciding on a slot, putting its run on the queue, and saying what became of it: one run comes of it.

import { spawn, type ChildProcess } from 'node:child_process';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { ask } from '../helpers/fault-database.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { outcomeOf } from '../helpers/fault-outcome.ts';
import type { Point } from '../helpers/fault-proxy.ts';
import { openScene } from '../helpers/fault-scene.ts';
import { ended } from '../helpers/fleet.ts';
import { askUntil } from '../helpers/own-server.ts';

const children: ChildProcess[] = [];

const etl = (url: string, ...args: readonly string[]): ChildProcess => {
  const child = spawn(process.execPath, [inject('faultProgram'), ...args], {
    cwd: inject('smallData').directory,
    env: { ...process.env, DATABASE_URL: url },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  children.push(child);
  return child;
};

const startWorker = (url: string): ChildProcess =>
  etl(url, 'worker', '--pipelines', 'pipelines', '--workers', '1');

/** Points are reached in this order. */
const point = (name: string, when: Point['when'], sql: RegExp, previous = /^/): Point => ({
  name: `${when} ${name}`,
  when,
  nth: 1,
  matches: (effect: Effect) => sql.test(effect.sql) && previous.test(effect.previous),
});
const isDecided = /^with decided as \(\s*insert into etl\.schedule_slot/;
const isEnqueued = /^update etl\.schedule set job_state = 'enqueued'/;
const isTold = /^with slot as \(\s*update etl\.schedule_slot set job_state/;
const points: readonly Point[] = [
  point('the slot is written down', 'before', /^update etl\.schedule set last_slot/),
  point('the run is decided on', 'before', isDecided),
  point('the decision is committed', 'before', /^commit$/, isDecided),
  point('the decision is committed', 'after', /^commit$/, isDecided),
  point('the job is on the queue', 'before', /\badd_job\( ?\$1,/),
  point('the job is on the queue', 'after', /\badd_job\( ?\$1,/),
  point('the schedule is said to be enqueued', 'before', isEnqueued),
  point('that is committed', 'before', /^commit$/, isEnqueued),
  point('that is committed', 'after', /^commit$/, isEnqueued),
  point('the schedule records the end', 'before', isTold),
  point('the schedule records the end', 'after', isTold),
];

/** A schedule that is due once, now; gives the slot. */
const makeDue = async (url: string): Promise<Date> => {
  expect(
    await ended(etl(url, 'schedule', 'set', 'nightly', 'pipelines/noaa.ts', '--cron', '0 0 1 1 *')),
  ).toBe(0);
  const [row] = await ask<{ slot: Date }>(
    url,
    `update etl.schedule set next_slot = date_trunc('second', clock_timestamp()) returning next_slot as slot`,
  );
  return row!.slot;
};

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.map(ended));
});

// At once, because most of it is waiting until the job of the dead worker is given to another one.
describe.concurrent('a worker is killed', () => {
  it.for(points)('$name: another worker ensures that the slot has one run', async (struck, context) => {
    const { url, proxy, proxyUrl, data, close } = await openScene(inject('smallData'));
    context.onTestFinished(close);
    const slot = await makeDue(url);
    const reached = new Promise<void>((resolve) => {
      proxy.arm(struck, () => {
        worker.kill('SIGKILL');
        resolve();
        return 'drop';
      });
    });
    const worker = startWorker(proxyUrl);
    await reached;
    await ended(worker);
    expect(worker.signalCode).toBe('SIGKILL');
    const other = startWorker(url);
    const until = (sql: string) => askUntil<{ yes: boolean }>(url, sql, ({ yes }) => yes);
    await until(`select job_state = 'published' as yes from etl.schedule`);
    await until(`select bool_and(state = 'completed') as yes from etl_queue.job`);
    const [row] = await ask<{ job: string }>(
      url,
      `select job, last_slot, last_outcome, next_slot > clock_timestamp() as later from etl.schedule`,
    );
    expect(row).toMatchObject({ last_slot: slot, last_outcome: 'enqueued', later: true });
    const { job } = row!;
    // The slot is remembered once, with what became of it.
    expect(await ask(url, 'select slot, outcome, job, job_state from etl.schedule_slot')).toEqual([
      { slot, outcome: 'enqueued', job, job_state: 'published' },
    ]);
    expect(await ask(url, 'select job, state from etl.run')).toEqual([{ job, state: 'published' }]);
    expect(await ask(url, 'select queue, id from etl_queue.job')).toEqual([{ queue: 'etl-run', id: job }]);
    const { tables, rejects } = data.outcome;
    expect(await outcomeOf(url)).toMatchObject({ tables, rejects });
    other.kill('SIGTERM');
    expect(await ended(other)).toBe(0);
  });
});
