// When postmaster.pid is believed.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, win32 } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  clearStrangersPidFile,
  findPostmaster,
  parsePostmaster,
} from '../../../../src/db/embedded/postmaster.ts';

const pidFile = (pid: number, directory: string): string =>
  `${pid}\n${directory}\n1763690239\n26798\n\n127.0.0.1\n  1234   5\nready   \n`;

it.each([
  ['a server that is ready', pidFile(42, '/d'), { pid: 42, directory: '/d', port: 26798, status: 'ready' }],
  ['a server that has just begun to write', '42\n/d\n', { pid: 42, directory: '/d', port: 0, status: '' }],
  ['half a pid', '4', undefined],
  ['an empty file', '', undefined],
  ['a single-user server', '-42\n/d\n', undefined],
  ['anything else', 'hello\nworld\n', undefined],
])('parsePostmaster %s', (_, text, found) => expect(parsePostmaster(text)).toEqual(found));

it('parsePostmaster on Windows, where PostgreSQL writes slashes', () =>
  expect(parsePostmaster(pidFile(42, 'C:/my project/.etl/database'), win32.normalize)).toMatchObject({
    directory: 'C:\\my project\\.etl\\database',
  }));

const deadPid = async (): Promise<number> => {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid!;
};

describe('a postmaster.pid that is not true', () => {
  let directory: string;
  const file = (): string => join(directory, 'postmaster.pid');
  beforeEach(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), 'sluice-pid-')));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('of a dead process: no server is found, and the file stays for PostgreSQL to judge', async () => {
    await writeFile(file(), pidFile(await deadPid(), directory));
    expect(await findPostmaster(directory)).toBeUndefined();
    expect(await clearStrangersPidFile(directory)).toBe(true);
    await access(file());
  });

  it('with the pid of an unrelated process: no server is found, and the file goes', async () => {
    await writeFile(file(), pidFile(process.pid, directory));
    expect(await findPostmaster(directory)).toBeUndefined();
    expect(await clearStrangersPidFile(directory)).toBe(true);
    await expect(access(file())).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('that does not exist: no server is found, and none was killed', async () => {
    expect(await findPostmaster(directory)).toBeUndefined();
    expect(await clearStrangersPidFile(directory)).toBe(false);
  });
});
