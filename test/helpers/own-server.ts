// A server of a test's own, which it may end in any way; stopped and removed after the test.

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { identityOf } from '../../src/db/embedded/process.ts';
import { stopEmbedded, type EmbeddedServer } from '../../src/db/embedded/server.ts';
import { startServerAt } from './major-server.ts';

export type Settings = Readonly<Record<string, string>>;

export interface OwnServer {
  /** As it was last started. */
  readonly server: EmbeddedServer;
  readonly logFile: string;
  /** Starts it, or finds it running. */
  start(): Promise<EmbeddedServer>;
  /** Fast stop: sessions are ended, everything is written. */
  stop(): Promise<void>;
  /** Signals the server's first process and waits until that has ended. */
  end(signal: NodeJS.Signals): Promise<void>;
  remove(): Promise<void>;
}

/** Waits until a process has ended. */
export const untilGone = async (pid: number): Promise<void> => {
  const identity = identityOf(pid);
  while (identity !== undefined && identityOf(pid) === identity) await sleep(10);
};

/** A directory for a server: as root the server runs as another user, who must be able to get there. */
export const makeServerDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-own-'));
  await chmod(directory, 0o755);
  return directory;
};

/** Starts the server of `directory`/.etl; every later start of it has the same settings. */
export const openOwnServer = async (
  directory: string,
  settings: Settings,
  major?: string,
): Promise<OwnServer> => {
  const etlDirectory = join(directory, '.etl');
  const remove = async (): Promise<void> => {
    await stopEmbedded(etlDirectory);
    await rm(directory, { recursive: true, force: true });
  };
  const startAgain = (): Promise<EmbeddedServer> => startServerAt(etlDirectory, settings, major);
  let server = await startAgain().catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    get server() {
      return server;
    },
    logFile: join(etlDirectory, 'postgres.log'),
    start: async () => (server = await startAgain()),
    stop: async () => void (await stopEmbedded(etlDirectory)),
    end: async (signal) => {
      const gone = untilGone(server.pid);
      process.kill(server.pid, signal);
      await gone;
    },
    remove,
  };
};

/** Makes and starts a server. A killed process loses nothing that the system has, so it need not flush. */
export const startOwnServer = async (settings: Settings = {}, major?: string): Promise<OwnServer> =>
  openOwnServer(await makeServerDirectory(), { fsync: 'off', ...settings }, major);

/** Opens a connection for the length of a function; one that the server ends is no unhandled error. */
export const withPg = async <T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
};

/** Rows of one statement, over a connection of its own. */
export const ask = <Row extends pg.QueryResultRow>(url: string, sql: string): Promise<Row[]> =>
  withPg(url, async (client) => (await client.query<Row>(sql)).rows);

/** Asks again and again, also while the server does not answer, until the first row is what is waited for. */
export const askUntil = async <Row extends pg.QueryResultRow>(
  url: string,
  sql: string,
  isIt: (row: Row) => boolean,
): Promise<Row> => {
  for (;;) {
    const [row] = await ask<Row>(url, sql).catch((): Row[] => []);
    if (row !== undefined && isIt(row)) return row;
    await sleep(50);
  }
};
