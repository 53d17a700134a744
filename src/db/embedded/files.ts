// Files and directories that root can create safely where the server's user may write.

import { randomBytes } from 'node:crypto';
import { constants, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import { codeOf } from '../../core/errors/errors.ts';

export const ifPresent = async <T>(reading: Promise<T>): Promise<T | undefined> => {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
};

/**
 * Writes a file, replacing an existing one atomically, also in a crash. Follows no links. The file
 * gets exactly this `mode`, whatever our umask.
 */
export const replaceFile = async (file: string, text: string, mode: number): Promise<void> => {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};

/** Creates a directory that anybody may enter, whatever our umask; an existing one is kept. */
export const makeOpenDirectory = async (directory: string): Promise<void> => {
  const first = await mkdir(directory, { recursive: true });
  if (process.platform === 'win32') return;
  for (let made = directory; first !== undefined && made.length >= first.length; made = dirname(made)) {
    // chmod by descriptor: another user could put a link in the directory's place.
    const handle = await open(made, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      await handle.chmod(0o755);
    } finally {
      await handle.close();
    }
  }
};
