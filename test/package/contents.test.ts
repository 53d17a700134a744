// The tarball holds what the package and its readers need, and nothing else.

import { posix } from 'node:path';
import { expect, inject, it } from 'vitest';
import { run } from '../helpers/package-project.ts';
import { filesBelow, readProjectFile, root } from '../unit/project/source-files.ts';

/** AssemblyScript, which has no declarations, except for what TypeScript reads, too. */
const isAssembly = (path: string): boolean => /\/assembly\/(?!(?:layouts|memory|state)\.ts)/.test(path);
const declarations = filesBelow('src', '.ts')
  .filter(({ path }) => !isAssembly(path))
  .map(({ path }) => posix.join('dist', posix.relative('src', path)).replace(/\.ts$/, '.d.ts'));
/** What something outside loads by its place: a host, a bundle, `etl`, Node for a thread. */
const doors = [
  'dist/bundled.js',
  'dist/cli/main.js',
  'dist/core/code-cache.js',
  'dist/index.js',
  'dist/load/thread/load-thread.js',
  'dist/load/thread/read-thread.js',
];
const bundled = /^dist\/bundle\/(?:[\w-]+\.cjs|licences\.txt)$/;
const migrations = filesBelow('src/db/bookkeeping/migrations', '.sql').map(({ path }) =>
  path.replace(/^src/, 'dist'),
);

const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  ...filesBelow('docs', '').map(({ path }) => path),
];

it('holds the compiled sources in few files, their types, the migrations, the program, the licence and the documentation', () => {
  const own = ['LICENSE', 'package.json', 'src/cli/etl.mjs', 'dist/index.d.cts'];
  const expected = [...own, ...pages, ...declarations, ...doors, ...migrations];
  const packed = inject('packedPaths');
  expect(packed.filter((path) => !bundled.test(path))).toEqual(expected.toSorted());
  expect(packed.filter((path) => bundled.test(path)).length).toBeLessThan(100);
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
