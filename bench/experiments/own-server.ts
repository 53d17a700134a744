// A server that the experiments start themselves, so that they may restart and kill it; and a standby of it.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { identityOf } from '../../src/db/embedded/process.ts';
import { startEmbedded, stopEmbedded, type EmbeddedServer } from '../../src/db/embedded/server.ts';
import { makeStandby } from '../../test/helpers/standby.ts';
import { ask, askUntil } from './connect.ts';

export type Settings = Readonly<Record<string, string>>;

export interface OwnServer {
  readonly server: EmbeddedServer;
  /** Fast stop, which ends sessions and writes everything, then a start; with other settings if there are some. */
  restart(settings?: Settings): Promise<void>;
  /** SIGKILL to every process of the server at once. */
  killAll(): Promise<void>;
  /** Starts it after that. */
  start(): Promise<void>;
  /** SIGKILL to one process of this kind; returns when the server has recovered by itself. */
  killOne(kind: string): Promise<void>;
  /** A standby that follows this server, made of a physical backup. */
  startStandby(): Promise<Standby>;
  remove(): Promise<void>;
}

export interface Standby {
  readonly url: string;
  /** The backup, as it was before the standby started. */
  readonly backup: ReadonlySet<string>;
  remove(): Promise<void>;
}

/** What a primary needs, and a standby too, which must allow at least as much. */
export const replicaSettings: Settings = { wal_level: 'replica', max_wal_senders: '5' };

const makeDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-experiments-'));
  // As root the server runs as another user, who must be able to get there.
  chmodSync(directory, 0o755);
  return directory;
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended with the first one.
  }
};

const removeServer = async (directory: string): Promise<void> => {
  await stopEmbedded(join(directory, '.etl'));
  rmSync(directory, { recursive: true, force: true });
};

const startStandby = async (primary: EmbeddedServer, extra: Settings): Promise<Standby> => {
  const directory = makeDirectory();
  try {
    const backup = await makeStandby(primary, directory);
    const settings = { ...extra, ...replicaSettings, hot_standby: 'on' };
    const { url } = await startEmbedded(join(directory, '.etl'), { settings });
    return { url, backup, remove: () => removeServer(directory) };
  } catch (error) {
    await removeServer(directory);
    throw error;
  }
};

/** Starts a server in a directory of its own; `extra` are settings that every start has. */
export const startOwnServer = async (extra: Settings = {}): Promise<OwnServer> => {
  const directory = makeDirectory();
  const etlDirectory = join(directory, '.etl');
  let settings: Settings = extra;
  let server = await startEmbedded(etlDirectory, { settings }).catch(async (error: unknown) => {
    await removeServer(directory);
    throw error;
  });
  const start = async (): Promise<void> => {
    server = await startEmbedded(etlDirectory, { settings });
  };
  const pidsOf = async (): Promise<readonly { readonly pid: number; readonly kind: string }[]> =>
    (await ask(server.url, 'select pid, backend_type as kind from pg_stat_activity')) as readonly {
      readonly pid: number;
      readonly kind: string;
    }[];
  return {
    get server() {
      return server;
    },
    start,
    restart: async (other = {}) => {
      await stopEmbedded(etlDirectory);
      settings = { ...extra, ...other };
      await start();
    },
    killAll: async () => {
      const pids = [server.pid, ...(await pidsOf()).map(({ pid }) => pid)];
      const identities = pids.map((pid) => [pid, identityOf(pid)] as const);
      for (const [pid, identity] of identities) if (identity !== undefined) kill(pid);
      for (const [pid, identity] of identities)
        while (identity !== undefined && identityOf(pid) === identity) await sleep(5);
    },
    killOne: async (kind) => {
      const old = (await pidsOf()).find((one) => one.kind === kind);
      if (old === undefined) throw new Error(`the server has no ${kind}`);
      kill(old.pid);
      await askUntil(
        server.url,
        `select pid from pg_stat_activity where backend_type = '${kind}'`,
        ({ pid }) => pid !== old.pid,
      );
    },
    startStandby: () => startStandby(server, extra),
    remove: () => removeServer(directory),
  };
};
