// Starts, finds and stops the embedded PostgreSQL of an `.etl` directory: a real server that outlives the
// process.
//
//   startEmbedded:  ready already? -> return it
//                   lock -> ready by now? -> programs -> cluster (made once) -> start -> ready -> unlock

import { existsSync } from 'node:fs';
import { lstat, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { codeOf, EtlError, messageOf } from '../../core/errors/errors.ts';
import { embeddedPollIntervalMs, embeddedStopTimeoutMs } from '../../core/limits.ts';
import { isOfThisUser, isOwn } from '../../core/ownership.ts';
import { type Account, chooseAccount } from './account.ts';
import { prepareBinaries } from './binaries.ts';
import {
  type Cluster,
  createCluster,
  readCluster,
  rootsDirectory,
  saveCluster,
  userName,
} from './cluster.ts';
import { endDeleted } from './deleted.ts';
import { launch, settled } from './launch.ts';
import { withLock } from './lock.ts';
import { makeOpenDirectory } from './open-directory.ts';
import { findPackage } from './package.ts';
import { host } from './port.ts';
import { findPostmaster, type Postmaster } from './postmaster.ts';
import { identityOf } from './process.ts';
import { type Programs, runProgram } from './programs.ts';

export interface EmbeddedServer {
  /** The `.etl` directory. */
  readonly etlDirectory: string;
  /** postgres://etl:password@127.0.0.1:port/etl; the same at every start unless another program takes the port. */
  readonly url: string;
  /** The data directory. */
  readonly directory: string;
  readonly logFile: string;
  /** Of the server's first process. */
  readonly pid: number;
  /** false: it was running already. */
  readonly startedNow: boolean;
}

export interface EmbeddedOptions {
  /** Settings as in postgresql.conf, for a server that is started now, until it stops. */
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
  url: `postgres://${userName}:${cluster.password}@${host}:${port}/${userName}`,
  directory: cluster.directory,
  logFile: logFileOf(etlDirectory),
  pid,
  startedNow,
});

/**
 * Refuses a directory, or a link to one, that another user can have filled: its server.json would choose the server, and links in
 * it the files that we write to.
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

/** The directory without links, or undefined when it does not exist. Errors: ETL_EMBEDDED_START (it is not this user's). */
const locate = async (etlDirectory: string): Promise<string | undefined> => {
  try {
    const directory = await realpath(etlDirectory);
    await refuseForeign(etlDirectory, directory);
    return directory;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
};

const findReady = async (etlDirectory: string): Promise<EmbeddedServer | undefined> => {
  const cluster = await readCluster(etlDirectory);
  const found = cluster && (await findPostmaster(cluster.directory));
  return found?.status === 'ready' ? describe(etlDirectory, cluster!, found, false) : undefined;
};

/** A server that failed early has no log. */
const startHint = (etlDirectory: string): string => {
  const log = logFileOf(etlDirectory);
  return existsSync(log)
    ? `Its log is ${log}. \`etl db stop\` and a new run restart it.`
    : 'The directory must be writable, or not exist yet. DATABASE_URL names another server.';
};

/** Turns any problem into one error that names the directory and the log. */
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

/** PostgreSQL refuses to run as root, so root needs another account. */
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

/** Makes `.etl/`. The database and its password must not end up in the user's repository. */
const makeEtlDirectory = async (etlDirectory: string): Promise<string> => {
  await makeOpenDirectory(resolve(etlDirectory));
  const directory = await realpath(etlDirectory);
  await refuseForeign(etlDirectory, directory);
  await writeFile(join(directory, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  return directory;
};

/**
 * The running server of an `.etl` directory, if it is ready for connections.
 *
 * @throws EtlError ETL_EMBEDDED_START when the directory cannot be read
 */
export const findEmbedded = (etlDirectory: string): Promise<EmbeddedServer | undefined> =>
  orStartError(etlDirectory, async () => {
    const directory = await locate(etlDirectory);
    return directory === undefined ? undefined : findReady(directory);
  });

/**
 * Starts the PostgreSQL server of an `.etl` directory, or finds it running; creates whichever is missing.
 *
 * The server listens on 127.0.0.1 only, is never run as root, and stays up when this process ends. Any
 * number of processes may call this at once: they all get the same server.
 *
 * @throws EtlError ETL_EMBEDDED_MISSING when the programs are not installed
 * @throws EtlError ETL_EMBEDDED_START with the last lines of the server's log
 */
export const startEmbedded = (etlDirectory: string, options: EmbeddedOptions = {}): Promise<EmbeddedServer> =>
  orStartError(etlDirectory, async () => {
    const running = await findEmbedded(etlDirectory);
    if (running) return running;
    const directory = await makeEtlDirectory(etlDirectory);
    return withLock(lockFileOf(directory), () => startLocked(directory, options));
  });

/**
 * Restarts a server that was killed, which nothing else would do. A server that was stopped on purpose stays stopped. Proved by
 * test/fault/embedded-kill.test.ts.
 *
 * @throws EtlError as startEmbedded
 */
export const reviveEmbedded = async ({ etlDirectory, directory }: EmbeddedServer): Promise<void> => {
  // A server that shuts down removes the file before it ends.
  const isGone = (await findPostmaster(directory)) === undefined;
  if (isGone && existsSync(join(directory, 'postmaster.pid'))) await startEmbedded(etlDirectory);
};

/** Fast shutdown: sessions are ended, everything is written. */
const shutDown = async (etlDirectory: string, { pid, directory }: Postmaster): Promise<void> => {
  const identity = identityOf(pid);
  // On Windows kill() ends a process at once, whatever the signal.
  if (process.platform === 'win32') {
    const programs = await prepare(etlDirectory, undefined);
    await runProgram(programs, 'pg_ctl', ['stop', '-m', 'fast', '-D', directory], directory);
  } else process.kill(pid, 'SIGINT');
  const deadline = Date.now() + embeddedStopTimeoutMs;
  while (identity !== undefined && identityOf(pid) === identity) {
    if (Date.now() > deadline) {
      const details = { directory, pid, seconds: embeddedStopTimeoutMs / 1000, log: logFileOf(etlDirectory) };
      throw new EtlError('ETL_EMBEDDED_STOP', details);
    }
    await sleep(embeddedPollIntervalMs);
  }
};

/**
 * Ends a server whose data directory was deleted while it ran, as `rm -r .etl` does.
 *
 * @returns false when none was running
 * @throws EtlError ETL_EMBEDDED_STOP when it does not end in time
 */
export const stopDeleted = (etlDirectory: string): Promise<boolean> =>
  orStartError(etlDirectory, () => endDeleted(etlDirectory));

/**
 * Stops the server of an `.etl` directory and waits until it is gone. The data stays.
 *
 * @returns false when none was running
 * @throws EtlError ETL_EMBEDDED_STOP when it does not end in time
 */
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
