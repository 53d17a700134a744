// Asks the operating system about processes, and ends them.

import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { codeOf, EtlError } from '../../core/errors/errors.ts';
import { embeddedPollIntervalMs, embeddedStopTimeoutMs } from '../../core/limits.ts';
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
 * Identifies a running process; undefined if it has ended. On Linux, adds the start time, because
 * pids are reused. A zombie counts as ended: its parent may be waiting for us.
 */
export const identityOf = (pid: number): string | undefined => {
  if (!(pid > 0)) return undefined;
  if (!hasProc) return isRunning(pid) ? String(pid) : undefined;
  const stat = orUndefined(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  if (stat === undefined) return undefined;
  // Splits after the command, which is in parentheses and may contain spaces. fields[0] is the
  // state, fields[19] the start time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : `${pid}:${fields[19]}`;
};

export const workingDirectoryOf = (pid: number): string | undefined =>
  hasProc ? orUndefined(() => readlinkSync(`/proc/${pid}/cwd`)) : undefined;

export const commandOf = (pid: number): readonly string[] | undefined =>
  hasProc ? orUndefined(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')) : undefined;

export const processesIn = (directory: string): readonly number[] =>
  hasProc
    ? readdirSync('/proc')
        .map(Number)
        .filter((pid) => pid > 0 && workingDirectoryOf(pid) === directory)
    : [];
export const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error;
  }
};

/** Waits until the process has ended. Errors: ETL_EMBEDDED_STOP. */
export const awaitEnd = async (
  pid: number,
  identity: string | undefined,
  details: { readonly directory: string; readonly log: string },
): Promise<void> => {
  const deadline = Date.now() + embeddedStopTimeoutMs;
  while (identity !== undefined && identityOf(pid) === identity) {
    if (Date.now() > deadline)
      throw new EtlError('ETL_EMBEDDED_STOP', { ...details, pid, seconds: embeddedStopTimeoutMs / 1000 });
    await sleep(embeddedPollIntervalMs);
  }
};
