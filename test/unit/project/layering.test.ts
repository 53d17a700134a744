// The layers and owners that ARCHITECTURE.md draws are those of the code.

import { describe, expect, it } from 'vitest';
import { importsOf, layerViolations, ownerViolations, readLayers, readOwners } from './imports.ts';
import { fencedLines, filesBelow, readProjectFile } from './source-files.ts';

const architecture = readProjectFile('ARCHITECTURE.md');
const layers = readLayers(fencedLines(architecture, 'layers'));
const owners = readOwners(fencedLines(architecture, 'owners'));
const sources = filesBelow('src', '.ts', '.mjs');

describe('the code', () => {
  it('imports downward only, and no stage imports another', () => {
    expect(layerViolations(sources, layers)).toEqual([]);
  });

  it('imports each dependency in the folder that owns it', () => {
    expect(ownerViolations(sources, owners)).toEqual([]);
  });

  it('owns every dependency of package.json, and no other', () => {
    const { dependencies, peerDependencies } = JSON.parse(readProjectFile('package.json')) as {
      dependencies: object;
      peerDependencies: object;
    };
    const all = [...Object.keys(dependencies), ...Object.keys(peerDependencies), 'typescript', 'rolldown'];
    expect([...owners.keys()].toSorted()).toEqual(all.toSorted());
  });
});

const source = (path: string, text: string) => ({ path: `src/${path}`, text });
const drawn = readLayers([
  'doors cli/ index.ts',
  'run run/',
  'stages copy/ reject/',
  'words model.ts errors.ts',
]);

describe('the check of layers', () => {
  it.each([
    { name: 'a door may import the words', file: source('cli/a.ts', `import '../model.ts';`), found: [] },
    { name: 'a file may import its own folder', file: source('copy/a.ts', `import './b.ts';`), found: [] },
    {
      name: 'words may know each other',
      file: source('model.ts', `export * from './errors.ts';`),
      found: [],
    },
    {
      name: 'a stage that imports another stage',
      file: source('copy/a.ts', `import { b } from '../reject/b.ts';`),
      found: ['src/copy/a.ts imports reject/b.ts: copy may not know reject'],
    },
    {
      name: 'a type import is an import',
      file: source('copy/a.ts', `import type {\n  B,\n} from '../run/b.ts';`),
      found: ['src/copy/a.ts imports run/b.ts: copy may not know run'],
    },
    {
      name: 'so is one at run time',
      file: source('run/a.ts', `const b = await import('../cli/b.ts');`),
      found: ['src/run/a.ts imports cli/b.ts: run may not know cli'],
    },
    {
      name: 'a word that imports a stage',
      file: source('model.ts', `export { a } from './copy/a.ts';`),
      found: ['src/model.ts imports copy/a.ts: model.ts may not know copy'],
    },
    {
      name: 'a folder that is drawn nowhere',
      file: source('misc/a.ts', ''),
      found: ['src/misc/a.ts: misc is in no layer'],
    },
    {
      name: 'an import in a comment is none',
      file: source('copy/a.ts', `// import '../run/b.ts'\n/* from '../run/b.ts' */`),
      found: [],
    },
  ])('$name', ({ file, found }) => expect(layerViolations([file], drawn)).toEqual(found));
});

describe('the check of owners', () => {
  const owned = readOwners(['db/ pg', 'cli/ commander @bomb.sh/tab']);
  it.each([
    { name: 'the owner may', file: source('db/embedded/a.ts', `import pg from 'pg';`), found: [] },
    {
      name: 'a scoped package has two parts',
      file: source('cli/a.ts', `import t from '@bomb.sh/tab/x';`),
      found: [],
    },
    { name: 'Node’s own modules are free', file: source('run/a.ts', `import 'node:os';`), found: [] },
    {
      name: 'another folder may not',
      file: source('run/a.ts', `import type { Client } from 'pg';`),
      found: ['src/run/a.ts imports pg, which db owns'],
    },
    {
      name: 'nor by require',
      file: source('run/a.ts', `createRequire(import.meta.url)('pg')`),
      found: ['src/run/a.ts imports pg, which db owns'],
    },
    {
      name: 'nobody owns it',
      file: source('run/a.ts', `import x from 'left-pad';`),
      found: ['src/run/a.ts imports left-pad, which nobody owns'],
    },
  ])('$name', ({ file, found }) => expect(ownerViolations([file], owned)).toEqual(found));
});

it('reads imports over several lines, of names only, and inside types, but not in texts', () => {
  const text = `import {\n  a,\n} from './a.ts';\nimport './b.ts';\ntype C = import('./c.ts');\nx("from './d.ts'");`;
  expect(importsOf(source('x.ts', text))).toEqual(['./a.ts', './b.ts', './c.ts']);
});
