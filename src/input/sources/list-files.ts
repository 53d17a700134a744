// Lists the local files of paths and globs in a fixed order.

import { type Stats, realpath as realpathWithCallback, type Dirent, type PathLike } from 'node:fs';
import { lstat, realpath, stat, readdir as readDirectory } from 'node:fs/promises';
import { isAbsolute, relative, resolve, join } from 'node:path';
import { escapePath, isDynamicPattern, glob, type FileSystemAdapter } from 'tinyglobby';
import { EtlError, codeOf, messageOf } from '../../core/errors/errors.ts';
import { withFilesAtOnce } from './at-once.ts';
import { confinementOf, isBelow, withSlashes } from './confine.ts';
import type { Listed, Listing } from './contract.ts';
import { isUnfinished } from './name-matcher.ts';
import { irregularKind, versionIn } from './read-file.ts';

// Unreadable directories, which tinyglobby silently skips: a replaced table would lose their rows.

interface Unreadable {
  readonly path: string;
  readonly cause: unknown;
}

type DirectoryCallback = (error: unknown, entries: readonly Dirent[]) => void;

/** Replaces line breaks, which tinyglobby's stars do not match, by characters that no name has. */
const hideBreaks = (text: string): string =>
  text.replace(/[\n\r\u2028\u2029]/g, (at) => String.fromCharCode(0xdc00 + (at.charCodeAt(0) & 0xff)));

const showBreaks = (text: string): string =>
  text.replace(/[\udc0a\udc0d\udc28\udc29]/gu, (half) => {
    const code = half.charCodeAt(0) - 0xdc00;
    return String.fromCharCode(code < 0x20 ? code : 0x2000 + code);
  });

const entryLike = (name: string, what: 'isFile' | 'isDirectory'): Dirent => {
  const claims = { isFile: () => false, isDirectory: () => false, isSymbolicLink: () => false };
  return Object.assign(claims, { name, [what]: () => true }) as Partial<Dirent> as Dirent;
};

/**
 * Keeps tinyglobby from skipping entries. A broken link counts as file and as directory: if the glob
 * matches only the directory, the files in it are unknown. A pipe, socket or device counts as a
 * file.
 */
const seenAs = async (directory: string, entry: Dirent): Promise<readonly Dirent[]> => {
  const isIrregular = !entry.isFile() && !entry.isDirectory();
  if (!entry.isSymbolicLink()) return isIrregular ? [entryLike(entry.name, 'isFile')] : [entry];
  try {
    const target = await stat(join(directory, entry.name));
    return target.isFile() || target.isDirectory() ? [entry] : [entryLike(entry.name, 'isFile')];
  } catch {
    return [entryLike(entry.name, 'isFile'), entryLike(entry.name, 'isDirectory')];
  }
};

const listDirectory = async (path: string): Promise<readonly Dirent[]> => {
  const entries = await readDirectory(path, { withFileTypes: true });
  const seen = (await Promise.all(entries.map((entry) => seenAs(path, entry)))).flat();
  return seen.map((entry) => Object.assign(entry, { name: hideBreaks(entry.name) }));
};

/** A file system that records unreadable directories, except a missing first directory. */
const watchedFileSystem = (unreadable: Unreadable[]): FileSystemAdapter => {
  let isRoot = true;
  const readdir = (hidden: PathLike, _options: unknown, listed: DirectoryCallback): void => {
    const path = showBreaks(String(hidden));
    const isMissing = isRoot ? ['ENOENT', 'ENOTDIR'] : [];
    isRoot = false;
    listDirectory(path).then(
      (entries) => listed(null, entries),
      (cause: unknown) => {
        if (!isMissing.includes(codeOf(cause) ?? '')) unreadable.push({ path, cause });
        listed(cause, []);
      },
    );
  };
  const ownRealpath = (hidden: string, resolved: (error: Error | null, path: string) => void): void =>
    realpathWithCallback(showBreaks(hidden), resolved);
  return { readdir, realpath: ownRealpath } as unknown as FileSystemAdapter;
};

/** Splits off the directory of a glob: tinyglobby would begin above it, and read too much. */
const splitPattern = (pattern: string): { readonly base: string; readonly rest: string } => {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => /[*?[\]{}()!+@|\\]/.test(part));
  const base = parts
    .slice(0, first)
    .map((part) => `${part}/`)
    .join('');
  // `!(` is glob syntax. A plain `!` is escaped: it would match all other files.
  const rest = parts
    .slice(first)
    .join('/')
    .replace(/^!(?!\()/, '\\!');
  return { base, rest };
};

/** Finds the files of a glob. Follows links, but a link to a directory above itself only once. */
const crawl = async (
  pattern: string,
  workingDirectory: string,
  failedAt: FailedAt,
): Promise<readonly string[]> => {
  const { base, rest } = splitPattern(pattern);
  const unreadable: Unreadable[] = [];
  const found = await glob(hideBreaks(rest), {
    cwd: resolve(workingDirectory, base),
    absolute: true,
    onlyFiles: true,
    expandDirectories: false,
    fs: watchedFileSystem(unreadable),
  });
  const files = found.map((file) => resolve(showBreaks(file))).sort();
  const listed = new Set(files);
  const [first] = unreadable
    .filter(({ path }) => !listed.has(resolve(path)))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1));
  if (first !== undefined) throw failedAt(resolve(first.path), first.cause);
  return files;
};

/** A set of characters · a letter with its accents · another character that is not ASCII. */
const writtenTwoWays = /\[[^\]]*\]|[\p{L}\p{N}]\p{M}+|[^\0-\x7f]/gu;

/** Makes a glob match names whose accents are composed (NFC) and decomposed (NFD), as on macOS. */
const inEitherForm = (pattern: string): string =>
  pattern.replace(writtenTwoWays, (written) => {
    const forms = new Set([written, written.normalize('NFC'), written.normalize('NFD')]);
    return forms.size === 1 || written.startsWith('[') ? written : `{${[...forms].join(',')}}`;
  });

const displayName = (path: string, workingDirectory: string): string => {
  const name = relative(workingDirectory, path) || '.';
  return name.startsWith('..') || isAbsolute(name) ? path : name;
};

const createUnreadable =
  (table: string, workingDirectory: string) =>
  (path: string, cause: unknown): EtlError => {
    const details = { table, file: displayName(path, workingDirectory), problem: messageOf(cause) };
    return new EtlError('ETL_SOURCE_UNREADABLE', details, { cause });
  };

type FailedAt = ReturnType<typeof createUnreadable>;

const lookAt = async (path: string, failedAt: FailedAt): Promise<Stats | undefined> => {
  try {
    return await stat(path);
  } catch (cause) {
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
  // The name of an existing file is not a glob, even if the name has a star.
  if (there?.isFile()) return [path];
  const slashed = withSlashes(pattern);
  const isGlob = isDynamicPattern(slashed);
  if (there !== undefined && !isGlob) return [path];
  const escaped = escapePath(slashed);
  const asName = inEitherForm(escaped);
  const found = asName === escaped ? [] : await crawl(asName, workingDirectory, failedAt);
  if (found.length > 0 || !isGlob) return found;
  const all = await crawl(inEitherForm(slashed), workingDirectory, failedAt);
  return all.filter((file) => !isUnfinished(withSlashes(file), slashed));
};

/** True if a file was removed after it was listed. A link that leads nowhere is still there. */
const isGone = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => false,
    (cause: unknown) => codeOf(cause) === 'ENOENT',
  );

/** Keeps one path per file: otherwise, a file with several links would be loaded several times. */
const withoutLinksToOthers = async (
  paths: readonly string[],
  workingDirectory: string,
): Promise<readonly string[]> => {
  // Keeps what has no real path, such as a pipe or a broken link: `listedFile` refuses it.
  const targets = await withFilesAtOnce(paths, (path) =>
    realpath(path).catch(async () => ((await isGone(path)) ? undefined : path)),
  );
  // The working directory may itself be below a link.
  const base = await realpath(workingDirectory);
  const chosen = new Map<string, string>();
  for (const [index, path] of paths.entries()) {
    const target = targets[index];
    if (target === undefined) continue;
    const isItself = [path, resolve(base, relative(workingDirectory, path))].includes(target);
    if (isItself || !chosen.has(target)) chosen.set(target, path);
  }
  const kept = new Set(chosen.values());
  return paths.filter((path) => kept.has(path));
};

const irregular = (table: string, file: string, what: string): EtlError => {
  const hint =
    what === 'a directory'
      ? `Name its files: csv('${file}/*.csv').`
      : "Write the data to a file first: files are read at several places at once, and again after a failure. Data piped into `etl` is csv('-').";
  return new EtlError('ETL_SOURCE_IRREGULAR', { table, file, what, hint });
};

const deadLink = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** Returns a file's version without opening the file, because opening a pipe could block. */
const listedFile = async (table: string, path: string, name: string): Promise<readonly Listed[]> => {
  try {
    const stats = await stat(path, { bigint: true });
    const what = irregularKind(stats);
    if (what === undefined) return [{ location: path, name, version: versionIn(stats) }];
    return [{ location: path, name, refusal: irregular(table, name, what) }];
  } catch (cause) {
    if (await isGone(path)) return [];
    const isDead = deadLink.has(codeOf(cause) ?? '');
    const problem = isDead ? 'it is a link that leads nowhere' : messageOf(cause);
    const details = { table, file: name, problem };
    const refusal = new EtlError('ETL_SOURCE_UNREADABLE', details, { cause });
    return [{ location: path, name, refusal }];
  }
};

const exclusionIn = async (
  pattern: string,
  workingDirectory: string,
  failedAt: FailedAt,
): Promise<string | undefined> =>
  /^!(?!\()/.test(pattern) && (await lookAt(resolve(workingDirectory, pattern), failedAt))?.isFile() !== true
    ? pattern.slice(1)
    : undefined;

/**
 * Lists patterns in declared order, files of a glob by name, each file once. What a glob matches and
 * cannot be read is listed with its refusal; what is named is refused.
 *
 * Errors: ETL_SOURCE_NOT_FOUND, ETL_SOURCE_UNREADABLE, ETL_SOURCE_OUTSIDE, ETL_SOURCE_IRREGULAR.
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
    // Checked first: a parameter must not even find out which files exist.
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
  const own = await withoutLinksToOthers(wanted, workingDirectory);
  const look = (path: string) => listedFile(table, path, displayName(path, workingDirectory));
  const listed = (await withFilesAtOnce(own, look)).flat();
  const named = new Set(patterns.map((pattern) => resolve(workingDirectory, pattern)));
  for (const { location, refusal } of listed) if (refusal !== undefined && named.has(location)) throw refusal;
  if (listed.length > 0) return listed;
  throw new EtlError('ETL_SOURCE_NOT_FOUND', {
    table,
    glob: patterns.join(', '),
    directory: workingDirectory,
  });
};
