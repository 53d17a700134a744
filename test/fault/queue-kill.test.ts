// A worker's process that is killed gives its job back, whatever queue it came from.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Work } from '../../src/queue/load-queue.ts';
import { batches, useQueues, workOff } from '../helpers/queue-work.ts';
import { queueKinds } from '../helpers/workers.ts';

const holder = fileURLToPath(new URL('../helpers/hold-job.ts', import.meta.url));

describe('a process that is killed', () => {
  const queues = queueKinds.map(({ kind }) => ({ kind, ...useQueues(kind) }));

  // It comes back after ten to fifteen seconds; both kinds are waited for together.
  it.concurrent.each(queues)(
    'gives its job back, queues in $kind',
    async ({ database, redis, servingRun }) => {
      const loaded: number[] = [];
      let letGo: () => void = () => undefined;
      const killed = new Promise<void>((resolve) => (letGo = resolve));
      // Own worker waits until the other process has its job and is killed.
      const load = async ({ segments: [one] }: Work): Promise<void> => {
        await killed;
        loaded.push(one!.fileId);
      };
      const running = workOff(servingRun(1, load, { workers: 1 }), batches(1, 2));
      const args = ['--import', 'jiti/register', holder, database.url, redis()?.url ?? '', 'one', '1'];
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');
      letGo();
      await running;
      expect(new Set(loaded)).toEqual(new Set([1, 2]));
    },
  );
});
