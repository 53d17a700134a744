// Turns the paths and globs of a source into the list of its files, in a fixed order.

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

/** Relative to the working directory when below it. */
const displayName = (path: string, workingDirectory: string): string => {
  const name = relative(workingDirectory, path) || '.';
  return name.startsWith('..') || isAbsolute(name) ? path : name;
};

/** Makes the error of a file, link or directory that the system does not let us look at. */
const createUnreadable =
  (table: string, workingDirectory: string) =>
  (path: string, cause: unknown): EtlError => {
    const details = { table, file: displayName(path, workingDirectory), problem: messageOf(cause) };
    return new EtlError('ETL_SOURCE_UNREADABLE', details, { cause });
  };

type FailedAt = ReturnType<typeof createUnreadable>;

/** What a path leads to; undefined when nothing is there. */
const lookAt = async (path: string, failedAt: FailedAt): Promise<Stats | undefined> => {
  try {
    return await stat(path);
  } catch (cause) {
    // A long list in braces is longer than any name may be.
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
  // A glob character in the name of a real file is no glob.
  if (there?.isFile()) return [path];
  if (!isDynamicPattern(pattern)) return there === undefined ? [] : [path];
  const { found, unreadable } = await crawl(pattern, workingDirectory);
  const [first] = unreadable.toSorted((one, other) => (one.path < other.path ? -1 : 1));
  if (first !== undefined) throw failedAt(resolve(first.path), first.cause);
  return found.map((file) => resolve(file)).sort();
};

/**
 * One path for each file: where several lead to one, its own, and the first of them when that is not among them.
 * A table would otherwise get the rows of a file as often as there are links to it.
 */
const withoutLinksToOthers = async (
  paths: readonly string[],
  workingDirectory: string,
  failedAt: FailedAt,
): Promise<readonly string[]> => {
  // What is there and has no path, such as a pipe at /dev/stdin, is refused afterwards as what it is.
  const targets = await withFilesAtOnce(paths, (path) =>
    realpath(path).catch(async (cause: unknown) => {
      if ((await lookAt(path, failedAt))?.isFile() === false) return path;
      throw failedAt(path, cause);
    }),
  );
  // The working directory itself may be below a link.
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

/** A regular file as it is listed; only looks: opening a pipe would wait for its writer. Errors: ETL_SOURCE_IRREGULAR. */
const listedFile = async (table: string, path: string, file: string): Promise<Listed> => {
  const stats = await stat(path, { bigint: true });
  const what = irregularKind(stats);
  if (what === undefined) return { location: path, name: file, version: versionIn(stats) };
  const hint =
    what === 'a directory'
      ? `Name its files: csv('${file}/*.csv').`
      : "Files are read at several places and again after a failure, which only a regular file allows: write the data to a file first. What is piped into `etl` is csv('-').";
  throw new EtlError('ETL_SOURCE_IRREGULAR', { table, file, what, hint });
};

/** What a pattern such as `!tmp-*.csv` leaves out; undefined for any other, and for the name of a file that begins so. */
const exclusionIn = async (
  pattern: string,
  workingDirectory: string,
  failedAt: FailedAt,
): Promise<string | undefined> =>
  /^!(?!\()/.test(pattern) && (await lookAt(resolve(workingDirectory, pattern), failedAt))?.isFile() !== true
    ? pattern.slice(1)
    : undefined;

/**
 * Lists the files of a source: patterns in declared order, files of one glob by name, each file once, however many links
 * lead to it; without those that an exclusion names, anywhere in the list. Parameters must not lead out of what the author of
 * the patterns wrote.
 *
 * Errors: ETL_SOURCE_NOT_FOUND when a path or glob matches nothing; ETL_SOURCE_UNREADABLE, also for a directory or a broken
 * link that a glob leads to; ETL_SOURCE_OUTSIDE; ETL_SOURCE_IRREGULAR for a directory that is named, and for a pipe, socket or
 * device.
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
    // Before anybody looks: whether a file is there is not to be learned either.
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
