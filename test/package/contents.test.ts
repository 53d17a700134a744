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
  ...filesBelow('docs', '')
    .map(({ path }) => path)
    .filter((path) => !path.startsWith('docs/.vitepress/')),
  'docker-compose.yml',
  ...filesBelow('examples', '').map(({ path }) => path),
];

it('holds the compiled sources in few files, their types, the migrations, the program, the licence, the documentation and its examples', () => {
  const programs = ['src/cli/etl.mjs', 'src/cli/sluice.mjs'];
  const own = ['LICENSE', 'package.json', ...programs, 'dist/index.d.cts'];
  const expected = [...own, ...pages, ...declarations, ...doors, ...migrations];
  const packed = inject('packedPaths');
  expect(packed.filter((path) => !bundled.test(path))).toEqual(expected.toSorted());
  expect(packed.filter((path) => bundled.test(path)).length).toBeLessThan(100);
});

const manifest = JSON.parse(readProjectFile('package.json')) as {
  readonly version: string;
  readonly scripts: object;
  readonly dependencies: object;
  readonly publishConfig: { readonly tag?: string };
};

it('needs no script when it is installed, from wherever', () =>
  expect(Object.keys(manifest.scripts)).not.toContainEqual(
    expect.stringMatching(/^(?:(?:pre|post)?(?:install|prepare)|prepublish)$/),
  ));

it('is published so that only a release becomes the newest version', () =>
  expect(manifest.publishConfig.tag).toBe(manifest.version.includes('-') ? 'next' : undefined));

it('would be published by one command', async () => {
  const { exit, out, err } = await run('npm', ['publish', '--dry-run', '--ignore-scripts'], { cwd: root });
  expect({ exit, out, err }).toEqual({
    exit: 0,
    out: `+ sluice@${manifest.version}\n`,
    // npm names the tag of its own settings here, and takes that of package.json.
    err: expect.stringContaining(' and public access (dry-run)'),
  });
  // The person who publishes is logged in.
  expect(err).not.toMatch(/^npm (?:warn publish (?!This command requires you to be logged in)|error)/m);
});

it('has an SBOM that lists what is installed with it, and what is only in its bundle', async () => {
  const { exit, out } = await run(posix.join(root, '.ci/sbom'), [inject('tarball')], { cwd: root });
  expect(exit).toBe(0);
  const { components } = JSON.parse(out) as { components: readonly { name: string; purl: string }[] };
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([...Object.keys(manifest.dependencies), 'bullmq', 'tslib']));
  expect(names.length).toBe(new Set(names).size);
  for (const { purl } of components) expect(purl).toMatch(/^pkg:npm\/(?:%40)?[\w./-]+@\d/);
});

it('depends on nothing with a known weakness, and contains nothing, as far as the registry knows', async ({
  skip,
}) => {
  const { out } = await run('npm', ['audit', '--json'], { cwd: root });
  const report = JSON.parse(out || '{}') as { vulnerabilities?: object };
  // A mirror may have no audits.
  if (report.vulnerabilities === undefined) skip('the registry answers no audit');
  expect(report.vulnerabilities).toEqual({});
});
