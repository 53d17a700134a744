// Lists the local files of paths and globs in a fixed order.

import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { isDynamicPattern } from 'tinyglobby';
import { EtlError, codeOf, messageOf } from '../../core/errors/errors.ts';
import { withFilesAtOnce } from './at-once.ts';
import { confinementOf, isBelow } from './confine.ts';
import { crawl } from './crawl.ts';
import type { Listed, Listing } from './contract.ts';
import { irregularKind, versionIn } from './read-file.ts';

/** Relative to the working directory if the path is below it. */
const displayName = (path: string, workingDirectory: string): string => {
  const name = relative(workingDirectory, path) || '.';
  return name.startsWith('..') || isAbsolute(name) ? path : name;
};

/** Makes the error of a file, link or directory that cannot be read. */
const createUnreadable =
  (table: string, workingDirectory: string) =>
  (path: string, cause: unknown): EtlError => {
    const details = { table, file: displayName(path, workingDirectory), problem: messageOf(cause) };
    return new EtlError('ETL_SOURCE_UNREADABLE', details, { cause });
  };

type FailedAt = ReturnType<typeof createUnreadable>;

/** The file at a path; undefined: there is none. */
const lookAt = async (path: string, failedAt: FailedAt): Promise<Stats | undefined> => {
  try {
    return await stat(path);
  } catch (cause) {
    // ENAMETOOLONG: a glob with a long list in braces.
    if (['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes(codeOf(cause) ?? '')) return undefined;
    throw failedAt(path, cause);
  }
};

const expand = async (
  pattern: string,
  workingDirectory: string,
  failedAt: FailedAt,
): Promise<readonly string[]> => {
  const path = resolve(workingDirectory, pattern);
  const there = await lookAt(path, failedAt);
  // The name of an existing file is not a glob, even if it has a star.
  if (there?.isFile()) return [path];
  if (!isDynamicPattern(pattern)) return there === undefined ? [] : [path];
  const { found, unreadable } = await crawl(pattern, workingDirectory);
  const [first] = unreadable.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  if (first !== undefined) throw failedAt(resolve(first.path), first.cause);
  return found.map((file) => resolve(file)).sort();
};

/**
 * Keeps one path for each file: its own path, or if that is not listed, the first link to it.
 * Otherwise a table would get the rows of a file once for each link.
 */
const withoutLinksToOthers = async (
  paths: readonly string[],
  workingDirectory: string,
  failedAt: FailedAt,
): Promise<readonly string[]> => {
  // A pipe such as /dev/stdin has no real path; `listedFile` refuses it as what it is.
  const targets = await withFilesAtOnce(paths, (path) =>
    realpath(path).catch(async (cause: unknown) => {
      if ((await lookAt(path, failedAt))?.isFile() === false) return path;
      throw failedAt(path, cause);
    }),
  );
  // The working directory may be below a link.
  const base = await realpath(workingDirectory);
  const chosen = new Map<string, string>();
  for (const [index, path] of paths.entries()) {
    const target = targets[index]!;
    const isItself = [path, resolve(base, relative(workingDirectory, path))].includes(target);
    if (isItself || !chosen.has(target)) chosen.set(target, path);
  }
  const kept = new Set(chosen.values());
  return paths.filter((path) => kept.has(path));
};

/** A regular file of the listing. Not opened, which could block. Errors: ETL_SOURCE_IRREGULAR. */
const listedFile = async (table: string, path: string, file: string): Promise<Listed> => {
  const stats = await stat(path, { bigint: true });
  const what = irregularKind(stats);
  if (what === undefined) return { location: path, name: file, version: versionIn(stats) };
  const hint =
    what === 'a directory'
      ? `Name its files: csv('${file}/*.csv').`
      : "Write the data to a file first: files are read at several places at once, and again after a failure. Data piped into `etl` is csv('-').";
  throw new EtlError('ETL_SOURCE_IRREGULAR', { table, file, what, hint });
};

/** The pattern that `!tmp-*.csv` excludes; undefined: no exclusion, or the name of a file. */
const exclusionIn = async (
  pattern: string,
  workingDirectory: string,
  failedAt: FailedAt,
): Promise<string | undefined> =>
  /^!(?!\()/.test(pattern) && (await lookAt(resolve(workingDirectory, pattern), failedAt))?.isFile() !== true
    ? pattern.slice(1)
    : undefined;

/**
 * Lists files: patterns in declared order, files of a glob by name, each file once, without
 * excluded files. Parameters must not lead out of the directory that the author wrote.
 *
 * Errors: ETL_SOURCE_NOT_FOUND if a pattern matches nothing; ETL_SOURCE_UNREADABLE, also for
 * directories and broken links of a glob; ETL_SOURCE_OUTSIDE; ETL_SOURCE_IRREGULAR for a named
 * directory, a pipe, a socket or a device.
 */
export const listFiles = async ({
  table,
  locations: patterns,
  workingDirectory,
  varied,
}: Listing): Promise<readonly Listed[]> => {
  const failedAt = createUnreadable(table, workingDirectory);
  const paths = new Set<string>();
  const excluded = new Set<string>();
  for (const pattern of patterns) {
    const base = confinementOf(pattern, varied?.get(pattern), workingDirectory);
    const confine = (path: string): void => {
      if (base !== undefined && !isBelow(base, path))
        throw new EtlError('ETL_SOURCE_OUTSIDE', { table, file: pattern, base });
    };
    // Checked before looking, so that a parameter cannot even find out which files exist.
    confine(resolve(workingDirectory, pattern.replace(/^!(?!\()/, '')));
    const exclusion = await exclusionIn(pattern, workingDirectory, failedAt);
    if (exclusion !== undefined) {
      for (const path of await expand(exclusion, workingDirectory, failedAt)) excluded.add(path);
      continue;
    }
    const found = await expand(pattern, workingDirectory, failedAt);
    found.forEach(confine);
    if (found.length === 0)
      throw new EtlError('ETL_SOURCE_NOT_FOUND', { table, glob: pattern, directory: workingDirectory });
    for (const path of found) paths.add(path);
  }
  const wanted = [...paths].filter((path) => !excluded.has(path));
  if (wanted.length === 0)
    throw new EtlError('ETL_SOURCE_NOT_FOUND', {
      table,
      glob: patterns.join(', '),
      directory: workingDirectory,
    });
  const own = await withoutLinksToOthers(wanted, workingDirectory, failedAt);
  return withFilesAtOnce(own, (path) => listedFile(table, path, displayName(path, workingDirectory)));
};
