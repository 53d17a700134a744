// Makes directories that other users can enter.

import { chmod, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes a directory that everybody may enter, whatever our umask; an existing one stays as it is. */
export const makeOpenDirectory = async (directory: string): Promise<void> => {
  const first = await mkdir(directory, { recursive: true });
  for (let made = directory; first !== undefined && made.length >= first.length; made = dirname(made)) {
    await chmod(made, 0o755);
  }
};
