// Runs the PostgreSQL programs: those that end by themselves, and the server, which outlives this process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { openOwn } from '../../core/ownership.ts';
import type { Account } from './account.ts';

/** The programs and the account that runs them; undefined: we do. */
export interface Programs {
  readonly native: string;
  readonly account: Account | undefined;
}

/** The server outlives us and shows its environment to SQL, so it gets none of our secrets. */
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
  // The exit code reports a program that ends before it has read everything.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const [[code, signal], output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`${name} ended with ${code ?? signal}: ${(errors || output).trim()}`);
};

/**
 * Starts the server in a session of its own, so that it survives Ctrl-C and our end.
 *
 * @returns once the program runs; it is not ready for connections yet
 */
export const spawnServer = async (
  programs: Programs,
  directory: string,
  logFile: string,
): Promise<ChildProcess> => {
  // Opened by us and inherited: the server's user need not be able to reach the file.
  const log = openOwn(logFile, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
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
