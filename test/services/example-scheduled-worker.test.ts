// examples/scheduled-worker as a stranger runs it, with plain node: a scheduled run is published, and SIGTERM ends the worker.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { schedule } from '../../src/index.ts';
import { compileCopy } from '../helpers/compiled-copy.ts';
import { useFiles } from '../helpers/files.ts';
import { useDatabase } from '../helpers/server.ts';

interface Line {
  readonly message: string;
  readonly [field: string]: unknown;
}

const database = useDatabase();
const { directory } = useFiles();
const lines: Line[] = [];
let worker: ChildProcess;

const said = async (message: string): Promise<Line> => {
  for (;;) {
    const line = lines.find((each) => each.message === message);
    if (line !== undefined) return line;
    if (worker.exitCode !== null) throw new Error(`the worker ended: ${JSON.stringify(lines)}`);
    await sleep(20);
  }
};

beforeAll(async () => {
  // Within a package that is named sluice, as in a checkout: the import finds what is compiled.
  compileCopy(directory);
  cpSync('examples/scheduled-worker', join(directory, 'examples/scheduled-worker'), { recursive: true });
  const { REDIS_URL: _, ...env } = process.env;
  worker = spawn(process.execPath, ['examples/scheduled-worker/main.mjs'], {
    cwd: directory,
    env: { ...env, DATABASE_URL: database.url, CRON: '*/2 * * * * *', HEALTH_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  createInterface(worker.stdout!).on('line', (line) => lines.push(JSON.parse(line)));
  await once(worker, 'spawn');
});
afterAll(() => {
  if (worker.exitCode === null) worker.kill('SIGKILL');
});

it('answers that it is ready, publishes the run of a slot, records its outcome, and ends on SIGTERM without a session', async () => {
  const { port } = await said('answers /health, /ready and /metrics');
  await expect
    .poll(async () => (await fetch(`http://127.0.0.1:${port as number}/ready`)).status, { timeout: 30_000 })
    .toBe(200);
  expect(await said('run ended')).toMatchObject({
    pipeline: 'price',
    outcome: 'published',
    job: expect.stringMatching(/^schedule-nightly-prices-/),
  });
  const { rows } = await database.query('select * from shop.price order by article, currency');
  expect(rows).toEqual([
    { article: 'A-100', currency: 'EUR', price: '19.90' },
    { article: 'A-100', currency: 'USD', price: '21.50' },
    { article: 'B-220', currency: 'EUR', price: '4.00' },
    { article: 'C-310', currency: 'EUR', price: '129.00' },
    { article: 'D-400, large', currency: 'EUR', price: '7.25' },
  ]);
  const listed = async () => {
    const [only] = await schedule.list({ databaseUrl: database.url });
    return { name: only?.name, isDone: ['published', 'unchanged'].includes(only?.jobState ?? '') };
  };
  await expect.poll(listed, { timeout: 30_000 }).toEqual({ name: 'nightly-prices', isDone: true });
  const exited = once(worker, 'exit');
  worker.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  expect(lines.at(-1)).toMatchObject({ message: 'stopped' });
  const sessions = async () =>
    (
      await database.query(
        `select application_name from pg_stat_activity
          where datname = current_database() and application_name like 'sluice%'`,
      )
    ).rows;
  await expect.poll(sessions, { timeout: 30_000 }).toEqual([]);
});
