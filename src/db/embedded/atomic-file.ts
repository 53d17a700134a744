// Replaces a file as a whole: a reader, or a crash, sees the old text or the new one, never half of it.

import { randomBytes } from 'node:crypto';
import { chmod, rename, rm, writeFile } from 'node:fs/promises';

/**
 * Writes beside the file and renames. The new name is made exclusively and a rename does not follow links,
 * so this is safe for root in a directory that belongs to the server's user.
 */
export const replaceFile = async (file: string, text: string, mode: number): Promise<void> => {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(aside, text, { flag: 'wx', mode: 0o600 });
    // Not by the option above, from which our umask is taken away: the server's user must be able to read
    // its settings.
    await chmod(aside, mode);
    await rename(aside, file);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
};
