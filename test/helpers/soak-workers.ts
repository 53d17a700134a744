// The worker processes of a soak or a chaos test: killed, paused and asked to stop at moments that a seed chooses, and replaced by new ones.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './seeded.ts';

/** Between two disturbances. */
const calmMs = [1_500, 6_000] as const;

/** Some pauses are longer than the lock of a job, which another worker is then given. */
const pauseMs = [500, 25_000] as const;

/** A kill is as likely as the two others together. */
const disturbances = ['SIGKILL', 'SIGKILL', 'SIGTERM', 'SIGSTOP'] as const;

export interface SoakWorker {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What it has written so far. */
  readonly read: (stream: 'out' | 'err') => string;
  isPaused: boolean;
}

export interface Fleet {
  /** Those that are alive, the oldest first. */
  readonly workers: () => readonly SoakWorker[];
  /** From now on the youngest is left alone, so that what grows in it can be seen. */
  readonly spare: () => SoakWorker;
  readonly counts: Readonly<Record<'SIGKILL' | 'SIGTERM' | 'SIGSTOP', number>>;
  /** Workers that ended otherwise than they were asked to. */
  readonly surprises: readonly string[];
  /** Ends the disturbances; resolves when no worker is paused any more. */
  readonly calm: () => Promise<void>;
  /** Ends the disturbances, then the workers, as an orchestrator does. */
  readonly stop: () => Promise<void>;
  /** Kills what a soak that failed has left. */
  readonly kill: () => Promise<void>;
  /** All lines that workers have logged. */
  readonly logged: () => readonly Readonly<Record<string, unknown>>[];
}

export interface FleetOptions {
  readonly program: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly chance: Chance;
  readonly count: number;
  /** Is called with each disturbance. */
  readonly note?: (what: string) => void;
}

const args = ['worker', '--pipelines', 'pipelines', '--workers', '1'];

const parseLine = (line: string): Readonly<Record<string, unknown>>[] => {
  try {
    return [JSON.parse(line)];
  } catch {
    // A killed process may leave half a line.
    return [];
  }
};

const isReady = (worker: SoakWorker): boolean => worker.read('out').includes('worker ready');

/** Ends by itself are noted, and a new worker takes the place a second later, as with a supervisor. */
const restartMs = 1_000;

/** Starts workers, and begins to disturb them. */
export const startFleet = (options: FleetOptions): Fleet => {
  const { program, directory, env, chance, count, note = () => undefined } = options;
  const logs = join(directory, 'logs');
  mkdirSync(logs);
  const counts = { SIGKILL: 0, SIGTERM: 0, SIGSTOP: 0 };
  const surprises: string[] = [];
  const workers = new Set<SoakWorker>();
  const over = new AbortController();
  const pauses = new Set<Promise<void>>();
  let spared: SoakWorker | undefined;
  let started = 0;
  let isLeaving = false;

  const start = (): void => {
    started += 1;
    // Files, so that no worker waits for a reader.
    const [out, err] = ['out', 'err'].map((name) => openSync(join(logs, `${started}.${name}`), 'w'));
    const child = spawn(process.execPath, [program, ...args], {
      cwd: directory,
      env: { ...process.env, ...env },
      stdio: ['ignore', out, err],
    });
    for (const file of [out!, err!]) closeSync(file);
    const number = started;
    const read = (stream: string): string => readFileSync(join(logs, `${number}.${stream}`), 'utf8');
    const worker = { child, pid: child.pid!, isPaused: false, read };
    workers.add(worker);
    child.once('exit', (code, signal) => {
      // One that was asked to end is no longer among the workers.
      if (!workers.delete(worker)) return;
      note(`worker ${worker.pid} ended by itself with ${code ?? signal}`);
      surprises.push(`worker ${worker.pid} ended by itself with ${code ?? signal}: ${worker.read('err')}`);
      setTimeout(() => isLeaving || start(), restartMs);
    });
  };

  const end = async (worker: SoakWorker, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    const { child, pid } = worker;
    const wanted = signal === 'SIGKILL' ? signal : 0;
    if (!workers.delete(worker)) return;
    const ending = once(child, 'exit');
    child.kill(signal);
    await ending;
    const how = child.exitCode ?? child.signalCode;
    if (how !== wanted)
      surprises.push(`worker ${pid} ended with ${how}, not ${wanted}: ${worker.read('err')}`);
  };
  const pause = async (worker: SoakWorker): Promise<void> => {
    worker.isPaused = true;
    worker.child.kill('SIGSTOP');
    await sleep(chance.between(...pauseMs), undefined, { signal: over.signal }).catch(() => undefined);
    note(`worker ${worker.pid} SIGCONT`);
    worker.child.kill('SIGCONT');
    worker.isPaused = false;
  };
  const disturb = async (): Promise<void> => {
    const awake = [...workers].filter((worker) => worker !== spared && !worker.isPaused);
    if (awake.length === 0) return;
    const [worker, signal] = [chance.pick(awake), chance.pick(disturbances)];
    // One that starts can only be killed: asked to stop before it listens to signals, it ends by them; paused, it may find
    // that its first connection has timed out, and ends as it must.
    if (signal !== 'SIGKILL' && !isReady(worker)) return;
    counts[signal] += 1;
    note(`worker ${worker.pid} ${signal}`);
    if (signal === 'SIGSTOP') {
      const pausing = pause(worker).finally(() => pauses.delete(pausing));
      pauses.add(pausing);
      return;
    }
    await end(worker, signal);
    start();
  };
  const disturbing = (async () => {
    while (!over.signal.aborted) {
      await sleep(chance.between(...calmMs), undefined, { signal: over.signal }).catch(() => undefined);
      if (!over.signal.aborted) await disturb();
    }
  })();
  const calm = async (): Promise<void> => {
    over.abort();
    await disturbing;
    await Promise.all(pauses);
  };
  const leave = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    isLeaving = true;
    await calm();
    // A replacement may have started a moment ago, and does not listen to signals yet.
    while (signal === 'SIGTERM' && ![...workers].every(isReady)) await sleep(50);
    await Promise.all([...workers].map((worker) => end(worker, signal)));
  };
  for (let place = 0; place < count; place += 1) start();
  return {
    workers: () => [...workers],
    spare: () => (spared = [...workers].findLast(({ isPaused }) => !isPaused) ?? [...workers].at(-1)!),
    counts,
    surprises,
    calm,
    stop: () => leave('SIGTERM'),
    kill: () => leave('SIGKILL'),
    logged: () =>
      readdirSync(logs)
        .filter((name) => name.endsWith('.out'))
        .flatMap((name) => readFileSync(join(logs, name), 'utf8').trim().split('\n').flatMap(parseLine)),
  };
};
