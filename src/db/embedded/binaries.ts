// Prepares the PostgreSQL programs of an npm package for the server's user, in place or in a copy.

import { randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import { codeOf } from '../../core/errors/errors.ts';
import { type Account, firstClosed, mayEnter, mayRead, permissionsOf } from './account.ts';
import { ifPresent, makeOpenDirectory } from './files.ts';
import { programIn } from './programs.ts';

interface Link {
  readonly source: string;
  readonly target: string;
}

const exists = async (path: string): Promise<boolean> => (await ifPresent(lstat(path))) !== undefined;

/**
 * Lists the symbolic links that the package needs: npm cannot pack links, and the install script
 * that creates them may be turned off.
 */
const readLinks = async (packageDirectory: string): Promise<readonly Link[]> => {
  const file = join(packageDirectory, 'native', 'pg-symlinks.json');
  return (await exists(file)) ? (JSON.parse(await readFile(file, 'utf8')) as Link[]) : [];
};

/** Skips existing links, because a complete package may be read-only. */
const makeLinks = async (packageDirectory: string): Promise<void> => {
  for (const { source, target } of await readLinks(packageDirectory)) {
    const path = join(packageDirectory, target);
    if (await exists(path)) continue;
    await symlink(relative(dirname(target), source), path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error; // another process was faster
    });
  }
};

const makeExecutable = async (packageDirectory: string): Promise<void> => {
  const directory = join(packageDirectory, 'native', 'bin');
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const { mode } = await lstat(path);
    if ((mode & 0o111) === 0) await chmod(path, 0o755);
  }
};

const isOpenTo = async (directory: string, account: Account): Promise<boolean> => {
  if ((await firstClosed(directory, account)) !== undefined) return false;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    // On a directory, the execute bit is the right to enter.
    const wanted =
      entry.isDirectory() || dirname(path) === join(directory, 'bin') ? mayRead | mayEnter : mayRead;
    if ((permissionsOf(await lstat(path), account) & wanted) !== wanted) return false;
  }
  return true;
};

const isReadyInPlace = async (packageDirectory: string, account: Account | undefined): Promise<boolean> => {
  try {
    await makeLinks(packageDirectory);
    await makeExecutable(packageDirectory);
    await access(programIn(join(packageDirectory, 'native'), 'postgres'), constants.X_OK);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return false;
    throw error;
  }
  return account === undefined || isOpenTo(join(packageDirectory, 'native'), account);
};

/** Lets all users read the copy, whatever our umask and the original modes. */
const openToAll = async (directory: string): Promise<void> => {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const { mode } = await lstat(path);
    await chmod(path, entry.isDirectory() || mode & 0o111 ? 0o755 : 0o644);
  }
};

/** Makes a copy under a temporary name and renames it, so the final name is always complete. */
const copyPackage = async (packageDirectory: string, copy: string): Promise<void> => {
  await makeOpenDirectory(dirname(copy));
  const partial = `${copy}.${randomBytes(6).toString('hex')}.partial`;
  await mkdir(partial);
  try {
    await cp(join(packageDirectory, 'native'), join(partial, 'native'), {
      recursive: true,
      verbatimSymlinks: true,
    });
    await makeExecutable(partial);
    await openToAll(partial);
    await makeLinks(partial);
    await rename(partial, copy);
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    // Another process has made the same copy.
    if (!(await exists(copy))) throw error;
  }
};

/**
 * Returns the package's directory with `bin`, `lib` and `share`, or that of a copy in
 * `cacheDirectory` if the account cannot run the programs in place.
 */
export const prepareBinaries = async (
  packageDirectory: string,
  cacheDirectory: string,
  account: Account | undefined,
): Promise<string> => {
  if (await isReadyInPlace(packageDirectory, account)) return join(packageDirectory, 'native');
  const { name, version } = JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
  };
  const copy = join(cacheDirectory, `${name.slice(name.indexOf('/') + 1)}-${version}`);
  if (!(await exists(copy))) await copyPackage(packageDirectory, copy);
  return join(copy, 'native');
};
