// Several starts of one embedded server: at the same time, and after one that was killed before it was done.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findEmbedded, startEmbedded, stopEmbedded } from '../../src/db/embedded/server.ts';
import { ask } from '../helpers/fault-database.ts';
import { makeServerDirectory } from '../helpers/own-server.ts';

let directory = '';
let etl = '';
beforeEach(async () => {
  directory = await makeServerDirectory();
  etl = join(directory, '.etl');
});
afterEach(async () => {
  await stopEmbedded(etl);
  await rm(directory, { recursive: true, force: true });
});

/** startEmbedded in a process of its own, which prints the pid of the server. */
const startElsewhere = (): ChildProcess => {
  const script = `import { createJiti } from 'jiti';
    const { startEmbedded } = await createJiti(process.cwd() + '/x.ts').import(process.argv[1]);
    console.log((await startEmbedded(process.argv[2])).pid);`;
  const server = join(process.cwd(), 'src/db/embedded/server.ts');
  return spawn(process.execPath, ['--input-type=module', '-e', script, server, etl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
};

it('at the same time, from two processes, give the same server, which outlives both', async () => {
  const pids = await Promise.all(
    [1, 2].map(async () => {
      const child = startElsewhere();
      return Number(await text(child.stdout!));
    }),
  );
  expect(pids[0]).toBeGreaterThan(0);
  expect(pids[1]).toBe(pids[0]);
  expect((await findEmbedded(etl))?.pid).toBe(pids[0]);
});

it('at the same time, in one process, give the same server', async () => {
  const servers = await Promise.all([1, 2, 3].map(() => startEmbedded(etl)));
  expect(new Set(servers.map(({ pid }) => pid)).size).toBe(1);
  expect(servers.filter(({ startedNow }) => startedNow)).toHaveLength(1);
});

it('the first killed in the middle of initdb: the second works', async () => {
  const child = startElsewhere();
  const isInitialising = async (): Promise<boolean> =>
    (await readdir(etl).catch(() => [])).some((name) => name.startsWith('initdb-'));
  while (!(await isInitialising())) await sleep(1);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const server = await startEmbedded(etl);
  expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(await isInitialising()).toBe(false);
});

const halfDone = [
  { name: 'files of an unfinished initdb', files: { 'initdb-x1y2z3/data/PG_VERSION': '18\n' } },
  {
    name: 'a pointer to a data directory that was never put in place',
    files: { 'server.json': '{"directory":"database","port":1,"password":"x"}' },
  },
  { name: 'the lock of a dead process', files: { 'server.lock': '2147483646:1' } },
];
it.each(halfDone)('after a crash that left $name: starts', async ({ files }) => {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(etl, name)), { recursive: true });
    await writeFile(join(etl, name), content);
  }
  const server = await startEmbedded(etl);
  expect(await ask(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
});
