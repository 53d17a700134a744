// Checks imports: rooms import only those below them, no folder has children that import each other in a circle, and each dependency
// has one owner.

import { posix } from 'node:path';
import { codeOf, type SourceFile } from './source-files.ts';

/** Lines such as `db/  pg`: the first word of each, without its slash, and the words after it. */
export const readLists = (lines: readonly string[]): ReadonlyMap<string, readonly string[]> =>
  new Map(
    lines.map((line) => {
      const [name = '', ...words] = line.trim().split(/\s+/);
      return [name.replace(/\/$/, ''), words];
    }),
  );

const specifier =
  /\bfrom\s*'([^'\n]+)'|\bimport\s*'([^'\n]+)'|\bimport\(\s*'([^'\n]+)'\s*\)|\brequire(?:\.resolve)?\(\s*'([^'\n]+)'|\bcreateRequire\([^\n]*?\)\(\s*'([^'\n]+)'/g;

/** What a file imports, in any of the ways we use; texts that only look like an import are none. */
export const importsOf = ({ text }: SourceFile): readonly string[] => {
  const code = codeOf(text);
  return [...text.matchAll(specifier)]
    .filter(({ index }) => code[index] === text[index])
    .map((found) => found.slice(1).find(Boolean)!);
};

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Imports of files by files of src/, both as paths below it. */
const fileImports = (files: readonly SourceFile[]): readonly Import[] =>
  files.flatMap((file) =>
    importsOf(file)
      .filter((name) => name.startsWith('.'))
      .map((name) => ({
        from: posix.relative('src', file.path),
        to: posix.relative('src', posix.join(posix.dirname(file.path), name)),
      })),
  );

const packagesOf = (file: SourceFile): readonly string[] =>
  importsOf(file)
    .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
    .map((name) =>
      name
        .split('/')
        .slice(0, name.startsWith('@') ? 2 : 1)
        .join('/'),
    );

const roomOf = (path: string): string => path.split('/')[0]!;

/** Imports of a room by one below it, and files in no room. `rooms`: from the top. */
export const upwardImports = (files: readonly SourceFile[], rooms: readonly string[]): readonly string[] => [
  ...files
    .filter(({ path }) => !rooms.includes(roomOf(posix.relative('src', path))))
    .map(({ path }) => `${path} is in no room`),
  ...fileImports(files)
    .filter(({ from, to }) => rooms.indexOf(roomOf(to)) < rooms.indexOf(roomOf(from)))
    .map(({ from, to }) => `${from} imports ${to}, which is above it`),
];

/** Files in a folder that files of a room load, themselves or through what they import. */
export const loadedBy = (files: readonly SourceFile[], room: string, folder: string): readonly string[] => {
  const imports = fileImports(files);
  const seen = new Set(imports.map(({ from }) => from).filter((from) => from.startsWith(room)));
  for (const from of seen) for (const one of imports) if (one.from === from) seen.add(one.to);
  return [...seen].filter((path) => path.startsWith(folder)).toSorted();
};

/** The circle that leads from a name back to it; undefined: there is none. */
const circleFrom = (
  start: string,
  next: ReadonlyMap<string, ReadonlySet<string>>,
): readonly string[] | undefined => {
  const seen = new Set<string>();
  const paths = [[start]];
  for (const path of paths)
    for (const name of next.get(path.at(-1)!) ?? []) {
      if (name === start) return path;
      if (!seen.has(name)) paths.push([...path, name]);
      seen.add(name);
    }
  return undefined;
};

/** Folders whose children, files and folders, import each other in a circle: `run: begin, files`. */
export const circles = (files: readonly SourceFile[]): readonly string[] => {
  const byFolder = new Map<string, Map<string, Set<string>>>();
  for (const { from, to } of fileImports(files)) {
    const [own, other] = [from.split('/'), to.split('/')];
    const depth = own.findIndex((part, at) => part !== other[at]);
    if (depth === -1) continue;
    const folder = own.slice(0, depth).join('/');
    const children = byFolder.get(folder) ?? new Map<string, Set<string>>();
    byFolder.set(folder, children);
    children.set(own[depth]!, (children.get(own[depth]!) ?? new Set()).add(other[depth]!));
  }
  const found = [...byFolder].flatMap(([folder, children]) =>
    [...children.keys()].flatMap((child) => {
      const circle = circleFrom(child, children);
      return circle === undefined ? [] : `${folder || 'src'}: ${circle.toSorted().join(', ')}`;
    }),
  );
  return [...new Set(found)].toSorted();
};

/** Imports of a package outside of the room that owns it, and packages without an owner. */
export const ownerViolations = (
  files: readonly SourceFile[],
  owners: ReadonlyMap<string, readonly string[]>,
): readonly string[] =>
  files.flatMap((file) =>
    packagesOf(file).flatMap((name) => {
      const owner = [...owners].find(([, packages]) => packages.includes(name))?.[0];
      if (owner === undefined) return [`${file.path} imports ${name}, which nobody owns`];
      return roomOf(posix.relative('src', file.path)) === owner
        ? []
        : [`${file.path} imports ${name}, which ${owner} owns`];
    }),
  );
