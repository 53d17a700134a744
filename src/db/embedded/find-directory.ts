// Finds the `.etl` directory of a working directory's project, as git finds `.git`.

import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const directoryName = '.etl';

/** Refuses links: in a directory such as /tmp, another user could link to his own server. */
const isOurs = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && found.uid === (process.geteuid?.() ?? found.uid);
};

/** True if it holds a database; the name alone may be a coincidence. */
const isSetUp = (path: string): boolean => {
  try {
    return isOurs(path) && lstatSync(join(path, 'server.json')).isFile();
  } catch {
    // An unreadable directory is not ours.
    return false;
  }
};

/**
 * `.etl` of the working directory, else the nearest one above it, up to the home directory, with a
 * database of this user, else the path for a new one.
 */
export const findEtlDirectory = (workingDirectory: string): string => {
  const own = resolve(workingDirectory, directoryName);
  if (lstatSync(own, { throwIfNoEntry: false }) !== undefined) return own;
  const home = homedir();
  for (let directory = resolve(workingDirectory); ; directory = dirname(directory)) {
    const candidate = join(directory, directoryName);
    if (isSetUp(candidate)) return candidate;
    if (directory === home || directory === dirname(directory)) return own;
  }
};
