// Reads postmaster.pid, the file in which a PostgreSQL server says who it is and whether it is ready.

import { readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';

import { codeOf } from '../errors.ts';
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
 * @returns undefined when there is no whole pid; a single-user server writes its pid negative, and counts
 * as none
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
 * The pid may have been given to another process, and the directory may be a copy of another or have been
 * moved. A server works in its data directory, which settles it; where that may not be asked, its command
 * line names the directory. Where neither can be asked (not Linux), an answering port and the directory in
 * the file must do.
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
 * Removes a postmaster.pid whose pid now belongs to a process that is certainly not our server; PostgreSQL
 * would take it for one and refuse. That of a dead process stays: PostgreSQL finds the orphans of a killed
 * server by it.
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
 * Ends the children of a killed server. Those that wait notice its death by themselves, but one that
 * computes goes on for minutes, and no server starts on the directory until it is gone. The caller knows
 * that the server is dead.
 */
export const endOrphans = (directory: string): void => {
  for (const pid of processesIn(directory)) {
    // Only a child of a server calls itself so; somebody's shell may well stand in the directory.
    if (!commandOf(pid)?.[0]?.startsWith('postgres: ')) continue;
    try {
      process.kill(pid, 'SIGTERM');
    } catch (error) {
      if (codeOf(error) !== 'ESRCH') throw error;
    }
  }
};
