// The tarball holds what the package and its readers need, and nothing else.

import { posix } from 'node:path';
import { expect, inject, it } from 'vitest';
import { run } from '../helpers/package-project.ts';
import { filesBelow, readProjectFile, root } from '../unit/project/source-files.ts';

const compiled = filesBelow('src', '.ts').flatMap(({ path }) => {
  const base = posix.join('dist', posix.relative('src', path)).replace(/\.ts$/, '');
  return [`${base}.js`, `${base}.d.ts`];
});
const migrations = filesBelow('src/db/bookkeeping/migrations', '.sql').map(({ path }) =>
  path.replace(/^src/, 'dist'),
);

const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...filesBelow('docs', '').map(({ path }) => path),
];

it('holds the compiled sources with their types, the migrations, the program, the licence and the documentation', () => {
  const expected = ['LICENSE', 'package.json', 'src/cli/etl.mjs', ...pages, ...compiled, ...migrations];
  expect(inject('packedPaths')).toEqual(expected.toSorted());
});

it('needs no script when it is installed', () => {
  const { scripts } = JSON.parse(readProjectFile('package.json')) as { scripts: object };
  expect(Object.keys(scripts).filter((name) => /^(?:pre|post)?install$/.test(name))).toEqual([]);
});

it('depends on nothing with a known weakness, as far as the registry knows', async ({ skip }) => {
  const { out } = await run('npm', ['audit', '--omit=dev', '--json'], { cwd: root });
  const report = JSON.parse(out || '{}') as { vulnerabilities?: object };
  // A mirror may have no audits.
  if (report.vulnerabilities === undefined) skip('the registry answers no audit');
  expect(report.vulnerabilities).toEqual({});
});
