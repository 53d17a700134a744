// The rooms and owners that ARCHITECTURE.md lists are those of the code.

import { describe, expect, it } from 'vitest';
import { circles, importsOf, loadedBy, ownerViolations, readLists, upwardImports } from './imports.ts';
import { fencedLines, filesBelow, readProjectFile } from './source-files.ts';

const architecture = readProjectFile('ARCHITECTURE.md');
const rooms = [...readLists(fencedLines(architecture, 'rooms')).keys()];
const owners = readLists(fencedLines(architecture, 'owners'));
const sources = filesBelow('src', '.ts', '.mjs');

describe('the code', () => {
  it('imports only rooms that are below', () => expect(upwardImports(sources, rooms)).toEqual([]));

  it('of definitions, which every thread loads, loads of the modes only their meanings', () =>
    expect(
      loadedBy(sources, 'pipeline/', 'publish/modes/').filter((path) => !/\/meanings?\.ts$/.test(path)),
    ).toEqual([]));

  it('has no folder whose children import each other', () => expect(circles(sources)).toEqual([]));

  it('imports each dependency in the room that owns it', () =>
    expect(ownerViolations(sources, owners)).toEqual([]));

  it('owns every dependency of package.json, and no other', () => {
    const { dependencies, peerDependencies } = JSON.parse(readProjectFile('package.json')) as {
      dependencies: object;
      peerDependencies: object;
    };
    const all = [...Object.keys(dependencies), ...Object.keys(peerDependencies), 'typescript', 'rolldown'];
    expect([...owners.values()].flat().toSorted()).toEqual(all.toSorted());
  });
});

const source = (path: string, text: string) => ({ path: `src/${path}`, text });

it.each([
  ['a room may import one below', source('cli/a.ts', `import '../core/b.ts';`), []],
  ['a file may import its own room', source('db/a.ts', `import './b.ts';`), []],
  [
    'a type import is an import',
    source('db/a.ts', `import type {\n  B,\n} from '../run/b.ts';`),
    ['db/a.ts imports run/b.ts, which is above it'],
  ],
  [
    'so is one at run time',
    source('run/a.ts', `const b = await import('../cli/b.ts');`),
    ['run/a.ts imports cli/b.ts, which is above it'],
  ],
  [
    'and one that exports',
    source('core/a.ts', `export { a } from '../db/b.ts';`),
    ['core/a.ts imports db/b.ts, which is above it'],
  ],
  ['a room that is not listed', source('misc/a.ts', ''), ['src/misc/a.ts is in no room']],
  [
    'an import in a comment is none',
    source('db/a.ts', `// import '../run/b.ts'\n/* from '../run/b.ts' */`),
    [],
  ],
])('the check of rooms %s', (_, file, found) =>
  expect(upwardImports([file], ['cli', 'run', 'db', 'core'])).toEqual(found),
);

describe('the check of what is loaded', () => {
  const texts = { 'pipeline/a.ts': '../b/c.ts', 'b/c.ts': './modes/d.ts', 'run/e.ts': '../b/modes/f.ts' };
  const files = Object.entries(texts).map(([path, imported]) => source(path, `import '${imported}';`));
  it('follows imports of imports, and only those of the room', () =>
    expect(loadedBy(files, 'pipeline/', 'b/modes/')).toEqual(['b/modes/d.ts']));
});

it.each([
  ['two files', { 'db/a.ts': './b.ts', 'db/b.ts': './a.ts' }, ['db: a.ts, b.ts']],
  [
    'two folders, by other files of theirs',
    { 'db/x/a.ts': '../y/b.ts', 'db/y/c.ts': '../x/d.ts' },
    ['db: x, y'],
  ],
  ['a folder and a file beside it', { 'db/x/a.ts': '../b.ts', 'db/b.ts': './x/c.ts' }, ['db: b.ts, x']],
  [
    'three of them',
    { 'a/1.ts': '../b/1.ts', 'b/2.ts': '../c/1.ts', 'c/2.ts': '../a/2.ts' },
    ['src: a, b, c'],
  ],
  ['none in a line', { 'db/x/a.ts': '../y/b.ts', 'db/y/b.ts': '../z.ts' }, []],
])('the check of circles %s', (_, texts, found) => {
  const files = Object.entries(texts).map(([path, imported]) => source(path, `import '${imported}';`));
  expect(circles(files)).toEqual(found);
});

describe('the check of owners', () => {
  const owned = readLists(['db/ pg', 'cli/ commander @bomb.sh/tab']);
  it.each([
    ['the owner may', source('db/embedded/a.ts', `import pg from 'pg';`), []],
    ['a scoped package has two parts', source('cli/a.ts', `import t from '@bomb.sh/tab/x';`), []],
    ['Node’s own modules are free', source('run/a.ts', `import 'node:os';`), []],
    [
      'another room may not',
      source('run/a.ts', `import type { Client } from 'pg';`),
      ['src/run/a.ts imports pg, which db owns'],
    ],
    [
      'nor by require',
      source('run/a.ts', `createRequire(import.meta.url)('pg')`),
      ['src/run/a.ts imports pg, which db owns'],
    ],
    [
      'nobody owns it',
      source('run/a.ts', `import x from 'left-pad';`),
      ['src/run/a.ts imports left-pad, which nobody owns'],
    ],
  ])('%s', (_, file, found) => expect(ownerViolations([file], owned)).toEqual(found));
});

it('reads imports over several lines, of names only, and inside types, but not in texts', () => {
  const text = `import {\n  a,\n} from './a.ts';\nimport './b.ts';\ntype C = import('./c.ts');\nx("from './d.ts'");`;
  expect(importsOf(source('x.ts', text))).toEqual(['./a.ts', './b.ts', './c.ts']);
});
