// Finds the `.etl` directory of the project that a working directory belongs to, as git finds its own.

import { lstatSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const directoryName = '.etl';

/**
 * Whether the directory is ours, and no link: anybody who may write to a directory above, such as /tmp, could put one there that
 * leads to their own server.
 */
const isOurs = (path: string): boolean => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.isDirectory() && found.uid === (process.geteuid?.() ?? found.uid);
};

/** Whether a database was set up there: the name alone may be somebody else's. */
const isSetUp = (path: string): boolean => {
  try {
    return isOurs(path) && lstatSync(join(path, 'server.json')).isFile();
  } catch {
    // An unreadable directory is not ours.
    return false;
  }
};

/**
 * The `.etl` of the working directory, whether it is there yet or not; when it is not, that of the nearest directory above
 * that has one with a database of this user. The search ends at the home directory, when it passes there, or at the root.
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
