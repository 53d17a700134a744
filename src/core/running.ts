// Finds out if a process on this machine still exists, such as the owner of a lock.

import { codeOf } from './errors/errors.ts';

/** EPERM means that the process belongs to another user. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
};
