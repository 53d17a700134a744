// Reads postmaster.pid, where a PostgreSQL server writes its pid and status.

import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { codeOf } from '../../core/errors/errors.ts';
import { answers } from './port.ts';
import { commandOf, identityOf, processesIn, workingDirectoryOf } from './process.ts';

export interface Postmaster {
  readonly pid: number;
  readonly directory: string;
  /** 0 until the server has written it. */
  readonly port: number;
  /** starting, ready, stopping or standby; empty until the server has written it. */
  readonly status: string;
}

/**
 * The lines of postmaster.pid that we use: pid, data directory, (start time), port, …, status in the eighth.
 * Source: src/include/utils/pidfile.h of PostgreSQL.
 *
 * @returns undefined without a whole pid; a single-user server, whose pid is negative, does not count
 */
export const parsePostmaster = (text: string): Postmaster | undefined => {
  const lines = text.split('\n');
  const pid = /^\d+$/.test(lines[0] ?? '') && lines.length > 1 ? Number(lines[0]) : 0;
  if (pid === 0) return undefined;
  return {
    pid,
    directory: lines[1] ?? '',
    port: Number(lines[3] ?? 0) || 0,
    status: (lines[7] ?? '').trim(),
  };
};

const readPostmaster = async (directory: string): Promise<Postmaster | undefined> => {
  try {
    return parsePostmaster(await readFile(join(directory, 'postmaster.pid'), 'utf8'));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/**
 * Whether the process named in postmaster.pid is the server of this directory.
 *
 * The pid may have been given to another process, and the directory may be a copy of another or have been moved. A server's working
 * directory is its data directory, which decides; if that is hidden, its command line names the directory. If both are hidden (not
 * Linux), an answering port and the directory in the file decide.
 */
const ownerOf = async (found: Postmaster, directory: string): Promise<'ours' | 'stranger' | 'unknown'> => {
  const works = workingDirectoryOf(found.pid);
  if (works !== undefined) return works === directory ? 'ours' : 'stranger';
  const command = commandOf(found.pid);
  if (command?.includes(directory)) return 'ours';
  if (command) return basename(command[0] ?? '') === 'postgres' ? 'unknown' : 'stranger';
  return found.directory === directory && (await answers(found.port)) ? 'ours' : 'unknown';
};

/** The living server of a data directory, whatever its status. `directory` is a real path, without links. */
export const findPostmaster = async (directory: string): Promise<Postmaster | undefined> => {
  const found = await readPostmaster(directory);
  if (found === undefined || identityOf(found.pid) === undefined) return undefined;
  return (await ownerOf(found, directory)) === 'ours' ? found : undefined;
};

/**
 * Removes a postmaster.pid whose pid now belongs to a process that is certainly not our server, because PostgreSQL would refuse to
 * start. The file of a dead process stays: PostgreSQL needs it to find orphans of a killed server.
 *
 * @returns whether a server was not shut down here
 */
export const clearStrangersPidFile = async (directory: string): Promise<boolean> => {
  const found = await readPostmaster(directory);
  if (found === undefined) return false;
  const isAlive = identityOf(found.pid) !== undefined;
  if (isAlive && (await ownerOf(found, directory)) === 'stranger')
    await rm(join(directory, 'postmaster.pid'));
  return true;
};

/**
 * Ends the children of a killed server. Waiting ones notice its death, but a computing one goes on for minutes, and no server starts
 * until it is gone. The caller knows that the server is dead.
 */
export const endOrphans = (directory: string): void => {
  for (const pid of processesIn(directory)) {
    // Only children of a server have such a title; a shell may also work in the directory.
    if (!commandOf(pid)?.[0]?.startsWith('postgres: ')) continue;
    try {
      process.kill(pid, 'SIGTERM');
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
  }
};
