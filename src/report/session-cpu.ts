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

/** Milliseconds that processes have used since the last call; 0 when this machine cannot see them. */
export const watchSessions = ({ label, embedded }: ServerAddress): ((pids: readonly number[]) => number) => {
  const isHere = embedded !== undefined || loopback.test(label);
  const last = new Map<number, number>();
  return (pids) => {
    if (!isHere) return 0;
    let sum = 0;
    for (const pid of pids) {
      const used = usedBy(pid);
      if (used === undefined) continue;
      // A session that is not known yet began after the last call: all that it has used counts.
      sum += used - (last.get(pid) ?? 0);
      last.set(pid, used);
    }
    return sum;
  };
};
