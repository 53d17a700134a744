// The server of the fault tests: ended in every way in which servers end, and started again on the same port.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll } from 'vitest';
import type { EmbeddedServer } from '../../src/db/embedded/server.ts';
import { codeOf } from '../../src/core/errors/errors.ts';
import { ask, serverSettings } from './fault-database.ts';
import { startOwnServer, untilGone, type OwnServer } from './own-server.ts';

/** Each test file has one of its own: two run at once, and each kills its own. */
let opening: Promise<OwnServer> | undefined;

const openServer = (): Promise<OwnServer> => (opening ??= startOwnServer(serverSettings));

afterAll(async () => (await opening)?.remove());

/** Starts the server, or finds it running. */
export const startServer = async (): Promise<EmbeddedServer> => (await openServer()).start();

const endWith = async (signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> => {
  const server = await openServer();
  await server.start();
  await server.end(signal);
  await server.start();
};

/** The ways in which a server goes away and comes back. Each resolves when it takes connections again. */
export const restarts = {
  /** SIGKILL to the first process; its children notice and end. */
  crash: () => endWith('SIGKILL'),
  /** SIGQUIT: "immediate shutdown", which is a crash on purpose. */
  'immediate stop': () => endWith('SIGQUIT'),
  /** SIGINT: sessions are ended, everything is written. */
  'fast restart': async () => {
    const server = await openServer();
    await server.stop();
    await server.start();
  },
} as const;

/** Kills one process of the server: the server takes that for a crash, ends the others and recovers by itself. */
export const killServerProcess = async (pid: number): Promise<void> => {
  const gone = untilGone(pid);
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    // A session may have ended by itself since it was chosen.
    if (codeOf(error) !== 'ESRCH') throw error;
  }
  await gone;
};

/** Kills the server process behind a connection, which must be there, by the port that it comes from. */
export const killBackend = async (serverUrl: string, clientPort: number): Promise<void> => {
  const rows = await ask<{ pid: number }>(
    serverUrl,
    'select pid from pg_stat_activity where client_port = $1',
    [clientPort],
  );
  await killServerProcess(rows[0]!.pid);
};

/** Ends one session the way an administrator does. */
export const terminateBackend = async (serverUrl: string, clientPort: number): Promise<void> => {
  await ask(
    serverUrl,
    'select pg_terminate_backend(pid, 10000) from pg_stat_activity where client_port = $1',
    [clientPort],
  );
};

/** Ends the session that holds the lock of a run: its coordinator's. */
export const terminateCoordinator = async (databaseUrl: string): Promise<void> => {
  await ask(
    databaseUrl,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity where datname = current_database()
      and pid in (select pid from pg_locks where locktype = 'advisory' and granted)`,
  );
};

/** Waits until the server takes connections, as after a recovery of its own. */
export const untilReady = async (serverUrl: string): Promise<void> => {
  for (;;) {
    const answered = await ask(serverUrl, 'select').catch(() => undefined);
    if (answered !== undefined) return;
    await sleep(20);
  }
};
