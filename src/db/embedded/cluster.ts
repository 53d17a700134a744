// Creates the database cluster of an `.etl` directory. server.json records port, password and the
// data directory's path.
//
// If we are root, the server's user may not be able to enter `.etl/`. The data directory is then
// /var/lib/sluice/<hash of the path of .etl>/database, and a file `origin` beside it has the path
// of `.etl/`. Deleting `.etl/` keeps such a database, which may be in use.

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

import { openOwn } from '../../core/ownership.ts';
import { firstClosed } from './account.ts';
import { ifPresent, makeOpenDirectory, replaceFile } from './files.ts';
import { choosePort } from './port.ts';
import { type Programs, runProgram } from './programs.ts';
import { settingsName } from './settings.ts';

export interface Cluster {
  readonly directory: string;
  readonly port: number;
  readonly password: string;
}

/** User and database have the same name, because that is psql's default. */
export const userName = 'etl';

/** On Windows, an administrator cannot run single-user mode, which creates our own database. */
export const databaseName = process.platform === 'win32' ? 'postgres' : userName;

export const rootsDirectory = '/var/lib/sluice';

export const dataName = 'database';
const pointerName = 'server.json';

const readPointer = async (file: string): Promise<Cluster> => {
  const fd = openOwn(file, constants.O_RDONLY);
  try {
    return JSON.parse(readFileSync(fd, 'utf8')) as Cluster;
  } finally {
    closeSync(fd);
  }
};

/** Finds the cluster; undefined if none was completed. `etlDirectory` is a path without links. */
export const readCluster = async (etlDirectory: string): Promise<Cluster | undefined> => {
  const cluster = await ifPresent(readPointer(join(etlDirectory, pointerName)));
  if (cluster === undefined) return undefined;
  const named = resolve(etlDirectory, cluster.directory);
  // server.json is written before the data directory gets its final name.
  const isFinished = (await ifPresent(stat(join(named, 'PG_VERSION')))) !== undefined;
  return isFinished ? { ...cluster, directory: await realpath(named) } : undefined;
};

/** Records a data directory inside `.etl/` as a relative path, so `.etl/` can be moved. */
export const saveCluster = async (etlDirectory: string, cluster: Cluster): Promise<void> => {
  const isInside = dirname(cluster.directory) === etlDirectory;
  const saved = { ...cluster, directory: isInside ? basename(cluster.directory) : cluster.directory };
  await replaceFile(join(etlDirectory, pointerName), `${JSON.stringify(saved, null, 2)}\n`, 0o600);
};

/** Chooses an unused directory: a deleted or moved `.etl/` may have left a database in use. */
const chooseBelowRoots = async (etlDirectory: string): Promise<string> => {
  const hash = createHash('sha256').update(etlDirectory).digest('hex').slice(0, 16);
  for (let count = 1; ; count++) {
    const parent = join(rootsDirectory, count === 1 ? hash : `${hash}-${count}`);
    if ((await ifPresent(stat(join(parent, dataName)))) === undefined) return parent;
  }
};

/** Chooses the data directory's parent: `.etl/` itself if the server's user can reach it. */
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
  if (databaseName !== 'postgres') {
    const single = ['--single', '-F', '-c', 'exit_on_error=on', '-D', data, 'postgres'];
    await runProgram(programs, 'postgres', single, work, `create database ${databaseName};\n`);
  }
  // Uses `include`, because include_if_exists would ignore an unreadable file. Uses O_NOFOLLOW,
  // because we may be root in another user's directory.
  const flag = constants.O_WRONLY | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0);
  await appendFile(join(data, 'postgresql.conf'), `\ninclude '${settingsName}'\n`, { flag });
  return data;
};

const initPrefix = 'initdb-';

/**
 * Creates a cluster, and deletes incomplete clusters of interrupted calls. The caller holds the
 * lock of `etlDirectory`.
 */
export const createCluster = async (etlDirectory: string, programs: Programs): Promise<Cluster> => {
  const parent = await chooseParent(etlDirectory, programs);
  const directory = join(parent, dataName);
  if ((await ifPresent(stat(directory))) !== undefined) {
    throw new Error(
      `${pointerName}, which holds the password of ${directory}, is missing; restore it, or remove both`,
    );
  }
  for (const name of await readdir(parent)) {
    // Retries, because the initdb of a killed process may still be writing.
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
