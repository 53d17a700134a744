// Replaces a file as a whole: a reader, or a crash, sees the old text or the new one, never half of it.

import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/**
 * Writes beside the file and renames. The new file is made exclusively, its mode set through the open file, and
 * a rename follows no links: safe for root in a directory that belongs to the server's user.
 *
 * @param mode final mode of the file, whatever our umask
 */
export const replaceFile = async (file: string, text: string, mode: number): Promise<void> => {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(aside, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.chmod(mode);
    } finally {
      await handle.close();
    }
    await rename(aside, file);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
};
