// Stops the servers below a directory and removes it, once the process that has started this one is gone, however that ended: its end
// of the pipe at standard input closes then.
//
//   node run-guard.mjs <directory>

import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { createJiti } from 'jiti';

const [, , directory] = process.argv;
for await (const _ of process.stdin);
// A run that came to its end has done it.
if (existsSync(directory)) {
  const { endServersBelow } = await createJiti(import.meta.url).import('./end-servers.ts');
  // Processes of the run may start another one until they notice that it is over.
  for (let quiet = 0; quiet < 3; quiet += 1) {
    if (await endServersBelow(directory)) quiet = 0;
    await sleep(500);
  }
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
