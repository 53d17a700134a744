// Stops all embedded servers below a directory: of a test run, or what tests that failed or were ended have left of theirs.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stopEmbedded } from '../../src/db/embedded/server.ts';

/** Directories of servers, whose data may be elsewhere. Some of what is there disappears meanwhile. */
const serversBelow = (path: string): string[] => {
  try {
    const folders = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return folders.flatMap(({ name }) =>
      name === '.etl' ? [join(path, name)] : serversBelow(join(path, name)),
    );
  } catch {
    return [];
  }
};

/** Returns whether any was running. */
export const endServersBelow = async (directory: string): Promise<boolean> => {
  let wasRunning = false;
  for (const server of serversBelow(directory))
    wasRunning = (await stopEmbedded(server).catch(() => false)) || wasRunning;
  return wasRunning;
};
