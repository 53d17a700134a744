// Modules that every command loads at its start.

import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { filesBelow, type SourceFile } from '../project/source-files.ts';

const sources = new Map(filesBelow('src', '.ts').map((file) => [file.path, file]));

/** Returns static imports of values: no types, and no dynamic imports. */
const loadedBy = ({ path, text }: SourceFile): readonly string[] =>
  [...text.matchAll(/^(?:import|export) (?!type )(?:[^';]* from )?'([^']+)';$/gm)].map(([, name = '']) =>
    name.startsWith('.') ? posix.join(posix.dirname(path), name) : name,
  );

const loadedWith = (first: string): ReadonlySet<string> => {
  const found = new Set<string>();
  const add = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    const file = sources.get(name);
    if (file !== undefined) loadedBy(file).forEach(add);
  };
  add(first);
  return found;
};

it('is commands, their flags and their texts: no driver, no publication, no queue', () => {
  const loaded = [...loadedWith('src/cli/main.ts')].filter((name) => !name.startsWith('node:'));
  expect(loaded).toContain('src/cli/commands/run.ts');
  expect(loaded.filter((name) => !name.startsWith('src/'))).toEqual(['commander']);
  const heavy = /^src\/(?:db|publish|queue|format|worker|page)\//;
  expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
});
