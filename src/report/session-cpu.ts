// Processor time of the run's sessions on the server, if that is on this machine and the system shows its processes (Linux).

import { readFileSync } from 'node:fs';
import type { ServerAddress } from '../db/connect/address.ts';

/** Linux shows times in /proc in hundredths of a second, whatever its own clock does. */
const msPerTick = 10;

/** Of a label, `user@host:port/database`; a path is a socket's directory. */
const loopback = /@(?:localhost|127\.|::1|\[::1\]|\/)/;

/** Milliseconds that a server process has used so far; undefined: it is not to be seen, or is no PostgreSQL. */
const usedBy = (pid: number): number | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // A container's numbers are its own, so the process may be another one.
    if (!text.includes('(postgres)')) return undefined;
    const [user, system] = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13)
      .map(Number);
    return (user! + system!) * msPerTick;
  } catch {
    return undefined;
  }
};

export interface SessionCpu {
  /** Milliseconds since the last look; 0 when the server's processes are not to be seen. */
  readonly look: (pids: readonly number[]) => number;
}

export const watchSessions = ({ label, embedded }: ServerAddress): SessionCpu => {
  const isHere = embedded !== undefined || loopback.test(label);
  const last = new Map<number, number>();
  return {
    look: (pids) => {
      if (!isHere) return 0;
      let sum = 0;
      for (const pid of pids) {
        const used = usedBy(pid);
        if (used === undefined) continue;
        // A session that is new has used what it has since it began, which was after the last look.
        sum += used - (last.get(pid) ?? 0);
        last.set(pid, used);
      }
      return sum;
    },
  };
};
