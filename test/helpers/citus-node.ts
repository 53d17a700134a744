// Kills a node of the Citus cluster of CITUS_URL, which must run on this machine, and starts it again.

import { spawn } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { askAt, urlOf, type CitusNode } from './citus.ts';

export interface KillableNode {
  /** As a crash: no process of the server can tidy up. */
  kill(): void;
  /** Again with the same command, as the same user; waits until it answers. */
  start(): Promise<void>;
}

const startMsMax = 60_000;

export const killableNode = async (node: CitusNode): Promise<KillableNode> => {
  const url = urlOf(node, 'postgres');
  const [found] = await askAt(url, 'select current_setting($$data_directory$$) as directory');
  const directory = String(found!.directory);
  const { uid, gid } = statSync(directory);
  const pidOf = (): number => Number(readFileSync(join(directory, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const environ = readFileSync(`/proc/${pidOf()}/environ`, 'utf8').split('\0').filter(Boolean);
  const env = Object.fromEntries(
    environ.map((one) => [one.slice(0, one.indexOf('=')), one.slice(one.indexOf('=') + 1)]),
  );
  const [command, ...args] = [
    ...readFileSync(join(directory, 'postmaster.opts'), 'utf8').matchAll(/"([^"]*)"|(\S+)/g),
  ].map(([, quoted, plain]) => quoted ?? plain!);
  return {
    kill: () => void process.kill(pidOf(), 'SIGKILL'),
    start: async () => {
      const deadline = performance.now() + startMsMax;
      for (;;) {
        // The first attempts may fail, while processes of the killed server still end.
        spawn(command!, args, { uid, gid, env, detached: true, stdio: 'ignore' }).unref();
        await sleep(1_000);
        try {
          await askAt(url, 'select 1');
          return;
        } catch (error) {
          if (performance.now() > deadline) throw error;
        }
      }
    },
  };
};
