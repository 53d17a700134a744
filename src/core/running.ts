// Whether a process on this machine exists: the one that left a lock, a run or a server may be gone.

import { codeOf } from './errors/errors.ts';

/** False when there is certainly no such process. EPERM means that it is there, but somebody else's. */
export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
};
