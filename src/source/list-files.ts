// Turns the paths and globs of a source into the list of its files, in a fixed order.

import { stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { escapePath, glob, isDynamicPattern } from 'tinyglobby';
import { EtlError, codeOf, messageOf } from '../errors.ts';

/** A file that a source names. */
export interface ListedFile {
  readonly path: string;
  /** Relative to the working directory when below it: what people see. */
  readonly name: string;
}

const displayName = (path: string, workingDirectory: string): string => {
  const name = relative(workingDirectory, path);
  return name.startsWith('..') || isAbsolute(name) ? path : name;
};

/** True for a file, false for what is not there; a glob character in the name of a real file is no glob. */
const isFile = async (path: string, table: string): Promise<boolean> => {
  try {
    return (await stat(path)).isFile();
  } catch (cause) {
    // A long list in braces is longer than any name may be.
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(codeOf(cause) ?? '')) return false;
    throw new EtlError('ETL_SOURCE_UNREADABLE', { table, file: path, problem: messageOf(cause) }, { cause });
  }
};

const expand = async (pattern: string, workingDirectory: string, table: string): Promise<string[]> => {
  const path = resolve(workingDirectory, pattern);
  if (await isFile(path, table)) return [path];
  if (!isDynamicPattern(pattern)) return [];
  const absolutePattern = isAbsolute(pattern) ? pattern : `${escapePath(workingDirectory)}/${pattern}`;
  const found = await glob(absolutePattern, { absolute: true, onlyFiles: true, expandDirectories: false });
  return found.map((file) => resolve(file)).sort();
};

/**
 * Lists the files of a source: patterns in declared order, files of one glob by name, each file once.
 *
 * Errors: ETL_SOURCE_NOT_FOUND when a path or glob matches nothing, ETL_SOURCE_UNREADABLE.
 */
export const listFiles = async (
  table: string,
  patterns: readonly string[],
  workingDirectory: string,
): Promise<readonly ListedFile[]> => {
  const paths = new Set<string>();
  for (const pattern of patterns) {
    const found = await expand(pattern, workingDirectory, table);
    if (found.length === 0)
      throw new EtlError('ETL_SOURCE_NOT_FOUND', { table, glob: pattern, directory: workingDirectory });
    for (const path of found) paths.add(path);
  }
  return [...paths].map((path) => ({ path, name: displayName(path, workingDirectory) }));
};
