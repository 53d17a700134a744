// Asks the operating system about a process: whether it is alive and still the same, its working directory.

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

import { codeOf } from '../../core/errors/errors.ts';
import { isRunning } from '../../core/running.ts';

const hasProc = existsSync('/proc/self/stat');

const orUndefined = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return undefined;
    throw error;
  }
};

/**
 * A text that only this process has, or undefined when it is gone.
 *
 * Pids are reused (quickly in a container), so on Linux the start time is part of it. A zombie is gone: its parent may be busy
 * waiting for us.
 */
export const identityOf = (pid: number): string | undefined => {
  if (!(pid > 0)) return undefined;
  if (!hasProc) return isRunning(pid) ? String(pid) : undefined;
  const stat = orUndefined(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (stat === undefined) return undefined;
  // The second field is the command in parentheses and may hold blanks; the state follows, 19 fields later
  // the start.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${pid}:${fields[19]}`;
};

/** Working directory of a process; undefined if the system hides it (as from root in Docker). */
export const workingDirectoryOf = (pid: number): string | undefined =>
  hasProc ? orUndefined(() => readlinkSync(`/proc/${pid}/cwd`)) : undefined;

/** Program and arguments of a process; undefined if the system hides them. */
export const commandOf = (pid: number): readonly string[] | undefined =>
  hasProc ? orUndefined(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')) : undefined;

/** Every process whose working directory this is, as far as the system shows it. */
export const processesIn = (directory: string): readonly number[] =>
  hasProc
    ? readdirSync('/proc')
        .map(Number)
        .filter((pid) => pid > 0 && workingDirectoryOf(pid) === directory)
    : [];
