// Measures processor time of the run's sessions if the server is on this machine, under Linux.

import { readFileSync } from 'node:fs';
import type { ServerAddress } from '../db/connect/address.ts';

/** Times in /proc are in hundredths of a second. */
const msPerTick = 10;

/** Matches `user@host:port/database` of a server on this machine; a path is a socket's. */
const loopback = /@(?:localhost|127\.|::1|\[::1\]|\/)/;

/** Milliseconds that a server process has used; undefined: it is hidden, or not of PostgreSQL. */
const usedBy = (pid: number): number | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Containers number their processes themselves, so this may be another process.
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

/** Returns a function: milliseconds that processes have used since its last call; 0 if hidden. */
export const watchSessions = ({ label, embedded }: ServerAddress): ((pids: readonly number[]) => number) => {
  const isHere = embedded !== undefined || loopback.test(label);
  const last = new Map<number, number>();
  return (pids) => {
    if (!isHere) return 0;
    let sum = 0;
    for (const pid of pids) {
      const used = usedBy(pid);
      if (used === undefined) continue;
      // An unknown session began after the last call, so all its time counts.
      sum += used - (last.get(pid) ?? 0);
      last.set(pid, used);
    }
    return sum;
  };
};
