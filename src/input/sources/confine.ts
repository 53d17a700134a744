// Where the files of a path must be if a parameter is part of it: parameters do not choose which files are read.

import { isAbsolute, relative, resolve } from 'node:path';

/** Begins each text of a parameter in a varied path: a character for private use, which no path has. */
export const mark = '\uf8ff';

/** Where a glob begins. */
const glob = /[*?{}()[\]!@+]/;

/**
 * The directories at the beginning of a path that its author wrote. They end before the mark in a path that another text of a parameter
 * gives; if the mark is lost, where the two paths differ; and where `special` begins.
 */
export const writtenDirectory = (path: string, varied: string, special: RegExp): string => {
  let end = varied.indexOf(mark);
  if (end === -1) end = path.split('').findIndex((_, at) => path[at] !== varied[at]);
  const own = varied.slice(0, Math.max(end, 0)).replace(/^!(?!\()/, '');
  const plain = own.slice(0, special.exec(own)?.index);
  return plain.slice(0, plain.lastIndexOf('/') + 1);
};

/**
 * The directory that the files of a path or glob must be below: what its author wrote before the first text of a parameter, or the
 * working directory if that is nothing.
 *
 * @param varied the path with other texts; undefined: no parameter is part of it, and neither is there a directory
 */
export const confinementOf = (
  path: string,
  varied: readonly string[] | undefined,
  workingDirectory: string,
): string | undefined => {
  const [first, ...others] = (varied ?? []).map((one) => writtenDirectory(path, one, glob));
  if (first === undefined) return undefined;
  const shortest = others.reduce((one, other) => (other.length < one.length ? other : one), first);
  return resolve(workingDirectory, shortest);
};

export const isBelow = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith('../') && !way.startsWith('..\\') && !isAbsolute(way);
};
