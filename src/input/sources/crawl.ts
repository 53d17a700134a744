// Expands a glob, and reports directories that cannot be read. tinyglobby silently skips them, and
// a table would be replaced with the rows of the remaining files.

import { readdir as readDirectory, stat } from 'node:fs/promises';
import { realpath, type Dirent, type PathLike } from 'node:fs';
import { join, resolve } from 'node:path';
import { glob, type FileSystemAdapter } from 'tinyglobby';
import { codeOf } from '../../core/errors/errors.ts';

/** A directory that could not be read, and why. */
export interface Unreadable {
  readonly path: string;
  readonly cause: unknown;
}

type Listed = (error: unknown, entries: readonly Dirent[]) => void;

/** Replaces line breaks, which tinyglobby's stars do not match, with characters no name has. */
const hideBreaks = (text: string): string =>
  text.replace(/[\n\r\u2028\u2029]/g, (at) => String.fromCharCode(0xdc00 + (at.charCodeAt(0) & 0xff)));

/** Undoes `hideBreaks`. */
const showBreaks = (text: string): string =>
  text.replace(/[\udc0a\udc0d\udc28\udc29]/gu, (half) => {
    const code = half.charCodeAt(0) - 0xdc00;
    return String.fromCharCode(code < 0x20 ? code : 0x2000 + code);
  });

/** A directory entry that claims to be a file, or a directory. */
const entryLike = (name: string, what: 'isFile' | 'isDirectory'): Dirent => {
  const claims = { isFile: () => false, isDirectory: () => false, isSymbolicLink: () => false };
  return Object.assign(claims, { name, [what]: () => true }) as Partial<Dirent> as Dirent;
};

/**
 * How tinyglobby must see an entry, so that it skips nothing. A broken link counts as file and as
 * directory, so that opening it reports the system's error. Pipes, sockets and devices count as
 * files, so that they are refused by name if the pattern matches.
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

/** A file system that collects unreadable directories. A missing first one means no match. */
const watchedFileSystem = (unreadable: Unreadable[]): FileSystemAdapter => {
  let isRoot = true;
  const readdir = (hidden: PathLike, _options: unknown, listed: Listed): void => {
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
    realpath(showBreaks(hidden), resolved);
  return { readdir, realpath: ownRealpath } as unknown as FileSystemAdapter;
};

export interface Crawled {
  /** Files and broken links that the pattern matches. */
  readonly found: readonly string[];
  /** Directories of the pattern that could not be read. */
  readonly unreadable: readonly Unreadable[];
}

/**
 * Splits a pattern into the directory where it begins, and the rest. tinyglobby itself would begin
 * at the common parent of pattern and working directory, and read unrelated directories.
 */
const splitPattern = (pattern: string): { readonly base: string; readonly rest: string } => {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => /[*?[\]{}()!+@|\\]/.test(part));
  const base = parts.slice(0, first).join('/');
  // `!(` is glob syntax. Any other `!` at the beginning is escaped: it would match all other files.
  const rest = parts
    .slice(first)
    .join('/')
    .replace(/^!(?!\()/, '\\!');
  return { base: base === '' && first > 0 ? '/' : base, rest };
};

/** Expands a glob. Links are followed; a link to a directory above itself is followed once. */
export const crawl = async (pattern: string, workingDirectory: string): Promise<Crawled> => {
  const { base, rest } = splitPattern(pattern);
  const unreadable: Unreadable[] = [];
  const found = await glob(hideBreaks(rest), {
    cwd: resolve(workingDirectory, base),
    absolute: true,
    onlyFiles: true,
    expandDirectories: false,
    fs: watchedFileSystem(unreadable),
  });
  return { found: found.map(showBreaks), unreadable };
};
