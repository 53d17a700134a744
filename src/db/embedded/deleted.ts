// Stops the server of a data directory that was deleted while it ran. Only its working directory still identifies it, and it would
// notice by itself only within a minute (PostgreSQL's RecheckDataDirLockFile). Where the system has no /proc, it is left to that.

import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { codeOf, EtlError } from '../../core/errors/errors.ts';
import { embeddedPollIntervalMs, embeddedStopTimeoutMs } from '../../core/limits.ts';
import { dataName } from './cluster.ts';
import { commandOf, identityOf, processesIn } from './process.ts';

/** How /proc shows a working directory that is gone. */
const deletedMark = ' (deleted)';

/** Its children have titles in place of a program: `postgres: checkpointer`. */
const isServer = (pid: number): boolean => basename(commandOf(pid)?.[0] ?? '') === 'postgres';

/** An immediate shutdown: there is nothing left that could be written. */
const end = (pid: number): void => {
  try {
    process.kill(pid, 'SIGQUIT');
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
};

/** Ends what still runs of a deleted data directory of this `.etl`, and waits until it is gone. Returns whether there was any. */
export const endDeleted = async (etlDirectory: string): Promise<boolean> => {
  const project = await realpath(dirname(etlDirectory)).catch(() => undefined);
  if (project === undefined) return false;
  const directory = join(project, basename(etlDirectory), dataName) + deletedMark;
  const servers = processesIn(directory)
    .filter(isServer)
    .flatMap((pid) => identityOf(pid) ?? []);
  for (const identity of servers) end(Number.parseInt(identity, 10));
  const deadline = Date.now() + embeddedStopTimeoutMs;
  const isAlive = (identity: string): boolean => identityOf(Number.parseInt(identity, 10)) === identity;
  while (servers.some(isAlive)) {
    if (Date.now() > deadline) {
      const [pid, log] = [Number.parseInt(servers[0]!, 10), 'none: it was deleted'];
      throw new EtlError('ETL_EMBEDDED_STOP', { directory, pid, seconds: embeddedStopTimeoutMs / 1000, log });
    }
    await sleep(embeddedPollIntervalMs);
  }
  return servers.length > 0;
};
