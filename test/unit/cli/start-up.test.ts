// What every command pays before it does anything: the modules that the command line imports at its start.

import { posix } from 'node:path';
import { expect, it } from 'vitest';
import { filesBelow, type SourceFile } from '../project/source-files.ts';

const sources = new Map(filesBelow('src', '.ts').map((file) => [file.path, file]));

/** What a module imports when it is loaded: no types, and nothing inside a function. */
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
  // Whose `.env` this is comes before all else.
  const heavy = /^src\/(?:db|embedded(?!\/ownership)|publish|queue|format|worker|page)\//;
  expect(loaded.filter((name) => heavy.test(name))).toEqual([]);
});
