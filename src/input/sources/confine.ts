// Keeps paths with parameters below the directory that the author wrote.

import { isAbsolute, relative, resolve } from 'node:path';

/** A private-use character: marks where a parameter's value begins in a copy of the path. */
export const mark = '\uf8ff';

const glob = /[*?{}()[\]!@+]/;

/** On Windows, backslashes separate directories, and thus do not escape characters of a glob. */
export const withSlashes = (path: string, platform: string = process.platform): string =>
  platform === 'win32' ? path.replaceAll('\\', '/') : path;

/**
 * Returns the directory that the author wrote before the first value of a parameter.
 *
 * @param varied the path with another value of a parameter. The author's part ends at its mark, or,
 *   if the mark is lost, where the two paths differ
 * @param special matches where the directories end, such as at a glob
 */
export const writtenDirectory = (path: string, varied: string, special: RegExp): string => {
  let end = varied.indexOf(mark);
  if (end === -1) end = path.split('').findIndex((_, at) => path[at] !== varied[at]);
  const own = varied.slice(0, Math.max(end, 0)).replace(/^!(?!\()/, '');
  const plain = own.slice(0, special.exec(own)?.index);
  return plain.slice(0, plain.lastIndexOf('/') + 1);
};

/** Returns the directory that a path with parameters must not leave; undefined without them. */
export const confinementOf = (
  path: string,
  varied: readonly string[] | undefined,
  workingDirectory: string,
): string | undefined => {
  const [first, ...others] = (varied ?? []).map((one) =>
    writtenDirectory(withSlashes(path), withSlashes(one), glob),
  );
  if (first === undefined) return undefined;
  const shortest = others.reduce((one, other) => (other.length < one.length ? other : one), first);
  return resolve(workingDirectory, shortest);
};

export const isBelow = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith('../') && !way.startsWith('..\\') && !isAbsolute(way);
};
