// Runs the PostgreSQL programs; the server keeps running after this process ends.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { openOwn } from '../../core/ownership.ts';
import type { Account } from './account.ts';

export interface Programs {
  readonly native: string;
  readonly account: Account | undefined;
}

/** The path of a program below `native`, the package's directory. */
export const programIn = (native: string, name: string, platform: string = process.platform): string =>
  join(native, 'bin', platform === 'win32' ? `${name}.exe` : name);

/** The programs' environment, without our secrets: SQL can read the server's environment. */
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

/** Runs a program until it ends; throws its output if it fails. */
export const runProgram = async (
  programs: Programs,
  name: 'initdb' | 'postgres' | 'pg_ctl',
  args: readonly string[],
  cwd: string,
  input = '',
): Promise<void> => {
  const child = spawn(programIn(programs.native, name), args, options(programs, cwd));
  // A program may end before it has read all input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const [[code, signal], output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) throw new Error(`${name} ended with ${code ?? signal}: ${(errors || output).trim()}`);
};

/** Starts the server in a process group of its own, so that it survives Ctrl-C and our end. */
export const spawnServer = async (
  programs: Programs,
  directory: string,
  logFile: string,
): Promise<ChildProcess> => {
  // PostgreSQL refuses an administrator's rights, which pg_ctl takes from the server on Windows.
  if (process.platform === 'win32') {
    const args = ['start', '-w', '-D', directory, '-l', logFile];
    return spawn(programIn(programs.native, 'pg_ctl'), args, {
      ...options(programs, directory),
      windowsHide: true,
      stdio: 'ignore',
    });
  }
  // The server inherits the open log, because its user may not be able to reach the file.
  const log = openOwn(logFile, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT);
  try {
    const child = spawn(programIn(programs.native, 'postgres'), ['-D', directory], {
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
