// examples/fastify-service over real HTTP: runs are put on the queue and published, and a signal ends the service.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { library, typeScriptArgs } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';
import { root } from '../unit/project/source-files.ts';

const main = fileURLToPath(new URL('../../examples/fastify-service/main.ts', import.meta.url));
const database = useDatabase();

let child: ChildProcess;
let url: string;
beforeAll(async () => {
  const started = spawn(process.execPath, typeScriptArgs(main, [], library), {
    cwd: root,
    env: { ...process.env, DATABASE_URL: database.url, REDIS_URL: '', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child = started;
  url = String((await createInterface(started.stdout)[Symbol.asyncIterator]().next()).value);
});
afterAll(() => child?.kill('SIGKILL'));

const post = async (name: string) => {
  const answer = await fetch(new URL(`/pipelines/${name}`, url), { method: 'POST' });
  return { status: answer.status, body: (await answer.json()) as object };
};
const state = async () =>
  (await (await fetch(new URL('/queue', url))).json()) as { waiting: number; active: number; failed: number };

it('a run that is asked for twice is put on the queue once, and published', async () => {
  const [first, second] = [await post('noaa'), await post('noaa')];
  expect([first.status, second.status]).toEqual([202, 200]);
  for (;;) {
    const { waiting, active } = await state();
    if (waiting + active === 0) break;
    await sleep(100);
  }
  expect(await state()).toMatchObject({ failed: 0 });
  expect((await database.query('select count(*)::int as n from noaa.observation')).rows).toEqual([
    { n: 5276 },
  ]);
});

it('a pipeline that is not in the folder is not there', async () =>
  expect(await post('..%2F..%2Fetc%2Fpasswd')).toMatchObject({
    status: 404,
    body: { error: 'no such pipeline' },
  }));

it('a signal ends it', async () => {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  expect((await exited)[0]).toBe(0);
});
