// Makes the database cluster of an `.etl` directory, and remembers where it is, its port and its password.
//
//   .etl/server.json    port, password (mode 0600), and where the data directory is
//   .etl/database/      the data directory
//   .etl/postgres.log   the server's log
//
// When we are root, the server runs as another user, who may not be able to enter `.etl/` (a checkout below /root, say). We must not
// open somebody's directories to others, so the data directory is then made in /var/lib/sluice/<hash of the path of .etl>/database,
// server.json points to it, and `origin` beside it names the `.etl/` it belongs to. Removing `.etl/` does not remove it: we never
// delete a database that we cannot prove to be unused.

import { createHash, randomBytes } from 'node:crypto';
import {
  appendFile,
  constants,
  lchown,
  mkdtemp,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { closeSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { codeOf } from '../../core/errors/errors.ts';
import { openOwn } from '../../core/ownership.ts';
import { firstClosed } from './account.ts';
import { replaceFile } from './atomic-file.ts';
import { makeOpenDirectory } from './open-directory.ts';
import { choosePort } from './port.ts';
import { type Programs, runProgram } from './programs.ts';
import { settingsName } from './settings.ts';

export interface Cluster {
  /** Data directory: absolute, without links. */
  readonly directory: string;
  readonly port: number;
  readonly password: string;
}

/** User and database; psql takes the database's name from the user's. */
export const userName = 'etl';

/** Root's data directories and copies of the programs, outside of any checkout. */
export const rootsDirectory = '/var/lib/sluice';

/** The data directory in `.etl/`, or in root's. */
export const dataName = 'database';
const pointerName = 'server.json';

const orUndefined = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
};

const readPointer = async (file: string): Promise<Cluster> => {
  const fd = openOwn(file, constants.O_RDONLY);
  try {
    return JSON.parse(readFileSync(fd, 'utf8')) as Cluster;
  } finally {
    closeSync(fd);
  }
};

/** The cluster of an `.etl` directory (a real path), or undefined when none was ever finished there. */
export const readCluster = async (etlDirectory: string): Promise<Cluster | undefined> => {
  const cluster = await orUndefined(readPointer(join(etlDirectory, pointerName)));
  if (cluster === undefined) return undefined;
  const named = resolve(etlDirectory, cluster.directory);
  // The pointer is written before the data directory gets its name.
  const isFinished = (await orUndefined(stat(join(named, 'PG_VERSION')))) !== undefined;
  return isFinished ? { ...cluster, directory: await realpath(named) } : undefined;
};

/** Remembers a cluster. One inside of `.etl/` is named relative to it, so that the checkout can be moved. */
export const saveCluster = async (etlDirectory: string, cluster: Cluster): Promise<void> => {
  const isInside = dirname(cluster.directory) === etlDirectory;
  const saved = { ...cluster, directory: isInside ? basename(cluster.directory) : cluster.directory };
  await replaceFile(join(etlDirectory, pointerName), `${JSON.stringify(saved, null, 2)}\n`, 0o600);
};

/** A directory below /var/lib for this `.etl/`, without data of a forgotten or moved one. */
const chooseBelowRoots = async (etlDirectory: string): Promise<string> => {
  const hash = createHash('sha256').update(etlDirectory).digest('hex').slice(0, 16);
  for (let count = 1; ; count++) {
    const parent = join(rootsDirectory, count === 1 ? hash : `${hash}-${count}`);
    if ((await orUndefined(stat(join(parent, dataName)))) === undefined) return parent;
  }
};

/** Where a new data directory goes: into `.etl/` if the server's user can reach it there. */
const chooseParent = async (etlDirectory: string, { account }: Programs): Promise<string> => {
  if (account === undefined || (await firstClosed(etlDirectory, account)) === undefined) return etlDirectory;
  const parent = await chooseBelowRoots(etlDirectory);
  await makeOpenDirectory(parent);
  await writeFile(join(parent, 'origin'), `${etlDirectory}\n`);
  const closed = await firstClosed(parent, account);
  if (closed !== undefined) {
    throw new Error(`user ${account.name} can enter neither ${etlDirectory} nor ${closed}`);
  }
  return parent;
};

/** Runs initdb and adds the include line and the database, in a directory that counts only after it is renamed. */
const initialise = async (programs: Programs, work: string, password: string): Promise<string> => {
  const data = join(work, 'data');
  const passwordFile = join(work, 'password');
  await writeFile(passwordFile, password, { mode: 0o600, flag: 'wx' });
  if (programs.account) {
    await lchown(passwordFile, programs.account.uid, programs.account.gid);
    await lchown(work, programs.account.uid, programs.account.gid);
  }
  const init = [
    `--pgdata=${data}`,
    `--username=${userName}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--locale=C',
    '--no-sync',
    '--no-instructions',
  ];
  await runProgram(programs, 'initdb', init, work);
  const single = ['--single', '-F', '-c', 'exit_on_error=on', '-D', data, 'postgres'];
  await runProgram(programs, 'postgres', single, work, `create database ${userName};\n`);
  // Not include_if_exists: with an unreadable file the server would silently start with its defaults. Links are not followed: we may
  // be root, and the directory belongs to the server's user.
  const flag = constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
  await appendFile(join(data, 'postgresql.conf'), `\ninclude '${settingsName}'\n`, { flag });
  return data;
};

const initPrefix = 'initdb-';

/**
 * Makes the cluster: user and database `etl`, a password of its own, a free port.
 *
 * If it is interrupted, the next start trusts nothing it left, and cleans up. The caller holds the lock of `etlDirectory`, a real
 * path.
 */
export const createCluster = async (etlDirectory: string, programs: Programs): Promise<Cluster> => {
  const parent = await chooseParent(etlDirectory, programs);
  const directory = join(parent, dataName);
  if ((await orUndefined(stat(directory))) !== undefined) {
    throw new Error(
      `${pointerName}, which holds the password of ${directory}, is missing; restore it, or remove both`,
    );
  }
  for (const name of await readdir(parent)) {
    // Retried: the initdb of a killed process may still be writing there.
    if (name.startsWith(initPrefix)) await rm(join(parent, name), { recursive: true, maxRetries: 10 });
  }
  const work = await mkdtemp(join(parent, initPrefix));
  try {
    const cluster = { directory, port: await choosePort(), password: randomBytes(18).toString('base64url') };
    const data = await initialise(programs, work, cluster.password);
    await saveCluster(etlDirectory, cluster);
    await rename(data, directory);
    return cluster;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
};
