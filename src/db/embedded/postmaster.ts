// Reads postmaster.pid, in which a PostgreSQL server writes its pid and status.

import { readFile, rm } from 'node:fs/promises';
import { basename, join, normalize } from 'node:path';

import { ifPresent } from './files.ts';
import { answers } from './port.ts';
import { commandOf, identityOf, processesIn, signal, workingDirectoryOf } from './process.ts';

export interface Postmaster {
  readonly pid: number;
  readonly directory: string;
  readonly port: number;
  /** starting, ready, stopping or standby; empty until the server has written it. */
  readonly status: string;
}

/**
 * Parses postmaster.pid, whose format is in PostgreSQL's src/include/utils/pidfile.h. Ignores a
 * single-user server, which writes a negative pid. On Windows, PostgreSQL writes slashes in paths.
 */
export const parsePostmaster = (text: string, asPath = normalize): Postmaster | undefined => {
  const lines = text.split('\n');
  const pid = /^\d+$/.test(lines[0] ?? '') && lines.length > 1 ? Number(lines[0]) : 0;
  if (pid === 0) return undefined;
  return {
    pid,
    directory: asPath(lines[1] ?? ''),
    port: Number(lines[3] ?? 0) || 0,
    status: (lines[7] ?? '').trim(),
  };
};

const readPostmaster = async (directory: string): Promise<Postmaster | undefined> => {
  const text = await ifPresent(readFile(join(directory, 'postmaster.pid'), 'utf8'));
  return text === undefined ? undefined : parsePostmaster(text);
};

/**
 * Tells if the pid in postmaster.pid is this directory's server: the pid may have been reused, and
 * the directory copied. A server's working directory is its data directory. If that is hidden, the
 * command line decides, then the port and the directory in the file.
 */
const ownerOf = async (found: Postmaster, directory: string): Promise<'ours' | 'stranger' | 'unknown'> => {
  const works = workingDirectoryOf(found.pid);
  if (works !== undefined) return works === directory ? 'ours' : 'stranger';
  const command = commandOf(found.pid);
  if (command?.includes(directory)) return 'ours';
  if (command) return basename(command[0] ?? '') === 'postgres' ? 'unknown' : 'stranger';
  return found.directory === directory && (await answers(found.port)) ? 'ours' : 'unknown';
};

/** Finds a live server in any status. `directory` is a path without links. */
export const findPostmaster = async (directory: string): Promise<Postmaster | undefined> => {
  const found = await readPostmaster(directory);
  if (found === undefined || identityOf(found.pid) === undefined) return undefined;
  return (await ownerOf(found, directory)) === 'ours' ? found : undefined;
};

/**
 * Removes postmaster.pid if its pid now belongs to another process: PostgreSQL would not start.
 * Keeps a dead server's file, which PostgreSQL needs to find that server's remaining children.
 * Returns true if the last server was killed.
 */
export const clearStrangersPidFile = async (directory: string): Promise<boolean> => {
  const found = await readPostmaster(directory);
  if (found === undefined) return false;
  const isAlive = identityOf(found.pid) !== undefined;
  if (isAlive && (await ownerOf(found, directory)) === 'stranger')
    await rm(join(directory, 'postmaster.pid'));
  return true;
};

/** Ends the children of a dead server: they can compute for minutes, and block a new start. */
export const endOrphans = (directory: string): void => {
  for (const pid of processesIn(directory)) {
    // Other processes, such as a shell, may work in the directory.
    if (commandOf(pid)?.[0]?.startsWith('postgres: ')) signal(pid, 'SIGTERM');
  }
};
