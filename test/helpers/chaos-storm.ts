// Faults of a chaos test that strike the server and the network: one after the other, at moments that a seed chooses.

import { setTimeout as sleep } from 'node:timers/promises';
import { readerName } from './chaos-readers.ts';
import { ask } from './fault-database.ts';
import type { FaultProxy } from './fault-proxy.ts';
import { killServerProcess, untilReady } from './fault-server.ts';
import type { OwnServer } from './own-server.ts';
import type { Chance } from './seeded.ts';

/** Between two faults. */
const calmMs = [2_000, 9_000] as const;

/** A server is away for so long, a network silent or closed. */
const awayMs = [0, 6_000] as const;
const silentMs = [1_000, 14_000] as const;

export interface Storm {
  readonly counts: Readonly<Record<string, number>>;
  /** Beginnings and ends of faults of the server: odd while there is one. */
  readonly serverFaults: () => number;
  /** Ends the faults; server and network are whole when it resolves. */
  readonly stop: () => Promise<void>;
}

export interface StormOptions {
  readonly server: OwnServer;
  readonly proxy: FaultProxy;
  /** Of the database, not through the proxy. */
  readonly url: string;
  readonly chance: Chance;
  readonly note: (what: string) => void;
}

/** Begins to strike. */
export const startStorm = ({ server, proxy, url, chance, note }: StormOptions): Storm => {
  const over = new AbortController();
  const counts: Record<string, number> = {};
  let serverFaults = 0;
  const wait = async (ms: number): Promise<void> =>
    sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);

  /** Some session of a worker or a run. It may end by itself before it is struck: then it is not. */
  const strikeSession = async (strike: (pid: number) => Promise<unknown>): Promise<void> => {
    const rows = await ask<{ pid: number }>(
      url,
      `select pid from pg_stat_activity
        where datname = current_database() and client_port is not null and pid <> pg_backend_pid()
          and application_name <> '${readerName}' order by backend_start`,
    );
    if (rows.length > 0) await strike(chance.pick(rows).pid);
  };
  const terminate = (pid: number) => ask(url, 'select pg_terminate_backend($1, 10000)', [pid]);
  const away = async (end: () => Promise<void>): Promise<void> => {
    await end();
    await wait(chance.between(...awayMs));
    await server.start();
  };
  const ofServer = async (fault: () => Promise<void>): Promise<void> => {
    serverFaults += 1;
    await fault();
    await untilReady(url);
    serverFaults += 1;
  };
  const closed = async (mode: 'closing' | 'silent'): Promise<void> => {
    proxy.setMode(mode);
    await wait(chance.between(...silentMs));
    proxy.setMode('open');
  };
  const faults: Readonly<Record<string, () => Promise<void>>> = {
    'server: SIGKILL': () => ofServer(() => away(() => server.end('SIGKILL'))),
    'server: immediate stop': () => ofServer(() => away(() => server.end('SIGQUIT'))),
    'server: fast restart': () => ofServer(() => away(() => server.stop())),
    'server: a backend killed': () => ofServer(() => strikeSession(killServerProcess)),
    'a session terminated': () => strikeSession(terminate),
    'network: cut': async () => proxy.cutAll(),
    'network: cut, and closed for a while': async () => {
      proxy.cutAll();
      await closed('closing');
    },
    'network: silent': async () => {
      proxy.silenceAll();
      await closed('silent');
      // Later than a client gives up, as keepalive does it.
      await wait(chance.between(...silentMs));
      proxy.endSilent();
    },
  };
  const striking = (async () => {
    for (;;) {
      await wait(chance.between(...calmMs));
      if (over.signal.aborted) return;
      const name = chance.pick(Object.keys(faults));
      counts[name] = (counts[name] ?? 0) + 1;
      note(name);
      await faults[name]!();
      note(`${name}: over`);
    }
  })();
  return {
    counts,
    serverFaults: () => serverFaults,
    stop: async () => {
      over.abort();
      await striking;
    },
  };
};
