// Finds the `.etl` directory of a working directory's project, as git finds `.git`.

import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const directoryName = '.etl';

/** False for a link: in /tmp, for example, another user could make a link to his own server. */
const isOurs = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && found.uid === (process.geteuid?.() ?? found.uid);
};

const isSetUp = (path: string): boolean => {
  try {
    return isOurs(path) && lstatSync(join(path, 'server.json')).isFile();
  } catch {
    return false;
  }
};

/**
 * Returns the nearest `.etl` with a database of this user, from the working directory up to the
 * home directory; if there is none, the path for a new `.etl` in the working directory.
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
