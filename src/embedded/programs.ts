// Runs the PostgreSQL programs: the ones that end, and the server, which outlives us.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import type { Account } from './account.ts';

/** Where the programs are and who runs them; account undefined: we do. */
export interface Programs {
  readonly native: string;
  readonly account: Account | undefined;
}

/**
 * The server outlives us and can show its environment to SQL, so it gets what it needs and none of our
 * secrets.
 */
const environment = (): NodeJS.ProcessEnv => ({
  LC_ALL: 'C',
  ...Object.fromEntries(
    ['PATH', 'TZ', 'SystemRoot', 'TEMP', 'TMP']
      .map((name) => [name, process.env[name]])
      .filter(([, value]) => value !== undefined),
  ),
});

const options = ({ account }: Programs, cwd: string) => ({
  cwd,
  env: environment(),
  ...(account && { uid: account.uid, gid: account.gid }),
});

/**
 * Runs a program to its end.
 *
 * @param input what it reads
 * @throws Error with what it wrote when it fails
 */
export const runProgram = async (
  programs: Programs,
  name: 'initdb' | 'postgres' | 'pg_ctl',
  args: readonly string[],
  cwd: string,
  input = '',
): Promise<void> => {
  const child = spawn(join(programs.native, 'bin', name), args, options(programs, cwd));
  // A program that ends before it has read everything is reported by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const [[code, signal], output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`${name} ended with ${code ?? signal}: ${(errors || output).trim()}`);
};

/**
 * Starts the server in a session of its own: Ctrl-C in our terminal does not reach it, and it stays when we
 * end.
 *
 * @returns once the program runs; it is not ready for connections yet
 */
export const spawnServer = async (
  programs: Programs,
  directory: string,
  logFile: string,
): Promise<ChildProcess> => {
  // Opened by us and inherited: the server's user need not be able to reach the file.
  const log = openSync(logFile, 'a', 0o600);
  try {
    const child = spawn(join(programs.native, 'bin', 'postgres'), ['-D', directory], {
      ...options(programs, directory),
      detached: true,
      windowsHide: true,
      stdio: ['ignore', log, log],
    });
    await once(child, 'spawn');
    child.unref();
    return child;
  } finally {
    closeSync(log);
  }
};
