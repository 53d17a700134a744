// Checks imports: layers point downward, stages do not know each other, one owner for each dependency.

import { posix } from 'node:path';
import { codeOf, type SourceFile } from './source-files.ts';

/** Layers from the top; each is a list of folders and files of src/. */
export interface Layer {
  readonly name: string;
  readonly parts: readonly string[];
}

/** `stages  source/  format/ …`: a name and its parts, separated by blanks. */
export const readLayers = (lines: readonly string[]): readonly Layer[] =>
  lines.map((line) => {
    const [name = '', ...parts] = line.trim().split(/\s+/);
    return { name, parts: parts.map((part) => part.replace(/\/$/, '')) };
  });

/** `db/  pg`: the folder and the packages that only it may import. */
export const readOwners = (lines: readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    readLayers(lines).flatMap(({ name, parts }) =>
      parts.map((part) => [part, name.replace(/\/$/, '')] as const),
    ),
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

const inSource = (path: string): string => path.replace(/^src\//, '');

/** Files of src/ that a file imports, and packages. */
const targetsOf = (file: SourceFile): { files: readonly string[]; packages: readonly string[] } => {
  const all = importsOf(file);
  return {
    files: all
      .filter((name) => name.startsWith('.'))
      .map((name) => inSource(posix.join(posix.dirname(file.path), name))),
    packages: all
      .filter((name) => !name.startsWith('.') && !name.startsWith('node:'))
      .map((name) =>
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      ),
  };
};

/** First folder below src/, or the file itself when it is directly in src/. */
const partOf = (path: string): string => inSource(path).split('/')[0]!;

/** Every import that does not point downward, as a sentence. */
export const layerViolations = (
  files: readonly SourceFile[],
  layers: readonly Layer[],
): readonly string[] => {
  const layerOf = (part: string): number => layers.findIndex(({ parts }) => parts.includes(part));
  return files.flatMap((file) => {
    const from = partOf(file.path);
    if (layerOf(from) === -1) return [`${file.path}: ${from} is in no layer`];
    return targetsOf(file).files.flatMap((target) => {
      const to = partOf(target);
      if (to === from) return [];
      const isWord = layerOf(from) === layers.length - 1 && layerOf(to) === layers.length - 1;
      if (isWord || layerOf(to) > layerOf(from)) return [];
      return [`${file.path} imports ${target}: ${from} may not know ${to}`];
    });
  });
};

/** Imports of a package outside of the folder that owns it, and packages without an owner. */
export const ownerViolations = (
  files: readonly SourceFile[],
  owners: ReadonlyMap<string, string>,
): readonly string[] =>
  files.flatMap((file) =>
    targetsOf(file).packages.flatMap((name) => {
      const owner = owners.get(name);
      if (owner === undefined) return [`${file.path} imports ${name}, which nobody owns`];
      return inSource(file.path).startsWith(`${owner}/`)
        ? []
        : [`${file.path} imports ${name}, which ${owner} owns`];
    }),
  );
