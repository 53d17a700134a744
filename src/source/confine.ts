// Where the files of a path must be if a parameter is part of it: parameters do not choose which files are read.

import { isAbsolute, relative, resolve } from 'node:path';

/** Two dots that may come together, also out of braces. */
const climbing = /\.[^\w/\\]*\./;
/** A path from the root, also out of braces. */
const rooted = /(?:^|[{,(|])(?:[/\\]|[a-z]:)/;
/** What a segment of a glob holds that is no plain name. */
const magic = /[*?{}()[\]!@+]/;

/** Every text in the values of parameters. */
export const textsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
};

/** The directories that a path names by itself, before anything that may lead elsewhere; `..` at its beginning is one. */
const namedDirectory = (pattern: string): string => {
  const segments = pattern.split('/').slice(0, -1);
  const first = segments.findIndex((segment) => segment !== '..' && segment !== '.');
  const end = segments.findIndex(
    (segment, place) => magic.test(segment) || (segment === '..' && place > first),
  );
  return segments.slice(0, first === -1 || end === -1 ? undefined : end).join('/');
};

/**
 * The directory that the files of a path or glob must be below, because a text of the parameters could lead out of it;
 * undefined: none could. It is what the path names before that text, and the working directory when that is nothing.
 */
export const confinementOf = (
  pattern: string,
  texts: readonly string[],
  workingDirectory: string,
): string | undefined => {
  const path = pattern.toLowerCase();
  const leading = texts.map((text) => text.trim().toLowerCase());
  const places = leading
    .filter((text) => climbing.test(text) || rooted.test(text))
    .map((text) => path.indexOf(text))
    .filter((place) => place !== -1);
  if (places.length > 0) {
    const before = pattern.slice(0, Math.min(...places));
    return resolve(workingDirectory, before.slice(0, before.lastIndexOf('/') + 1));
  }
  // A text that appears in the path in another form, such as decoded, can still lead upwards.
  const mayClimb = leading.some((text) => climbing.test(text));
  return mayClimb ? resolve(workingDirectory, namedDirectory(pattern)) : undefined;
};

export const isBelow = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way !== '..' && !way.startsWith('../') && !way.startsWith('..\\') && !isAbsolute(way);
};
