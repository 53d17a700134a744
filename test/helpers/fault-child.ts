// `etl` as a process of its own: its events, what it says, how it ends; killed by its pid.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, inject } from 'vitest';
import type { RunEvent } from '../../src/core/run-event.ts';

type EventType = RunEvent['type'];
export type EventOf<Type extends EventType> = Extract<RunEvent, { type: Type }>;

/** The last line of stdout when a run fails. */
export interface ErrorLine {
  readonly type: 'error';
  readonly code: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface Ended {
  /** Exit code, or the signal that ended the process. */
  readonly end: number | NodeJS.Signals;
  readonly events: readonly RunEvent[];
  readonly error: ErrorLine | undefined;
  /** What a person reads: plain progress lines and errors. */
  readonly said: string;
}

export interface Etl {
  readonly pid: number;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Waits until a person has read this; false when the process ends without saying it. */
  readonly untilSaid: (part: string) => Promise<boolean>;
  /** Resolves when the process is gone and everything it wrote is read. */
  readonly ended: Promise<Ended>;
}

export interface EtlOptions {
  /** Working directory. */
  readonly directory: string;
  /** None: the embedded server. */
  readonly url: string | undefined;
  /** What follows `etl`. */
  readonly args: readonly string[];
}

const alive = new Set<ChildProcess>();

const environment = (url: string | undefined): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(([name]) => !/^(PG|ETL_|DATABASE_URL)/.test(name));
  return { ...Object.fromEntries(own), ...(url !== undefined && { DATABASE_URL: url }) };
};

const isWhole = (line: string): boolean => line.startsWith('{') && line.endsWith('}');

/** `etl run pipelines/noaa.ts` with two workers, events on stdout and plain progress on stderr. */
export const runArgs = (chunkBytes: number): readonly string[] =>
  `run pipelines/noaa.ts --workers 2 --chunk-bytes ${chunkBytes} --json --progress log`.split(' ');

/** Starts `etl`. */
export const startEtl = ({ directory, url, args }: EtlOptions): Etl => {
  const child = spawn(process.execPath, [inject('faultProgram'), ...args], {
    cwd: directory,
    env: environment(url),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  alive.add(child);
  let out = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    alive.delete(child);
    // A killed process may leave half a line.
    const lines: (RunEvent | ErrorLine)[] = out
      .split('\n')
      .filter(isWhole)
      .map((line) => JSON.parse(line));
    const events = lines.filter((line) => line.type !== 'error');
    return { end: code ?? signal, events, error: lines.find((line) => line.type === 'error'), said };
  });
  const untilSaid = async (part: string): Promise<boolean> => {
    while (!said.includes(part) && alive.has(child)) await Promise.race([once(child.stderr, 'data'), ended]);
    return said.includes(part);
  };
  return { pid: child.pid!, untilSaid, kill: (signal) => child.kill(signal), ended };
};

/** The process ended so, with this error if any; a failure shows everything that a person read. */
export const expectEnd = ({ end, error, said }: Ended, exit: number, code?: string): void => {
  // As a message, because a difference shows of a long text only what differs.
  expect({ end, code: error?.code }, said).toEqual({ end: exit, code });
};

/** Events of one type, in order. */
export const eventsOf = <Type extends EventType>({ events }: Ended, type: Type): readonly EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

/** Kills what a failed test left running, and says how many there were. */
export const killRest = (): number => {
  const rest = [...alive];
  for (const child of rest) child.kill('SIGKILL');
  return rest.length;
};
