// Stops the servers below a directory and removes it, once the process that has started this one is gone, however that ended: its end
// of the pipe at standard input closes then.
//
//   node run-guard.mjs <directory>

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createJiti } from 'jiti';

const [, , directory] = process.argv;
for await (const _ of process.stdin);

/** Directories of embedded servers, whose data may be elsewhere. Some of what is there disappears meanwhile. */
const serversBelow = (path) => {
  try {
    const folders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.flatMap(({ name }) =>
      name === '.etl' ? [join(path, name)] : serversBelow(join(path, name)),
    );
  } catch {
    return [];
  }
};

const { stopEmbedded } = await createJiti(import.meta.url).import('../../src/embedded/server.ts');
// Processes of the run may start another one until they notice that it is over.
for (let quiet = 0; quiet < 3; quiet += 1) {
  for (const server of serversBelow(directory)) {
    if (await stopEmbedded(server).catch(() => false)) quiet = 0;
  }
  await sleep(500);
}
rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
