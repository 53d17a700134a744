// Faults of hosts and of their network, one after the other, at times that a seed chooses.

import { setTimeout as sleep } from 'node:timers/promises';
import type { HostsScene, HostWorker } from './hosts-scene.ts';
import type { Chance } from './seeded.ts';

/** Between two faults; and for how long a host or a part of the network is away. */
const calmMs = [1_000, 8_000] as const;
const awayMs = [500, 35_000] as const;

export interface HostsStorm {
  readonly counts: Readonly<Record<string, number>>;
  /** Ends the faults; hosts and network are whole when it resolves. */
  readonly stop: () => Promise<void>;
  readonly killWorkers: () => Promise<unknown>;
}

export interface HostsStormOptions {
  readonly scene: HostsScene;
  /** Names of the hosts with workers, which are booted first. */
  readonly names: readonly string[];
  readonly chance: Chance;
  readonly note: (what: string) => void;
}

/** Boots the workers, and begins to strike. */
export const startHostsStorm = async (options: HostsStormOptions): Promise<HostsStorm> => {
  const { scene, names, chance, note } = options;
  const { network, boot, start, databaseHost, storeHost, untilRun } = scene;
  const workers = new Map<string, HostWorker>();
  const bootAgain = async (name: string): Promise<void> => void workers.set(name, await boot(name));
  for (const name of names) await bootAgain(name);
  const counts: Record<string, number> = {};
  const over = new AbortController();
  const wait = (range: readonly [number, number]): Promise<void> =>
    sleep(chance.between(...range), undefined, { signal: over.signal }).catch(() => undefined);
  const kill = async ({ host }: HostWorker): Promise<void> => {
    await host.kill();
    workers.set(host.name, start(host));
  };
  const faults: Readonly<Record<string, (worker: HostWorker) => Promise<void>>> = {
    'processes killed': kill,
    'coordinator killed': async () => {
      const { host } = await untilRun(() => true);
      await kill(workers.get(host)!);
    },
    'host gone for good': async ({ host }) => {
      await host.unplug();
      await network.remove(host);
      await wait(awayMs);
      await bootAgain(host.name);
    },
    'host unplugged': async ({ host }) => {
      await host.unplug();
      await wait(awayMs);
      await host.plugIn();
    },
    'network split': async () => {
      const all = [databaseHost, storeHost, ...[...workers.values()].map(({ host }) => host)];
      const part = all.filter(() => chance.between(0, 1) === 1);
      note(`part: ${part.map(({ name }) => name).join(', ')}`);
      await network.split(part);
      await wait(awayMs);
      await network.heal();
    },
  };
  const replaceEnded = (): void => {
    for (const [name, worker] of workers) {
      if (worker.isAlive()) continue;
      note(`the worker on ${name} ended by itself`);
      counts['worker ended by itself'] = (counts['worker ended by itself'] ?? 0) + 1;
      workers.set(name, start(worker.host));
    }
  };
  const striking = (async () => {
    for (;;) {
      await wait(calmMs);
      replaceEnded();
      if (over.signal.aborted) return;
      const name = chance.pick(Object.keys(faults));
      const worker = workers.get(chance.pick(names))!;
      counts[name] = (counts[name] ?? 0) + 1;
      note(`${name}: ${worker.host.name}`);
      await faults[name]!(worker);
      note(`${name}: over`);
    }
  })();
  striking.catch(() => undefined);
  return {
    counts,
    stop: async () => {
      over.abort();
      await striking;
    },
    killWorkers: () => Promise.all([...workers.values()].map(({ host }) => host.kill())),
  };
};
