// Starts test/hosts/cable.py between a host and the network.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';

const program = join(import.meta.dirname, '../hosts/cable.py');

/** Delays each packet so long in either direction, and loses this share of them. */
export type SetCable = (msEachWay: number, lost: number) => Promise<void>;

interface End {
  readonly pid: string;
  readonly enter: readonly string[];
}

/** Makes the interface `port` in the network and `eth0` on the host. */
export const layCable = async (network: End, host: End, port: string): Promise<SetCable> => {
  const far = `${port}-far`;
  const child = spawn('nsenter', [...network.enter, 'python3', program, port, far], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answered = (): Promise<unknown> =>
    Promise.race([
      once(child.stdout, 'data'),
      once(child, 'exit').then(() => Promise.reject(new Error('the cable needs python3 and /dev/net/tun'))),
    ]);
  await answered();
  // Not among the network's processes, which do not know the host's.
  const move = [
    '--target',
    network.pid,
    '--net',
    'ip',
    'link',
    'set',
    far,
    'name',
    'eth0',
    'netns',
    host.pid,
  ];
  await promisify(execFile)('nsenter', move);
  return async (ms, lost) => {
    child.stdin.write(`${ms} ${lost}\n`);
    await answered();
  };
};
