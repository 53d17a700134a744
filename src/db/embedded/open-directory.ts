// Makes directories that other users can enter.

import { constants, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a directory that everybody may enter, whatever our umask; an existing one stays as it is. */
export const makeOpenDirectory = async (directory: string): Promise<void> => {
  const first = await mkdir(directory, { recursive: true });
  if (process.platform === 'win32') return;
  for (let made = directory; first !== undefined && made.length >= first.length; made = dirname(made)) {
    // Through its descriptor: somebody who may rename it could put a link in its place.
    const handle = await open(made, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await handle.chmod(0o755);
    } finally {
      await handle.close();
    }
  }
};
