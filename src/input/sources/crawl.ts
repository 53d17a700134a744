// Expands a glob, and keeps what its directories would hide: tinyglobby passes over whatever it cannot read, as if it were
// not there, and a table would be replaced by what is left of its files.

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

/** No dot of tinyglobby's expressions matches a line break: while it looks, half characters, which no name has, stand for these. */
const hideBreaks = (text: string): string =>
  text.replace(/[\n\r\u2028\u2029]/g, (at) => String.fromCharCode(0xdc00 + (at.charCodeAt(0) & 0xff)));

const showBreaks = (text: string): string =>
  text.replace(/[\udc0a\udc0d\udc28\udc29]/gu, (half) => {
    const code = half.charCodeAt(0) - 0xdc00;
    return String.fromCharCode(code < 0x20 ? code : 0x2000 + code);
  });

/** An entry of this name that claims to be a file or a directory. */
const entryLike = (name: string, what: 'isFile' | 'isDirectory'): Dirent => {
  const claims = { isFile: () => false, isDirectory: () => false, isSymbolicLink: () => false };
  return Object.assign(claims, { name, [what]: () => true }) as Partial<Dirent> as Dirent;
};

/**
 * An entry as the crawler is to see it. What a broken link led to may have been a file or a directory: it is taken for both,
 * and opening a match of the pattern gives the system's own error. Pipes, sockets and devices pass for
 * files, so that one that the pattern matches is refused by name and not passed over.
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

/** A file system that remembers what could not be read. That the pattern begins at no directory only means no match. */
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

/** What a glob came to. */
export interface Crawled {
  /** Paths of files, and of broken links that the pattern matches. */
  readonly found: readonly string[];
  /** What the pattern leads into and nobody could look at. */
  readonly unreadable: readonly Unreadable[];
}

/**
 * A pattern as the directory where it begins, and the rest. tinyglobby itself begins at what the pattern and the working
 * directory have in common, which may be the root, and looks into directories that have nothing to do with it.
 */
const splitPattern = (pattern: string): { readonly base: string; readonly rest: string } => {
  const parts = pattern.split('/');
  const first = parts.findIndex((part) => /[*?[\]{}()!+@|\\]/.test(part));
  const base = parts.slice(0, first).join('/');
  // An exclamation mark before a parenthesis is syntax; another one at the beginning would ask for all other files.
  const rest = parts
    .slice(first)
    .join('/')
    .replace(/^!(?!\()/, '\\!');
  return { base: base === '' && first > 0 ? '/' : base, rest };
};

/** Expands a glob. Links are followed; one that leads back to a directory above it is followed once. */
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
