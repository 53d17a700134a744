// What takes root: a small file system, and a network of its own. Who is not root (a CI runner) must be able to `sudo` without a
// password; the tests that need it do not step aside.

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a program as root, and returns what it prints. */
export const asRoot = async (program: string, ...args: readonly string[]): Promise<string> => {
  const [command, ...rest] = process.getuid?.() === 0 ? [program, ...args] : ['sudo', '-n', program, ...args];
  return (await execute(command, rest)).stdout;
};

export interface SmallDisk {
  readonly directory: string;
  grow(size: string): Promise<void>;
  unmount(): Promise<void>;
}

/** A file system of a given size in memory, owned by this user. */
export const mountSmallDisk = async (
  size: string,
  owner: { readonly uid: number; readonly gid: number },
): Promise<SmallDisk> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-disk-'));
  await chmod(directory, 0o755);
  const options = `size=${size},uid=${owner.uid},gid=${owner.gid},mode=0700`;
  await asRoot('mount', '-t', 'tmpfs', '-o', options, 'tmpfs', directory);
  return {
    directory,
    grow: async (larger) => void (await asRoot('mount', '-o', `remount,size=${larger}`, directory)),
    unmount: async () => {
      await asRoot('umount', directory);
      await rmdir(directory);
    },
  };
};
