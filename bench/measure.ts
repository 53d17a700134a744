// Runs programs and measures them: seconds, CPU of both sides, memory.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { endedChildrenSeconds, treeSeconds, watchMemory } from './processes.ts';

/** What one run of one side took. */
export interface Usage {
  readonly seconds: number;
  /** CPU seconds of our processes or psql's. */
  readonly clientSeconds: number;
  /** CPU seconds of the server with all its processes. */
  readonly serverSeconds: number;
  /** Peak resident memory of the client's processes, added up. */
  readonly megabytes: number;
  /** Seconds of each step, of a run of `etl`. */
  readonly steps?: Readonly<Record<string, number>>;
}

interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Gets the pid and each line that the program prints. */
  readonly onLine?: (line: string, pid: number) => void;
}

/** Names of variables that would lead a program to another server than ours, or slow every start of Node down. */
const unwanted = /^(?:PG[A-Z]+|DATABASE_URL|ETL_[A-Z_]+|NODE_EXTRA_CA_CERTS|NODE_OPTIONS)$/;

const environment = (extra: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !unwanted.test(name))),
  ...extra,
});

/** A program that ended with something else than 0. */
class ProgramError extends Error {
  readonly output: string;

  constructor(command: string, code: number | null, output: string) {
    super(`${command} ended with ${code}: ${output.trim().slice(-2_000)}`);
    this.output = output;
  }
}

/** What Node is given before a program in TypeScript; one that counts its own start is JavaScript. */
export const typescript: readonly string[] = ['--import', import.meta.resolve('jiti/register')];

const running = new Set<ChildProcess>();

/** Ends the programs that still run: without it, `etl` would wait for a server that is gone. */
export const endPrograms = (): void => {
  for (const child of running) child.kill('SIGKILL');
};

/** Runs a program to its end; throws a ProgramError with what it wrote when it fails. */
export const runProgram = async (
  command: string,
  args: readonly string[],
  { cwd, env = {}, input = '', onLine = () => undefined }: ProgramOptions = {},
): Promise<readonly string[]> => {
  const child = spawn(command, args, { cwd, env: environment(env) });
  running.add(child);
  child.once('close', () => running.delete(child));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    onLine(line, child.pid!);
  });
  // A program that ends before it has read everything says why by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [errors, [code]] = await Promise.all([
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ]);
  if (code !== 0) throw new ProgramError(command, code, `${lines.slice(-20).join('\n')}\n${errors}`);
  return lines;
};

/** Measures everything that runs below us, apart from the server, while `work` runs. */
export const measured = async (serverPid: number, work: () => Promise<unknown>): Promise<Usage> => {
  const memory = watchMemory(serverPid);
  const client = endedChildrenSeconds();
  const server = treeSeconds(serverPid);
  const start = performance.now();
  try {
    await work();
  } finally {
    memory.stop();
  }
  return {
    seconds: (performance.now() - start) / 1000,
    clientSeconds: endedChildrenSeconds() - client,
    serverSeconds: treeSeconds(serverPid) - server,
    megabytes: memory.stop(),
  };
};

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};
