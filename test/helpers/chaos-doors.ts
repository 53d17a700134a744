// Two doors of a chaos test beside the schedule: `etl run`, killed and frozen, and `etl enqueue`, again and again.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './seeded.ts';

/** An undisturbed run takes about two seconds. */
const strikeMs = [200, 4_000] as const;
const freezeMs = [500, 15_000] as const;
const calmMs = [500, 3_000] as const;

type Signal = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';

/** Every second one is left alone. */
const disturbances: readonly (Signal | undefined)[] = [
  undefined,
  undefined,
  undefined,
  'SIGKILL',
  'SIGTERM',
  'SIGSTOP',
];

export interface CommandOptions {
  readonly program: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface CommandEnd {
  readonly end: number | NodeJS.Signals;
  /** The last code on stderr, or of the last event. */
  readonly code: string | undefined;
  readonly said: string;
}

const strike = async (
  kill: (signal: NodeJS.Signals) => void,
  signal: Signal,
  chance: Chance,
): Promise<void> => {
  kill(signal);
  if (signal !== 'SIGSTOP') return;
  await sleep(chance.between(...freezeMs));
  kill('SIGCONT');
};

/** Runs `etl` to its end; `disturb` is called with a way to signal it. */
export const runEtl = async (
  { program, directory, env }: CommandOptions,
  args: readonly string[],
  disturb: (kill: (signal: NodeJS.Signals) => void, pid: number) => Promise<void> = async () => undefined,
): Promise<CommandEnd> => {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: directory,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const reading = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = once(child, 'close');
  // An ended process has no signal to take, and its number may be another's.
  const kill = (signal: NodeJS.Signals): void =>
    void (child.exitCode ?? child.signalCode ?? child.kill(signal));
  await disturb(kill, child.pid!);
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
  const said = (await reading).join('\n');
  return { end: code ?? signal!, code: said.match(/\bETL_[A-Z_]+/g)?.at(-1), said };
};

export interface Door {
  readonly counts: Readonly<Record<string, number>>;
  /** Ends that nothing that was done explains. */
  readonly wrong: readonly string[];
  readonly stop: () => Promise<void>;
}

export interface DoorOptions extends CommandOptions {
  readonly args: readonly string[];
  readonly isDisturbed: boolean;
  readonly chance: Chance;
  readonly note: (what: string) => void;
  /** Whether a command may end with this code now. */
  readonly mayEndWith: (code: string | undefined, startedAt: number) => boolean;
}

/** Runs a command over and over until it is stopped. */
export const openDoor = (options: DoorOptions): Door => {
  const { args, isDisturbed, chance, note, mayEndWith } = options;
  const counts: Record<string, number> = {};
  const wrong: string[] = [];
  const over = new AbortController();
  const runOnce = async (): Promise<void> => {
    const signal = isDisturbed ? chance.pick(disturbances) : undefined;
    const startedAt = Date.now();
    const { end, code, said } = await runEtl(options, args, async (kill, pid) => {
      if (signal === undefined) return;
      await sleep(chance.between(...strikeMs));
      note(`etl ${args[0]} ${pid} ${signal}`);
      await strike(kill, signal, chance);
    });
    const how = typeof end === 'string' || end === 0 ? String(end) : `${end} ${code}`;
    counts[how] = (counts[how] ?? 0) + 1;
    const isTold = end === signal || (signal === 'SIGTERM' && (end === 143 || end === 0));
    if (end === 0 || isTold || (end === 1 && mayEndWith(code, startedAt))) return;
    note(`etl ${args[0]} ended with ${how}`);
    wrong.push(`${new Date().toISOString()} etl ${args.join(' ')} ended with ${how}: ${said}`);
  };
  const going = (async () => {
    while (!over.signal.aborted) {
      await runOnce();
      await sleep(chance.between(...calmMs), undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();
  return {
    counts,
    wrong,
    stop: async () => {
      over.abort();
      await going;
    },
  };
};
