// Finds the `.etl` directory of a working directory's project, as git finds `.git`.

import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const directoryName = '.etl';

/**
 * True for our own directory, if it is not a link: another user could create a link to his server
 * in a directory above, such as /tmp.
 */
const isOurs = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && found.uid === (process.geteuid?.() ?? found.uid);
};

/** A database was created there. The name alone may be a coincidence. */
const isSetUp = (path: string): boolean => {
  try {
    return isOurs(path) && lstatSync(join(path, 'server.json')).isFile();
  } catch {
    // A directory that we cannot read is not ours.
    return false;
  }
};

/**
 * The `.etl` of the working directory, or else of the nearest directory above, up to the home
 * directory, that has a database of this user. If there is none, the path for a new one.
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
