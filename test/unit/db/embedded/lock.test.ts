// The start lock has one holder at a time, and does not outlive its holder.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { withLock } from '../../../../src/db/embedded/lock.ts';

let directory: string;
const lockFile = (): string => join(directory, 'server.lock');
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-lock-'));
});
afterEach(() => rm(directory, { recursive: true }));

it('admits one at a time', async () => {
  let inside = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++inside);
    await turn();
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 8 }, () => withLock(lockFile(), work)));
  expect(most).toBe(1);
});

it('names its holder while held, and leaves no file', async () => {
  const held = await withLock(lockFile(), () => readFile(lockFile(), 'utf8'));
  expect(Number.parseInt(held, 10)).toBe(process.pid);
  expect(await readdir(directory)).toEqual([]);
});

it('is released when the work fails', async () => {
  await expect(withLock(lockFile(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withLock(lockFile(), async () => 'again')).toBe('again');
});

const stale = [
  { name: 'of a process that never was', holder: '2147483646:1' },
  { name: 'of an earlier process with a pid that is in use again', holder: `${process.pid}:1` },
  { name: 'that is empty', holder: '' },
];
it.each(stale)('takes over a lock $name', async ({ holder }) => {
  await writeFile(lockFile(), holder);
  expect(await withLock(lockFile(), async () => 'mine')).toBe('mine');
  expect(await readdir(directory)).toEqual([]);
});
