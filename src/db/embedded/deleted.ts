// Stops the server of a data directory that was deleted while it ran. Only its working directory
// still identifies it. Without /proc, it notices by itself within a minute
// (RecheckDataDirLockFile).

import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { dataName } from './cluster.ts';
import { awaitEnd, commandOf, identityOf, processesIn, signal } from './process.ts';

/** /proc appends this text to a deleted working directory. */
const deletedMark = ' (deleted)';

/**
 * False for the server's children: their titles, such as `postgres: checkpointer`, replace the
 * program.
 */
const isServer = (pid: number): boolean => basename(commandOf(pid)?.[0] ?? '') === 'postgres';

/** Returns true if there was a server. Errors: ETL_EMBEDDED_STOP. */
export const endDeleted = async (etlDirectory: string): Promise<boolean> => {
  const project = await realpath(dirname(etlDirectory)).catch(() => undefined);
  if (project === undefined) return false;
  const directory = join(project, basename(etlDirectory), dataName) + deletedMark;
  const servers = processesIn(directory)
    .filter(isServer)
    .flatMap((pid) => identityOf(pid) ?? []);
  const pidOf = (identity: string): number => Number.parseInt(identity, 10);
  // An immediate shutdown: there is nothing left to write to.
  for (const identity of servers) signal(pidOf(identity), 'SIGQUIT');
  for (const identity of servers)
    await awaitEnd(pidOf(identity), identity, { directory, log: 'none: it was deleted' });
  return servers.length > 0;
};
